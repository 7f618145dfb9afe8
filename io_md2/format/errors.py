"""The exception for bad MD2 data."""

from __future__ import annotations

from ...io_common.errors import FormatError


class Md2Error(FormatError):
    """An MD2 file that cannot be understood, or a model that cannot be written."""

    file_format = "MD2"

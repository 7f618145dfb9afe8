"""The exception for bad MD5 data."""

from __future__ import annotations

from ...io_common.errors import FormatError


class Md5Error(FormatError):
    """An MD5 file that cannot be understood, or a model that cannot be written."""

    file_format = "MD5"

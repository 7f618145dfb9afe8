"""The format families of the extension. A further format is one more package and one more entry here."""

from __future__ import annotations

from .io_common.errors import know_families
from .io_common.family import Family
from .io_iqm.family import FAMILY as IQM
from .io_md2.family import FAMILY as MD2
from .io_md3.family import FAMILY as MD3
from .io_md5.family import FAMILY as MD5

FAMILIES: tuple[Family, ...] = (MD5, IQM, MD2, MD3)
know_families(FAMILIES)

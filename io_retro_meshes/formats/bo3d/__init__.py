# SPDX-License-Identifier: GPL-3.0-or-later
"""BO3D, the format of the bOGL engine for BlitzPlus."""

from .document import Document
from .options import ExportOptions, ImportOptions
from .read import read, sniff
from .scene import to_scene
from .write import write

__all__ = ["Document", "ExportOptions", "ImportOptions", "read", "sniff", "to_scene", "write"]

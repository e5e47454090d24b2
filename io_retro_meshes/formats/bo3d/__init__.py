# SPDX-License-Identifier: GPL-3.0-or-later
"""BO3D, the format of the bOGL engine for BlitzPlus."""

from .document import Document
from .export import from_scene
from .options import ExportOptions, ImportOptions
from .read import read, sniff, summary
from .scene import to_scene
from .write import write

__all__ = ["Document", "ExportOptions", "ImportOptions", "from_scene", "read", "sniff", "summary", "to_scene", "write"]

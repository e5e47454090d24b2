# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro .dbo: models of the engine and of its successors."""

from .document import Document
from .export import from_scene
from .options import ExportOptions, ImportOptions
from .read import read, sniff
from .scene import to_scene
from .summary import summary
from .write import write

__all__ = ["Document", "ExportOptions", "ImportOptions", "from_scene", "read", "sniff", "summary", "to_scene", "write"]

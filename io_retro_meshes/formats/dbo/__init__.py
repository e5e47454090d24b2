# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro .dbo: models of the engine and of its successors."""

from .document import Document
from .read import read, sniff
from .scene import ImportOptions, to_scene
from .write import write

__all__ = ["Document", "ImportOptions", "read", "sniff", "to_scene", "write"]

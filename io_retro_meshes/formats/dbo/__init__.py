# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro .dbo: models of the engine and of its successors."""

from .document import Document
from .read import read, sniff
from .write import write

__all__ = ["Document", "read", "sniff", "write"]

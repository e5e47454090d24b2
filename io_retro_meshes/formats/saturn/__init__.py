# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters of the Sega Saturn: x8pc*.bin, and x8an*.bin with more of their animations."""

from .document import Document
from .read import read, sniff
from .write import write

__all__ = ["Document", "read", "sniff", "write"]

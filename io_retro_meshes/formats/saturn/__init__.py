# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters of the Sega Saturn: x8pc*.bin, and x8an*.bin with more of their animations."""

from .document import Document
from .export import from_scene
from .options import ExportOptions, ImportOptions
from .read import read, sniff
from .scene import to_scene
from .segments import companions
from .summary import summary
from .write import write, write_segments

POLYGONS = "QUADS"
PIXELS = True

__all__ = [
    "PIXELS",
    "POLYGONS",
    "Document",
    "ExportOptions",
    "ImportOptions",
    "companions",
    "from_scene",
    "read",
    "sniff",
    "summary",
    "to_scene",
    "write",
    "write_segments",
]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters of the Sega Saturn: x8pc*.bin, and x8an*.bin with more of their animations."""

from .document import Document
from .export import from_scene
from .options import ExportOptions, ImportOptions
from .read import read, sniff
from .scene import to_scene
from .segments import companions
from .summary import summary
from .write import companion_files, write

# What the Blender floor is asked for: see CONTRIBUTING.md.
POLYGONS = "QUADS"
PIXELS = True
BESIDE_TIMELINE = True


def keeps_hidden(settings: dict[str, dict[str, object]]) -> bool:
    """Is an object exported even while it is hidden? What is shown instead of a weapon is."""
    return settings.get("saturn", {}).get("list", 0) not in (0, 1)


__all__ = [
    "BESIDE_TIMELINE",
    "PIXELS",
    "POLYGONS",
    "Document",
    "ExportOptions",
    "ImportOptions",
    "companion_files",
    "companions",
    "from_scene",
    "keeps_hidden",
    "read",
    "sniff",
    "summary",
    "to_scene",
    "write",
]

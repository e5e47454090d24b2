# SPDX-License-Identifier: GPL-3.0-or-later
"""How the graphs know images, being made and being read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import bpy

from ...scene import Image

# By index in the scene's images; None for one that is not there.
Images = Sequence[bpy.types.Image | None]


def is_missing(image: bpy.types.Image | None) -> bool:
    """A file is named, but it is not there."""
    if image is None or image.source != "FILE" or image.packed_file is not None or not image.filepath:
        return False
    return not Path(bpy.path.abspath(image.filepath, library=image.library)).is_file()


class ImageTable(Protocol):
    """The images of a scene that is being collected."""

    images: list[Image]

    def index(self, image: bpy.types.Image) -> int:
        """The place of an image among them, which is added when it is first met."""

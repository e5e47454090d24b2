# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about glTF files."""

from __future__ import annotations

from typing import Literal

from .. import options
from ..options import choices, option


@choices
class ImportOptions(options.ImportOptions):
    fps: float = option(
        0.0,
        "Frame Rate",
        "Frames a second: the file counts in seconds. 0: the rate it was made with, or one that puts its keys on whole frames",
        panel="Animation",
        minimum=0.0,
        soft_maximum=60.0,
    )


@choices
class ExportOptions(options.ExportOptions):
    # The file's name: .gltf makes it JSON with a .bin beside it. Whoever knows the path gives it.
    name: str = "model.glb"
    pictures: Literal["AUTO", "EMBED", "SEPARATE", "NONE"] = option(
        "AUTO",
        "Pictures",
        "Where the pictures go",
        panel="Textures",
        items=(
            ("AUTO", "Automatic", "Into a .glb, beside a .gltf"),
            ("EMBED", "Embed", "Into the file. A .gltf has its buffer inside then, too"),
            ("SEPARATE", "Separate", "Beside the file, as PNG or JPEG"),
            ("NONE", "None", "Textures without pictures: every surface keeps its slot, as Luanti wants it"),
        ),
    )

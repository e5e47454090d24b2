# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about battle characters."""

from __future__ import annotations

from typing import Literal

from .. import options
from ..options import choices, option
from .names import TYPE_NAMES


@choices
class ImportOptions(options.ImportOptions):
    name: str = "character"  # the files hold none: the importer gives the file's
    parts: Literal["ONE", "EACH"] = option(
        "ONE",
        "Body",
        "The console draws every part of the body as a mesh of its own",
        items=(
            ("ONE", "One Mesh", "All parts in one mesh object, told apart by the face attribute part"),
            ("EACH", "Separate Meshes", "A mesh object for each part"),
        ),
    )
    spacing: float = option(
        1.25,
        "Spacing",
        "How far apart several characters of a file stand, in widths of the widest. 0 puts them all at the origin",
        minimum=0.0,
        soft_maximum=5.0,
    )
    fps: float = option(
        20.0,
        "Frame Rate",
        "Frames a second. The files do not say it; 20 looks right",
        panel="Animation",
        minimum=1.0,
        soft_maximum=60.0,
    )
    animation_file: str = option(
        "",
        "Animation File",
        "The x8an file with more animations. Empty: the one beside the model that has its number",
        panel="Animation",
        subtype="FILE_PATH",
    )
    images: Literal["ATLAS", "EACH"] = option(
        "ATLAS",
        "Images",
        "The console's textures are small, and each polygon shows the whole of one",
        panel="Textures",
        items=(
            ("ATLAS", "Atlas", "One image that has all textures of a character in it, and a material for each look"),
            ("EACH", "Separate Images", "An image and materials for each texture"),
        ),
    )


@choices
class ExportOptions(options.ExportOptions):
    strongest: bool = option(
        False,
        "Strongest Bone",
        "Let every vertex go with its strongest bone. Otherwise, vertices of several bones are an error: all parts of a "
        "character are rigid",
    )
    first_frame: int = option(
        1, "First Frame", "Where actions begin when they are laid end to end", panel="Animation", minimum=0, maximum=4095
    )
    external: Literal["FILE", "PACKED", "TIMELINE", "NONE"] = option(
        "FILE",
        "Extra Actions",
        "Where the actions go that came from an x8an file, or from packed chunks",
        panel="Animation",
        items=(
            ("FILE", "Where They Were", "Into the x8an file beside the exported one, or into packed chunks"),
            ("PACKED", "Packed Chunks", "Into packed chunks of the character's own, as later games have them"),
            ("TIMELINE", "Timeline", "Behind the others on the character's own timeline"),
            ("NONE", "None", "They are left out"),
        ),
    )
    other_type: str = option(
        "REFUSE",
        "Other Actions",
        "What new actions are whose name and settings say no type",
        panel="Animation",
        items=(
            ("REFUSE", "Refuse", "Stop, and say which ones"),
            *((f"{code:02X}", name.capitalize(), f"Type {code:02X}") for code, name in TYPE_NAMES.items()),
        ),
    )
    keep_room: bool = option(
        False,
        "Keep Room",
        "Refuse to write what has outgrown the room that it had in its file. Otherwise it moves what follows, which the game "
        "may not expect",
    )
    largest_texture: int = option(
        64,
        "Largest Texture",
        "Pixels of a side, at most, of a texture drawn anew because a face shows a slanted part of an image",
        panel="Textures",
        minimum=8,
        maximum=248,
    )

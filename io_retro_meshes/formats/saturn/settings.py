# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of polygons, tags, lists and animations of Saturn battle characters."""

from __future__ import annotations

from ..options import bit, option, settings
from .names import TYPE_NAMES

TYPES = tuple(
    (name.upper().replace(" ", "_"), name.title(), f"{number:02X} in the file") for number, name in TYPE_NAMES.items()
)


@settings
class MaterialSettings:
    """What new polygons of the material get; polygons of a file keep their own, in the mesh's face attributes."""

    flag: int = option(0, "Flag", "0 single sided, 1 double sided", minimum=0, maximum=255)
    double_sided: bool = bit("flag", 1, "Double Sided", "Seen from behind as well")
    sort: int = option(0xC3, "Sort", "How polygons are sorted: 4 texture, 8 light, 128 gouraud", minimum=0, maximum=255)
    sort_light: bool = bit("sort", 8, "Lit", "Lit while the game runs")
    sort_gouraud: bool = bit("sort", 128, "Shaded Corners", "Has a shade for each corner")
    atrb: int = option(
        0x4AC,
        "Draw",
        "Bits 0-2 draw mode (1 shadow, 2 half luminance, 3 half transparent, 4 gouraud), 3-5 color mode, "
        "6 transparent pixels off, 7 end codes off, 8 mesh",
        minimum=0,
        maximum=0xFFFF,
    )
    shadow: bool = bit("atrb", 1, "Shadow", "Darkens what is behind. With Half Luminance, too, it is half transparent instead")
    half_luminance: bool = bit("atrb", 2, "Half Luminance", "Half as bright")
    gouraud: bool = bit("atrb", 4, "Gouraud", "The shades of its corners are mixed between them")
    transparent_pixels_off: bool = bit("atrb", 64, "Opaque Pixels", "Pixels that mean transparent are drawn, too")
    end_codes_off: bool = bit("atrb", 128, "No End Codes", "Pixels that mean the end of a line are drawn, too")
    mesh: bool = bit("atrb", 256, "Mesh", "Every other pixel is drawn, as on a chessboard")


@settings
class ObjectSettings:
    """What the object is in its file."""

    character: int = option(0, "Character", "The number of the character in its file", minimum=0)
    is_tag: bool = option(False, "Tag", "The empty marks a place on its bone")
    tag: int = option(
        9,
        "Tag Code",
        "What the place is for",
        items=(
            ("CHEST", "Chest", "The chest"),
            ("WEAPON_BASE", "Weapon Base", "The end of the weapon that is held"),
            ("WEAPON_TIP", "Weapon Tip", "The far end of the weapon"),
            ("HAND", "Hand", "A hand"),
            ("WEAPON", "Weapon", "What hangs on it is the weapon"),
            ("UNARMED", "Unarmed", "What hangs on it is shown instead of a weapon"),
        ),
        numbers=(9, 16, 17, 32, 48, 129),
        minimum=0,
        maximum=255,
    )
    list: int = option(
        0,
        "Mesh List",
        "What the mesh is to the character",
        items=(
            ("BODY", "Body", "Drawn by the skeleton"),
            ("WEAPON", "Weapon", "Drawn where the weapon's tag is"),
            ("UNARMED", "Unarmed", "Shown instead of a weapon"),
        ),
        numbers=(0, 1, 2),
        minimum=0,
        maximum=15,
    )
    source: str = option("", "Source", "The bytes of the character as it was imported, compressed", hidden=True)
    tail: str = option("", "Tail", "What follows the last character in its file, compressed", hidden=True)
    companion: str = option("", "Companion", "The bytes of the x8an file that was read with it, compressed", hidden=True)


@settings
class MeshSettings:
    """A body."""

    draw_codes: str = option("", "Draw Codes", "How the skeleton draws each part, as hexadecimal digits")


@settings
class ActionSettings:
    """An animation."""

    type: int = option(
        0,
        "Type",
        "When the game plays it",
        items=tuple(
            (name.upper().replace(" ", "_"), name.title(), f"{number:02X} in the file") for number, name in TYPE_NAMES.items()
        ),
        numbers=tuple(TYPE_NAMES),
        minimum=0,
        maximum=0xFFFF,
    )
    distance: int = option(0, "Distance", "How far from the enemy it is played", minimum=0, maximum=0xFFFF)
    character: int = option(0, "Character", "The number of the character it is of", minimum=0)
    order: int = option(0, "Place", "Where it is among the animations of its character", minimum=0)
    external: bool = option(
        False, "Outside the Timeline", "The keys are in the x8an file beside the character's, or packed in a chunk of their own"
    )
    model: str = option("", "Model", "Which of the imported characters it is of", hidden=True)


SETTINGS = {"Material": MaterialSettings, "Object": ObjectSettings, "Mesh": MeshSettings, "Action": ActionSettings}

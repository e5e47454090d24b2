# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about .dbo files."""

from __future__ import annotations

from .. import options
from ..options import choices, option


@choices
class ImportOptions(options.ImportOptions):
    fps: float = option(
        30.0,
        "Frame Rate",
        "Frames a second: the file counts frames, and leaves the rate to the program. 24 and 30 are usual",
        panel="Animation",
        minimum=1.0,
        soft_maximum=120.0,
    )
    levels: bool = option(
        False,
        "Levels of Detail",
        "Show the coarser meshes that a mesh has for the distance, as hidden objects. An export keeps them either way",
    )


@choices
class ExportOptions(options.ExportOptions):
    influences: int = option(
        4, "Influences", "Bones that a vertex may follow. The engines' shaders take four", minimum=1, maximum=4
    )
    colors: bool = option(True, "Vertex Colors", "Write the first color attribute")
    uv_sets: int = option(8, "Most UV Maps", "Write at most so many. Without an effect two are read", minimum=0, maximum=8)
    materials: bool = option(True, "Materials", "Write colors, textures and render states")
    effect: str = option(
        "",
        "Effect",
        "The shader file of materials that name none of their own; empty: the engine's fixed ways",
        panel="Textures",
    )
    skinned_effect: str = option(
        "", "Skinned Effect", "The shader file of skinned meshes instead; empty: that of the others", panel="Textures"
    )
    mesh_per_material: bool = option(
        False, "Split by Material", "Cut meshes with several materials: GameGuru MAX draws one set of textures a mesh"
    )
    deforming_only: bool = option(
        False, "Deforming Only", "Leave out bones that move no vertex, carry nothing and have no such bone below them"
    )
    fps: float = option(
        0.0,
        "Frame Rate",
        "Frames a second that the program plays: the file does not say it. The animation is sampled anew at this rate, so that "
        "it takes as long as here. 0 keeps every frame's number",
        panel="Animation",
        minimum=0.0,
        soft_maximum=120.0,
    )

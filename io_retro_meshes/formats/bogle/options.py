# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about .bgl files."""

from __future__ import annotations

from typing import Literal

from .. import options
from ..options import choices, option

LightFormula = Literal["SPEC", "ORIGINAL"]
LIGHT_FORMULAS = (
    ("SPEC", "As Specified", "The intensity in the file is the light's power"),
    ("ORIGINAL", "As Exported", "The curve that the engine's own exporter puts spot and point lights through"),
)


@choices
class ImportOptions(options.ImportOptions):
    # How a light's intensity becomes its power: as the format's text has it, or by undoing the original exporter's curve.
    light_formula: LightFormula = option(
        "SPEC", "Light Power", "How a light's power follows from the file", items=LIGHT_FORMULAS
    )
    draft_axes: Literal["BLENDER", "OPENGL"] = option(
        "BLENDER",
        "Up in Old Files",
        "Which way is up in files from before the format was published: they do not say it",
        items=(("BLENDER", "Z Up", "As in Blender"), ("OPENGL", "Y Up", "As in OpenGL: (-x, z, y)")),
    )
    fps: float = option(
        0.0,
        "Frame Rate",
        "Keys have times in seconds: frames a second to put them on. 0 takes the usual rate that puts all on whole frames",
        panel="Animation",
        minimum=0.0,
        soft_maximum=120.0,
    )


@choices
class ExportOptions(options.ExportOptions):
    file_layout: Literal["AUTO", "SEED", "NAMES", "ANIM", "GEOMETRIES"] = option(
        "AUTO",
        "Layout",
        "Which of the format's layouts to write: the engine reads the one it was built for",
        items=(
            ("AUTO", "Automatic", "As imported; else With Skeletons where something is rigged, Published where not"),
            ("SEED", "Published", "As in the format's text: no names, no skeletons"),
            ("NAMES", "With Names", "Names of objects, cameras, geometries, materials and lights"),
            ("ANIM", "With Skeletons", "Names, armatures and their animations"),
            ("GEOMETRIES", "Geometry Files", "The same, with each geometry in a file of the folder geometries"),
        ),
    )
    light_formula: LightFormula = option("SPEC", "Light Power", "How a light's power goes into the file", items=LIGHT_FORMULAS)
    clamp_uvs: bool = option(
        False,
        "Clamp UVs",
        "Cut texture coordinates to 0..1, as the engine's own exporter does. The engine repeats textures",
    )
    exact_joints: bool = option(
        True,
        "Exact Joints",
        "The engine turns a bone about its parent's place. Add helper bones where that matters, so that poses are Blender's",
        panel="Animation",
        needs=("file_layout", ("AUTO", "ANIM", "GEOMETRIES")),
    )

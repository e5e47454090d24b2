# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about .b3d files."""

from __future__ import annotations

from .. import options
from ..options import choices, encoding_option, option


@choices
class ImportOptions(options.ImportOptions):
    encoding: str = encoding_option()
    use_normals: str = option(
        "FILE",
        "Normals",
        "Which way surfaces face for the light",
        items=(
            ("FILE", "From File", "The file's own; where it has none, as Missing Normals says"),
            ("RECALCULATE", "Recalculate", "As if the file had none: for files whose normals are wrong"),
            ("NONE", "Ignore", "As they follow from the faces: smooth wherever faces share vertices"),
        ),
    )
    missing_normals: str = option(
        "BLITZ3D",
        "Missing Normals",
        "How normals are made that the file does not have",
        items=(
            ("BLITZ3D", "Blitz3D", "Smooth wherever vertices of a surface are in the same place"),
            ("LUANTI", "Luanti", "Smooth only where faces share a vertex: seams of the UV map are hard edges"),
        ),
    )
    merge_surfaces: bool = option(
        True,
        "Merge Surfaces",
        "Make surfaces of a mesh that have the same brush one material slot. Luanti counts textures by surface: without it "
        "every surface keeps a slot of its own",
    )


@choices
class ExportOptions(options.ExportOptions):
    normals: bool = option(True, "Normals", "Write vertex normals; without them the engine smooths")
    colors: bool = option(True, "Vertex Colors", "Write the first color attribute")
    uv_sets: int = option(8, "Most UV Maps", "Write at most so many UV maps. Blitz3D and Luanti read two", minimum=0, maximum=8)
    materials: bool = option(True, "Brushes", "Write materials as brushes; without them every surface is white")
    bone_axes: str = option(
        "AS_BLENDER",
        "Bone Axes",
        "Which way the axes of new bones lie in the file. Bones that came from a file keep the axes they had there",
        items=(
            ("AS_BLENDER", "As in Blender", "A bone's length is along the file's Z"),
            (
                "LUANTI",
                "Luanti",
                "A bone's length is along the file's Y, as in Luanti's own models: overrides and offsets rely on it",
            ),
        ),
    )
    start_frame: str = option(
        "KEEP",
        "First Frame",
        "Which frame of the file the animation begins on. Animations of imported files keep their frames",
        panel="Animation",
        items=(
            ("KEEP", "As in Blender", "Frame N of the scene is frame N of the file"),
            (
                "ONE",
                "Frame 1",
                "The scene's first frame is frame 1 of the file and nothing is before it: frame 0 in Luanti's API",
            ),
        ),
        needs=("animation", ("AUTO", "ACTIONS", "ACTIVE", "SCENE")),
    )
    sequences: bool = option(
        True,
        "Named Sequences",
        "Write the names and frames of animations. Luanti does not know them, and says so in its log",
        panel="Animation",
        needs=("animation", ("AUTO", "ACTIONS", "ACTIVE", "SCENE")),
    )
    join_on_bones: bool = option(
        False,
        "Join on Bones",
        "Make meshes that hang on bones part of the rig's mesh. Blitz3D itself and Luanti need that; other engines do not",
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro .dbo in the file menus."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from .operators import Exporter, Importer


class ImportDBO(bpy.types.Operator, Importer):
    """Open a model of Dark Basic Pro, FPS Creator or GameGuru"""

    bl_idname = "import_scene.dbo"
    bl_label = "Import Dark Basic Pro"
    format_id = "dbo"
    filename_ext = ".dbo"
    filter_glob: StringProperty(default="*.dbo", options={"HIDDEN"})

    fps: FloatProperty(
        name="Frame Rate",
        description="Frames a second: the file counts frames, and leaves the rate to the program. 24 and 30 are usual",
        default=30.0,
        min=1.0,
        soft_max=120.0,
    )

    def draw_animation(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "fps")


class ExportDBO(bpy.types.Operator, Exporter):
    """Save the scene for Dark Basic Pro, FPS Creator or GameGuru"""

    bl_idname = "export_scene.dbo"
    bl_label = "Export Dark Basic Pro"
    format_id = "dbo"
    filename_ext = ".dbo"
    filter_glob: StringProperty(default="*.dbo", options={"HIDDEN"})

    colors: BoolProperty(name="Vertex Colors", description="Write the first color attribute", default=True)
    uv_sets: IntProperty(
        name="UV Maps",
        description="Write at most so many UV maps. Without an effect two are read",
        default=8,
        min=0,
        max=8,
    )
    materials: BoolProperty(name="Materials", description="Write colors, textures and render states", default=True)
    effect: StringProperty(
        name="Effect", description="The shader file of materials that name none of their own; empty: the engine's fixed ways"
    )
    influences: IntProperty(
        name="Weights", description="Bones that a vertex may follow. The engines' shaders take four", default=4, min=1, max=4
    )

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "influences")
        layout.prop(self, "colors")
        layout.prop(self, "uv_sets")
        layout.prop(self, "materials")

    def draw_textures(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "effect")


CLASSES = (ImportDBO, ExportDBO)

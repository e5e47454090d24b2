# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D .b3d in the file menus."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from .operators import Exporter, Importer, encoding_option


class ImportB3D(bpy.types.Operator, Importer):
    """Open a Blitz3D model, as used by Blitz3D games, Luanti and Irrlicht"""

    bl_idname = "import_scene.b3d"
    bl_label = "Import Blitz3D"
    format_id = "b3d"
    filename_ext = ".b3d"
    filter_glob: StringProperty(default="*.b3d", options={"HIDDEN"})

    encoding: encoding_option()

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "encoding")


class ExportB3D(bpy.types.Operator, Exporter):
    """Save the scene as a Blitz3D model"""

    bl_idname = "export_scene.b3d"
    bl_label = "Export Blitz3D"
    format_id = "b3d"
    filename_ext = ".b3d"
    filter_glob: StringProperty(default="*.b3d", options={"HIDDEN"})

    normals: BoolProperty(name="Normals", description="Write vertex normals; without them the engine smooths", default=True)
    colors: BoolProperty(name="Vertex Colors", description="Write the first color attribute", default=True)
    uv_sets: IntProperty(
        name="UV Maps", description="Write at most so many UV maps. Blitz3D and Luanti read two", default=8, min=0, max=8
    )
    materials: BoolProperty(name="Brushes", description="Write materials as brushes", default=True)
    join_on_bones: BoolProperty(
        name="Join Meshes on Bones",
        description="Make meshes that hang on bones part of the rig's mesh. Blitz3D itself needs that; other engines do not",
        default=False,
    )

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "normals")
        layout.prop(self, "colors")
        layout.prop(self, "uv_sets")
        layout.prop(self, "materials")
        layout.prop(self, "join_on_bones")


CLASSES = (ImportB3D, ExportB3D)

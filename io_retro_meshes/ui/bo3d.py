# SPDX-License-Identifier: GPL-3.0-or-later
"""bOGL .bo3d in the file menus."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, StringProperty

from .operators import Exporter, Importer, encoding_option


class ImportBO3D(bpy.types.Operator, Importer):
    """Open a model of bOGL, the 3D engine for BlitzPlus"""

    bl_idname = "import_scene.bo3d"
    bl_label = "Import BO3D"
    format_id = "bo3d"
    filename_ext = ".bo3d"
    filter_glob: StringProperty(default="*.bo3d", options={"HIDDEN"})

    encoding: encoding_option()

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "encoding")


class ExportBO3D(bpy.types.Operator, Exporter):
    """Save the scene as a model of bOGL, the 3D engine for BlitzPlus"""

    bl_idname = "export_scene.bo3d"
    bl_label = "Export BO3D"
    format_id = "bo3d"
    filename_ext = ".bo3d"
    filter_glob: StringProperty(default="*.bo3d", options={"HIDDEN"})

    colors: BoolProperty(
        name="Vertex Colors",
        description="Write the first color attribute. The engine shows it instead of the material's color",
        default=True,
    )
    half_floats: BoolProperty(
        name="16-Bit Vertices",
        description="Half the size, three digits: the report says how far the worst vertex is off",
        default=False,
    )

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "colors")
        layout.prop(self, "half_floats")


CLASSES = (ImportBO3D, ExportBO3D)

# SPDX-License-Identifier: GPL-3.0-or-later
"""BOGLE .bgl in the file menus, and its material."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..blender.build.materials import build_material
from ..blender.collect.uber import uber_node
from ..blender.collect.wires import active_output
from ..scene import Material
from .operators import Exporter, Importer

LIGHT_FORMULAS = [
    ("SPEC", "As in the Format's Text", "The intensity in the file is the light's power"),
    ("ORIGINAL", "Original Exporter", "The curve that the engine's own exporter puts spot and point lights through"),
]


class ImportBogle(bpy.types.Operator, Importer):
    """Open a BOGLE scene"""

    bl_idname = "import_scene.bogle"
    bl_label = "Import BOGLE"
    format_id = "bogle"
    filename_ext = ".bgl"
    filter_glob: StringProperty(default="*.bgl", options={"HIDDEN"})

    light_formula: EnumProperty(
        name="Light Power", description="How a light's power follows from the file", items=LIGHT_FORMULAS
    )
    fps: FloatProperty(
        name="Frame Rate",
        description="Keys have times in seconds: frames a second to put them on. 0 takes the usual rate that puts all on whole "
        "frames",
        default=0.0,
        min=0.0,
        soft_max=120.0,
    )
    draft_axes: EnumProperty(
        name="Axes of Drafts",
        description="Files older than the published format do not say which way is up in them",
        items=[("BLENDER", "Blender's", "Z is up"), ("OPENGL", "OpenGL's", "Y is up")],
    )

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "light_formula")
        layout.prop(self, "draft_axes")

    def draw_animation(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "fps")


class ExportBogle(bpy.types.Operator, Exporter):
    """Save the scene for the BOGLE engine"""

    bl_idname = "export_scene.bogle"
    bl_label = "Export BOGLE"
    format_id = "bogle"
    filename_ext = ".bgl"
    filter_glob: StringProperty(default="*.bgl", options={"HIDDEN"})

    file_layout: EnumProperty(
        name="Layout",
        description="Which of the format's layouts to write: the engine reads the one it was built for",
        items=[
            ("SEED", "Published", "As in the format's text: no names, no skeletons"),
            ("NAMES", "With Names", "Names of objects, cameras, geometries, materials and lights"),
            ("ANIM", "With Skeletons", "Names, armatures and their animations"),
        ],
    )
    light_formula: EnumProperty(name="Light Power", description="How a light's power goes into the file", items=LIGHT_FORMULAS)
    clamp_uvs: BoolProperty(
        name="Clamp UVs",
        description="Cut texture coordinates to 0..1, as the engine's own exporter does. The engine repeats textures",
        default=False,
    )

    exact_joints: BoolProperty(
        name="Exact Joints",
        description="The engine turns a bone about its parent's place. Add helper bones where that matters, so that poses are "
        "Blender's",
        default=False,
    )

    def draw_animation(self, layout: bpy.types.UILayout) -> None:
        column = layout.column()
        column.active = self.file_layout == "ANIM"
        column.prop(self, "exact_joints")

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "file_layout")
        layout.prop(self, "light_formula")
        layout.prop(self, "clamp_uvs")


class AddBogleMaterial(bpy.types.Operator):
    """Give the selected objects a BOGLE material: the Uber node group, with everything the engine knows of a surface"""

    bl_idname = "object.retro_add_bogle_material"
    bl_label = "Add BOGLE Material"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return any(_takes_material(each) for each in context.selected_objects)

    def execute(self, context: bpy.types.Context) -> set[str]:
        material = build_material(Material("BOGLE", graph="bogle"), [], [])
        for each in context.selected_objects:
            if not _takes_material(each):
                continue
            if each.material_slots:
                each.material_slots[each.active_material_index].material = material
            else:
                each.data.materials.append(material)
        return {"FINISHED"}


def _takes_material(candidate: bpy.types.Object) -> bool:
    return hasattr(candidate.data, "materials") and candidate.data.library is None


class BogleMaterialPanel(bpy.types.Panel):
    bl_idname = "MATERIAL_PT_retro_bogle"
    bl_label = "BOGLE"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "material"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and _takes_material(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        material = context.object.active_material
        output = active_output(material.node_tree) if material and material.node_tree else None
        if output is None or uber_node(output) is None:
            self.layout.label(text="Exported with the nearest values")
            self.layout.operator(AddBogleMaterial.bl_idname, icon="MATERIAL")
        else:
            self.layout.label(text="Exported as it is", icon="CHECKMARK")


CLASSES = (ImportBogle, ExportBogle, AddBogleMaterial, BogleMaterialPanel)

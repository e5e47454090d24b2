# SPDX-License-Identifier: GPL-3.0-or-later
"""The material of the BOGLE engine: an operator that adds one, and a panel that says whether a material is one."""

from __future__ import annotations

import bpy


class AddBogleMaterial(bpy.types.Operator):
    """Give the selected objects a BOGLE material: the Uber node group, with everything the engine knows of a surface"""

    bl_idname = "object.retro_add_bogle_material"
    bl_label = "Add BOGLE Material"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return any(_takes_material(each) for each in context.selected_objects)

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..blender.build.materials import fresh_material

        material = fresh_material("BOGLE", "bogle")
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
        from ..blender.graphs.links import active_output
        from ..blender.graphs.uber import uber_node

        material = context.object.active_material
        output = active_output(material.node_tree) if material and material.node_tree else None
        if output is None or uber_node(output) is None:
            self.layout.label(text="Exported with the nearest values")
            self.layout.operator(AddBogleMaterial.bl_idname, icon="MATERIAL")
        else:
            self.layout.label(text="Exported as it is", icon="CHECKMARK")


CLASSES = (AddBogleMaterial, BogleMaterialPanel)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels in the Properties editor for the typed settings: made from the groups that the formats declare."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender.properties import FORMAT_GROUPS
from ..formats import FORMATS

# The type of datablock, the tab of the Properties editor, and where the context has it.
TABS = {
    "Scene": ("scene", "scene"),
    "Object": ("object", "object"),
    "Mesh": ("data", "mesh"),
    "Camera": ("data", "camera"),
    "Light": ("data", "light"),
    "Bone": ("bone", "bone"),
    "Material": ("material", "material"),
}


class RetroPanel:
    """The settings of the old formats for one datablock."""

    bl_label = "Retro Meshes"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_options = {"DEFAULT_CLOSED"}
    owner = ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return getattr(context, TABS[cls.owner][1], None) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        datablock = getattr(context, TABS[self.owner][1])
        for format_id, groups in FORMAT_GROUPS.items():
            if self.owner not in groups:
                continue
            header, body = layout.panel(f"retro_{format_id}_{self.owner}", default_closed=True)
            header.label(text=FORMATS[format_id].label)
            if body:
                draw_group(body, getattr(datablock, f"retro_{format_id}"))


def draw_group(layout: bpy.types.UILayout, group: Any) -> None:
    """Every setting; toggles of bits in two columns of their own."""
    properties = group.bl_rna.properties
    for name in group.__annotations__:
        if not properties[name].is_skip_save:
            layout.prop(group, name)
    toggles = [name for name in group.__annotations__ if properties[name].is_skip_save]
    if toggles:
        grid = layout.grid_flow(columns=2, align=True)
        grid.use_property_split = False
        for name in toggles:
            grid.prop(group, name, toggle=True)


class NODE_PT_retro(bpy.types.Panel):
    """The settings of a texture of an old format."""

    bl_label = "Retro Meshes"
    bl_space_type = "NODE_EDITOR"
    bl_region_type = "UI"
    bl_category = "Node"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return getattr(context, "active_node", None) is not None and context.active_node.bl_idname == "ShaderNodeTexImage"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for format_id, groups in FORMAT_GROUPS.items():
            if "ShaderNodeTexImage" in groups:
                header, body = layout.panel(f"retro_{format_id}_texture", default_closed=True)
                header.label(text=FORMATS[format_id].label)
                if body:
                    draw_group(body, getattr(context.active_node, f"retro_{format_id}"))


def _panel(owner: str) -> type:
    return type(
        f"{owner.upper()}_PT_retro_meshes",
        (RetroPanel, bpy.types.Panel),
        {"bl_idname": f"{owner.upper()}_PT_retro_meshes", "bl_context": TABS[owner][0], "owner": owner},
    )


def _owners() -> list[str]:
    return [owner for owner in TABS if any(owner in groups for groups in FORMAT_GROUPS.values())]


CLASSES = (*(_panel(owner) for owner in _owners()), NODE_PT_retro)

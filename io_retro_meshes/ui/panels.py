# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels in the Properties editor for the typed settings: made from the groups that the formats declare."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender import properties
from ..formats import MENU_FORMATS

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
        draw_groups(layout, _datablock(context, self.owner), self.owner)


def draw_groups(layout: bpy.types.UILayout, datablock: Any, owner: str) -> None:
    """A panel for each format whose settings the datablock has, and a menu of the others."""
    entries = [entry for entry in MENU_FORMATS.values() if owner in entry.settings]
    for entry in entries:
        if properties.has_settings(datablock, entry.id):
            header, body = layout.panel(f"retro_{entry.id}_{owner}")
            header.label(text=entry.label)
            if body:
                draw_group(body, getattr(datablock, f"retro_{entry.id}"))
    if not all(properties.has_settings(datablock, entry.id) for entry in entries):
        layout.operator_menu_enum(AddSettings.bl_idname, "format", text="Add Settings for…").owner = owner


def draw_group(layout: bpy.types.UILayout, group: Any) -> None:
    """Every setting; toggles of bits in two columns of their own; the number of an enumeration where it has no name."""
    known = group.bl_rna.properties
    names = [name for name in group.__annotations__ if not known[name].is_hidden]
    for name in names:
        of = name.removesuffix("_number")
        spare = of != name and of in names and getattr(group, of) != properties.OTHER
        if not known[name].is_skip_save and not spare:
            layout.prop(group, name)
    toggles = [name for name in names if known[name].is_skip_save]
    if toggles:
        grid = layout.grid_flow(columns=2, align=True)
        grid.use_property_split = False
        for name in toggles:
            grid.prop(group, name, toggle=True)


def _datablock(context: bpy.types.Context, owner: str) -> Any:
    """The datablock of that type that the user is looking at."""
    return getattr(context, "active_node" if owner == "ShaderNodeTexImage" else TABS[owner][1], None)


class AddSettings(bpy.types.Operator):
    """Show the settings of a format here, and write them to files of that format"""

    bl_idname = "wm.retro_add_settings"
    bl_label = "Add Settings for a Format"
    bl_options = {"REGISTER", "UNDO"}

    owner: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    format: bpy.props.EnumProperty(
        name="Format",
        description="The format whose settings are added",
        items=[(entry.id, entry.label, entry.used_by) for entry in MENU_FORMATS.values() if entry.settings],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        datablock = _datablock(context, self.owner)
        if datablock is None or self.owner not in MENU_FORMATS[self.format].settings:
            self.report({"WARNING"}, f"{MENU_FORMATS[self.format].label} has no settings for this")
            return {"CANCELLED"}
        properties.add_settings(datablock, self.format)
        return {"FINISHED"}


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
        draw_groups(layout, context.active_node, "ShaderNodeTexImage")


class DOPESHEET_PT_retro(bpy.types.Panel):
    """The settings of the action that is edited."""

    bl_label = "Retro Meshes"
    bl_space_type = "DOPESHEET_EDITOR"
    bl_region_type = "UI"
    bl_category = "Action"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return getattr(context, "active_action", None) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        draw_groups(layout, context.active_action, "Action")


def _panel(owner: str) -> type:
    return type(
        f"{owner.upper()}_PT_retro_meshes",
        (RetroPanel, bpy.types.Panel),
        {"bl_idname": f"{owner.upper()}_PT_retro_meshes", "bl_context": TABS[owner][0], "owner": owner},
    )


def panel_classes() -> list[type]:
    owners = [owner for owner in TABS if any(owner in entry.settings for entry in MENU_FORMATS.values())]
    return [AddSettings, *(_panel(owner) for owner in owners), NODE_PT_retro, DOPESHEET_PT_retro]

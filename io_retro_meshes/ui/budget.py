# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel that tells how much of what an engine has room for the scene takes, measured on request."""

from __future__ import annotations

import bpy
from bpy.app.translations import pgettext_iface as words
from bpy.props import CollectionProperty, EnumProperty, IntProperty, StringProperty

from ..formats import MENU_FORMATS, FormatError
from .player import CATEGORY

BUDGETED = [entry for entry in MENU_FORMATS.values() if entry.has_budget]


class RetroBudget(bpy.types.PropertyGroup):
    """One line of the panel, as it was measured last."""

    owner: StringProperty()
    what: StringProperty()
    used: IntProperty()
    most: IntProperty()


class MeasureBudget(bpy.types.Operator):
    """Count what an export of the visible scene would take. Nothing is written"""

    bl_idname = "scene.retro_measure"
    bl_label = "Measure"

    format: EnumProperty(
        name="Format",
        description="The format that is measured for",
        items=[(entry.id, entry.label, entry.used_by) for entry in BUDGETED],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..blender import files

        lines = context.window_manager.retro_budget
        lines.clear()
        try:
            found = files.measure(context, MENU_FORMATS[self.format])
        except FormatError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for each in found:
            line = lines.add()
            line.owner, line.what, line.used, line.most = each
        beyond = [f"{each.used:,} {each.what}" for each in found if each.used > each.most]
        if beyond:
            self.report({"WARNING"}, f"More than is known to work: {', '.join(beyond)}")
        return {"FINISHED"}


class BudgetPanel(bpy.types.Panel):
    bl_idname = "VIEW3D_PT_retro_budget"
    bl_label = "Budget"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        for entry in BUDGETED:
            text = words("Measure for {format}").format(format=words(entry.label))
            layout.operator(MeasureBudget.bl_idname, text=text, translate=False, icon="FILE_REFRESH").format = entry.id
        owner = ""
        for line in context.window_manager.retro_budget:
            if line.owner != owner:
                owner = line.owner
                box = layout.box().column(align=True)
                box.label(text=owner)
            row = box.split(factor=0.5)
            row.alert = line.used > line.most
            row.label(text=line.what.capitalize(), icon="ERROR" if line.used > line.most else "CHECKMARK")
            row.label(text=words("{used:,} of {most:,}").format(used=line.used, most=line.most), translate=False)


CLASSES = (RetroBudget, MeasureBudget, BudgetPanel)


def register() -> None:
    bpy.types.WindowManager.retro_budget = CollectionProperty(type=RetroBudget, options={"SKIP_SAVE"})


def unregister() -> None:
    if hasattr(bpy.types.WindowManager, "retro_budget"):  # another copy of the add-on may have taken it away
        del bpy.types.WindowManager.retro_budget

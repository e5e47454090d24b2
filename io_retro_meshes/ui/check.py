# SPDX-License-Identifier: GPL-3.0-or-later
"""What an export would lose or refuse, before it is done: a list, format by format, each line selecting what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface as words
from bpy.props import CollectionProperty, EnumProperty, PointerProperty, StringProperty

from ..formats import MENU_FORMATS, AnyFormat, FormatError

ALL = "ALL"
LINE = 90  # letters of a warning that fit into the popup
WIDTH = 640


class RetroCheckLine(bpy.types.PropertyGroup):
    """A warning, or the reason of a refusal; without text: nothing is lost."""

    format: StringProperty()
    kind: EnumProperty(items=[(name, name.title(), "") for name in ("GOOD", "WARNING", "ERROR")])
    text: StringProperty()
    objects: StringProperty()  # their names, as JSON


class RetroCheck(bpy.types.PropertyGroup):
    """What the last check has found. It belongs to the window, not to the file."""

    lines: CollectionProperty(type=RetroCheckLine)


class CheckExport(bpy.types.Operator):
    """List all that an export of this scene would lose or refuse, without writing anything"""

    bl_idname = "export_scene.retro_check"
    bl_label = "Check Export"
    bl_options = {"INTERNAL"}

    format: EnumProperty(
        name="Format",
        items=[
            (ALL, "All Formats", "One after the other"),
            *((entry.id, entry.label, entry.export_tip) for entry in MENU_FORMATS.values()),
        ],
    )
    filepath: StringProperty(name="File", description="The file that would be written", subtype="FILE_PATH")
    options: StringProperty(name="Options", description="The export's options as JSON; those that are not there are the usual")

    def execute(self, context: bpy.types.Context) -> set[str]:
        lines = context.window_manager.retro_check.lines
        lines.clear()
        wanted = list(MENU_FORMATS.values()) if self.format == ALL else [MENU_FORMATS[self.format]]
        for entry in wanted:
            self._check(context, entry, lines)
        lost, refused = (sum(line.kind == kind for line in lines) for kind in ("WARNING", "ERROR"))
        told = f"{lost} warnings, {refused} refusals" if lost or refused else "Nothing would be lost"
        self.report({"INFO"}, f"Checked for {', '.join(entry.label for entry in wanted)}: {told}")
        return {"FINISHED"}

    def _check(self, context: bpy.types.Context, entry: AnyFormat, lines: Any) -> None:
        from ..blender import files

        path = Path(bpy.path.abspath(self.filepath or f"//untitled{entry.extensions[0]}"))
        options = json.loads(self.options) if self.options else {}
        try:
            found = [("WARNING", text) for text in files.check_export(context, entry, path, **options)]
        except FormatError as error:
            found = [("ERROR", str(error))]
        for kind, text in found or [("GOOD", words("Nothing would be lost"))]:
            self._add(context, lines, entry, kind, text)

    @staticmethod
    def _add(context: bpy.types.Context, lines: Any, entry: AnyFormat, kind: str, text: str) -> None:
        from ..blender.culprits import culprits

        line = lines.add()
        line.format, line.kind, line.text = entry.id, kind, text
        line.objects = json.dumps([source.name for source in culprits(context, text)] if kind != "GOOD" else [])

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.execute(context)
        return set(context.window_manager.invoke_popup(self, width=WIDTH))

    def draw(self, context: bpy.types.Context) -> None:
        lines = context.window_manager.retro_check.lines
        for name in dict.fromkeys(line.format for line in lines):
            box = self.layout.box()
            box.label(text=MENU_FORMATS[name].label)
            for number, line in enumerate(lines):
                if line.format == name:
                    draw_line(box.column(align=True), number, line)


def draw_line(column: bpy.types.UILayout, number: int, line: Any) -> None:
    """The text in as many lines as it needs, and the button beside the first."""
    icons: dict[str, Any] = {"GOOD": "CHECKMARK", "WARNING": "INFO", "ERROR": "ERROR"}
    for place, part in enumerate(_wrapped(line.text)):
        row = column.row()
        row.label(text=part, icon="BLANK1" if place else icons[line.kind], translate=False)
        if not place and json.loads(line.objects):
            row.operator(SelectCulprit.bl_idname, text="", icon="RESTRICT_SELECT_OFF").line = number


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, LINE) or [""]


class SelectCulprit(bpy.types.Operator):
    """Select what this is about"""

    bl_idname = "object.retro_select_culprit"
    bl_label = "Select Culprit"
    bl_options = {"INTERNAL", "UNDO"}

    line: bpy.props.IntProperty(name="Line", description="Of the last check", min=0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        lines = context.window_manager.retro_check.lines
        names = json.loads(lines[self.line].objects) if self.line < len(lines) else []
        found = [source for source in context.view_layer.objects if source.name in names]
        if not found:
            self.report({"WARNING"}, "What this is about is not in the view layer any more")
            return {"CANCELLED"}
        for source in context.view_layer.objects:
            source.select_set(source in found)
        context.view_layer.objects.active = found[0]
        return {"FINISHED"}


CLASSES = (RetroCheckLine, RetroCheck, CheckExport, SelectCulprit)


def register() -> None:
    bpy.types.WindowManager.retro_check = PointerProperty(type=RetroCheck, options={"SKIP_SAVE"})


def unregister() -> None:
    attached: Any = bpy.types.WindowManager.bl_rna.properties.get("retro_check")
    if RetroCheck.is_registered and attached is not None and attached.fixed_type == RetroCheck.bl_rna:
        del bpy.types.WindowManager.retro_check  # unless it is another copy's of the add-on by now

# SPDX-License-Identifier: GPL-3.0-or-later
"""The import and export operators: one pair a format, made from the table of formats and its options."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
from bpy.props import CollectionProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..blender.properties import make_property
from ..formats import MENU_FORMATS, AnyFormat, FormatError
from ..formats.options import ImportOptions, Option, WindowOptions, options_of
from . import preferences
from .importing import Run, run_in_window
from .reports import report_success, report_warnings, showable

FOLDED = ("Armature", "Scene")  # panels that few need: the dialog of a dropped file must fit on small screens


def begin_scale(operator: Any, context: bpy.types.Context, verb: str) -> None:
    """A dialog begins with the scale of the preferences, unless it was opened with another."""
    if operator.format is not None and not operator.properties.is_property_set("scale"):
        operator.scale = preferences.default_scale(context, verb, operator.format.id)


def chosen_path(*parts: str) -> Path:
    """Also one that is relative to the .blend file."""
    return Path(bpy.path.abspath(os.path.join(*parts)))


# Each operator of a format is made of one of the bases below and of Blender's class, which to the types they are already.
Operator: Any = object
if TYPE_CHECKING:
    Operator = bpy.types.Operator


class Dialog(Operator):
    """The options as panels that can be folded away. An option that switches its panel stands in the header."""

    format: ClassVar[Any]  # None: the files say it
    choices: ClassVar[tuple[Option, ...]]

    def chosen(self) -> dict[str, Any]:
        return {option.name: getattr(self, option.name) for option in self.choices}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        shown = [option for option in self.choices if not option.hidden]
        for title in dict.fromkeys(option.panel for option in shown):
            self.draw_panel(layout, title, [option for option in shown if option.panel == title])

    def draw_panel(self, layout: bpy.types.UILayout, title: str, options: list[Option]) -> None:
        switch = next((option for option in options if option.enables), None)
        if [switch] == options:
            layout.prop(self, switch.name)
            return
        name = f"{self.bl_idname}_{title}".replace(".", "_").lower()
        header, body = layout.panel(name, default_closed=title in FOLDED)
        if switch is not None:
            header.use_property_split = False
            header.prop(self, switch.name, text="")
        header.label(text=title)
        if body is None:
            return
        body.active = switch is None or getattr(self, switch.name)
        column = body.column(heading="Limit to" if title == "Include" else "")
        for option in options:
            if option is not switch:
                row = column.row()
                row.active = option.needs is None or getattr(self, option.needs[0]) in option.needs[1]
                row.prop(self, option.name)


class Importer(Dialog, ImportHelper):
    """Base of the import operators."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO", "PRESET"}

    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})

    invoked = False  # from a menu or by a drop, not by a script

    def paths(self) -> list[Path]:
        if self.files and self.directory:
            return [chosen_path(self.directory, entry.name) for entry in self.files if entry.name]
        return [chosen_path(self.filepath)] if self.filepath else []

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.invoked = True
        begin_scale(self, context, "import")
        return self.invoke_popup(context)

    @classmethod
    def format_of(cls, path: Path) -> AnyFormat:
        """Not the operator's: an import of several files goes on when Blender has done away with it."""
        return cls.format

    def execute(self, context: bpy.types.Context) -> set[str]:
        paths = self.paths()
        if not paths:
            self.report({"ERROR"}, "No file was chosen")
            return {"CANCELLED"}
        run = Run(context, paths, type(self).format_of, self.chosen(), preferences.texture_folders(context))
        if self.invoked and len(paths) > 1 and context.window is not None:
            run_in_window(run)
            return {"CANCELLED"}  # the step to undo is made when all files are there
        while run.next is not None:
            run.step()
        return run.finish(self)


class Exporter(Dialog, ExportHelper):
    """Base of the export operators."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "PRESET"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        begin_scale(self, context, "export")
        return ExportHelper.invoke(self, context, event)

    def draw(self, context: bpy.types.Context) -> None:
        super().draw(context)
        check = self.layout.operator("export_scene.retro_check", text="Check", icon="VIEWZOOM")
        check.format, check.filepath, check.options = self.format.id, self.filepath, json.dumps(self.chosen())

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..blender import files

        path = chosen_path(self.filepath)
        if not self.filepath or os.path.isdir(path):  # no error where the name is too long
            self.report({"ERROR"}, "No file was chosen")
            return {"CANCELLED"}
        context.window_manager.progress_begin(0, 1)
        try:
            warnings = files.export_file(context, self.format, path, **self.chosen())
        except FormatError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except OSError as error:
            self.report({"ERROR"}, showable(f"{path.name}: cannot be written: {error.strerror or error}"))
            return {"CANCELLED"}
        finally:
            context.window_manager.progress_end()
        report_success(self, [f"{path.name}: {path.stat().st_size:,} bytes written"])
        report_warnings(self, warnings, f"Exported {path.name}")
        return {"FINISHED"}


class AnyImporter(Importer):
    """Base of the importer that looks into the files."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Files of one format get the dialog of that format, with all that it can be asked."""
        entry = self.common_format()
        if entry is None:
            self.invoked = True
            return self.invoke_popup(context)
        names = [{"name": path.name} for path in self.paths()]
        folder = str(self.paths()[0].parent)
        operator = getattr(bpy.ops.import_scene, entry.id)
        operator("INVOKE_DEFAULT", filepath=os.path.join(folder, names[0]["name"]), directory=folder, files=names)
        return {"INTERFACE"}

    def common_format(self) -> AnyFormat | None:
        try:
            found = [self.format_of(path) for path in self.paths()]
        except (FormatError, OSError):
            return None  # told when the file is imported
        return found[0] if found and found.count(found[0]) == len(found) else None

    @classmethod
    def format_of(cls, path: Path) -> AnyFormat:
        from ..blender import files

        found = files.format_of(path)
        if not found.in_menus:
            raise FormatError(f"a {found.label} file: Blender has an importer of its own for these", file=path.name)
        return found


def _any_importer() -> type:
    options = (*options_of(ImportOptions), *options_of(WindowOptions))
    annotations = {option.name: make_property(option) for option in options}
    annotations["filter_glob"] = StringProperty(default=";".join(f"*{each}" for each in all_extensions()), options={"HIDDEN"})
    return type(
        "IMPORT_SCENE_OT_retro_mesh",
        (bpy.types.Operator, AnyImporter),
        {
            "__doc__": "Open models of any of the old formats: what they are is seen from the files themselves",
            "__annotations__": annotations,
            "bl_idname": "import_scene.retro_mesh",
            "bl_label": "Import Retro Mesh",
            "format": None,
            "choices": options,
        },
    )


def all_extensions() -> list[str]:
    """Of every file that some importer takes."""
    return list(
        dict.fromkeys(each for entry in MENU_FORMATS.values() for each in (*entry.extensions, *entry.import_extensions))
    )


def _operator(entry: AnyFormat, base: type, verb: str, tip: str, choices: type) -> type:
    options = (*options_of(choices), *(options_of(WindowOptions) if verb == "import" else ()))
    annotations = {option.name: make_property(option) for option in options}
    extensions = (*entry.extensions, *(entry.import_extensions if verb == "import" else ()))
    pattern = ";".join(f"*{extension}" for extension in extensions)
    annotations["filter_glob"] = StringProperty(default=pattern, options={"HIDDEN"})
    return type(
        f"{verb.upper()}_SCENE_OT_{entry.id}",
        (bpy.types.Operator, base),
        {
            "__doc__": tip,
            "__annotations__": annotations,
            "bl_idname": f"{verb}_scene.{entry.id}",
            "bl_label": f"{verb.title()} {entry.label}",
            "filename_ext": entry.extensions[0],
            "format": entry,
            "choices": options,
        },
    )


def operator_classes() -> list[type]:
    """An import and an export operator for every format of the table."""
    made = [_any_importer()]
    for entry in MENU_FORMATS.values():
        made.append(_operator(entry, Importer, "import", entry.import_tip, entry.ImportOptions))
        made.append(_operator(entry, Exporter, "export", entry.export_tip, entry.ExportOptions))
    return made

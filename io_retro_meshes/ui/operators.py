# SPDX-License-Identifier: GPL-3.0-or-later
"""What all import and export operators share. A format's own module adds its name, its options and how they are drawn."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..blender import files
from ..blender.build import BuildOptions
from ..blender.collect import CollectOptions
from ..formats import FORMATS, FormatError

LOG_NAME = "Retro Meshes Log"


def _options(operator: Any, *kinds: Any) -> dict[str, Any]:
    """The operator's properties that are fields of these option classes."""
    names = {field.name for kind in kinds for field in fields(kind)}
    known = operator.properties.bl_rna.properties  # those of the operator itself are the class's own
    return {name: getattr(operator, name) for name in names if name in known}


def report_warnings(operator: bpy.types.Operator, warnings: list[str], title: str) -> None:
    """One line in the status bar, all of them in a text block."""
    if not warnings:
        return
    text = bpy.data.texts.get(LOG_NAME) or bpy.data.texts.new(LOG_NAME)
    text.write(showable(title + "\n" + "".join(f"  {warning}\n" for warning in warnings) + "\n"))
    more = f' (and {len(warnings) - 1} more: see the text "{LOG_NAME}")' if len(warnings) > 1 else ""
    operator.report({"WARNING"}, showable(warnings[0]) + more)


def showable(text: str) -> str:
    """Names of files need not be Unicode; what Blender shows must be."""
    return text.encode("utf-8", "replace").decode()


def chosen_path(*parts: str) -> Path:
    """Also one that is relative to the .blend file."""
    return Path(bpy.path.abspath(os.path.join(*parts)))


def panel(operator: Any, layout: bpy.types.UILayout, title: str, toggle: str = "") -> bpy.types.UILayout | None:
    """A group of options that can be folded away; None while it is. With a toggle in its header, it greys out with it."""
    name = f"{operator.bl_idname}_{title}".replace(".", "_").replace(" ", "_").lower()
    header, body = layout.panel(name, default_closed=False)
    if toggle:
        header.use_property_split = False
        header.prop(operator, toggle, text="")
        if body:
            body.active = getattr(operator, toggle)
    header.label(text=title)
    return body


class Dialog:
    """The options as panels. A format adds its own to each."""

    def split_layout(self) -> bpy.types.UILayout:
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        return self.layout

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        pass

    def draw_animation(self, layout: bpy.types.UILayout) -> None:
        pass

    def draw_textures(self, layout: bpy.types.UILayout) -> None:
        pass


def encoding_option() -> Any:
    """For formats whose names may be in any code page."""
    return EnumProperty(
        name="Names In",
        description="The code page of the names in the file",
        items=[
            ("AUTO", "Automatic", "UTF-8 where it is that, else Western European"),
            ("cp1252", "Western European", "Windows-1252"),
            ("cp1250", "Central European", "Windows-1250"),
            ("cp1251", "Cyrillic", "Windows-1251"),
            ("cp932", "Japanese", "Shift JIS"),
        ],
        default="AUTO",
    )


class Importer(Dialog, ImportHelper):
    """Base of the import operators."""

    format_id = ""
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
    scale: FloatProperty(
        name="Scale", description="Size of the model in Blender for one unit of the file", default=1.0, min=1e-6, soft_max=100.0
    )
    use_animation: BoolProperty(name="Animation", description="Import the animation as actions", default=True)
    use_textures: BoolProperty(name="Textures", description="Look for the texture files and load them", default=True)
    texture_folder: StringProperty(
        name="Texture Folder",
        description="Also look for textures here, after the model's own folder",
        subtype="DIR_PATH",
    )

    def paths(self) -> list[Path]:
        if self.files and self.directory:
            return [chosen_path(self.directory, entry.name) for entry in self.files if entry.name]
        return [chosen_path(self.filepath)] if self.filepath else []

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self.invoke_popup(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        entry = FORMATS[self.format_id]
        options = _options(self, BuildOptions, entry.module.ImportOptions)
        paths = self.paths()
        if not paths:
            self.report({"ERROR"}, "No file was chosen")
            return {"CANCELLED"}
        warnings: list[str] = []
        errors: list[str] = []
        manager = context.window_manager
        manager.progress_begin(0, len(paths))
        for number, path in enumerate(paths):
            manager.progress_update(number)
            try:
                found = files.import_file(context, entry, path, **options)
                warnings += [f"{path.name}: {warning}" if len(paths) > 1 else warning for warning in found]
            except FormatError as error:
                errors.append(str(error))
            except OSError as error:
                errors.append(f"{path.name}: cannot be read: {error.strerror or error}")
        manager.progress_end()
        report_warnings(self, warnings, f"Imported {', '.join(path.name for path in paths[:5])}")
        if errors:
            self.report({"ERROR"}, showable("\n".join(errors)))
        return {"CANCELLED"} if len(errors) == len(paths) else {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.split_layout()
        if body := panel(self, layout, "Model"):
            body.prop(self, "scale")
            self.draw_model(body)
        if type(self).draw_animation is Dialog.draw_animation:
            layout.prop(self, "use_animation")
        elif body := panel(self, layout, "Animation", "use_animation"):
            self.draw_animation(body)
        if body := panel(self, layout, "Textures", "use_textures"):
            body.prop(self, "texture_folder")
            self.draw_textures(body)


class Exporter(Dialog, ExportHelper):
    """Base of the export operators."""

    format_id = ""
    bl_options = {"REGISTER", "PRESET"}

    use_selection: BoolProperty(name="Selected Objects", description="Export only what is selected", default=False)
    use_visible: BoolProperty(name="Visible Objects", description="Leave out what is hidden", default=True)
    use_active_collection: BoolProperty(
        name="Active Collection", description="Export only the active collection and those inside it", default=False
    )
    collection: StringProperty(
        name="Collection", description="Export only this collection and those inside it", options={"HIDDEN"}
    )
    scale: FloatProperty(
        name="Scale", description="Size in the file of one unit in Blender", default=1.0, min=1e-6, soft_max=100.0
    )
    use_modifiers: BoolProperty(
        name="Apply Modifiers",
        description="Export meshes as their modifiers make them (armatures stay armatures)",
        default=True,
    )
    animation: EnumProperty(
        name="Animation",
        description="What of the animation is exported",
        items=[
            ("AUTO", "Automatic", "The timeline of an imported file with its sequences; else all actions, or the only one"),
            ("ACTIONS", "All Actions", "Every action that fits an exported object, one after the other, each under its name"),
            ("ACTIVE", "Active Action", "Only the actions that are assigned now, at their own frames"),
            ("SCENE", "Scene Range", "What plays from the scene's first to its last frame: NLA, constraints and drivers"),
            ("NONE", "None", "No animation"),
        ],
        default="AUTO",
    )
    key_tolerance: FloatProperty(
        name="Key Tolerance",
        description="Leave out keys that the others give back this well: a part of the model's size, or radians. 0 keeps a key "
        "on every frame",
        default=0.00001,
        min=0.0,
        soft_max=0.01,
        precision=5,
    )
    textures: EnumProperty(
        name="Textures",
        description="How textures are named in the file",
        items=[
            ("BASENAME", "File Name", "Only the name: the engine looks beside the model"),
            ("RELATIVE", "Relative Path", "The path from the exported file to the picture"),
            ("COPY", "Copy", "Only the name, and the picture is copied beside the exported file"),
            ("NONE", "None", "No textures at all"),
        ],
        default="BASENAME",
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        entry = FORMATS[self.format_id]
        options = _options(self, CollectOptions, entry.module.ExportOptions)
        path = chosen_path(self.filepath)
        if not self.filepath or path.is_dir():
            self.report({"ERROR"}, "No file was chosen")
            return {"CANCELLED"}
        context.window_manager.progress_begin(0, 1)
        try:
            warnings = files.export_file(context, entry, path, **options)
        except FormatError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except OSError as error:
            self.report({"ERROR"}, showable(f"{path.name}: cannot be written: {error.strerror or error}"))
            return {"CANCELLED"}
        finally:
            context.window_manager.progress_end()
        report_warnings(self, warnings, f"Exported {path.name}")
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.split_layout()
        if body := panel(self, layout, "Include"):
            column = body.column(heading="Limit to")
            column.prop(self, "use_selection")
            column.prop(self, "use_visible")
            column.prop(self, "use_active_collection")
        if body := panel(self, layout, "Model"):
            body.prop(self, "scale")
            body.prop(self, "use_modifiers")
            self.draw_model(body)
        if body := panel(self, layout, "Animation"):
            body.prop(self, "animation")
            column = body.column()
            column.active = self.animation != "NONE"
            column.prop(self, "key_tolerance")
            self.draw_animation(column)
        if body := panel(self, layout, "Textures"):
            body.prop(self, "textures")
            self.draw_textures(body)

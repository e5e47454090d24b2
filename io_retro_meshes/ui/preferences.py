# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user sets once: where textures always are, sizes, which formats are in the menus."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, StringProperty

from ..formats import MENU_FORMATS

ROOT = __package__.rpartition(".")[0]  # the name that Blender knows the add-on by, also as an extension
DOCUMENTATION = Path(__file__).parent.parent / "docs"  # in the zip
MOST_FOLDERS = 2000  # that are searched below one; a whole disk would take minutes


class TextureFolder(bpy.types.PropertyGroup):
    """A folder that every import looks for textures in."""

    path: StringProperty(name="Folder", description="Textures are looked for here in every import", subtype="DIR_PATH")
    below: BoolProperty(name="And Below", description="Also look in the folders inside it")


class AddTextureFolder(bpy.types.Operator):
    """Add a folder that every import looks for textures in"""

    bl_idname = "preferences.retro_texture_folder_add"
    bl_label = "Add Texture Folder"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        chosen = preferences(context)
        if chosen is None:
            return {"CANCELLED"}
        chosen.texture_folders.add()
        return {"FINISHED"}


class RemoveTextureFolder(bpy.types.Operator):
    """Do not look for textures in this folder any more"""

    bl_idname = "preferences.retro_texture_folder_remove"
    bl_label = "Remove Texture Folder"
    bl_options = {"INTERNAL"}

    index: IntProperty(options={"HIDDEN"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        chosen = preferences(context)
        if chosen is None or not 0 <= self.index < len(chosen.texture_folders):
            return {"CANCELLED"}
        chosen.texture_folders.remove(self.index)
        return {"FINISHED"}


class Preferences:
    """Drawn in Edit > Preferences > Add-ons."""

    layout: Any
    texture_folders: Any

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        page = DOCUMENTATION / "first-model.html"
        if page.is_file():
            layout.operator("wm.path_open", text="Documentation", icon="HELP").filepath = str(page)
        layout.label(text="Texture Folders")
        for index, folder in enumerate(self.texture_folders):
            row = layout.row()
            row.prop(folder, "path", text="")
            row.prop(folder, "below")
            row.operator(RemoveTextureFolder.bl_idname, text="", icon="X").index = index
        layout.operator(AddTextureFolder.bl_idname, icon="ADD")
        grid = layout.grid_flow(columns=4, row_major=True, even_columns=True)
        for title in ("Format", "In Menus", "Import Scale", "Export Scale"):
            grid.label(text=title)
        for entry in MENU_FORMATS.values():
            grid.label(text=entry.label)
            grid.prop(self, f"show_{entry.id}", text="")
            grid.prop(self, f"import_scale_{entry.id}", text="")
            grid.prop(self, f"export_scale_{entry.id}", text="")


def _scale(name: str, words: str) -> Any:
    return FloatProperty(name=name, description=words, default=1.0, min=1e-6, soft_max=100.0)


def _preferences_class() -> type:
    annotations: dict[str, Any] = {"texture_folders": CollectionProperty(type=TextureFolder)}
    for entry in MENU_FORMATS.values():
        annotations[f"show_{entry.id}"] = BoolProperty(
            name="In Menus", description="List the format in File > Import and File > Export", default=True
        )
        annotations[f"import_scale_{entry.id}"] = _scale("Import Scale", "The scale that the import dialog begins with")
        annotations[f"export_scale_{entry.id}"] = _scale("Export Scale", "The scale that the export dialog begins with")
    own = {"__annotations__": annotations, "bl_idname": ROOT}
    return type("RetroMeshesPreferences", (Preferences, bpy.types.AddonPreferences), own)


def preferences(context: bpy.types.Context) -> Any:
    """None where the add-on runs without being installed, as in a conversion."""
    addon: Any = context.preferences.addons.get(ROOT)
    return None if addon is None else addon.preferences


def in_menus(context: bpy.types.Context, format_id: str) -> bool:
    chosen = preferences(context)
    return chosen is None or bool(getattr(chosen, f"show_{format_id}"))


def default_scale(context: bpy.types.Context, verb: str, format_id: str) -> float:
    """The scale that a dialog begins with. Scripts, which open none, have 1."""
    chosen = preferences(context)
    return 1.0 if chosen is None else float(getattr(chosen, f"{verb}_scale_{format_id}"))


def texture_folders(context: bpy.types.Context) -> list[Path]:
    """The folders that are always searched, in order, each with those inside it where that is wished."""
    chosen = preferences(context)
    found: list[Path] = []
    for folder in chosen.texture_folders if chosen is not None else ():
        if folder.path:
            root = Path(bpy.path.abspath(folder.path))
            found += _below(root) if folder.below else [root]
    return found


def _below(root: Path) -> list[Path]:
    found: list[Path] = []
    for folder, inner, _ in os.walk(root):
        inner.sort()
        found.append(Path(folder))
        if len(found) >= MOST_FOLDERS:
            break
    return found


def classes() -> list[type]:
    return [TextureFolder, AddTextureFolder, RemoveTextureFolder, _preferences_class()]

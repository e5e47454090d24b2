# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, menus, file handlers, panels: everything a user sees, made from the table of formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface as words

from ..blender import compat, properties
from ..formats import MENU_FORMATS, AnyFormat
from . import budget, check, importing, languages, operators, panels, player, preferences, uber

PRESETS = str(Path(__file__).parent.parent)  # the folder that has `presets` in it


class RetroDrop(bpy.types.FileHandler):
    """Drag and drop of every format: the importer looks into the files."""

    bl_idname = "IO_FH_retro_mesh"
    bl_label = "Retro Mesh"
    bl_import_operator = "import_scene.retro_mesh"
    bl_file_extensions = ";".join(operators.all_extensions())

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        return context.area is not None and context.area.type == "VIEW_3D"


def _handler(entry: AnyFormat) -> type:
    """Collection exporters for a format."""
    return type(
        f"IO_FH_retro_{entry.id}",
        (bpy.types.FileHandler,),
        {
            "bl_idname": f"IO_FH_retro_{entry.id}",
            "bl_label": entry.label,
            "bl_export_operator": f"export_scene.{entry.id}",
            "bl_file_extensions": ";".join(entry.extensions),
            "poll_drop": classmethod(lambda cls, context: False),
        },
    )


def _draw_menu(menu: bpy.types.Menu, context: bpy.types.Context, group: str) -> None:
    for entry in MENU_FORMATS.values():
        if preferences.in_menus(context, entry.id):
            text = f"{words(entry.label)} ({', '.join(entry.extensions)})"
            menu.layout.operator(f"{group}.{entry.id}", text=text, translate=False)


def _draw_import_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator("import_scene.retro_mesh", text="Retro Mesh (any)")
    _draw_menu(menu, context, "import_scene")


def _draw_export_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    _draw_menu(menu, context, "export_scene")
    menu.layout.operator("export_scene.retro_check", text="Check for Retro Meshes…")


def _command_line(arguments: list[str]) -> int:
    """`blender --command retro_meshes …`"""
    from .. import cli

    return cli.main(arguments)


_registered: list[type] = []
_commands: list[Any] = []


def register() -> None:
    properties.register()
    languages.register()
    handlers = [RetroDrop, *(_handler(entry) for entry in MENU_FORMATS.values())]
    classes = [
        *operators.operator_classes(),
        *importing.CLASSES,
        *check.CLASSES,
        *uber.CLASSES,
        *panels.panel_classes(),
        *player.CLASSES,
        *budget.CLASSES,
        *handlers,
    ]
    _registered.extend([*preferences.classes(), *classes])
    for cls in _registered:
        bpy.utils.register_class(cls)
    check.register()
    budget.register()
    bpy.types.TOPBAR_MT_file_import.append(_draw_import_menu)
    bpy.types.TOPBAR_MT_file_export.append(_draw_export_menu)
    compat.register_presets(PRESETS)
    _commands.append(bpy.utils.register_cli_command("retro_meshes", _command_line))


def unregister() -> None:
    bpy.utils.unregister_cli_command(_commands.pop())
    compat.unregister_presets(PRESETS)
    bpy.types.TOPBAR_MT_file_export.remove(_draw_export_menu)
    bpy.types.TOPBAR_MT_file_import.remove(_draw_import_menu)
    check.unregister()
    budget.unregister()
    while _registered:
        cls = _registered.pop()
        if cls.is_registered:  # another copy of the add-on may have taken its place
            bpy.utils.unregister_class(cls)
    languages.unregister()
    properties.unregister()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, menus, file handlers, panels: everything a user sees. Each format's module lists its CLASSES."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from .. import cli
from ..blender import compat, properties
from ..formats import FORMATS, Format
from . import b3d, bo3d, bogle, dbo, panels, saturn

MODULES: dict[str, Any] = {"b3d": b3d, "bo3d": bo3d, "bogle": bogle, "dbo": dbo, "saturn": saturn}

PRESETS = str(Path(__file__).parent.parent)  # the folder that has `presets` in it


def _handler(entry: Format, module: Any) -> type:
    """Drag and drop, and collection exporters, for a format."""
    extensions = ";".join(entry.extensions)
    return type(
        f"IO_FH_retro_{entry.id}",
        (bpy.types.FileHandler,),
        {
            "bl_idname": f"IO_FH_retro_{entry.id}",
            "bl_label": entry.label,
            "bl_import_operator": f"import_scene.{entry.id}",
            "bl_export_operator": f"export_scene.{entry.id}",
            "bl_file_extensions": extensions,
            "poll_drop": classmethod(lambda cls, context: context.area is not None and context.area.type == "VIEW_3D"),
        },
    )


_HANDLERS = [_handler(FORMATS[format_id], module) for format_id, module in MODULES.items()]


def _menu_text(entry: Format) -> str:
    return f"{entry.label} ({', '.join(entry.extensions)})"


def _draw_import_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    for format_id in MODULES:
        menu.layout.operator(f"import_scene.{format_id}", text=_menu_text(FORMATS[format_id]))


def _draw_export_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    for format_id in MODULES:
        menu.layout.operator(f"export_scene.{format_id}", text=_menu_text(FORMATS[format_id]))


def _classes() -> list[type]:
    return [cls for module in [*MODULES.values(), panels] for cls in module.CLASSES] + _HANDLERS


def register() -> None:
    properties.register()
    for cls in _classes():
        bpy.utils.register_class(cls)
    bpy.types.TOPBAR_MT_file_import.append(_draw_import_menu)
    bpy.types.TOPBAR_MT_file_export.append(_draw_export_menu)
    compat.register_presets(PRESETS)
    cli.register()


def unregister() -> None:
    cli.unregister()
    compat.unregister_presets(PRESETS)
    bpy.types.TOPBAR_MT_file_export.remove(_draw_export_menu)
    bpy.types.TOPBAR_MT_file_import.remove(_draw_import_menu)
    for cls in reversed(_classes()):
        if cls.is_registered:  # another copy of the add-on may have taken its place
            bpy.utils.unregister_class(cls)
    properties.unregister()

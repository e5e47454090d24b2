# SPDX-License-Identifier: GPL-3.0-or-later
"""One file into another, through Blender: our formats on one side or on both, Blender's own on the other."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ..formats import FORMATS, Format
from . import files, gltf

Options = dict[str, Any]

# What Blender itself reads and writes, each with the settings that keep most of a model.
FOREIGN_INPUTS: dict[str, Callable[[str], object]] = {
    ".blend": lambda path: bpy.ops.wm.open_mainfile(filepath=path, load_ui=False, use_scripts=False),
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".gltf": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".obj": lambda path: bpy.ops.wm.obj_import(filepath=path),
    ".fbx": lambda path: bpy.ops.import_scene.fbx(filepath=path),
    ".ply": lambda path: bpy.ops.wm.ply_import(filepath=path),
    ".stl": lambda path: bpy.ops.wm.stl_import(filepath=path),
    ".usd": lambda path: bpy.ops.wm.usd_import(filepath=path),
    ".usdc": lambda path: bpy.ops.wm.usd_import(filepath=path),
    ".usdz": lambda path: bpy.ops.wm.usd_import(filepath=path),
}


def _blend(path: str) -> None:
    bpy.ops.file.pack_all()
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True, copy=True, relative_remap=False)


FOREIGN_OUTPUTS: dict[str, Callable[[str], object]] = {
    "glb": lambda path: gltf.export(path, "GLB"),
    "gltf": lambda path: gltf.export(path, "GLTF_SEPARATE"),
    "obj": lambda path: bpy.ops.wm.obj_export(filepath=path, path_mode="COPY"),
    "fbx": lambda path: bpy.ops.export_scene.fbx(
        filepath=path, path_mode="COPY", embed_textures=True, bake_anim_use_nla_strips=False
    ),
    "ply": lambda path: bpy.ops.wm.ply_export(filepath=path),
    "stl": lambda path: bpy.ops.wm.stl_export(filepath=path),
    "usd": lambda path: bpy.ops.wm.usd_export(filepath=path, export_animation=True),
    "blend": _blend,
}


def convert(source: Path, reader: Format | None, target: Path, to: str, options: Options) -> list[str]:
    """Makes `target` out of `source`, which is of the format `reader` or, without one, one of Blender's.

    Returns the warnings; raises OSError, FormatError or RuntimeError.
    """
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_b3d"):
        from .. import register

        register()
    importing, exporting = _split(options, reader, FORMATS.get(to))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    if reader is not None:
        warnings = files.import_file(bpy.context, reader, source, **importing)
    else:
        FOREIGN_INPUTS[source.suffix.lower()](str(source))
        warnings = []
    target.parent.mkdir(parents=True, exist_ok=True)
    if to in FORMATS:  # a model that was embedded in one file is to find its textures beside the other
        return warnings + files.export_file(bpy.context, FORMATS[to], target, **{"textures": "COPY", **exporting})
    _export_whole(target, FOREIGN_OUTPUTS[to])
    return warnings


def _export_whole(target: Path, export: Callable[[str], object]) -> None:
    """Lets Blender write into a folder of its own, and moves what it made into place when all of it is there."""
    made = Path(tempfile.mkdtemp(prefix=".converting-", dir=target.parent))
    try:
        export(str(made / target.name))
        companions = sorted(path for path in made.iterdir() if path.name != target.name)
        for path in [*companions, made / target.name]:
            path.replace(target.parent / path.name)
    finally:
        shutil.rmtree(made, ignore_errors=True)


# ------------------------------------------------------------------------------------------------------------- options


def _split(options: Options, reader: Format | None, writer: Format | None) -> tuple[Options, Options]:
    """The options of the importer and those of the exporter; an option of both goes to both.

    They are called as in the file dialogs, whose properties know what kind of value each takes.
    """
    known = [_properties("import_scene", reader), _properties("export_scene", writer)]
    for name in options:
        if not any(name in properties for properties in known):
            names = ", ".join(sorted({*known[0], *known[1]})) or "none"
            raise ValueError(f"there is no option {name} here; there are: {names}")
    parts = [{name: _value(kind[name], text) for name, text in options.items() if name in kind} for kind in known]
    return parts[0], parts[1]


def _properties(group: str, format: Format | None) -> dict[str, Any]:
    if format is None:
        return {}
    operator = getattr(getattr(bpy.ops, group), format.id)
    hidden = {"rna_type", "filepath", "directory", "files", "filter_glob", "check_existing"}
    return {name: prop for name, prop in operator.get_rna_type().properties.items() if name not in hidden}


def _value(prop: Any, text: str) -> Any:
    if prop.type == "BOOLEAN":
        words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
        if text.lower() not in words:
            raise ValueError(f"the option {prop.identifier} is true or false, not {text}")
        return words[text.lower()]
    if prop.type == "ENUM":
        names = {item.identifier.lower(): item.identifier for item in prop.enum_items}
        if text.lower() not in names:
            raise ValueError(f"the option {prop.identifier} is one of {', '.join(names.values())}, not {text}")
        return names[text.lower()]
    if prop.type in {"INT", "FLOAT"}:
        try:
            return (int if prop.type == "INT" else float)(text)
        except ValueError:
            raise ValueError(f"the option {prop.identifier} is a number, not {text}") from None
    return text

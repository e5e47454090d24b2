# SPDX-License-Identifier: GPL-3.0-or-later
"""One file into another, through Blender: our formats on one side or on both, Blender's own on the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ..atomic import folder_beside, move_into_place
from ..formats import FORMATS, AnyFormat
from ..formats.options import split
from . import files, gltf, properties

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


def prepare() -> None:
    """Has Blender know our settings."""
    properties.register()


def convert(source: Path, reader: AnyFormat | None, target: Path, to: str, options: Options) -> list[str]:
    """Makes `target` out of `source`, which is of the format `reader` or, without one, one of Blender's.

    Returns the warnings; raises OSError, FormatError or RuntimeError.
    """
    prepare()
    writer = None if to in FOREIGN_OUTPUTS else FORMATS[to]
    kinds = (None if reader is None else reader.ImportOptions, None if writer is None else writer.ExportOptions)
    importing, exporting = split(options, *kinds)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    if reader is not None:
        warnings = files.import_file(bpy.context, reader, source, **importing)
    else:
        FOREIGN_INPUTS[source.suffix.lower()](str(source))
        warnings = []
    target.parent.mkdir(parents=True, exist_ok=True)
    if writer is not None:  # a model that was embedded in one file is to find its textures beside the other
        return warnings + files.export_file(bpy.context, writer, target, **{"textures": "COPY", **exporting})
    _export_whole(target, FOREIGN_OUTPUTS[to])
    return warnings


def _export_whole(target: Path, export: Callable[[str], object]) -> None:
    """Lets Blender write into a folder of its own, and moves what it made into place when all of it is there."""
    with folder_beside(target) as made:
        export(str(made / target.name))
        move_into_place(made, target)

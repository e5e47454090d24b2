# SPDX-License-Identifier: GPL-3.0-or-later
"""A million triangles into and out of each format, beside Blender's own PLY of the same mesh in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from io_retro_meshes import formats
from io_retro_meshes.formats import b3d

from .timing import Report, best, empty

SIDE = 708  # vertices along a side of the grid: 501,264 in all, and 999,698 triangles

# Most times that of PLY. A format that packs more than positions into a file is given more.
IMPORT_LIMITS = {"b3d": 1 / 3}
EXPORT_LIMITS = {"b3d": 5.0}


def grid() -> None:
    """A hilly field of a million triangles, with normals and UVs, in an otherwise empty scene. The PLY has both as well."""
    empty()
    across = np.linspace(-1, 1, SIDE, dtype=np.float32)
    x, y = (axis.reshape(-1) for axis in np.meshgrid(across, across))
    positions = np.stack([x, y, 0.1 * np.sin(9 * x) * np.cos(7 * y)], -1)
    number = np.arange(SIDE * SIDE, dtype=np.int32).reshape(SIDE, SIDE)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    corners = np.stack([a, b, c, a, c, d], -1).reshape(-1)
    mesh = bpy.data.meshes.new("field")
    mesh.vertices.add(len(positions))
    mesh.vertices.foreach_set("co", positions.reshape(-1))
    mesh.loops.add(len(corners))
    mesh.loops.foreach_set("vertex_index", corners)
    mesh.polygons.add(len(corners) // 3)
    mesh.polygons.foreach_set("loop_start", np.arange(0, len(corners), 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    layer = mesh.uv_layers.new(name="UVMap")
    layer.uv.foreach_set("vector", (positions[corners, :2] / 2 + 0.5).reshape(-1))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(corners) // 3, bool))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("field", mesh))


def measure(report: Report, folder: Path) -> None:
    grid()
    ply = folder / "field.ply"
    ply_export = best(lambda: bpy.ops.wm.ply_export(filepath=str(ply), export_normals=True))
    report.line("export ply", ply_export)
    bare = folder / "bare.ply"
    bpy.ops.wm.ply_export(filepath=str(bare))
    exports = {}
    for name in ids():
        path = folder / f"field{formats.FORMATS[name].extensions[0]}"
        exports[name] = path
        seconds = best(lambda name=name, path=path: getattr(bpy.ops.export_scene, name)(filepath=str(path)))
        report.line(f"export {name}", seconds, seconds / ply_export, EXPORT_LIMITS.get(name))
    # Blender's PLY leaves normals out unless asked. The limits are against the one with the layers our files have; the
    # ratio to the smaller one is printed as well, without a limit.
    ply_import = best(lambda: bpy.ops.wm.ply_import(filepath=str(ply)), empty)
    bare_import = best(lambda: bpy.ops.wm.ply_import(filepath=str(bare)), empty)
    report.line("import ply", ply_import)
    report.line("import ply, no normals", bare_import)
    for name, path in exports.items():
        seconds = best(lambda name=name, path=path: getattr(bpy.ops.import_scene, name)(filepath=str(path)), empty)
        report.line(f"import {name}", seconds, seconds / ply_import, IMPORT_LIMITS.get(name))
        report.line("    against no normals", seconds, seconds / bare_import)


def ids() -> list[str]:
    """The formats that can hold the field: those whose operators are there."""
    return [name for name in formats.MENU_FORMATS if hasattr(bpy.types, f"EXPORT_SCENE_OT_{name}") and name != "saturn"]


def profile(folder: Path) -> None:
    """The time of each floor, for b3d."""
    from io_retro_meshes.blender.build import build
    from io_retro_meshes.blender.collect import collect
    from io_retro_meshes.formats.options import ExportOptions, ImportOptions

    grid()
    path = folder / "field.b3d"
    stages: list[tuple[str, float]] = []
    clock = time.perf_counter

    def stage(name: str, action: Callable[[], Any]) -> Any:
        start = clock()
        result = action()
        stages.append((name, clock() - start))
        return result

    scene, _ = stage("collect", lambda: collect(bpy.context, ExportOptions(), b3d))
    made = stage("from_scene", lambda: b3d.from_scene(scene, b3d.ExportOptions()))
    data = stage("write", lambda: b3d.write(made))
    stage("to disk", lambda: path.write_bytes(data))
    empty()
    data = stage("from disk", path.read_bytes)
    made = stage("read", lambda: b3d.read(data))
    scene = stage("to_scene", lambda: b3d.to_scene(made, b3d.ImportOptions()))
    stage("build", lambda: build(bpy.context, scene, path, ImportOptions()))
    for name, seconds in stages:
        print(f"    b3d {name:12}{seconds:9.3f} s")

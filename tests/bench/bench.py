# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of imports and exports beside those of Blender's own PLY, on the same mesh in the same run.

    python3 build.py bench            prints them
    python3 build.py bench --check    fails when one is over its limit
    python3 build.py bench --profile  says where the time of each goes as well

Absolute times mean little between machines; the limits are ratios.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # Blender runs this file by its path

import io_retro_meshes
from io_retro_meshes import formats
from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d import document as chunks
from io_retro_meshes.formats.saturn import lzss
from tests.builders.saturn import tiles

SIDE = 708  # vertices along a side of the grid: 501,264 in all, and 999,698 triangles
ROUNDS = 5
BONES, KEYS = 40, 600  # 24,000 keys of three channels each: 72,000

# Most times that of PLY. A format that packs more than positions into a file is given more.
IMPORT_LIMITS = {"b3d": 1 / 3}
EXPORT_LIMITS = {"b3d": 5.0}
KEYS_LIMIT = 0.5  # seconds
UNPACKED_A_SECOND = 20e6  # bytes of Saturn textures


def best(action: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    times = []
    for _ in range(ROUNDS):
        before()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def empty() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


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


def animated() -> bytes:
    """A .b3d of a chain of bones, each with keys for place, turn and size on every frame."""
    triangle = chunks.Vertices(0, 0, 0, np.eye(3, dtype="<f4"))
    root = chunks.Node(b"root", chunks=[chunks.Mesh(-1, [triangle, chunks.Triangles(-1, np.array([[0, 1, 2]], "<i4"))])])
    root.chunks.append(chunks.Anim(0, KEYS, 30.0))
    weights = np.array([(0, 1.0 / BONES)], chunks.WEIGHT)
    flags = chunks.POSITION | chunks.SCALE | chunks.ROTATION
    keys = np.zeros(KEYS, chunks.key_dtype(flags))
    keys["frame"] = np.arange(1, KEYS + 1)
    keys["position"] = np.random.default_rng(1).random((KEYS, 3))
    keys["scale"] = 1
    keys["rotation"] = np.random.default_rng(2).normal((4, 1, 1, 1), 0.3, (KEYS, 4))
    parent = root
    for number in range(BONES):
        bone = chunks.Node(f"bone {number}".encode(), chunks=[chunks.Bone(weights), chunks.Keys(flags, keys)])
        parent.chunks.append(bone)
        parent = bone
    return b3d.write(chunks.Document(chunks=[root]))


class Report:
    def __init__(self) -> None:
        self.missed: list[str] = []

    def line(
        self, name: str, seconds: float, ratio: float | None = None, limit: float | None = None, unit: str = "x PLY"
    ) -> None:
        value = seconds if ratio is None else ratio
        words = f"{name:24}{seconds:9.3f} s"
        if ratio is not None:
            words += f"{ratio:9.2f} {unit}"
        if limit is not None:
            words += f"   limit {limit:.2f}: {'kept' if value <= limit else 'MISSED'}"
            if value > limit:
                self.missed.append(name)
        print(words, flush=True)


def measure(folder: Path) -> Report:
    report = Report()
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
    model = folder / "animated.b3d"
    model.write_bytes(animated())
    seconds = best(lambda: bpy.ops.import_scene.b3d(filepath=str(model)), empty)
    report.line(f"import {3 * BONES * KEYS:,} keys", seconds, None, KEYS_LIMIT)
    for name, words in (("painted", tiles(1024)), ("flat", np.full(1 << 18, 0x8421, np.uint16))):
        packed = lzss.compress(words)
        seconds = best(lambda packed=packed, words=words: lzss.decompress(packed, len(words)))
        report.line(f"unpack 512 KB, {name}", seconds, None, words.nbytes / UNPACKED_A_SECOND)
    return report


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


def main() -> int:
    given = sys.argv[sys.argv.index("--") + 1 :] if bpy.app.binary_path and "--" in sys.argv else sys.argv[1:]
    parser = argparse.ArgumentParser(prog="build.py bench")
    parser.add_argument("--check", action="store_true", help="fail when a limit is missed")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    arguments = parser.parse_args(given)
    io_retro_meshes.register()
    with tempfile.TemporaryDirectory() as folder:
        print(
            f"Blender {bpy.app.version_string}, {SIDE * SIDE:,} vertices, {2 * (SIDE - 1) ** 2:,} triangles, best of {ROUNDS}"
        )
        report = measure(Path(folder))
        if arguments.profile:
            profile(Path(folder))
    if report.missed:
        print(f"Over the limit: {', '.join(report.missed)}")
    return 1 if report.missed and arguments.check else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with animation into each format, beside Blender's own glTF exporter of the same: one made here, and real ones."""

from __future__ import annotations

import time
from pathlib import Path

import bpy
import numpy as np

from io_retro_meshes import formats
from io_retro_meshes.blender import compat
from tests.conftest import CORPUS

from .timing import Report, best, empty

RIGS, BONES, EMPTIES, FRAMES, KEYS = 2, 30, 20, 120, 8
ANIMATED_LIMIT = 1.0  # times Blender's glTF of the scene made here
ASSET_LIMIT = 2.0  # ... of a real one
ROUNDS = 2


def animated() -> None:
    """Rigs of which every bone turns and moves, with a skinned mesh each, and objects that move one another: smooth keys, a
    few to a curve, as an artist sets them."""
    empty()
    random = np.random.default_rng(8)
    for number in range(RIGS):
        rig = _rig(f"rig {number}", random)
        paths = [f'pose.bones["bone {bone}"].{field}' for bone in range(BONES) for field in ("location", "rotation_quaternion")]
        _keyed(rig, paths, random)
    above = None
    for number in range(EMPTIES):
        made = bpy.data.objects.new(f"object {number}", _ball())
        bpy.context.scene.collection.objects.link(made)
        made.parent = above if number % 6 else None
        _keyed(made, ["location", "rotation_euler", "scale"], random)
        above = made
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES


def _ball() -> bpy.types.Mesh:
    mesh = bpy.data.meshes.get("ball")
    if mesh is None:
        mesh = bpy.data.meshes.new("ball")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    return mesh


def _rig(name: str, random: np.random.Generator) -> bpy.types.Object:
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    heads = random.normal(size=(BONES, 3))
    made: list[bpy.types.EditBone] = []
    for number, head in enumerate(heads):
        bone = rig.data.edit_bones.new(f"bone {number}")
        bone.head, bone.tail = head, (head[0], head[1], head[2] + 0.3)
        bone.parent = made[(number - 1) // 2] if number else None
        made.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new(name)
    points = np.repeat(heads, 20, 0) + random.normal(0, 0.1, (20 * BONES, 3))
    corners = np.arange(len(points) // 3 * 3).reshape(-1, 3)
    mesh.from_pydata(points.tolist(), [], corners.tolist())
    skin = bpy.data.objects.new(f"{name} skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    for number in range(BONES):
        skin.vertex_groups.new(name=f"bone {number}").add(list(range(20 * number, 20 * number + 20)), 1.0, "REPLACE")
    skin.parent = rig
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    return rig


def _keyed(owner: bpy.types.Object, paths: list[str], random: np.random.Generator) -> None:
    action = bpy.data.actions.new(owner.name)
    curves = compat.ActionCurves(action, owner)
    frames = np.linspace(1, FRAMES, KEYS).round()
    for path in paths:
        width = 4 if path.endswith("quaternion") else 3
        for index in range(width):
            rest = float(path.endswith("scale") or (path.endswith("quaternion") and index == 0))
            curve = curves.new(path, index, "moves")
            curve.keyframe_points.add(KEYS)
            values = rest + random.normal(0, 0.2, KEYS)
            curve.keyframe_points.foreach_set("co", np.stack([frames, values], 1).astype(np.float32).reshape(-1))
            curve.update()
    compat.assign_action(owner, action, curves.slot)


def measure(report: Report, folder: Path) -> None:
    animated()
    theirs = best(lambda: bpy.ops.export_scene.gltf(filepath=str(folder / "theirs.glb")), rounds=ROUNDS)
    report.line("animated scene, glTF", theirs)
    for name in formats.MENU_FORMATS:
        _beside(report, f"animated scene, {name}", name, folder, theirs, ANIMATED_LIMIT)
    for path in sorted([*(CORPUS / "gltf").glob("*.glb"), *(CORPUS / "blend").glob("*.blend")]):
        _open(path)
        theirs = best(lambda: bpy.ops.export_scene.gltf(filepath=str(folder / "theirs.glb")), rounds=ROUNDS)
        report.line(f"{path.stem}, glTF", theirs)
        for name in formats.MENU_FORMATS:
            _beside(report, f"    {name}", name, folder, theirs, ASSET_LIMIT)


def _open(path: Path) -> None:
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
        return
    empty()
    bpy.ops.import_scene.gltf(filepath=str(path))


def _beside(report: Report, words: str, name: str, folder: Path, theirs: float, limit: float) -> None:
    target = str(folder / f"ours{formats.FORMATS[name].extensions[0]}")
    export = getattr(bpy.ops.export_scene, name)
    start = time.perf_counter()
    try:
        export(filepath=target)
    except RuntimeError as error:  # the format cannot hold it, and says so
        reason = str(error).strip().removeprefix("Error: ").splitlines()[0][:70]
        report.line(words, time.perf_counter() - start)
        print(f"        refused: {reason}")
        return
    ours = best(lambda: export(filepath=target), rounds=ROUNDS)
    report.line(words, ours, ours / theirs, limit, "x glTF")

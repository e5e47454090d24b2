# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that are worked out from F-curves, against Blender's own of the same frames."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import bpy
import numpy as np
import pytest

from io_retro_meshes.blender import compat
from io_retro_meshes.blender.collect.armatures import pose_matrices
from io_retro_meshes.blender.collect.direct import MODES, Direct

pytestmark = pytest.mark.usefixtures("blender")

FIELDS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
DELTAS = {"delta_location": 3, "delta_rotation_euler": 3, "delta_rotation_quaternion": 4, "delta_scale": 3}
FRAMES = np.array([-3, 0, 1, 2, 2.5, 5, 8, 11, 12.25, 16, 25], np.float32)  # also before and behind all keys
KINDS = ("LINEAR", "CONSTANT", "BEZIER", "ELASTIC")


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(19)


def keyed(owner: bpy.types.Object, paths: dict[str, int], random: np.random.Generator) -> None:
    """Keys for all these fields, of every kind of interpolation, a few of them with modifiers or going on beyond their ends."""
    action = bpy.data.actions.new(owner.name)
    curves = compat.ActionCurves(action, owner)
    for number, (path, width) in enumerate(paths.items()):
        for index in range(width):
            curve = curves.new(path, index, "group")
            count = int(random.integers(1, 6))
            curve.keyframe_points.add(count)
            frames = np.sort(random.choice(15, count, replace=False)).astype(np.float32)
            values = random.normal(0.8, 0.6, count).astype(np.float32)
            curve.keyframe_points.foreach_set("co", np.stack([frames, values], 1).reshape(-1))
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR" if number % 3 else KINDS[int(random.integers(len(KINDS)))]
            curve.update()
            if number % 5 == 3:
                curve.extrapolation = "LINEAR"
            if number % 7 == 5:
                curve.modifiers.new("CYCLES")
    compat.assign_action(owner, action, curves.slot)


def armature(random: np.random.Generator) -> bpy.types.Object:
    """A tree of bones, one with each mode of rotation."""
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    made: list[bpy.types.EditBone] = []
    for mode in MODES:
        bone = rig.data.edit_bones.new(mode)
        bone.head, bone.tail, bone.roll = random.normal(size=3), random.normal(size=3), float(random.normal())
        bone.parent = made[int(random.integers(len(made)))] if len(made) > 1 else None
        made.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    for mode in MODES:
        rig.pose.bones[mode].rotation_mode = mode
    return rig


def played(objects: list[bpy.types.Object]) -> Iterator[tuple[bpy.types.Object, int, np.ndarray, np.ndarray | None]]:
    for number, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(int(frame // 1), subframe=float(frame % 1))
        graph = bpy.context.evaluated_depsgraph_get()
        for source in objects:
            shown = source.evaluated_get(graph)
            yield source, number, np.array(shown.matrix_world), pose_matrices(shown) if shown.pose else None


def compare(objects: list[bpy.types.Object]) -> None:
    direct = Direct(bpy.context, FRAMES)
    assert all(direct.covers(source) for source in objects)
    bpy.context.scene.frame_set(int(FRAMES[0]))
    graph = bpy.context.evaluated_depsgraph_get()
    worlds = {source: direct.worlds(source, graph) for source in objects}
    poses = {source: direct.poses(source, graph) for source in objects if source.pose}
    moved = 0
    for source, number, world, pose in played(objects):
        ours = np.broadcast_to(worlds[source], (len(FRAMES), 4, 4))[number]
        assert np.abs(ours - world).max() < 2e-5 * max(np.abs(world).max(), 1), (source.name, FRAMES[number])
        if pose is not None:
            ours = np.broadcast_to(poses[source], (len(FRAMES), *pose.shape))[number]
            assert np.abs(ours - pose).max() < 2e-5 * max(np.abs(pose).max(), 1), (source.name, FRAMES[number])
            moved += len({each.tobytes() for each in pose})
    assert moved or all(source.pose is None for source in objects)


def test_bones_in_every_mode(random: np.random.Generator) -> None:
    rig = armature(random)
    keyed(rig, {f'pose.bones["{bone}"].{field}': width for bone in MODES for field, width in FIELDS.items()}, random)
    compare([rig])


def test_objects_in_every_mode_and_what_hangs_on_them(random: np.random.Generator) -> None:
    rig = armature(random)
    keyed(rig, {f'pose.bones["{bone}"].rotation_quaternion': 4 for bone in MODES} | {"location": 3}, random)
    objects = [rig]
    for mode, kind in itertools.product(MODES, ("OBJECT", "BONE")):
        made = bpy.data.objects.new(f"{mode} {kind}", None)
        bpy.context.scene.collection.objects.link(made)
        made.rotation_mode = mode
        made.parent = rig if kind == "BONE" else objects[-1]
        if kind == "BONE":
            made.parent_type, made.parent_bone = "BONE", mode
        made.matrix_parent_inverse[0][3] = 0.5
        made.delta_location, made.delta_rotation_euler, made.delta_scale = (1, 2, 3), (0.1, 0.2, 0.3), (1, 0.5, 2)
        if mode != "XZY":  # this one only follows
            keyed(made, FIELDS | DELTAS, random)
        objects.append(made)
    still = bpy.data.objects.new("still", None)
    still.location = 1000, 2, 3
    bpy.context.scene.collection.objects.link(still)
    compare([*objects, still])


def test_what_blender_has_to_play(random: np.random.Generator) -> None:
    """Whatever else moves an object, or what it hangs on, is found."""
    rig = armature(random)
    keyed(rig, {'pose.bones["XYZ"].location': 3}, random)
    child = bpy.data.objects.new("child", None)
    bpy.context.scene.collection.objects.link(child)
    child.parent = rig

    def covered() -> bool:
        return Direct(bpy.context, FRAMES).covers(child)

    assert covered()
    constraint = rig.pose.bones["XYZ"].constraints.new("COPY_LOCATION")
    assert not covered()
    rig.pose.bones["XYZ"].constraints.remove(constraint)
    rig.data.bones["XYZ"].inherit_scale = "NONE"
    assert not covered()
    rig.data.bones["XYZ"].inherit_scale = "FULL"
    rig.driver_add("location", 0)
    assert not covered()
    rig.driver_remove("location", 0)
    rig.data.pose_position = "REST"
    assert not covered()
    rig.data.pose_position = "POSE"
    bpy.context.scene.render.frame_map_new = 50
    assert not covered()
    bpy.context.scene.render.frame_map_new = 100
    rig.animation_data.nla_tracks.new()
    assert not covered()
    rig.animation_data.use_nla = False
    assert covered()
    child.parent_type, child.parent_bone = "BONE", "XYZ"
    rig.data.bones["XYZ"].use_relative_parent = True
    assert not covered()
    rig.data.bones["XYZ"].use_relative_parent = False
    assert covered()


def test_curves_that_are_off(random: np.random.Generator) -> None:
    """Muted curves do nothing; what has no keys keeps its value."""
    rig = armature(random)
    keyed(rig, {f'pose.bones["{bone}"].location': 3 for bone in MODES}, random)
    curves = [curve for _, found in compat.action_curves(rig.animation_data.action) for curve in found]
    for curve in curves[::2]:
        curve.mute = True
    rig.pose.bones["XYZ"].location = 4, 5, 6
    compare([rig])
    curves[0].group.mute = True
    assert not Direct(bpy.context, FRAMES).covers(rig)

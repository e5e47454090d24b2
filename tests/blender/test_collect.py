# SPDX-License-Identifier: GPL-3.0-or-later
"""Any scene a person would make, collected: what Blender shows is what the neutral scene says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from io_retro_meshes import formats
from io_retro_meshes.scene.animation import bone_matrices
from tests.builders.posing import shown, told


@pytest.fixture
def collect(blender: Any) -> Any:
    from io_retro_meshes.blender.collect import collect
    from io_retro_meshes.formats.options import ExportOptions

    def run(format: Any = formats.dbo, **options: Any) -> Any:
        return collect(blender.context, ExportOptions(key_tolerance=1e-5, **options), format)[0]

    return run


def rig(bpy: Any, name: str = "Rig") -> Any:
    """Two bones in a row, the second turned, and a tube skinned softly to them."""
    from mathutils import Vector

    data = bpy.data.armatures.new(name)
    target = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(target)
    bpy.context.view_layer.objects.active = target
    bpy.ops.object.mode_set(mode="EDIT")
    lower, upper = data.edit_bones.new("lower"), data.edit_bones.new("upper")
    lower.head, lower.tail = (0, 0, 0), (0, 0, 1)
    upper.head, upper.tail, upper.parent = (0, 0, 1), (0, 1, 2), lower
    upper.align_roll(Vector((1, 0, 0)))
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Tube")
    mesh.from_pydata(
        [(x, y, z) for z in (0, 0.5, 1, 1.5, 2) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
        [],
        [(4 * z + i, 4 * z + (i + 1) % 4, 4 * z + 4 + (i + 1) % 4, 4 * z + 4 + i) for z in range(4) for i in range(4)],
    )
    skin = bpy.data.objects.new(f"{name} Tube", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.location = (0.25, 0, 0)
    skin.scale = (0.5, 0.5, 1)
    skin.parent = target
    skin.modifiers.new("Armature", "ARMATURE").object = target
    for bone, sign in (("lower", 1), ("upper", -1)):
        group = skin.vertex_groups.new(name=bone)
        for vertex in mesh.vertices:
            group.add([vertex.index], min(max(0.5 + sign * (1 - vertex.co.z), 0), 1), "REPLACE")
    return target


def swing(target: Any, name: str, bone: str, angle: float, last: int = 20) -> Any:
    """An action that turns a bone and moves it a little."""
    target.animation_data_create()
    target.animation_data.action = None
    pose = target.pose.bones[bone]
    pose.rotation_mode = "XYZ"
    for frame, value in ((1, 0.0), (last, angle)):
        pose.rotation_euler = (value, value / 2, 0)
        pose.location = (0, 0, value / 10)
        pose.keyframe_insert("rotation_euler", frame=frame)
        pose.keyframe_insert("location", frame=frame)
    target.animation_data.action.name = name
    return target.animation_data.action


def same(bpy: Any, scene: Any, clip: Any, frames: tuple[float, ...], shift: float = 0) -> None:
    for frame in frames:
        expected, found = shown(bpy, frame), told(scene, clip, frame + shift)
        assert set(expected) <= set(found)
        for name, points in expected.items():
            assert np.abs(points - found[name]).max() < 2e-4, (name, frame)


def test_rigged_mesh_with_its_own_transform_moves_as_in_blender(blender: Any, collect: Any) -> None:
    target = rig(blender)
    target.location, target.rotation_euler = (3, 0, 1), (0, 0, 0.5)
    swing(target, "swing", "upper", 1.2)
    scene = collect()
    assert scene.timeline is not None
    assert [(clip.name, clip.first, clip.last, clip.tracks) for clip in scene.clips] == [("swing", 1, 20, None)]
    same(blender, scene, scene.timeline, (1, 7, 13, 20))


def test_several_actions_become_clips_and_nothing_of_one_stays_in_the_next(blender: Any, collect: Any) -> None:
    target = rig(blender)
    swing(target, "nod", "upper", 1.0)
    swing(target, "bow", "lower", -0.7, last=11)
    bow = target.animation_data.action
    blender.context.scene.frame_set(5)
    before = [tuple(bone.matrix_basis.col[3]) for bone in target.pose.bones]
    scene = collect()
    assert {clip.name: (clip.first, clip.last) for clip in scene.clips} == {"nod": (1, 20), "bow": (1, 11)}
    binds = np.array([bone.bind for bone in scene.nodes[0].armature.bones])
    for clip in scene.clips:
        moved = [
            np.abs(np.linalg.inv(poses[0]) @ poses[-1] - np.eye(4)).max() > 0.1
            for poses in bone_matrices(scene, 0, clip.tracks, np.array([1, clip.last], np.float32))
        ]
        start = np.array(bone_matrices(scene, 0, clip.tracks, np.ones(1, np.float32)))[:, 0]
        assert np.abs(start - binds).max() < 1e-4, clip.name  # both begin at rest, whatever is posed now
        assert moved == ([False, True] if clip.name == "nod" else [True, True])
    assert target.animation_data.action == bow
    assert before == [tuple(bone.matrix_basis.col[3]) for bone in target.pose.bones]


def test_constraints_and_drivers_are_sampled(blender: Any, collect: Any) -> None:
    bpy = blender
    target = rig(bpy)
    aim = bpy.data.objects.new("Aim", None)
    bpy.context.scene.collection.objects.link(aim)
    aim.location = (2, 0, 2)
    aim.keyframe_insert("location", frame=1)
    aim.location = (-2, 1, 3)
    aim.keyframe_insert("location", frame=15)
    constraint = target.pose.bones["upper"].constraints.new("DAMPED_TRACK")
    constraint.target = aim
    driver = target.driver_add("location", 2).driver
    driver.expression = "frame / 10"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 15
    scene = collect(animation="SCENE")
    same(bpy, scene, scene.timeline, (1, 4, 9, 15))


def test_an_object_on_a_bone_follows_it(blender: Any, collect: Any) -> None:
    bpy = blender
    target = rig(bpy)
    hat = bpy.data.objects.new("Hat", bpy.data.meshes.new("Hat"))
    hat.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    bpy.context.scene.collection.objects.link(hat)
    hat.parent, hat.parent_type, hat.parent_bone = target, "BONE", "upper"
    hat.location, hat.scale = (0.1, 0.2, 0.3), (-1, 1, 1)
    swing(target, "swing", "lower", 0.9)
    scene = collect()
    node = next(node for node in scene.nodes if node.name == "Hat")
    assert scene.nodes[node.parent].armature.bones[node.parent_bone].name == "upper"
    same(bpy, scene, scene.timeline, (1, 8, 20))


def test_instances_modifiers_and_polygons(blender: Any, collect: Any) -> None:
    bpy = blender
    mesh = bpy.data.meshes.new("Plate")
    angles = [math.tau * i / 5 for i in range(5)]
    mesh.from_pydata(
        [(math.cos(a), math.sin(a), 0) for a in angles] + [(3, 0, 0), (4, 0, 0), (4, 1, 0), (3, 1, 0)],
        [],
        [(0, 1, 2, 3, 4), (5, 6, 7, 8)],
    )
    plate = bpy.data.objects.new("Plate", mesh)
    collection = bpy.data.collections.new("Plates")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(plate)
    plate.modifiers.new("Array", "ARRAY").count = 2
    maker = bpy.data.objects.new("Maker", None)
    maker.instance_type, maker.instance_collection, maker.location = "COLLECTION", collection, (0, 0, 5)
    bpy.context.scene.collection.objects.link(maker)
    triangles = collect()
    assert [mesh.face_count for mesh in triangles.meshes] == [10, 10]
    matrices = triangles.global_matrices()
    instance = next(i for i, node in enumerate(triangles.nodes) if node.parent >= 0)
    assert np.allclose(matrices[instance][:3, 3], (0, 0, 5))
    quads = collect(formats.saturn).meshes[0]
    assert sorted(np.diff(np.append(quads.starts, len(quads.corners)))) == [3] * 6 + [4] * 2
    assert collect(use_modifiers=False).meshes[0].face_count == 5


def test_selection_brings_the_rig_along_and_hidden_objects_stay_out(blender: Any, collect: Any) -> None:
    bpy = blender
    target = rig(bpy)
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    for source in bpy.context.scene.objects:
        source.select_set(source.name == "Rig Tube")
    assert {node.name for node in collect(use_selection=True).nodes} == {"Rig", "Rig Tube"}
    other.hide_set(True)
    assert {node.name for node in collect().nodes} == {"Rig", "Rig Tube"}
    assert {node.name for node in collect(use_visible=False).nodes} == {"Rig", "Rig Tube", "Other"}
    assert target.select_get() is False

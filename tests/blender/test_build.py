# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes built in Blender: poses stay exact whatever the bones look like, and nothing in a scene is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.scene import (
    COLOR_NAME,
    Armature,
    Bone,
    Channel,
    Clip,
    Layer,
    Mesh,
    Node,
    Scene,
    Skin,
    Track,
    Transform,
    animation,
    floats,
    maths,
    scaled,
    uv_name,
)
from tests.builders.posing import shown, told


@pytest.fixture
def build(blender: Any) -> Any:
    from io_retro_meshes.blender.build import build
    from io_retro_meshes.formats.options import ImportOptions

    return lambda scene, **options: build(blender.context, scene, Path("model.test"), ImportOptions(**options))


def random_transform(random: np.random.Generator, scale: np.ndarray) -> Transform:
    return Transform(
        random.normal(size=3).astype(np.float32),
        maths.normalized(random.normal(size=4)).astype(np.float32),
        scale.astype(np.float32),
    )


def random_rig(seed: int, bones: int = 6, uneven: bool = False, bind_scale: bool = False, head: bool = False) -> Scene:
    """A tree of bones in any attitude, each with keys of its own on each channel, and a mesh softly bound to all of them."""
    random = np.random.default_rng(seed)
    made: list[Bone] = []
    tracks = {}
    for index in range(bones):
        size = random.uniform(0.5, 2, 3 if uneven else 1) * np.ones(3) if bind_scale else np.ones(3)
        transform = random_transform(random, size)
        parent = int(random.integers(-1, index)) if index else -1
        bind = made[parent].bind @ transform.matrix if parent >= 0 else transform.matrix
        made.append(Bone(f"bone {index}", parent, bind, transform, random.normal(size=3).astype(np.float32) if head else None))
        keys = [np.sort(random.choice(np.arange(1, 40), size=4, replace=False)).astype(np.float32) for _ in range(3)]
        scales = random.uniform(0.5, 2, (4, 3)) if uneven else random.uniform(0.5, 2, (4, 1)) * np.ones(3)
        turns = maths.continuous(maths.normalized(random.normal(size=(4, 4)))).astype(np.float32)
        tracks[(0, index)] = Track(
            Channel(keys[0], random.normal(size=(4, 3)).astype(np.float32)),
            Channel(keys[1], turns),
            Channel(keys[2], scales.astype(np.float32)),
        )
    points = random.normal(size=(40, 3)).astype(np.float32)
    weights = random.uniform(0.1, 1, (40, 2))
    weights /= weights.sum(1, keepdims=True)
    pairs = np.array([random.choice(bones, 2, replace=False) for _ in range(40)])
    skin = Skin(
        0,
        np.repeat(np.arange(40), 2).astype(np.int32),
        pairs.reshape(-1).astype(np.int32),
        weights.reshape(-1).astype(np.float32),
    )
    mesh = Mesh("skin", points, np.arange(39, dtype=np.int32), skin=skin)
    nodes = [Node("rig", armature=Armature("rig", made)), Node("skin", parent=0, mesh=0)]
    nodes.append(Node("on bone", parent=0, parent_bone=bones - 1, transform=random_transform(random, np.ones(3)), mesh=1))
    box = Mesh("box", points[:9], np.arange(9, dtype=np.int32))
    return Scene(nodes, [mesh, box], timeline=Clip("timeline", 1, 40, tracks))


@pytest.mark.parametrize(
    ("options", "tolerance"),
    [
        pytest.param({}, 1e-4, id="plain"),
        pytest.param({"bind_scale": True}, 1e-4, id="even scale in the bind pose"),
        pytest.param({"uneven": True}, 1e-4, id="uneven scale keys"),
    ],
)
@pytest.mark.parametrize("interpolation", ["SLERP", "NLERP"])
def test_poses_are_the_scenes_own(blender: Any, build: Any, options: Any, tolerance: float, interpolation: Any) -> None:
    for seed in range(3):
        blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = random_rig(seed, **options)
        scene.interpolation = interpolation
        build(scene)
        everything = np.concatenate(list(shown(blender, 1).values()))
        size = np.linalg.norm(np.ptp(everything, 0))
        for frame in (1, 5, 12, 17, 26, 33, 40):
            expected, found = told(scene, scene.timeline, frame), shown(blender, frame)
            for name, points in expected.items():
                assert np.abs(points - found[name]).max() < tolerance * size, (seed, frame, name)


def test_heads_away_from_the_origin_keep_poses_exact(blender: Any, build: Any) -> None:
    """Bones bound at the identity, as on the Saturn: Blender's heads are elsewhere, at joints."""
    scene = random_rig(5, head=True)
    armature = scene.nodes[0].armature
    assert armature is not None
    for bone in armature.bones:
        bone.bind, bone.transform = np.eye(4, dtype=np.float32), Transform()
    scene.interpolation = "NLERP"
    build(scene)
    bones = blender.data.objects["rig"].data.bones
    assert all(np.allclose(bones[bone.name].head_local, bone.head, atol=1e-5) for bone in armature.bones)
    for frame in (1, 9, 20, 31):
        expected, found = told(scene, scene.timeline, frame), shown(blender, frame)
        size = np.linalg.norm(np.ptp(expected["skin"], 0))
        assert np.abs(expected["skin"] - found["skin"]).max() < 1e-4 * size


def test_bones_point_at_their_children_and_are_never_of_no_length(blender: Any, build: Any) -> None:
    scene = random_rig(2)
    build(scene)
    armature = blender.data.objects["rig"].data
    assert len(armature.bones) == 6
    for bone in armature.bones:
        assert bone.length > 1e-3
        if len(bone.children) == 1:
            towards = (bone.children[0].head_local - bone.head_local).normalized()
            assert (bone.tail_local - bone.head_local).normalized().dot(towards) > 0.999


def test_named_parts_of_the_timeline_become_actions_of_their_own(blender: Any, build: Any) -> None:
    scene = random_rig(1)
    scene.clips = [Clip("walk", 5, 20), Clip("run", 21, 40, markers=[(25, "step")])]
    scene.fps = 15.0
    build(scene)
    rig = blender.data.objects["rig"]
    roles = {action.name: action.retro_meshes.role for action in blender.data.actions}
    assert roles == {"model": "TIMELINE", "walk": "SEQUENCE", "run": "SEQUENCE"}
    assert rig.animation_data.action.name == "model"
    assert tuple(blender.data.actions["walk"].frame_range) == (5, 20)
    assert [(marker.name, marker.frame) for marker in blender.data.actions["run"].pose_markers] == [("step", 25)]
    assert (blender.context.scene.frame_start, blender.context.scene.frame_end) == (1, 40)
    assert blender.context.scene.render.fps == 15
    whole = {frame: shown(blender, frame)["skin"] for frame in (5, 12, 20)}
    from io_retro_meshes.blender import compat

    walk = blender.data.actions["walk"]
    slot = next(slot for slot, _ in compat.action_curves(walk))
    compat.assign_action(rig, walk, slot)
    for frame, points in whole.items():
        assert np.abs(shown(blender, frame)["skin"] - points).max() < 1e-3


def test_mesh_layers_arrive_bit_by_bit(blender: Any, build: Any) -> None:
    random = np.random.default_rng(3)
    corners = np.array([0, 1, 2, 2, 1, 3, 0, 2, 1, 4, 4, 5], np.int32)  # also a reversed twin, and a face without area
    normals = maths.normalized(random.normal(size=(6, 3))).astype(np.float32)
    colors, uvs = random.uniform(size=(6, 4)).astype(np.float32), random.normal(size=(6, 2)).astype(np.float32)
    mesh = Mesh(
        "layers",
        random.normal(size=(6, 3)).astype(np.float32),
        corners,
        face_materials=np.array([0, 1, 1, 0], np.int32),
        materials=[-1, -1],
        normals=Layer("normal", normals),
        uvs=[Layer(uv_name(i), uvs + i) for i in range(3)],
        colors=[Layer(COLOR_NAME, colors)],
        attributes=[Layer("part", np.arange(4, dtype=np.int32), "FACE")],
    )
    build(Scene([Node("layers", mesh=0)], [mesh]))
    data = blender.data.meshes["layers"]
    assert [tuple(face.vertices)[:2] for face in data.polygons][:3] == [(0, 1), (2, 1), (0, 2)]
    assert len(data.polygons) == 4 and len(set(data.polygons[3].vertices)) == 3
    found = np.empty(len(data.loops) * 2, np.float32)
    for index, layer in enumerate(data.uv_layers):
        layer.uv.foreach_get("vector", found)
        assert np.array_equal(found.reshape(-1, 2), uvs[corners] + index)
    assert [value.value for value in data.attributes["part"].data] == [0, 1, 2, 3]
    shades = np.array([value.color for value in data.color_attributes[0].data])[:6]
    assert np.abs(maths.linear_to_srgb(shades[:, :3]) - colors[:, :3]).max() < 1e-6 and np.array_equal(
        shades[:, 3], colors[:, 3]
    )
    turned = np.array([normal.vector for normal in data.corner_normals])[:9]
    assert np.degrees(np.arccos(np.clip((turned * normals[corners[:9]]).sum(1), -1, 1))).max() < 0.5


def test_scale_sheared_roots_and_infinite_vertices(blender: Any, build: Any) -> None:
    sheared = np.eye(4, dtype=np.float32)
    sheared[0, 1] = 0.5
    sheared[:3, 3] = (1, 2, 3)
    mesh = Mesh("bad", np.array([[0, 0, 0], [1, 1, 1], [np.nan, 0, np.inf]], np.float32), np.arange(3, dtype=np.int32))
    scene = Scene([Node("sheared", transform=Transform.from_matrix(sheared), mesh=0)], [mesh])
    built = build(scene, scale=2.0)
    assert any("finite" in warning for warning in built.warnings)
    points = shown(blender, 1)["sheared"]
    assert np.allclose(points[1], (sheared @ (1, 1, 1, 1))[:3] * 2, atol=1e-5)


def test_clips_end_to_end_stand_still_where_they_do_not_move() -> None:
    bones = [Bone(name, -1, np.eye(4, dtype=np.float32), Transform()) for name in "ab"]
    frames = np.array([0, 10], np.float32)
    move = Channel(frames, np.array([[0, 0, 0], [1, 0, 0]], np.float32))
    clips = [Clip("one", 0, 10, {(0, 0): Track(move)}), Clip("two", 0, 10, {(0, 1): Track(move)})]
    scene = Scene([Node("rig", armature=Armature("rig", bones))], clips=clips)
    timeline, ranges = animation.one_timeline(scene, 1)
    assert timeline is not None
    assert [(clip.name, clip.first, clip.last) for clip in ranges] == [("one", 1, 11), ("two", 12, 22)]
    at = np.array([1, 6, 11, 12, 17, 22], np.float32)
    a, b = (matrices[:, 0, 3] for matrices in animation.bone_matrices(scene, 0, timeline.tracks or {}, at))
    assert np.allclose(a, [0, 0.5, 1, 0, 0, 0]) and np.allclose(b, [0, 0, 0, 0, 0.5, 1])
    assert np.allclose(scaled(scene, 3).clips[0].tracks[(0, 0)].location.values[1], floats(3, 0, 0))  # type: ignore[index, union-attr]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes as files have them keep the promises of collected ones, and look the same."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import b3d, bogle, saturn
from io_retro_meshes.scene import (
    Armature,
    Bone,
    Channel,
    Clip,
    Image,
    Layer,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    TextureLayer,
    Track,
    Transform,
    animation,
    floats,
    maths,
)
from io_retro_meshes.scene.prepare import choose_animation, prepare

TURN = floats(np.cos(0.5), np.sin(0.5), 0, 0)


def rigged() -> Scene:
    """A skinned mesh that comes before its armature, carries it and another node, and stands elsewhere, turned and mirrored."""
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 1]], np.float32)
    mesh = Mesh("mesh", square, np.array([0, 1, 2, 3, 1, 4, 2], np.int32), face_starts=np.array([0, 4], np.int32))
    mesh.skin = Skin(2, np.arange(5, dtype=np.int32), np.array([0, 0, 1, 1, 1], np.int32), np.ones(5, np.float32))
    mesh.colors = [Layer("Color", np.full((5, 4), 51, np.uint8))]
    bind = maths.compose(floats(0, 0, 1), TURN, floats(1, 1, 1))
    bones = [
        Bone("a", -1, np.eye(4, dtype=np.float32), Transform()),
        Bone("b", 0, bind, Transform(floats(0, 0, 1), TURN)),
    ]
    nodes = [
        Node("root", transform=Transform(floats(3, 0, 0), TURN)),
        Node("skin", 0, transform=Transform(floats(0, 2, 0), TURN, floats(-1, 2, 1)), mesh=0),
        Node("rig", 1, transform=Transform(floats(0, 0, 1)), armature=Armature("rig", bones)),
        Node("prop", 1, mesh=1),
        Node("ghost", 0, hidden=True, mesh=1),
        Node("child of the ghost", 4, transform=Transform(floats(0, 0, 9)), mesh=1),
    ]
    turns = np.stack([TURN, floats(np.cos(1), 0, np.sin(1), 0), floats(1, 0, 0, 0)])
    tracks = {
        (2, 1): Track(
            Channel(floats(0, 2.5, 9), np.array([[0, 0, 1], [5, 0, 1], [0, 0, 1]], np.float32)),
            Channel(floats(0.5, 4.25, 9), turns),
        ),
        (2, 0): Track(Channel(floats(-3, 6), np.array([[0, 0, 0], [0, 0, 3]], np.float32))),
        (0, -1): Track(scale=Channel(floats(0, 9), np.ones((2, 3), np.float32))),
    }
    prop = Mesh("prop", square[:3], np.array([0, 1, 2], np.int32))
    return Scene(nodes, [mesh, prop], timeline=Clip("all", 0, 9, tracks), interpolation="NLERP")


def shown(scene: Scene, frame: float) -> dict[str, np.ndarray]:
    """All vertices in the world, whatever space skins are in. Here every vertex has one bone."""
    tracks = (scene.timeline.tracks if scene.timeline else None) or {}
    rest = scene.global_matrices()
    worlds = animation.node_matrices(scene, tracks, floats(frame))
    found = {}
    for index, node in enumerate(scene.nodes):
        mesh = scene.meshes[node.mesh] if node.mesh >= 0 else None
        if mesh is None:
            continue
        points, world = np.c_[mesh.positions, np.ones(len(mesh.positions))], worlds[index][0]
        if mesh.skin is not None:
            rig, armature = mesh.skin.node, scene.nodes[mesh.skin.node].armature
            assert armature is not None
            poses = animation.bone_matrices(scene, rig, tracks, floats(frame))
            moves = np.array([pose[0] @ np.linalg.inv(bone.bind) for pose, bone in zip(poses, armature.bones, strict=True)])
            points = points @ (np.linalg.inv(rest[rig]) @ rest[index]).T
            points, world = np.einsum("nij,nj->ni", moves[mesh.skin.bones], points), worlds[rig][0]
        found[node.name] = (points @ world.T)[:, :3]
    return found


@pytest.mark.parametrize("format", [b3d, bogle, saturn], ids=lambda format: format.id)
def test_the_promises_are_kept(format: Any) -> None:
    before = rigged()
    expected = {frame: shown(before, frame) for frame in (0, 3, 6, 9)}
    scene = prepare(copy.deepcopy(before), format, format.ExportOptions())
    assert all(node.parent < index for index, node in enumerate(scene.nodes))
    index = next(index for index, node in enumerate(scene.nodes) if node.mesh >= 0 and scene.meshes[node.mesh].skin)
    node, mesh = scene.nodes[index], scene.meshes[scene.nodes[index].mesh]
    assert mesh.skin is not None and node.parent == mesh.skin.node < index
    assert scene.nodes[mesh.skin.node].armature is not None
    assert format.skin_space == "MESH" or np.array_equal(node.transform.matrix, np.eye(4))
    assert (mesh.face_count, len(mesh.corners)) == ((2, 7) if format.quads else (3, 9))
    assert mesh.colors[0].data.dtype == np.float32 and np.allclose(mesh.colors[0].data, 0.2)
    assert scene.timeline is not None and scene.interpolation == "SLERP"
    tracks = scene.timeline.tracks or {}
    assert len(tracks) == 2, "what does not move has no keys"
    channels = [channel for track in tracks.values() for channel in (track.location, track.rotation, track.scale) if channel]
    for channel in channels:
        assert channel.frames[0] >= 0 and channel.frames[-1] <= 9
        assert format.fractions or (channel.frames == np.rint(channel.frames)).all()
    hidden = [warning for warning in scene.warnings if "Hidden objects were left out: ghost" in warning]
    assert len(hidden) == 1 and not any(node.name == "ghost" and node.mesh >= 0 for node in scene.nodes)
    for frame, wanted in expected.items():
        found = shown(scene, frame)
        assert found.keys() == wanted.keys() - {"ghost"}
        for name, points in found.items():
            assert np.allclose(points, wanted[name], atol=2e-4), (frame, name)


def test_a_prepared_scene_stays_as_it_is() -> None:
    once = prepare(rigged(), b3d, b3d.ExportOptions())
    again = prepare(copy.deepcopy(once), b3d, b3d.ExportOptions())
    assert [repr(node) for node in again.nodes] == [repr(node) for node in once.nodes]
    assert repr(again.meshes) == repr(once.meshes) and repr(again.timeline) == repr(once.timeline)
    assert again.warnings == once.warnings


def test_a_skin_that_moves_by_itself_is_told() -> None:
    scene = rigged()
    tracks = scene.timeline.tracks if scene.timeline else None
    assert tracks is not None
    tracks[1, -1] = Track(Channel(floats(0, 9), np.array([[0, 0, 0], [1, 1, 1]], np.float32)))
    scene.nodes[2].parent = 0  # not carried along
    made = prepare(scene, b3d, b3d.ExportOptions())
    assert any('"skin" does not go where its armature "rig" goes' in warning for warning in made.warnings)


def test_hollow_quads_and_flat_faces() -> None:
    arrow = np.array([[0, 0, 0], [4, -3, 0], [1, 0, 0], [4, 3, 0], [0, 0, 5]], np.float32)
    mesh = Mesh("arrow", arrow, np.array([1, 2, 3, 0, 0, 1, 4], np.int32), face_starts=np.array([0, 4], np.int32))
    mesh.smooth = np.array([True, False])
    mesh.normals = Layer("normal", np.tile(floats(0, 0, 1), (5, 1)))
    (made,) = prepare(Scene([Node("arrow", mesh=0)], [mesh]), b3d, b3d.ExportOptions()).meshes
    a, b, c = (arrow[made.corners[k::3]] for k in range(3))
    areas = np.cross(b - a, c - a)[:2, 2] / 2
    assert np.isclose(areas.sum(), np.abs(areas).sum()) and np.isclose(areas.sum(), 3), "no triangle covers another"
    assert made.normals is not None and made.normals.domain == "CORNER"
    assert np.allclose(made.normals.data[:6], (0, 0, 1)) and np.allclose(made.normals.data[6:], (-0.6, -0.8, 0), atol=1e-6)


@pytest.mark.parametrize(("format", "told"), [(b3d, True), (saturn, True), (bogle, False)])
def test_textures_without_a_place_are_named(format: Any, told: bool) -> None:
    scene = rigged()
    scene.images = [Image("skin.png"), Image("bumps.png")]
    scene.materials = [Material("fur", layers=[TextureLayer(0), TextureLayer(1, use="NORMAL")])]
    made = prepare(scene, format, format.ExportOptions())
    assert [w for w in made.warnings if '"fur"' in w and '"bumps.png" (normal) was left out' in w] == made.warnings[-1:] * told


def test_no_two_keys_that_stay_are_half_a_turn_apart() -> None:
    """Engines would go the one way or the other, as the last bit of a number has it."""
    half = np.linspace(0, np.pi, 49)
    turns = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], 1).astype(np.float32)
    kept = maths.reduce_keys(np.arange(49, dtype=np.float32), turns, 1e-4, "SLERP")
    assert len(kept) < 9 and np.abs(np.sum(turns[kept][1:] * turns[kept][:-1], 1)).min() > 0.1


MOVES = {(0, -1): Track(Channel(floats(1, 20), np.eye(3, dtype=np.float32)[:2]))}
TIMELINE, PART = Clip("", 1, 20, MOVES), Clip("part", 1, 9)
OWN, OTHER = Clip("own", 30, 40, MOVES), Clip("other", 41, 50, MOVES)


@pytest.mark.parametrize(
    ("mode", "timeline", "clips", "whole", "names"),
    [
        ("AUTO", TIMELINE, [PART, OWN], (1, 20), ["part", "own"]),
        ("AUTO", None, [OWN], (30, 40), ["own"]),
        ("AUTO", None, [OWN, OTHER], None, ["own", "other"]),
        ("ACTIONS", TIMELINE, [PART, OWN], None, ["file", "own"]),
        ("ACTIONS", None, [OWN], None, ["own"]),
        ("ACTIVE", TIMELINE, [PART, OWN], (1, 20), ["part"]),
        ("ACTIVE", None, [OWN, OTHER], (30, 40), ["own"]),
        ("SCENE", TIMELINE, [PART, OWN], (1, 20), []),
        ("SCENE", None, [OWN, OTHER], (30, 40), []),
        ("NONE", TIMELINE, [PART, OWN], None, []),
    ],
)
def test_which_animation_is_written(
    mode: str, timeline: Clip | None, clips: list[Clip], whole: tuple[float, float] | None, names: list[str]
) -> None:
    scene = Scene([Node("a")], [], timeline=timeline, clips=list(clips))
    choose_animation(scene, mode, "file")
    assert (None if scene.timeline is None else (scene.timeline.first, scene.timeline.last)) == whole
    assert [clip.name for clip in scene.clips] == names

# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes written as BO3D: what the engine makes of the file is what the scene shows."""

from __future__ import annotations

import re
from copy import deepcopy

import numpy as np
import pytest

from io_retro_meshes.formats import bo3d
from io_retro_meshes.formats.bo3d.document import Document
from io_retro_meshes.scene import Channel, Clip, Image, Layer, Material, Mesh, Node, Scene, TextureLayer, Track, Transform
from tests.builders import bo3d as made
from tests.builders.posing import told
from tests.engines import bo3d as engine


def written(scene: Scene, **options: object) -> Document:
    """Through bytes, with the warnings of the export."""
    exported = bo3d.from_scene(scene, bo3d.ExportOptions(**options))
    document = bo3d.read(bo3d.write(exported))
    assert not document.warnings
    document.warnings = exported.warnings
    return document


def nearest(points: np.ndarray, among: np.ndarray) -> float:
    """How far the worst of the points is from its nearest: vertices come in another order."""
    return float(np.linalg.norm(points[:, None] - among[None], axis=2).min(1).max())


def assert_drawn(document: Document, scene: Scene, frames: tuple[float, ...] = (1, 4, 8, 13, 25, 30)) -> None:
    for frame in frames:
        expected = np.concatenate(list(told(scene, scene.timeline, frame).values()))
        found = engine.points(document, frame)
        size = np.ptp(expected, axis=0).max()
        assert nearest(found, expected) < 1e-4 * size
        assert nearest(expected, found) < 1e-4 * size


@pytest.mark.parametrize(("scale", "mirrored"), [(1, False), (3, False), (0.01, False), (2, True)])
def test_rig_of_turned_bones(scale: float, mirrored: bool) -> None:
    scene = made.rig_scene(scale, mirrored)
    document = written(scene)
    assert_drawn(document, scene)
    assert not document.warnings
    body = document.entities[0]
    assert [entity.text for entity in document.entities] == ["Body", "Spine", "Arm", "Hand", "Other", "Sword"]
    assert all((entity.scale == 1).all() and (entity.keys["scale"] == 1).all() for entity in document.entities)
    assert all(entity.rotation.tolist() == [1, 0, 0, 0] for entity in document.entities[1:5])
    assert body.mesh.bones.tolist() == [(1, 0, 7), (2, 8, 15), (3, 16, 23), (4, 24, 31)]
    assert document.length == 31
    for entity in document.entities[1:5]:
        keys = entity.keys
        assert (keys["frame"][0], keys["frame"][-1]) == (1, 30)
        assert (np.sum(keys["rotation"][1:] * keys["rotation"][:-1], 1) > 0).all()


@pytest.mark.parametrize("mirrored", [False, True])
def test_normals_of_turned_bones(mirrored: bool) -> None:
    """A vertex a little further along each normal goes where the engine's normal points."""
    scene = made.rig_scene(2, mirrored)
    ahead = deepcopy(scene)
    normals = np.zeros_like(scene.meshes[0].positions)
    normals[scene.meshes[0].corners] = scene.meshes[0].normals.data
    ahead.meshes[0].positions = scene.meshes[0].positions + 0.01 * normals
    document = written(scene)
    for frame in (1, 13, 25):
        start, stop = told(scene, scene.timeline, frame)["Body"], told(ahead, scene.timeline, frame)["Body"]
        expected = (stop - start) / np.linalg.norm(stop - start, axis=1, keepdims=True)
        points, found = engine.drawn(document, frame)["Body"]
        match = np.linalg.norm(points[:, None] - start[None], axis=2).argmin(1)
        assert np.sum(found * expected[match], 1).min() > np.cos(np.radians(0.5))
        triangles = points[document.entities[0].mesh.triangles]
        faces = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        outward = found[document.entities[0].mesh.triangles].sum(1)
        assert (np.sum(faces * outward, 1) > 0).all()


def test_greatest_weight_wins() -> None:
    scene = made.rig_scene()
    skin = scene.meshes[0].skin
    skin.vertices = np.concatenate([skin.vertices, np.arange(5, dtype=np.int32)])
    skin.bones = np.concatenate([skin.bones, np.full(5, 1, np.int32)])
    skin.weights = np.concatenate([np.full(32, 0.6, np.float32), np.full(5, 0.4, np.float32)])
    document = written(scene)
    assert any(warning.startswith("5 vertices") for warning in document.warnings)
    assert document.entities[0].mesh.bones.tolist() == [(1, 0, 7), (2, 8, 15), (3, 16, 23), (4, 24, 31)]


def test_vertices_that_no_bone_moves_stay() -> None:
    scene = made.rig_scene()
    skin = scene.meshes[0].skin
    skin.vertices, skin.bones, skin.weights = skin.vertices[8:], skin.bones[8:], skin.weights[8:]
    document = written(scene)
    assert document.entities[0].mesh.bones["first"].min() == 8
    assert_drawn(document, scene)


def test_several_meshes_on_one_armature() -> None:
    """One below the other and the bones below all: the engine's copies look for bones among descendants."""
    scene = made.rig_scene(2)
    second = deepcopy(scene.meshes[0])
    second.positions = second.positions + np.float32([0, 0.5, 0])
    scene.meshes.append(second)
    scene.nodes.append(Node("Coat", parent=0, mesh=2))
    document = written(scene)
    assert_drawn(document, scene)
    names = [entity.text for entity in document.entities]
    assert names[:3] == ["Body", "Coat", "Spine"]
    assert [entity.parent for entity in document.entities[:3]] == [-1, 0, 1]
    again = bo3d.to_scene(document)
    assert sum(node.armature is not None for node in again.nodes) == 1
    assert_drawn(document, again)


def test_a_moving_root_hangs_on_a_pivot() -> None:
    """The engine cannot animate the first entity."""
    scene = made.rig_scene()
    moves = np.array([[1, 2, 3], [4, 2, 3]], np.float32)
    scene.timeline.tracks[0, -1] = Track(Channel(np.float32([1, 30]), moves))
    document = written(scene)
    assert document.entities[0].text == "ROOT"
    assert not len(document.entities[0].keys)
    assert document.entities[1].keys["frame"].tolist() == [1, 30]
    assert_drawn(document, scene)


def test_names_are_unique_and_there() -> None:
    points = np.eye(3, dtype=np.float32)
    scene = Scene([Node("A"), Node("A"), Node(""), Node("A_2")], [Mesh("m", points, np.arange(3, dtype=np.int32))])
    names = [entity.text for entity in written(scene).entities]
    assert names == ["ROOT", "A", "A_3", "entity", "A_2"]


def test_a_pose_without_animation_is_a_key() -> None:
    scene = made.rig_scene()
    scene.timeline = None
    bone = scene.nodes[0].armature.bones[1]
    bone.transform = Transform(bone.transform.location, np.float32(made.turn(33, 1, 0, 0)))
    document = written(scene)
    assert document.length == 2
    assert_drawn(document, scene, (1,))


def test_scale_that_moves() -> None:
    scene = made.rig_scene()
    channel = Channel(np.float32([1, 30]), np.float32([[1, 2, 0.5], [2, 4, 1]]))
    scene.timeline.tracks[2, -1] = Track(scale=channel)
    assert_drawn(written(scene), scene)  # nothing hangs on the sword
    scene.timeline.tracks[0, 1].scale = Channel(np.float32([1, 30]), np.float32([[1, 1, 1], [2, 2, 2]]))
    scene.timeline.tracks[0, -1] = Track(scale=Channel(np.float32([1, 30]), np.float32([[1, 1, 1], [3, 3, 3]])))
    document = written(scene)  # the hand hangs on the arm
    assert_drawn(document, scene)
    assert any("the scale changes over time" in warning for warning in document.warnings)
    parents = {entity.parent for entity in document.entities}
    for index, entity in enumerate(document.entities):
        assert index not in parents or (entity.keys["scale"] == 1).all()


def test_scale_of_nothing() -> None:
    scene = made.rig_scene()
    scene.nodes[0].transform.scale = np.zeros(3, np.float32)
    scene.nodes[2].transform.scale = np.float32([1, 0, 1])
    document = written(scene)
    assert len(document.entities) == 6
    assert np.isfinite(engine.points(document, 8)).all()


def test_clips_end_to_end() -> None:
    scene = made.rig_scene()
    first = scene.timeline
    second = Clip("Wave", 1, 10, {key: track for key, track in first.tracks.items() if key == (0, 2)})
    scene.timeline, scene.clips = None, [Clip("Walk", first.first, first.last, first.tracks), second]
    document = written(scene)
    assert document.length == 41
    assert any(
        '"Walk" is frames 1 to 30' in warning and '"Wave" is frames 31 to 40' in warning for warning in document.warnings
    )


def test_frames_before_zero_are_moved() -> None:
    scene = made.rig_scene()
    for track in scene.timeline.tracks.values():
        track.location.frames, track.rotation.frames = track.location.frames - 11, track.rotation.frames - 11
    scene.timeline.first, scene.timeline.last = -10, 19
    document = written(scene)
    assert document.length == 31
    assert any("moved by 11" in warning for warning in document.warnings)
    moved = engine.points(document, 13)
    assert nearest(moved, np.concatenate(list(told(scene, scene.timeline, 2).values()))) < 1e-4


def test_every_frame_keyed_from_zero_leaves_room_for_the_rest_pose() -> None:
    """As many keys as frames, and the engine takes the wrong length."""
    scene = made.rig_scene()
    noise = np.random.default_rng(3).normal(size=(11, 3)).astype(np.float32)
    scene.timeline = Clip("Animation", 0, 10, {(0, 0): Track(Channel(np.arange(11, dtype=np.float32), noise))})
    document = written(scene)
    assert len(document.entities[1].keys) == 11
    assert document.length == 12


# ---------------------------------------------------------------------------------------------------- meshes, materials


def grid(count: int) -> Mesh:
    """count x count vertices."""
    y, x = np.divmod(np.arange(count * count), count)
    points = np.stack([x, y, np.sin(x * 0.1)], 1).astype(np.float32) * np.float32(10 / count)
    a = np.arange(count * count).reshape(count, count)[:-1, :-1].reshape(-1)
    corners = np.stack([a, a + 1, a + count + 1, a, a + count + 1, a + count], 1).reshape(-1).astype(np.int32)
    return Mesh("Grid", points, corners)


def test_more_vertices_than_an_entity_holds() -> None:
    scene = Scene([Node("Grid", mesh=0)], [grid(400)])
    document = written(scene)
    sizes = [len(entity.mesh.vertices) for entity in document.entities]
    assert len(sizes) == 3
    assert max(sizes) <= 65536
    assert sum(len(entity.mesh.triangles) for entity in document.entities) == 399 * 399 * 2
    assert {entity.parent for entity in document.entities} == {-1, 0}
    assert any("split" in warning for warning in document.warnings)


def test_half_floats_stay_within_what_is_said() -> None:
    scene = Scene([Node("Grid", mesh=0)], [grid(60)])
    exact, half = written(scene), written(scene, half_floats=True)
    assert half.vfloat == 16
    assert len(bo3d.write(half)) < 0.7 * len(bo3d.write(exact))
    said = float(re.search(r"by up to ([\d.e-]+) units", half.warnings[-1]).group(1))
    off = np.abs(bo3d.to_scene(half).meshes[0].positions - bo3d.to_scene(exact).meshes[0].positions).max()
    assert 0 < off <= said * 1.01
    assert said <= 10 / 2048


def test_half_floats_are_clamped() -> None:
    mesh = grid(3)
    mesh.positions[0] = (1e6, 0, 1e-6)
    document = written(Scene([Node("Grid", mesh=0)], [mesh]), half_floats=True)
    assert document.entities[0].mesh.vertices["position"].max() == 65504
    assert "1 vertices are too far out" in document.warnings[-1]


def test_materials() -> None:
    mesh = grid(3)
    mesh.face_materials = np.int32([0, 0, 1, 1, 2, 2, 2, 2])
    mesh.materials = [0, 1, -1]
    mesh.uvs = [Layer("UVMap", np.random.default_rng(0).random((24, 2)).astype(np.float32), "CORNER")]
    mesh.colors = [Layer("Color", np.full((9, 4), 0.5, np.float32))]
    glass = Material("Glass", np.float32([1, 0.5, 0.25, 0.5]), blend="ALPHA", double_sided=True)
    wood = Material("Wood", layers=[TextureLayer(0), TextureLayer(0)], settings={"bo3d": {"fx": 4 | 128}}, full_bright=True)
    scene = Scene([Node("Grid", mesh=0)], [mesh], [glass, wood], [Image("oak.png")])
    document = written(scene)
    first, second, third = (entity.mesh for entity in document.entities)
    assert (first.color, first.alpha, first.fx, first.texture) == ((64, 128, 255, 255), 0.5, 32, b"")
    assert (second.color[:3], second.alpha, second.fx, second.texture) == ((255, 255, 255), 1, 133, b"oak.png")
    assert len(third.triangles) == 4
    assert (third.colors == 128).all()
    again = bo3d.to_scene(document)
    uvs = np.concatenate([each.uvs[0].data[each.corners] for each in again.meshes])
    assert np.allclose(uvs, mesh.uvs[0].data, atol=1e-6)
    assert any("only the first texture" in warning for warning in document.warnings)


def test_cameras_and_lights_are_left_out_unless_something_hangs_on_them() -> None:
    scene = Scene([Node("Sun", light=0), Node("Camera", camera=0), Node("Grid", parent=1, mesh=0)], [grid(3)])
    assert [entity.text for entity in written(scene).entities] == ["Camera", "Grid"]


def test_points_and_empty_meshes() -> None:
    empty = np.empty((0, 3), np.float32)
    points = Mesh("Points", np.eye(3, dtype=np.float32), np.empty(0, np.int32))
    scene = Scene([Node("Points", mesh=0), Node("Nothing", mesh=1)], [points, Mesh("Nothing", empty, np.empty(0, np.int32))])
    document = written(scene)
    assert [len(entity.mesh.vertices) if entity.mesh else 0 for entity in document.entities] == [0, 3, 0]


def test_an_armature_alone() -> None:
    scene = made.rig_scene()
    scene.nodes[1:] = []
    document = written(scene)
    assert [entity.text for entity in document.entities] == ["Rig", "Spine", "Arm", "Hand", "Other"]

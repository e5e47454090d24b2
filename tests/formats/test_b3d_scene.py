# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D and the neutral scene: meshes, materials, and exports that the engine can read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d import document as doc
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
    floats,
)
from tests.builders import b3d as made
from tests.engines import b3d as engine

SQUARE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], np.float32)


def square(**more: Any) -> Mesh:
    """Two triangles that face up, with a UV map that covers the texture."""
    corners = np.array([0, 1, 2, 0, 2, 3], np.int32)
    uvs = Layer("UVMap", SQUARE[corners, :2].copy(), "CORNER")
    return Mesh("square", SQUARE.copy(), corners, uvs=[uvs], **more)


def turn(angle: float, axis: int = 2) -> np.ndarray:
    q = np.zeros(4, np.float32)
    q[0], q[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
    return q


def exported(scene: Scene, **options: Any) -> doc.Document:
    return b3d.read(b3d.write(b3d.from_scene(scene, b3d.ExportOptions(**options))))


def meshes(document: doc.Document) -> list[doc.Mesh]:
    return [mesh for node, _ in document.walk() for mesh in doc.of_kind(node.chunks, doc.Mesh)]


def nodes(document: doc.Document) -> dict[str, doc.Node]:
    return {node.text: node for node, _ in document.walk()}


# -------------------------------------------------------------------------------------------------------------- import


def test_hierarchy_of_a_rig() -> None:
    scene = b3d.to_scene(made.everything())
    rig, flag, lamp, second = scene.nodes
    assert (rig.name, flag.name, lamp.name, second.name) == ("Flagge ü_armature", "Flagge ü", "lamp", "second root")
    assert [(bone.name, bone.parent) for bone in rig.armature.bones] == [("lower", -1), ("between", 0), ("upper", 1)]
    assert (flag.parent, lamp.parent, lamp.parent_bone, second.parent) == (0, 0, 2, -1)
    np.testing.assert_array_equal(rig.transform.location, [1, 3, 2])
    # Vertex 3 is shared; vertex 1 has only a weight of nothing and stays with the mesh.
    skin = scene.meshes[flag.mesh].skin
    assert list(zip(skin.vertices, skin.bones, skin.weights, strict=True)) == [(0, 0, 1), (2, 2, 1), (3, 0, 0.75), (3, 2, 0.25)]


def test_keys_are_merged_and_clips_named() -> None:
    scene = b3d.to_scene(made.everything())
    track = scene.timeline.tracks[0, 2]
    np.testing.assert_array_equal(track.rotation.frames, [1, 11, 21])
    # The later key of frame 11 wins; signs follow the shorter way.
    np.testing.assert_allclose(np.abs(track.rotation.values[1]), [0, 0, 0, 1], atol=1e-6)
    np.testing.assert_array_equal(track.location.frames, [1, 21])
    assert (scene.timeline.first, scene.timeline.last, scene.fps) == (1, 21, 60)
    assert [(clip.name, clip.first, clip.last, clip.tracks) for clip in scene.clips] == [
        ("wave", 1, 11, None),
        ("grow", 11, 21, None),
    ]


def test_faces_point_as_their_normals() -> None:
    document = doc.Document(
        chunks=[doc.Node(b"quad", chunks=[doc.Mesh(-1, [made.vertices(made.QUAD, 1), made.triangles([[0, 1, 2]])])])]
    )
    mesh = b3d.to_scene(document).meshes[0]
    a, b, c = mesh.positions[mesh.corners]
    assert np.dot(np.cross(b - a, c - a), mesh.normals.data[0]) > 0


def test_missing_normals_are_smooth_within_a_surface() -> None:
    """A roof of two slopes, its ridge doubled: one surface is smoothed across it, two are not."""
    points = [(0, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1), (1, 1, 0), (1, 1, 1), (2, 0, 0), (2, 0, 1)]
    slopes = [[0, 1, 2], [1, 3, 2]], [[4, 5, 6], [5, 7, 6]]
    for surfaces, smooth in (([np.concatenate(slopes)], True), (slopes, False)):
        chunk = doc.Mesh(-1, [made.vertices(points), *(made.triangles(ids) for ids in surfaces)])
        mesh = b3d.to_scene(doc.Document(chunks=[doc.Node(b"roof", chunks=[chunk])])).meshes[0]
        left, right = (mesh.normals.data[mesh.corners == vertex][0] for vertex in (2, 4))
        assert np.allclose(left, right, atol=1e-6) == smooth


def test_brushes_join() -> None:
    scene = b3d.to_scene(made.everything())
    both = scene.materials[0]
    np.testing.assert_allclose(both.color, [1, 1, 1, 0.5])  # vertex colours take the place of the brushes'
    assert both.settings["b3d"] == {"brush": "lit", "blend": 1, "fx": 18, "shininess": 0.75, "color": (0.5, 0.5, 1)}
    assert both.vertex_colors and both.double_sided and both.blend == "ALPHA"
    assert [(layer.uv, layer.blend, layer.clamp) for layer in both.layers] == [
        (0, "MULTIPLY", (True, False)),
        (1, "MULTIPLY_2X", (False, False)),
    ]
    assert scene.images[0].names == ("C:/Maps/cloth.PNG", "cloth.PNG")


@pytest.mark.parametrize(
    ("flags", "fx", "alpha", "blend", "expected"),
    [
        (1, 0, 1, 1, "OPAQUE"),
        (1 | 2, 0, 1, 1, "ALPHA"),
        (1 | 2 | 4, 0, 1, 1, "MASK"),
        (1 | 4, 0, 1, 0, "MASK"),
        (1, 32, 1, 1, "ALPHA"),
        (1, 0, 0.5, 1, "ALPHA"),
        (1 | 2, 0, 1, 3, "ADD"),
        (1 | 4, 0, 1, 2, "MULTIPLY"),
    ],
)
def test_when_alpha_counts(flags: int, fx: int, alpha: float, blend: int, expected: str) -> None:
    brush = doc.Brush(b"brush", floats(1, 1, 1, alpha), 0, blend, fx, np.array([0], "<i4"))
    textures = doc.Textures([doc.Texture(b"a.png", flags)])
    chunk = doc.Mesh(-1, [made.vertices(made.QUAD), made.triangles([[0, 1, 2]], 0)])
    scene = b3d.to_scene(doc.Document(chunks=[textures, doc.Brushes(1, [brush]), doc.Node(b"n", chunks=[chunk])]))
    assert scene.materials[0].blend == expected
    written = exported(scene)
    assert (written.textures[0].flags, written.brushes[0].fx, written.brushes[0].blend) == (flags, fx, blend)


def test_texture_transform_is_exact() -> None:
    texture = made.everything().textures[0]
    layer = b3d.to_scene(made.everything()).materials[0].layers[0]
    u, v = np.random.default_rng(1).random((2, 20))
    c, s = np.cos(texture.rotation), np.sin(texture.rotation)
    expected_u = texture.scale[0] * (c * u + s * v) + texture.position[0]
    expected_v = texture.scale[1] * (-s * u + c * v) + texture.position[1]
    x, y = u, 1 - v
    c, s = np.cos(layer.rotation), np.sin(layer.rotation)
    np.testing.assert_allclose(layer.scale[0] * (c * x - s * y) + layer.offset[0], expected_u, atol=1e-6)
    np.testing.assert_allclose(1 - (layer.scale[1] * (s * x + c * y) + layer.offset[1]), expected_v, atol=1e-6)
    back = exported(b3d.to_scene(made.everything())).textures[0]
    np.testing.assert_allclose(back.position, texture.position, atol=1e-6)


# -------------------------------------------------------------------------------------------------------------- export


def rig(transform: Transform | None = None) -> Scene:
    """Two meshes on one armature of two bones, a third mesh on the upper bone and a fourth beside them, and two clips."""
    up = np.eye(4, dtype=np.float32)
    up[2, 3] = 1
    bones = [
        Bone("low", -1, np.eye(4, dtype=np.float32), Transform()),
        Bone("high", 0, up, Transform(floats(0, 0, 1))),
    ]
    weights = np.full((4, 5), 0.1, np.float32) + np.arange(4, dtype=np.float32)[:, None]
    skin = Skin(
        0, np.repeat(np.arange(4), 5).astype(np.int32), np.tile([0, 1, 0, 1, 0], 4).astype(np.int32), weights.reshape(-1)
    )
    scene = Scene(
        nodes=[
            Node("Rig", transform=transform or Transform(), armature=Armature("Rig", bones)),
            Node("skin", 0, mesh=0),
            Node("coat", 0, mesh=1),
            Node("hat", 0, 1, Transform(floats(0, 0, 0.5)), mesh=2),
            Node("shield", 0, transform=Transform(floats(2, 0, 0)), mesh=2),
        ],
        meshes=[square(skin=skin, materials=[0]), square(skin=skin, materials=[1]), square(materials=[0])],
        materials=[Material("red", floats(1, 0, 0, 1)), Material("blue", floats(0, 0, 1, 1))],
        fps=24.0,
    )
    for name, angle in (("nod", 1.0), ("bow", -2.0)):
        values = np.array([turn(0, 0), turn(angle, 0), turn(0, 0)], np.float32)
        track = Track(rotation=Channel(floats(0, 5, 10), values))
        scene.clips.append(Clip(name, 0, 10, {(0, 1): track}))
    return scene


def test_rig_is_safe_for_the_engine() -> None:
    document = exported(rig(Transform(floats(1, 2, 3), turn(0.7), floats(2, 2, 2))))
    found = nodes(document)
    skin = found["skin"]
    assert list(found) == [
        "skin",
        "shield",
        "low",
        "high",
        "hat",
    ]  # meshes before bones: the engine gives a mesh all bones so far
    np.testing.assert_array_equal([*skin.position, *skin.scale, *skin.rotation], [0, 0, 0, 1, 1, 1, 1, 0, 0, 0])
    kinds = [type(chunk).__name__ for chunk in skin.chunks]
    assert kinds == ["Mesh", "Anim", "Sequence", "Sequence", "Node", "Node"]
    anim = doc.of_kind(skin.chunks, doc.Anim)[0]
    assert (anim.frames, anim.fps) == (22, 24)
    ranges = [(each.name, each.first, each.last) for each in doc.of_kind(skin.chunks, doc.Sequence)]
    assert ranges == [(b"nod", 1, 11), (b"bow", 12, 22)]
    mesh = meshes(document)[0]
    used = [set(surface.vertex_ids.reshape(-1).tolist()) for surface in mesh.triangles]
    assert [len(ids) for ids in used] == [4, 4] and not used[0] & used[1]
    assert [surface.brush_id for surface in mesh.triangles] == [0, 1]
    weights = np.concatenate([bone.weights for node, _ in document.walk() for bone in doc.of_kind(node.chunks, doc.Bone)])
    assert (weights["weight"] > 0).all()
    np.testing.assert_allclose(np.bincount(weights["vertex"], weights["weight"]), 1, atol=1e-6)


@pytest.mark.parametrize(
    "transform",
    [
        None,
        Transform(floats(1, 2, 3), turn(0.7), floats(2, 2, 2)),
        Transform(floats(1, 2, 3), turn(0.7), floats(1, 2, 3)),
        Transform(floats(1, 2, 3), turn(0.7), floats(-2, -2, -2)),
        Transform(prefix=np.array([[1, 0.5, 0, 1], [0, 1, 0.2, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)),
    ],
)
def test_exported_rig_stays_where_it_was(transform: Transform | None) -> None:
    """Whatever the armature's transform is, the posed vertices are those of the rig at rest, transformed."""
    matrix = np.eye(4) if transform is None else transform.matrix
    plain, moved = exported(rig()), exported(rig(transform))
    for frame in (1, 4, 6, 17):
        expected = np.concatenate(engine.pose(plain, frame)[0]) @ matrix[:3, :3].T + matrix[:3, 3]
        np.testing.assert_allclose(np.concatenate(engine.pose(moved, frame)[0]), expected, atol=1e-5)


def test_meshes_on_bones_can_join_the_rig() -> None:
    """A mirrored hat that only its bone moves: where it was, facing as it did, in a file that Blitz3D itself reads."""
    scene = rig(Transform(floats(1, 2, 3), turn(0.7), floats(2, 2, 2)))
    scene.nodes[3].transform.scale = floats(-1, 1, 1)
    belt = Armature("belt", [Bone("clip", -1, Transform(floats(0, 3, 0)).matrix, Transform(floats(0, 3, 0)))])
    scene.nodes += [Node("belt", 0, 1, armature=belt), Node("buckle", 5, 0, mesh=2)]  # another armature's: stays where it is
    apart, joined = exported(scene), exported(scene, join_on_bones=True)
    assert any('"hat"' in warning for warning in b3d.from_scene(scene).warnings)
    assert not doc.of_kind(nodes(joined)["hat"].chunks, doc.Mesh)
    facing = []
    for document in (apart, joined):
        meshes_of = meshes(document)
        posed = engine.pose(document, 6)[0]
        triangles = [points[t.vertex_ids] for mesh, points in zip(meshes_of, posed, strict=True) for t in mesh.triangles]
        corners = np.concatenate(triangles)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        rows = np.c_[corners.mean(1), normals].round(4) + 0.0
        facing.append(rows[np.lexsort(rows.T)])
    np.testing.assert_allclose(facing[0], facing[1], atol=2e-4)


def test_animated_armature_gets_a_pivot() -> None:
    scene = rig()
    scene.clips[0].tracks[0, -1] = Track(location=Channel(floats(0, 10), np.array([(0, 0, 0), (5, 0, 0)], np.float32)))
    document = exported(scene)
    assert list(nodes(document))[:2] == ["Rig", "skin"]
    still, moving = engine.pose(exported(rig()), 6)[0], engine.pose(document, 6)[0]
    np.testing.assert_allclose(np.concatenate(moving), np.add(np.concatenate(still), (2.5, 0, 0)), atol=1e-5)


def test_an_armature_without_a_mesh_is_nodes() -> None:
    scene = rig(Transform(floats(1, 2, 3)))
    scene.nodes = [scene.nodes[0], replace(scene.nodes[3], name="lamp")]
    document = exported(scene)
    above = {node.name: parent for node, parent in document.walk()}
    assert above == {b"Rig": -1, b"low": 0, b"high": 1, b"lamp": 2}
    assert not any(doc.of_kind(node.chunks, doc.Bone) for node, _ in document.walk())
    assert nodes(document)["Rig"].position.tolist() == [1, 3, 2] and nodes(document)["high"].position.tolist() == [0, 1, 0]


@pytest.mark.parametrize("moves", [False, True])
def test_what_moves_beside_a_rig_has_a_length_above_it(moves: bool) -> None:
    scene = rig()
    if moves:
        scene.clips[0].tracks[4, -1] = Track(location=Channel(floats(0, 10), np.array([(2, 0, 0), (5, 0, 0)], np.float32)))
    scene.nodes[4].parent = -1
    holders = [node.text for node, _ in exported(scene).walk() if doc.of_kind(node.chunks, doc.Anim)]
    assert holders == (["ROOT", "skin"] if moves else ["skin"])


def test_bone_that_rests_elsewhere_than_it_was_bound() -> None:
    scene = rig()
    scene.clips = []
    scene.nodes[0].armature.bones[1].transform = Transform(floats(0, 0, 2), turn(0.5, 0))
    document = exported(scene)
    np.testing.assert_allclose(nodes(document)["high"].position, [0, 1, 0])
    assert doc.of_kind(nodes(document)["skin"].chunks, doc.Anim)
    hat = engine.pose(document, 1)[0][2]
    np.testing.assert_allclose(hat[0], [0, -np.sin(0.5) / 2, 2 + np.cos(0.5) / 2], atol=1e-5)


def test_mirrored_object_is_not_inside_out() -> None:
    """In the world, by the engine's reckoning without any turning round, its face still points where Blender shows it."""
    scene = Scene([Node("mirror", transform=Transform(scale=floats(-1, 1, 1)), mesh=0)], [square()])
    document = exported(scene)
    points = engine.pose(document, 1)[0][0]
    a, b, c = points[meshes(document)[0].triangles[0].vertex_ids[0]]
    assert np.cross(b - a, c - a)[2] < 0  # left-handed: clockwise seen from above
    again = b3d.to_scene(document)
    np.testing.assert_array_equal(again.nodes[0].transform.scale, [-1, 1, 1])
    np.testing.assert_array_equal(again.meshes[0].positions[again.meshes[0].corners], SQUARE[scene.meshes[0].corners])


def test_equal_corners_share_a_vertex_and_polygons_are_cut() -> None:
    points = np.array([(np.cos(a), np.sin(a), 0) for a in np.arange(5) * 2 * np.pi / 5], np.float32)
    corners = np.arange(5, dtype=np.int32)
    uvs = [Layer(name, points[:, :2] * scale, "CORNER") for name, scale in (("a", 1), ("b", 2), ("c", 3))]
    colors = [Layer("Color", np.full((5, 4), 128, np.uint8), "CORNER")]
    scene = Scene([Node("five", mesh=0)], [Mesh("five", points, corners, np.array([0], np.int32), uvs=uvs, colors=colors)])
    document = exported(scene)
    mesh = meshes(document)[0]
    assert len(mesh.vertices.rows) == 5 and len(mesh.triangles[0].vertex_ids) == 3
    assert mesh.vertices.tex_coord_sets == 3
    np.testing.assert_allclose(mesh.vertices.uvs(2)[:, 0], mesh.vertices.uvs(0)[:, 0] * 3, rtol=1e-6)
    np.testing.assert_allclose(mesh.vertices.colors, 128 / 255, rtol=1e-6)
    assert any("UV maps" in warning for warning in b3d.from_scene(scene).warnings)
    slim = meshes(exported(scene, uv_sets=1, colors=False))[0].vertices
    assert (slim.flags, slim.tex_coord_sets) == (0, 1)


@pytest.mark.parametrize(("given", "allowed", "told"), [(2, 8, False), (3, 8, True), (3, 2, False)])
def test_uv_maps_that_the_engines_do_not_read_are_told(given: int, allowed: int, told: bool) -> None:
    scene = Scene([Node("a", mesh=0)], [replace(square(), uvs=square().uvs * given)])
    document = b3d.from_scene(scene, b3d.ExportOptions(uv_sets=allowed))
    assert any(f"{given} UV maps" in warning for warning in document.warnings) == told
    assert doc.of_kind(meshes(document)[0].chunks, doc.Vertices)[0].tex_coord_sets == min(given, allowed)


def test_surfaces_hold_what_the_engine_can_count() -> None:
    scene = b3d.to_scene(made.grid(300))
    mesh = meshes(exported(scene))[0]
    assert len(mesh.triangles) == 2
    assert all(len(np.unique(surface.vertex_ids)) <= 65535 for surface in mesh.triangles)
    again = b3d.to_scene(exported(scene)).meshes[0]
    np.testing.assert_array_equal(again.positions[again.corners], scene.meshes[0].positions[scene.meshes[0].corners])


def test_material_of_blenders_own() -> None:
    """Without settings of a file, brush and texture say what the material shows."""
    images = [Image("wood.png"), Image("glow.png", alpha=False)]
    layers = [TextureLayer(0, offset=(0.25, 0.5)), TextureLayer(1, uv=1, blend="ADD", mapping="SPHERE")]
    material = Material("wood", floats(1, 1, 1, 0.5), layers, double_sided=True, full_bright=True, blend="ALPHA")
    glass = Material("glass", vertex_colors=True, vertex_alpha=True, blend="ALPHA")
    scene = Scene(
        [Node("a", mesh=0), Node("b", mesh=1)], [square(materials=[0]), square(materials=[1])], [material, glass], images
    )
    document = exported(scene)
    assert [(texture.file, texture.flags, texture.blend) for texture in document.textures] == [
        (b"wood.png", 1 | 2 | 8, 2),
        (b"glow.png", 1 | 8 | 64 | 65536, 3),
    ]
    assert [(brush.name, brush.blend, brush.fx) for brush in document.brushes] == [(b"wood", 1, 17), (b"glass", 1, 34)]
    assert [list(brush.texture_ids) for brush in document.brushes] == [[0, 1], [-1, -1]]
    assert [list(brush.color) for brush in document.brushes] == [[1, 1, 1, 0.5], [1, 1, 1, 1]]
    assert [node.text for node, parent in document.walk() if parent < 0] == ["ROOT"]
    bare = exported(scene, materials=False)
    assert not bare.brushes and meshes(bare)[0].triangles[0].brush_id == -1

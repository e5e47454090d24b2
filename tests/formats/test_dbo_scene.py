# SPDX-License-Identifier: GPL-3.0-or-later
"""DBO documents as scenes and back: where every vertex is, what every flag becomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from io_retro_meshes.formats import dbo
from io_retro_meshes.formats.dbo import vertices
from io_retro_meshes.formats.dbo.document import MATERIAL, AnimationSet, Bone, Document, Texture
from io_retro_meshes.scene import Channel, Clip, Layer, Material, Mesh, Node, Scene, Track, Transform, animation, floats
from tests.builders import dbo as made
from tests.conftest import ROOT, corpus_files
from tests.engines import dbo as engine

FILES = corpus_files("dbo", "*.dbo", "*.DBO")


def posed(scene: Scene, frame: float, clip: Clip | None = None) -> list[np.ndarray]:
    """Every mesh of a scene in the world, the way armatures work."""
    clip = clip or scene.timeline
    tracks, at = (clip.tracks if clip and clip.tracks else {}), np.array([frame], np.float32)
    places = animation.node_matrices(scene, tracks, at)
    found = []
    for index, node in enumerate(scene.nodes):
        if node.mesh < 0:
            continue
        mesh = scene.meshes[node.mesh]
        points = np.c_[mesh.positions, np.ones(len(mesh.positions))].astype(np.float64)
        if mesh.skin is not None:
            bones = scene.nodes[mesh.skin.node].armature.bones
            posed_bones = animation.bone_matrices(scene, mesh.skin.node, tracks, at)
            moves = np.array([matrix[0] @ np.linalg.inv(bone.bind) for matrix, bone in zip(posed_bones, bones, strict=True)])
            skin = mesh.skin
            rows = np.einsum("nij,nj->ni", moves[skin.bones], points[skin.vertices]) * skin.weights[:, None]
            points = np.zeros_like(points)
            np.add.at(points, skin.vertices, rows)
        found.append((points @ places[index][0].T)[:, :3])
    return found


def apart(a: list[np.ndarray], b: list[np.ndarray]) -> float:
    """The largest distance, as a part of the size; meshes may come in another order."""
    assert sorted(map(len, a)) == sorted(map(len, b))
    rest = list(b)
    worst = 0.0
    for points in a:
        errors = [np.abs(points - other).max() if len(other) == len(points) else np.inf for other in rest]
        best = int(np.argmin(errors))
        worst = max(worst, errors[best])
        rest.pop(best)
    return worst / float(np.ptp(np.concatenate(a), 0).max())


def matrices_document() -> Document:
    root = made.frame("root")
    root.child = made.frame("moved", made.box())
    return made.document(root, AnimationSet(name="m", length=10, animation=made.matrix_keys("moved")))


def user_document() -> Document:
    root, child = made.frame("root", made.box()), made.frame("child", made.box(), at=(3, 1, 0), turn=0.4)
    root.offset, root.rotation, root.scale = np.array([1, 2, 3]), np.array([10, 20, 30]), np.array([1, 1, 1])
    child.offset, child.rotation, child.scale = np.array([0, 1, 0]), np.array([0, 45, 90]), np.array([2, 2, 2])
    root.child = child
    return made.document(root, AnimationSet(name="u", length=10, animation=made.keys("child")))


MADE = {"arm": made.arm, "matrices": matrices_document, "user": user_document, "declared": made.declared}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("frame", [0, 3, 5, 10])
def test_made_files_pose_as_in_the_engine(name: str, frame: float) -> None:
    data = dbo.write(MADE[name]())
    scene = dbo.to_scene(dbo.read(data))
    assert apart(engine.pose(data, frame), posed(scene, frame)) < 1e-5
    again = dbo.write(dbo.from_scene(scene))
    assert apart(engine.pose(data, frame), engine.pose(again, frame)) < 1e-5
    assert apart(engine.pose(again, frame), posed(dbo.to_scene(dbo.read(again)), frame)) < 1e-5


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("frame", [0, 7.5, 16])
def test_real_files_pose_as_in_the_engine(path: Path, frame: float) -> None:
    data = path.read_bytes()
    scene = dbo.to_scene(dbo.read(data))
    assert apart(engine.pose(data, frame), posed(scene, frame)) < 1e-5
    again = dbo.write(dbo.from_scene(scene))
    assert apart(engine.pose(data, frame), engine.pose(again, frame)) < 1e-5
    engine.walk(again)
    second = dbo.to_scene(dbo.read(again))
    assert [node.name for node in second.nodes] == [node.name for node in scene.nodes]
    assert repr(second.materials) == repr(scene.materials)
    for one, other in zip(scene.meshes, second.meshes, strict=True):
        assert np.array_equal(one.corners, other.corners)
        assert np.allclose(one.normals.data, other.normals.data, atol=1e-6)
        assert all(np.allclose(a.data, b.data, atol=1e-6) for a, b in zip(one.uvs, other.uvs, strict=True))


def test_exported_rig_has_true_sizes_and_terminators_everywhere() -> None:
    scene = dbo.to_scene(made.arm())
    scene.clips = [Clip("first half", 0, 5), Clip("second half", 5, 10)]
    data = dbo.write(dbo.from_scene(scene))
    codes = engine.walk(data)
    assert codes.count(122) == 2 and codes.count(305) == 2 + 1  # the root above them is a bone now
    assert codes.count(205) == 2 and codes.count(207) == 2
    for code in (103, 104, 105, 106, 107, 108):
        assert codes.count(code) == codes.count(101)
    again = dbo.to_scene(dbo.read(data))
    assert [(clip.name, clip.first, clip.last) for clip in again.clips] == [("first half", 0, 5), ("second half", 5, 10)]
    assert [bone.name for bone in again.nodes[0].armature.bones] == ["root", "lower", "upper"]


def test_a_skin_is_bound_where_305_says_and_rests_where_its_frames_are() -> None:
    scene = dbo.to_scene(made.arm(bound=0.3))
    armature = scene.nodes[0].armature
    upper = armature.bones[2]
    assert scene.nodes[0].name == "body_armature"
    assert np.allclose(upper.transform.location, (0, 0, 2)) and not np.allclose(upper.bind[:2, :2], np.eye(2))
    hand = next(node for node in scene.nodes if node.name == "hand")
    assert (hand.parent, hand.parent_bone) == (0, 2)
    body = next(node for node in scene.nodes if node.name == "body")
    assert np.array_equal(body.transform.matrix, np.eye(4)) and body.parent == 0
    document = made.arm()
    second = made.arm(bound=0.9).root.frame.child.sibling
    second.name = "other"
    document.root.frame.child.sibling.sibling = second
    assert [node.name for node in dbo.to_scene(document).nodes if node.armature] == ["body_armature", "other_armature"]
    data = dbo.write(document)
    assert apart(engine.pose(data, 6), engine.pose(dbo.write(dbo.from_scene(dbo.to_scene(document))), 6)) < 1e-5


def test_sets_with_keys_of_their_own_are_laid_end_to_end() -> None:
    document = made.arm()
    document.root.animation_set.next = AnimationSet(name="other", length=10, animation=made.keys("lower", turn=-0.6))
    alone = made.arm()
    alone.root.animation_set = AnimationSet(name="other", length=10, animation=made.keys("lower", turn=-0.6))
    scene = dbo.to_scene(document)
    assert [clip.name for clip in scene.clips] == ["swing", "other"] and scene.timeline is None
    data = dbo.write(dbo.from_scene(scene))
    first, second = dbo.read(data).animation_sets()[1:]
    for frame in (0, 4, 10):
        assert apart(engine.pose(dbo.write(made.arm()), frame), engine.pose(data, first.start + frame)) < 1e-5
        assert apart(engine.pose(dbo.write(alone), frame), engine.pose(data, second.start + frame)) < 1e-5


def test_a_mesh_may_name_its_own_frame_as_its_bone() -> None:
    document = made.arm()
    body = document.root.frame.child.sibling
    body.mesh.bones[0].name = "body"
    data = dbo.write(document)
    scene = dbo.to_scene(dbo.read(data))
    for frame in (0, 5):
        assert apart(engine.pose(data, frame), posed(scene, frame)) < 1e-5
        assert apart(engine.pose(data, frame), engine.pose(dbo.write(dbo.from_scene(scene)), frame)) < 1e-5


def test_what_is_not_wanted_is_not_written() -> None:
    scene = dbo.to_scene(made.parts())
    mesh = dbo.from_scene(scene, dbo.ExportOptions(colors=False, uv_sets=1, materials=False)).root.frame.mesh
    assert (mesh.fvf, mesh.texture_count, mesh.use_multi_material, mesh.cull) == (0x112, 0, False, True)


def test_bones_that_do_not_fit_are_warned_of() -> None:
    document = made.arm()
    mesh = document.root.frame.child.sibling.mesh
    stray = Bone(name="nowhere", influences=1, vertices=np.array([0]), weights=np.ones(1), matrix=np.eye(4))
    mesh.bone_count, mesh.bones = 3, [*mesh.bones, stray]
    numbers = mesh.bones[0].vertices.copy()
    numbers[0] = 60_000
    mesh.bones[0].vertices = numbers
    warnings = dbo.to_scene(document).warnings
    assert any("nowhere" in warning for warning in warnings) and any("vertices that are not there" in w for w in warnings)


def test_vertices_without_a_format_still_have_places() -> None:
    document = made.document(made.frame("x", made.box()))
    document.root.frame.mesh.fvf = 0
    scene = dbo.to_scene(document)
    assert any("says nothing of its vertices" in warning for warning in scene.warnings)
    assert np.allclose(scene.meshes[0].positions, made.CORNERS[:, [0, 2, 1]])


# Flexible vertex formats, and how many bytes Direct3D has for a vertex of each.
FORMATS = {0x112: 32, 0x152: 36, 0x1D2: 40, 0x212: 40, 0x2B2: 48, 0x116: 36, 0x118: 40, 0x11E: 52}
FORMATS |= {0x00010112: 36, 0x00030212: 36, 0x000E0312: 52}


@pytest.mark.parametrize("fvf", FORMATS)
def test_any_vertex_format(fvf: int) -> None:
    columns = vertices.fvf_columns(fvf)
    rows = np.zeros(4, np.dtype([(name, dtype) for name, dtype, _ in columns]))
    assert rows.dtype.itemsize == FORMATS[fvf]
    rows["position"] = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    for index in range(fvf >> 8 & 15):
        rows[f"uv{index}"] = index + 0.25
    if fvf & vertices.DIFFUSE:
        rows["diffuse"] = (3, 2, 1, 4)
    document = made.document(made.frame("x", made.mesh(rows, fvf, np.array([0, 1, 2]))))
    mesh = dbo.to_scene(dbo.read(dbo.write(document))).meshes[0]
    assert np.array_equal(mesh.positions, rows["position"][:, [0, 2, 1]]) and list(mesh.corners) == [0, 2, 1]
    assert [float(layer.data[0, 0]) for layer in mesh.uvs] == [index + 0.25 for index in range(fvf >> 8 & 15)]
    assert [list(layer.data[0]) for layer in mesh.colors] == ([[1, 2, 3, 4]] if fvf & vertices.DIFFUSE else [])


def test_strips_fans_lines_and_points() -> None:
    rows = vertices.make(0x112, 5)
    rows["position"] = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (2, 0, 0)]

    def mesh(kind: int, indices: list[int]) -> Mesh:
        source = made.mesh(rows, 0x112, np.array(indices, int), kind)
        return dbo.to_scene(dbo.read(dbo.write(made.document(made.frame("x", source))))).meshes[0]

    strip = mesh(5, [0, 1, 2, 3, 4])
    assert strip.corners.reshape(-1, 3).tolist() == [[0, 2, 1], [1, 2, 3], [2, 4, 3]]
    points = strip.positions[strip.corners].reshape(-1, 3, 3)
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    assert (normals[:, 1] < 0).all() or (normals[:, 1] > 0).all()
    assert mesh(6, [0, 1, 3, 4]).corners.reshape(-1, 3).tolist() == [[0, 3, 1], [0, 4, 3]]
    assert mesh(2, [0, 1, 3, 4]).edges.tolist() == [[0, 1], [3, 4]]
    assert mesh(3, [0, 1, 3]).edges.tolist() == [[0, 1], [1, 3]]
    assert len(mesh(1, []).corners) == 0 and len(mesh(1, []).positions) == 5
    assert len(mesh(4, []).corners) == 3
    for kind in (1, 2):
        scene = dbo.to_scene(made.document(made.frame("x", made.mesh(rows, 0x112, np.array([0, 1, 3, 4]), kind))))
        again = dbo.to_scene(dbo.read(dbo.write(dbo.from_scene(scene)))).meshes[0]
        assert (again.edges is None) == (kind == 1) and len(again.positions) == 5


def test_parts_flags_and_textures_come_back() -> None:
    scene = dbo.to_scene(made.parts())
    wall, roof = scene.materials
    assert (wall.name, roof.name) == ("wall", "roof")
    assert wall.full_bright and wall.double_sided and wall.blend == "MULTIPLY" and scene.nodes[0].hidden
    assert wall.settings["dbo"]["effect"] == "glow.fx" and wall.settings["dbo"]["ghost_mode"] == 5
    assert scene.images[1].names[:3] == ("roof.tga", "roof.dds", "roof_D.dds")
    assert wall.layers[0].uv == 1 and wall.layers[0].clamp == (True, False)
    assert scene.meshes[0].face_materials.tolist() == [0] * 4 + [1] * 8
    assert scene.meshes[0].settings["dbo"] == {"arbitrary_value": 7, "levels": "8|500:00000000"}
    data = dbo.write(dbo.from_scene(scene))
    engine.walk(data)
    again = dbo.to_scene(dbo.read(data))
    assert repr(again.materials) == repr(scene.materials) and again.nodes[0].hidden
    assert again.meshes[0].face_materials.tolist() == [0] * 4 + [1] * 8
    assert np.array_equal(again.meshes[0].colors[0].data, scene.meshes[0].colors[0].data)


@pytest.mark.parametrize("effect", ["", "pbr.fx"])
def test_textures_have_a_use_by_their_place_or_with_an_effect_by_their_stage(effect: str) -> None:
    source = made.box()
    stages = [0, 2, 4, 6] if effect else [0, 0, 0, 0]
    source.texture_count, source.textures = len(stages), [Texture(name=f"{i}.png", stage=s) for i, s in enumerate(stages)]
    if effect:
        source.effect = effect
    uses = ["COLOR", "NORMAL", "ROUGHNESS", "OTHER"] if effect else ["COLOR", "NORMAL", "METALLIC", "ROUGHNESS"]
    scene = dbo.to_scene(made.document(made.frame("x", source)))
    assert [layer.use for layer in scene.materials[0].layers] == uses
    again = dbo.to_scene(dbo.read(dbo.write(dbo.from_scene(scene))))
    assert [layer.use for layer in again.materials[0].layers] == uses
    assert [image.name for image in again.images] == [image.name for image in scene.images]


def test_sub_frames_hang_on_their_mesh() -> None:
    scene = dbo.to_scene(dbo.read(dbo.write(made.sub_frames())))
    assert [(node.name, node.parent) for node in scene.nodes] == [("holder", -1), ("sub", 0), ("other", 0)]


def test_an_action_of_a_node_that_shears_becomes_matrix_keys() -> None:
    shear = np.eye(4, dtype=np.float32)
    shear[0, 1] = 0.7
    scene = dbo.to_scene(made.document(made.frame("box", made.box())))
    scene.nodes[0].transform = Transform(prefix=shear)
    turn = Channel(floats(0, 8), np.array([(1, 0, 0, 0), (0.8, 0, 0, 0.6)], np.float32))
    scene.timeline = Clip("t", 0, 8, {(0, -1): Track(rotation=turn)})
    data = dbo.write(dbo.from_scene(scene))
    assert apart(engine.pose(data, 8), posed(scene, 8)) < 1e-5


def test_a_frame_that_is_always_sheared_alike_poses_as_in_the_engine() -> None:
    document = matrices_document()
    shear = np.eye(4, dtype=np.float32)
    shear[0, 1] = 0.7
    moved, keys = document.root.frame.child, document.animation_sets()[0].animation
    rows = keys.matrices.copy()
    rows["value"][1, :3, :3] = np.eye(3)
    rows["value"], rows["interpolation"] = shear @ rows["value"], 0
    moved.matrix, keys.matrices = shear, rows
    scene = dbo.to_scene(document)
    assert scene.warnings == [] and scene.nodes[1].transform.prefix is not None
    assert apart(engine.pose(dbo.write(document), 5), posed(scene, 5)) < 1e-5


@pytest.mark.parametrize("shear", [0.0, 0.7])
def test_matrix_keys_that_shear_are_told(shear: float) -> None:
    document = matrices_document()
    keys = document.animation_sets()[0].animation
    rows = keys.matrices.copy()
    rows["value"][1, 0, 1] = shear
    keys.matrices = rows
    told = [warning for warning in dbo.to_scene(document).warnings if "shear" in warning]
    assert ["on 5 frames" in warning for warning in told] == [True] * bool(shear)  # 5 to 9, up to the next key


def test_a_large_mesh_is_split_and_its_seams_keep_their_normals() -> None:
    side = 300
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2)
    height = np.sin(grid[:, 0] / 20) * 10
    positions = np.c_[grid, height].astype(np.float32)
    first = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1)
    faces = np.stack([first, first + side, first + side + 1, first, first + side + 1, first + 1], 1).reshape(-1)
    normals = np.c_[-np.cos(grid[:, 0] / 20) / 2, np.zeros(len(grid)), np.ones(len(grid))]
    normals = (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32)
    mesh = Mesh("land", positions, faces.astype(np.int32), normals=Layer("n", normals), materials=[0])
    scene = Scene([Node("land", mesh=0)], [mesh], [Material("grass")])
    document = dbo.from_scene(scene)
    again = dbo.to_scene(dbo.read(dbo.write(document)))
    assert len(again.meshes) == 2 and "cut into 2" in document.warnings[0]
    assert all(len(piece.positions) <= 65_535 for piece in again.meshes)
    assert sum(len(piece.corners) for piece in again.meshes) == len(faces)
    for piece in again.meshes:
        where = (piece.positions[:, 0] * side + piece.positions[:, 1]).astype(int)
        assert np.allclose(piece.normals.data, normals[where], atol=1e-6)


def test_materials_of_one_mesh_that_are_drawn_differently_are_meshes_of_their_own() -> None:
    scene = dbo.to_scene(made.document(made.frame("x", made.box())))
    scene.materials = [Material("a"), Material("b", floats(1, 0, 0, 1)), Material("c", double_sided=True)]
    scene.meshes[0].materials, scene.meshes[0].face_materials = [0, 1, 2], np.arange(12, dtype=np.int32) % 3
    document = dbo.read(dbo.write(dbo.from_scene(scene)))
    assert np.frombuffer(document.root.frame.mesh.material, MATERIAL)["diffuse"].tolist() == [[1, 1, 1, 1]]
    again = dbo.to_scene(document)
    drawn = [[again.materials[slot].double_sided for slot in mesh.materials] for mesh in again.meshes]
    assert sorted(zip(drawn, [mesh.face_count for mesh in again.meshes], strict=True)) == [([False, False], 8), ([True], 4)]


def test_interpolation_fields_are_filled() -> None:
    document = dbo.from_scene(dbo.to_scene(made.arm()))
    keys = document.animation_sets()[0].animation
    assert keys.position_count == 2
    assert np.allclose(keys.positions["interpolation"], [np.diff(keys.positions["value"], axis=0)[0] / 10, (0, 0, 0)])


def test_five_weights_become_the_four_greatest() -> None:
    scene = dbo.to_scene(made.arm())
    bones, skin = scene.nodes[0].armature.bones, next(mesh.skin for mesh in scene.meshes if mesh.skin)
    bones += [type(bones[0])(f"extra{i}", 0, np.eye(4, dtype=np.float32), Transform()) for i in range(3)]
    vertex = int(skin.vertices[0])
    keep = skin.vertices != vertex
    skin.vertices = np.concatenate([skin.vertices[keep], np.full(5, vertex, np.int32)])
    skin.bones = np.concatenate([skin.bones[keep], np.arange(1, 6, dtype=np.int32)])
    skin.weights = np.concatenate([skin.weights[keep], floats(0.3, 0.3, 0.2, 0.15, 0.05)])
    document = dbo.from_scene(scene)
    assert any("more than 4 weights" in warning for warning in document.warnings)
    written = next(mesh for frame, _ in document.frames() if (mesh := frame.mesh) is not None and mesh.bones)
    total = np.zeros(written.vertex_count)
    for bone in written.bones:
        np.add.at(total, bone.vertices, bone.weights)
    assert np.allclose(total, 1)


def test_the_example_opens_and_closes() -> None:
    data = (ROOT / "examples" / "flower.dbo").read_bytes()
    engine.walk(data)
    assert dbo.write(dbo.read(data)) == data
    scene = dbo.to_scene(dbo.read(data))
    assert [(clip.name, clip.first, clip.last) for clip in scene.clips] == [("sway", 0, 48), ("bloom", 48, 84)]
    widths = [np.ptp(next(mesh for mesh in engine.pose(data, frame) if mesh[:, 2].max() > 1)[:, 0]) for frame in (48, 66)]
    assert widths[1] < 0.9 * widths[0]

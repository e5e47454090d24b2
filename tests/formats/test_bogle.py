# SPDX-License-Identifier: GPL-3.0-or-later
"""BOGLE without Blender: documents, scenes, and every file of the corpus."""

from __future__ import annotations

import json
import math
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes import scene as neutral
from io_retro_meshes.formats import FormatError, bogle
from io_retro_meshes.formats.bogle import document as doc
from io_retro_meshes.formats.bogle import drafts, lights, tree
from io_retro_meshes.formats.bogle.document import Document
from io_retro_meshes.formats.bogle.drafts import Draft
from io_retro_meshes.formats.bogle.from_scene.materials import from_material
from io_retro_meshes.formats.bogle.from_scene.tangents import tangents
from io_retro_meshes.scene import Layer, Mesh, animation
from tests.builders import bogle as made
from tests.conftest import CORPUS, ROOT, corpus_files

GOLDEN = [path for path in corpus_files("bogle", "scene_*.bgl") if path.parent.name == "bogle"]
CASES = CORPUS / "bogle" / "spec_only" / "expected.json"


def cases() -> list[dict[str, Any]]:
    return json.loads(CASES.read_text())["cases"] if CASES.is_file() else []


def facts(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".facts.json").read_text())


def scene_of(data: bytes, **options: Any) -> neutral.Scene:
    return bogle.to_scene(bogle.read(data), bogle.ImportOptions(**options))


# ------------------------------------------------------------------------------------------------------------- documents


@pytest.mark.parametrize("path", corpus_files("bogle", "*.bgl"))
def test_real_files_come_back_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    try:
        document = bogle.read(data)
    except FormatError:
        assert path.parent.name == "spec_only"
        return
    assert bogle.write(document) == data


@pytest.mark.parametrize("path", GOLDEN)
def test_golden_files_hold_what_is_known_of_them(path: Path) -> None:
    document, known = bogle.read(path.read_bytes()), facts(path)
    assert isinstance(document, Document)
    assert document.layout == known["layout"] and document.warnings == []
    assert document.tree.decode() == known["scene_tree"]
    assert tree.parse(document.tree, len(document.instances)).parents == [-1 if p is None else p for p in known["parents"]]
    for ours, theirs in zip(document.geometries, known["geometries"], strict=True):
        rows = np.array(theirs["vertices"], np.float32)
        assert np.array_equal(ours.vertices.view("<f4").reshape(len(rows), -1), rows)
        assert np.array_equal(ours.indices, theirs["indices"])
    for light, theirs in zip(document.lights, known["lights"], strict=True):
        assert light.type == theirs["type"]
        assert light.values["linear"][0] == np.float32(theirs["attenuation_linear"])
    for collection, theirs in zip(document.collections, known.get("animation_collections", []), strict=True):
        assert [animation.name.decode() for animation in collection.animations] == [a["name"] for a in theirs["animations"]]
        times = [key["time"] for key in theirs["animations"][0]["keyframes"]]
        assert np.array_equal(collection.animations[0].keys["time"], np.array(times, np.float32))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["file"])
def test_crafted_files_end_as_expected(case: dict[str, Any]) -> None:
    expected = case["importer"]
    data = (CASES.parent / case["file"]).read_bytes()
    try:
        scene = scene_of(data)
    except FormatError as error:
        assert "error" in (expected["outcome"], *expected["also_acceptable"]), error
        assert case["file"] != "version_1.bgl" or "version 1" in str(error)
        return
    assert ("warning" if scene.warnings else "ok") in (expected["outcome"], *expected["also_acceptable"]), scene.warnings
    if "parents" in expected:
        roots = [node for node in scene.nodes if not node.name.endswith((" camera", " light"))]
        number = {index: int(node.name.rsplit(".", 1)[1]) for index, node in enumerate(scene.nodes) if node in roots}
        parents = {number[i]: number[n.parent] if n.parent >= 0 else None for i, n in enumerate(scene.nodes) if n in roots}
        assert [parents[n] for n in sorted(parents)] == expected["parents"]
    if "triangles" in expected:
        assert sum(mesh.face_count for mesh in scene.meshes) == expected["triangles"]
    for node in scene.nodes:
        assert np.isfinite(node.transform.matrix).all()
    for mesh in scene.meshes:
        assert np.isfinite(mesh.positions).all() and mesh.normals is not None and np.isfinite(mesh.normals.data).all()
        assert not len(mesh.corners) or mesh.corners.max() < len(mesh.positions)
    for light in scene.lights:
        assert all(map(math.isfinite, (light.energy, light.spot_angle, light.cutoff_distance or 0)))


@pytest.mark.parametrize("layout", "ABCD")
def test_drafts_are_told_apart_and_read(layout: Any) -> None:
    draft = made.draft(layout)
    data = bogle.write(draft)
    read = bogle.read(data)
    assert isinstance(read, Draft) and read.layout == layout and bogle.write(read) == data
    scene = bogle.to_scene(read)
    node = next(node for node in scene.nodes if node.mesh >= 0)
    assert node.name == "Square" and scene.meshes[node.mesh].face_count == 2
    assert np.allclose(node.transform.location, (0, 0, 0) if layout == "A" else (1, 2, 3))
    assert (len(scene.cameras), len(scene.lights)) == ((1, 1) if layout == "D" else (0, 0))
    if layout == "D":
        assert scene.nodes[node.parent].name == "Empty" and scene.lights[0].energy == 10
        assert np.allclose(
            bogle.to_scene(read, bogle.ImportOptions(draft_axes="OPENGL")).nodes[0].transform.location, (-1, 3, 2)
        )


def test_the_camera_of_a_draft_looks_along_yaw_and_pitch() -> None:
    draft = made.draft("D")
    draft.cameras["position"], draft.cameras["yaw"], draft.cameras["pitch"] = (4, 5, 9), 0.5, -0.25
    node = next(node for node in bogle.to_scene(bogle.read(bogle.write(draft))).nodes if node.camera >= 0)
    assert node.transform.location.tolist() == [4, 5, 9]
    ahead = [math.cos(-0.25) * math.cos(0.5), math.cos(-0.25) * math.sin(0.5), math.sin(-0.25)]
    assert np.allclose(node.transform.matrix[:3, :3] @ (0, 0, -1), ahead, atol=1e-6)
    assert np.allclose(node.transform.matrix[:3, :3] @ (1, 0, 0), [math.sin(0.5), -math.cos(0.5), 0], atol=1e-6)


def test_a_perfect_mirror_has_the_least_roughness_that_the_engine_can_show() -> None:
    mirrors = [neutral.Material("x", roughness=roughness, metallic=1, specular=1) for roughness in (0.0, 0.05, 0.5)]
    perfect, least, half = (from_material(mirror, [], []).values[0] for mirror in mirrors)
    assert perfect.tobytes() == least.tobytes() and perfect["specular_power"] == 1000
    assert np.allclose([*perfect["specular"], perfect["reflectance"]], (0.96, 0.96, 0.96, 1, 0.95))
    assert half["reflectance"] == 0.5 and half["specular_power"] == 30


def test_damaged_files_raise_format_errors_and_nothing_else() -> None:
    files = [made.file(made.rigged_scene(), file_layout=layout) for layout in doc.LAYOUTS]
    files += [bogle.write(made.draft(layout)) for layout in drafts.DRAFTS]
    chance = random.Random(5)
    for data in files:
        cuts = [data[:size] for size in range(0, len(data), 7)]
        for _ in range(300):
            wrong = bytearray(data)
            for _ in range(chance.randint(1, 6)):
                place = chance.randrange(len(wrong))
                wrong[place : place + 4] = chance.choice(
                    (b"\xff\xff\xff\xff", b"\0\0\0\0", chance.randbytes(4), b"\0\0\xc0\x7f")
                )
            cuts.append(bytes(wrong))
        for broken in cuts:
            try:
                scene_of(broken)
            except FormatError:
                continue


def test_a_count_that_lies_costs_nothing() -> None:
    data = made.file(made.still_scene())
    tracemalloc.start()
    for place in range(6, 26, 4):
        with pytest.raises(FormatError):
            bogle.read(data[:place] + b"\xff\xff\xff\xff" + data[place + 4 :])
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


# ----------------------------------------------------------------------------------------------------------------- tree


def test_trees_of_any_depth_are_written_and_read() -> None:
    parents = list(range(-1, 2999))
    assert tree.parse(tree.write(parents), 3000).parents == parents
    assert tree.write([-1, 0, 1, 0, -1]) == b"0{1{2{}}3{}}4{}"


# -------------------------------------------------------------------------------------------------------------- formulas


@pytest.mark.parametrize("formula", ["SPEC", "ORIGINAL"])
@pytest.mark.parametrize("kind", ["POINT", "SUN", "SPOT"])
def test_light_formulas_have_inverses(formula: Any, kind: str) -> None:
    for power in (0.5, 15, 60, 450, 5000):
        assert lights.energy(lights.intensity(power, kind, formula), kind, formula) == pytest.approx(power)
    for distance in (0.01, 5, 31.6, 40, 5000):
        assert lights.cutoff_distance(lights.linear_attenuation(distance)) == pytest.approx(distance)


@pytest.mark.parametrize("path", GOLDEN)
def test_lights_of_golden_files(path: Path) -> None:
    scene, known = scene_of(path.read_bytes(), light_formula="ORIGINAL"), facts(path)
    for light, theirs in zip(scene.lights, known["lights"], strict=True):
        assert light.kind == theirs["expect"]["type"]
        assert light.energy == pytest.approx(theirs["expect"]["energy_from_intensity"], rel=1e-5)
        assert light.cutoff_distance == pytest.approx(theirs["expect"]["cutoff_distance_from_linear"], rel=1e-5)
    plain = scene_of(path.read_bytes())
    assert [light.energy for light in plain.lights] == [pytest.approx(t["intensity"]) for t in known["lights"]]


@pytest.mark.parametrize("path", GOLDEN)
def test_tangents_are_blenders(path: Path) -> None:
    document = bogle.read(path.read_bytes())
    assert isinstance(document, Document)
    tested = 0
    for shape in document.geometries:
        corners = shape.vertices[shape.indices]
        if corners["uv"].min() == 0 and corners["uv"].max() == 1 and len(corners) == 144 and len(shape.vertices) == 35:
            continue  # its coordinates were cut to 0..1 after the tangents were made
        found = tangents(
            Mesh("shape", shape.vertices["position"], shape.indices.astype(np.int32)),
            Layer("normal", shape.vertices["normal"]),
            Layer("uv", shape.vertices["uv"]),
        )
        tangent, sign = found.vectors[found.corners], found.signs[found.corners]
        assert np.abs(tangent - corners["tangent"]).max() < 2e-5
        assert np.abs(np.cross(corners["normal"], tangent) * sign[:, None] - corners["binormal"]).max() < 2e-5
        tested += 1
    assert tested == len(document.geometries) - 1


# ---------------------------------------------------------------------------------------------------------------- scenes


def test_a_scene_goes_out_and_comes_back() -> None:
    before = made.still_scene()
    document = bogle.from_scene(before, bogle.ExportOptions(file_layout="NAMES"))
    assert document.warnings == [] and len(document.geometries) == 1
    after = scene_of(bogle.write(document))
    assert after.warnings == []
    assert [(n.name, n.parent, n.mesh, n.camera, n.light) for n in after.nodes] == [
        (n.name, n.parent, n.mesh, n.camera, n.light) for n in before.nodes
    ]
    for ours, theirs in zip(after.global_matrices(), before.global_matrices(), strict=True):
        assert np.allclose(ours, theirs, atol=1e-6)
    assert after.nodes[2].materials == [1] and after.meshes[0].materials == [0]
    values = after.materials[0].settings["bogle"]
    assert values["Base Diffuse"] == (0.5, 0.25, 0.125) and values["Opacity"] == 0.75
    assert after.images[after.materials[0].layers[0].image].names[0] == "textures/enamel.png"
    assert np.allclose(after.materials[1].color, (0.5, 0.5, 0.5, 1), atol=1e-6)
    assert (after.cameras[0].angle, after.cameras[0].resolution, after.cameras[0].main) == (0.75, (640, 480), True)
    assert after.lights[0].energy == 60 and after.lights[0].cutoff_distance == pytest.approx(5)
    mesh, was = after.meshes[0], before.meshes[0]
    assert np.array_equal(np.sort(mesh.uvs[0].data, 0), np.sort(was.uvs[0].data, 0))
    assert np.allclose(mesh.positions[mesh.corners], was.positions[was.corners])


def test_export_gives_the_engine_what_it_needs() -> None:
    scene = neutral.Scene(meshes=[made.square()], lights=[neutral.Light(f"Light {n}") for n in range(21)])
    scene.meshes[0].uvs = []
    scene.meshes[0].face_materials = np.array([0, 1], np.int32)
    scene.materials = [neutral.Material("Red"), neutral.Material("Green")]
    scene.meshes[0].materials = [0, -1]
    scene.nodes = [neutral.Node(f"Node {n}", n - 1) for n in range(300)]
    scene.nodes.append(neutral.Node("Square", 299, transform=neutral.Transform(neutral.floats(0, 0, 1)), mesh=0))
    document = bogle.from_scene(scene)
    told = " ".join(document.warnings)
    assert all(word in told for word in ("21 lights", "no UV map", "256 levels", "no camera", "no material"))
    again = scene_of(bogle.write(document))
    assert not any("deep" in warning or "material" in warning for warning in again.warnings)
    squares = [index for index, node in enumerate(again.nodes) if node.mesh >= 0]
    assert len(squares) == 2 and len({again.nodes[index].mesh for index in squares}) == 2
    assert all(np.allclose(again.global_matrices()[index][:3, 3], (0, 0, 1)) for index in squares)
    assert sum(camera.main for camera in again.cameras) == 1


def test_the_example_is_whole() -> None:
    folder = ROOT / "examples"
    data = (folder / "lighthouse.bgl").read_bytes()
    document = bogle.read(data)
    assert bogle.write(document) == data
    scene = bogle.to_scene(document)
    assert scene.warnings == [] and [clip.name for clip in scene.clips] == ["Fly"]
    assert all((folder / image.names[0]).is_file() for image in scene.images)
    assert check_poses(document, scene) < 1e-5


# ------------------------------------------------------------------------------------------------------------- animation


def engine_pose(collection: Any, keys: Any) -> list[np.ndarray]:
    """What the engine makes of a skeleton at a key: written from its source's rules, sharing nothing with the project."""

    def turn(q: np.ndarray) -> np.ndarray:
        x, y, z, w = (q / np.linalg.norm(q)).astype(float)
        made = np.eye(4)
        made[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        return made

    def absolute(keyed: bool) -> dict[int, np.ndarray]:
        found: dict[int, np.ndarray] = {}
        root = min(n for n, bone in enumerate(collection.bones) if bone["parent"] == 0)
        while len(found) < len(collection.bones):
            for number, bone in enumerate(collection.bones):
                above = int(bone["parent"]) - 1
                if number in found or (above >= 0 and above not in found):
                    continue
                move = np.eye(4)
                move[:3, 3] = bone["position"] + (keys["root_offset"] if keyed and number == root else 0)
                spin = turn(bone["rotation"]) @ (turn(keys["rotations"][number]) if keyed else np.eye(4))
                parent = found[above] if above >= 0 else collection.matrix.reshape(4, 4).T.astype(float)
                found[number] = parent @ spin @ move
        return found

    rest, posed = absolute(False), absolute(True)
    return [posed[number] @ np.linalg.inv(rest[number]) for number in range(len(collection.bones))]


def check_poses(document: Any, scene: neutral.Scene) -> float:
    """The largest distance between the scene's posed vertices and the engine's, over all keys of all animations."""
    worst = 0.0
    collection = document.collections[0]
    skinned = next(mesh for mesh in scene.meshes if mesh.skin)
    instance = next(each for each in document.instances if each.values["animation"][0])
    shape = document.geometries[int(instance.values["geometry"][0]) - 1]
    points = np.concatenate([shape.vertices["position"], np.ones((len(shape.vertices), 1))], 1)
    base = collection.matrix.reshape(4, 4).T.astype(float)
    rows = skinned.skin
    assert rows is not None and scene.fps
    for clip, source in zip(scene.clips, collection.animations, strict=True):
        frames = np.float32(source.keys["time"] * scene.fps)
        bones = animation.bone_matrices(scene, rows.node, clip.tracks or {}, frames)
        armature = scene.nodes[rows.node].armature
        assert armature is not None
        for number, keys in enumerate(source.keys):
            moves = engine_pose(collection, keys)
            weights = shape.vertices["weights"]
            theirs = sum(
                weights[:, i, None]
                * np.einsum("nij,nj->ni", np.array(moves)[shape.vertices["bones"][:, i].astype(int)], points)
                for i in range(3)
            )
            ours = np.zeros((len(points), 4))
            for index, bone in enumerate(armature.bones):
                mine = rows.bones == index
                move = base @ bones[index][number] @ np.linalg.inv(bone.bind) @ np.linalg.inv(base)
                np.add.at(ours, rows.vertices[mine], rows.weights[mine, None] * (points[rows.vertices[mine]] @ move.T))
            worst = max(worst, float(np.abs(ours - theirs)[:, :3].max()))
    return worst


def test_poses_of_the_golden_file_are_the_engines(corpus: Path) -> None:
    document = bogle.read((corpus / "bogle" / "scene_anim.bgl").read_bytes())
    scene = bogle.to_scene(document)
    assert scene.fps == 30 and [clip.name for clip in scene.clips] == ["Swim", "Dive", "Flap Fins"]
    assert check_poses(document, scene) < 1e-5
    index = next(index for index, node in enumerate(scene.nodes) if node.name == "EelSkin")
    expected = facts(corpus / "bogle" / "scene_anim.bgl")["objects"][22]["expect"]
    assert np.allclose(scene.global_matrices()[index], expected["matrix_world"], atol=1e-5)
    rig = next(index for index, node in enumerate(scene.nodes) if node.armature)
    assert np.allclose(scene.global_matrices()[rig], expected["armature_matrix_world"], atol=1e-5)


def test_exact_joints_make_the_engine_pose_as_blender_does() -> None:
    scene = made.rigged_scene()
    rig = next(index for index, node in enumerate(scene.nodes) if node.armature)
    tracks = scene.clips[0].tracks or {}
    tracks[rig, 1].location = None  # the upper bone turns about its own place
    at = neutral.floats(0, 12)
    wanted = [
        matrices[1] @ np.linalg.inv(bone.bind)
        for matrices, bone in zip(animation.bone_matrices(scene, rig, tracks, at), scene.nodes[rig].armature.bones, strict=True)
    ]
    for exact in (False, True):
        document = bogle.from_scene(scene, bogle.ExportOptions(file_layout="ANIM", exact_joints=exact))
        assert any("Exact Joints" in warning for warning in document.warnings) != exact
        collection = document.collections[0]
        assert len(collection.bones) == (3 if exact else 2)
        poses = engine_pose(collection, collection.animations[0].keys[-1])
        poses = [poses[0], poses[-1]]  # the joint is between them
        assert np.allclose(poses, wanted, atol=1e-5) == exact


def test_a_layout_without_skeletons_has_the_pose() -> None:
    scene = made.rigged_scene()
    rig = next(node for node in scene.nodes if node.armature)
    rig.armature.bones[1].transform.location[0] += 2
    document = bogle.from_scene(scene, bogle.ExportOptions(file_layout="NAMES"))
    assert any("stand still" in warning for warning in document.warnings)
    flag = next(shape for shape in document.geometries if shape.name == b"Flag")
    assert np.array_equal(np.unique(flag.vertices["position"], axis=0), [[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 1, 0]])


def test_a_rig_goes_out_and_comes_back() -> None:
    before = made.rigged_scene()
    document = bogle.from_scene(before, bogle.ExportOptions(file_layout="ANIM"))
    assert document.warnings == []
    after = scene_of(bogle.write(document))
    assert after.warnings == [] and after.fps == 24
    assert check_poses(document, after) < 1e-5
    rigs = [next(i for i, node in enumerate(scene.nodes) if node.armature) for scene in (before, after)]
    at = neutral.floats(0, 12)
    ours, theirs = (
        animation.bone_matrices(scene, rig, scene.clips[0].tracks or {}, at)
        for scene, rig in zip((before, after), rigs, strict=True)
    )
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(ours, theirs, strict=True))
    skins = [next(mesh.skin for mesh in scene.meshes if mesh.skin) for scene in (before, after)]
    assert sorted(skins[1].bones) == sorted(skins[0].bones)

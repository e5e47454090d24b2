# SPDX-License-Identifier: GPL-3.0-or-later
"""BOGLE exports as the engine's own procedure judges them (tests/engines/bogle.py), without Blender."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes import scene as neutral
from io_retro_meshes.files import load_scene, save_scene
from io_retro_meshes.formats import FormatError, bogle
from io_retro_meshes.formats.bogle.document import Document
from io_retro_meshes.scene import Channel, Track, Transform, animation, floats
from tests.builders import bogle as made
from tests.engines import bogle as engine

# Sorted by name, children come before their parents.
NAMES = ["Hips", "Spine", "Chest", "Arm", "Hand"]


def turns(*angles: float) -> np.ndarray:
    """Turns about X."""
    return np.array([[np.cos(a / 2), np.sin(a / 2), 0, 0] for a in angles], np.float32)


def climber() -> neutral.Scene:
    """A chain of bones, a unit each and bent at rest, that all turn about their own places; a strip of squares follows them."""
    scene = neutral.Scene(materials=[neutral.Material("Cloth")], fps=30.0)
    bones: list[neutral.Bone] = []
    for number, name in enumerate(NAMES):
        local = Transform(floats(0, 1 if number else 0, 0), turns(0.3)[0])
        bind = bones[-1].bind @ local.matrix if bones else local.matrix
        bones.append(neutral.Bone(name, number - 1, bind, local))
    positions = np.array([(bone.bind @ (x, 0.5, 0, 1))[:3] for bone in bones for x in (-1, 1)], np.float32)
    rows = np.arange(len(NAMES) - 1, dtype=np.int32)[:, None] * 2
    mesh = neutral.Mesh("Strip", positions, (rows + np.array([0, 1, 3, 0, 3, 2], np.int32)).reshape(-1), materials=[0])
    mesh.uvs = [neutral.Layer("UVMap", positions[:, :2])]
    every = np.arange(len(positions), dtype=np.int32)
    mesh.skin = neutral.Skin(0, every, every // 2, np.ones(len(every), np.float32))
    scene.meshes = [mesh]
    scene.nodes = [neutral.Node("Rig", armature=neutral.Armature("Rig", bones)), neutral.Node("Strip", 0, mesh=0)]
    frames = floats(0, 10, 20)
    tracks = {
        (0, n): Track(rotation=Channel(frames, turns(0.3, 0.3 + 0.1 * (n + 1), -0.2 * (n + 1)))) for n in range(len(NAMES))
    }
    tracks[0, 0].location = Channel(frames, np.array([[0, 0, 0], [0, 0, 1], [1, 0, 2]], np.float32))
    scene.clips = [neutral.Clip("Climb", 0, 20, tracks)]
    return scene


def shown(scene: neutral.Scene, frame: float, clip: int = 0) -> list[np.ndarray]:
    """The vertices that triangles use, in the world, as the scene has them: objects at rest, bones as a clip has them."""
    world = scene.global_matrices()
    tracks = scene.clips[clip].tracks or {} if scene.clips else {}
    posed = {
        index: [each[0] for each in animation.bone_matrices(scene, index, tracks, floats(frame))]
        for index, node in enumerate(scene.nodes)
        if node.armature is not None
    }
    found = []
    for index, node in enumerate(scene.nodes):
        if node.mesh < 0:
            continue
        mesh, matrix = scene.meshes[node.mesh], world[index]
        points = np.c_[mesh.positions, np.ones(len(mesh.positions))]
        if mesh.skin is not None:
            armature = scene.nodes[mesh.skin.node].armature
            assert armature is not None
            moves = [now @ np.linalg.inv(bone.bind) for now, bone in zip(posed[mesh.skin.node], armature.bones, strict=True)]
            total = np.zeros_like(points)
            np.add.at(
                total,
                mesh.skin.vertices,
                np.einsum("n,nij,nj->ni", mesh.skin.weights, np.array(moves)[mesh.skin.bones], points[mesh.skin.vertices]),
            )
            points = total
        elif (above := carrier(scene, index)) is not None:
            rig, bone, local = above
            matrix = world[rig] @ posed[rig][bone] @ local
        found.append((points @ matrix.T)[np.unique(mesh.corners), :3])
    return found


def carrier(scene: neutral.Scene, index: int) -> tuple[int, int, np.ndarray] | None:
    """The bone that an object hangs on, itself or through others: its armature, its number, and the object's matrix in it."""
    local = np.eye(4)
    while index >= 0:
        node = scene.nodes[index]
        local = node.transform.matrix @ local
        if node.parent_bone >= 0:
            return node.parent, node.parent_bone, local
        index = node.parent
    return None


def off(scene: neutral.Scene, document: Any, seconds: float, frame: float, clip: int = 0) -> float:
    """How far the engine's vertices are from the scene's at most."""
    ours, theirs = np.concatenate(shown(scene, frame, clip)), np.concatenate(engine.pose(document, seconds, clip))
    assert np.isfinite(theirs).all()
    apart = np.linalg.norm(ours[:, None] - theirs[None], axis=-1)
    return float(max(apart.min(0).max(), apart.min(1).max()))


def export(scene: neutral.Scene, **options: Any) -> Document:
    document = bogle.read(bogle.write(bogle.from_scene(scene, bogle.ExportOptions(**options))))
    assert isinstance(document, Document)
    assert engine.refuses(document) == []
    return document


@pytest.mark.parametrize("exact", [False, True])
def test_bones_come_parents_first(exact: bool) -> None:
    document = export(climber(), file_layout="ANIM", exact_joints=exact)
    parents = document.collections[0].bones["parent"]
    assert (parents <= np.arange(len(parents))).all()
    assert len(parents) == (9 if exact else 5)  # all but the root have a joint


def test_with_joints_the_engine_poses_a_chain_as_it_is() -> None:
    scene = climber()
    document = export(scene, file_layout="ANIM", exact_joints=True)
    assert max(off(scene, document, frame / 30, frame) for frame in (0, 10, 20)) < 1e-5


@pytest.mark.parametrize(("layout", "kind"), [("SEED", 1), ("NAMES", 1), ("ANIM", 0), ("GEOMETRIES", 0)])
def test_cameras_are_of_the_type_that_the_engine_asserts(layout: str, kind: int) -> None:
    scene = made.still_scene()
    for given in (None, 0, 1):
        scene.cameras[0].settings = {} if given is None else {"bogle": {"type": given}}
        assert [camera.type for camera in export(scene, file_layout=layout).cameras] == [kind]
    assert [camera.type for camera in export(climber(), file_layout=layout).cameras] == [kind]


# ---------------------------------------------------------------------------------------------------------------- layout


def test_the_layout_is_the_imported_one_or_one_that_holds_the_scene() -> None:
    still, rigged = made.still_scene(), climber()
    assert (export(still).layout, export(rigged).layout) == ("SEED", "ANIM")
    for scene in (still, rigged):
        for layout in ("SEED", "NAMES", "ANIM"):
            again = bogle.to_scene(export(scene, file_layout=layout))
            assert again.settings["bogle"]["layout"] == layout and export(again).layout == layout
    sword = climber()
    sword.meshes, sword.nodes = [made.square("Sword")], [sword.nodes[0], neutral.Node("Sword", 0, 2, mesh=0)]
    assert export(sword).layout == "ANIM"  # nothing is skinned, but something hangs on a bone


def test_a_layout_says_what_it_cannot_hold() -> None:
    told = bogle.from_scene(climber(), bogle.ExportOptions(file_layout="SEED")).warnings
    assert any("no skeletons" in warning for warning in told)
    assert any("no names: 3 were left out (Cloth, Rig, Strip)" in warning for warning in told)
    told = bogle.from_scene(climber(), bogle.ExportOptions(file_layout="NAMES")).warnings
    assert not any("no names" in warning for warning in told)
    again = bogle.to_scene(export(made.still_scene(), file_layout="SEED"))
    assert bogle.from_scene(again).warnings == []  # the numbers are not names


def test_the_order_of_animations_is_kept() -> None:
    scene = climber()
    tracks = scene.clips[0].tracks
    scene.clips = [neutral.Clip(name, 0, 20, tracks) for name in ("Walk", "Attack", "Sit")]
    again = bogle.to_scene(export(scene))
    again.clips.sort(key=lambda clip: clip.name)  # as Blender has actions
    again.clips.insert(0, neutral.Clip("Added", 0, 20, again.clips[0].tracks))
    names = [each.name for each in export(again).collections[0].animations]
    assert names == [b"Walk", b"Attack", b"Sit", b"Added"]


# ---------------------------------------------------------------------------------------------------------------- joints


def test_joints_are_exact_by_default() -> None:
    scene = climber()
    assert max(off(scene, export(scene), frame / 30, frame) for frame in (0, 10, 20)) < 1e-5
    assert off(scene, export(scene, exact_joints=False), 20 / 30, 20) > 0.3


def test_a_posed_bone_without_keys_holds_its_pose() -> None:
    scene = climber()
    armature = scene.nodes[0].armature
    assert armature is not None and scene.clips[0].tracks is not None
    armature.bones[2].transform = Transform(floats(0, 1, 0), turns(1.5)[0])
    del scene.clips[0].tracks[0, 2]
    assert max(off(scene, export(scene), frame / 30, frame) for frame in (0, 10, 20)) < 1e-5
    scene.clips = []
    document = export(scene)
    assert [each.name for each in document.collections[0].animations] == [b"Pose"]
    assert off(scene, document, 0, 0) < 1e-5


def test_objects_on_bones_follow_them() -> None:
    """A sword in the hand, turned, and mirrored; its gem, which hangs on it and has another material; a lamp, which cannot."""
    scene = climber()
    scene.materials.append(neutral.Material("Gem"))
    scene.meshes += [made.square("Sword"), made.square("Gem", 0.2)]
    scene.lights = [neutral.Light("Lamp")]
    mirrored = Transform(floats(0.5, 0.2, 0), turns(0.7)[0], floats(-1, 1, 1))
    scene.nodes += [
        neutral.Node("Sword", 0, 4, mirrored, mesh=1),
        neutral.Node("Gem", 2, transform=Transform(floats(0, 0.5, 0.1)), mesh=2),
        neutral.Node("Spare", transform=Transform(floats(9, 0, 0)), mesh=1),
        neutral.Node("Lamp", 0, 4, light=0),
    ]
    scene.meshes[1].materials, scene.meshes[2].materials = [0], [1]
    document = export(scene)
    told = bogle.from_scene(scene).warnings
    assert any("1 others stay behind (Lamp)" in warning for warning in told)
    assert max(off(scene, document, frame / 30, frame) for frame in (0, 10, 20)) < 1e-5
    assert len(document.collections) == 1, "one skeleton moves them all"


def test_vertices_of_no_bone_stay_where_they_are() -> None:
    scene = climber()
    skin = scene.meshes[0].skin
    assert skin is not None
    scene.meshes[0].skin = neutral.Skin(0, skin.vertices[2:], skin.bones[2:], skin.weights[2:])
    document = export(scene)
    points = np.concatenate(engine.pose(document, 20 / 30))
    for still in scene.meshes[0].positions[:2]:
        assert np.linalg.norm(points - still, axis=1).min() < 1e-5


# --------------------------------------------------------------------------------------------------------------- colours


def colored(count: int) -> neutral.Scene:
    """Squares of one colour each, in a material that shows the colours of vertices."""
    positions = np.concatenate([made.square().positions + floats(2 * n, 0, 0) for n in range(count)]).astype(np.float32)
    corners = (np.arange(count, dtype=np.int32)[:, None] * 4 + np.array([0, 1, 2, 0, 2, 3], np.int32)).reshape(-1)
    mesh = neutral.Mesh("Poles", positions, corners, materials=[0])
    shades = np.random.default_rng(3).integers(0, 256, (count, 3)) / 255
    mesh.colors = [neutral.Layer("Color", np.c_[np.repeat(shades, 4, 0), np.ones(count * 4)].astype(np.float32))]
    scene = neutral.Scene(meshes=[mesh], nodes=[neutral.Node("Poles", mesh=0)])
    scene.materials = [neutral.Material("Paint", floats(1, 0.5, 1, 1), vertex_colors=True)]
    return scene


def drawn_colors(document: Document) -> dict[int, np.ndarray]:
    """The diffuse colour at each square, by its number."""
    found = {}
    for instance in document.instances:
        values = instance.values[0]
        if values["geometry"]:
            for place in document.geometries[values["geometry"] - 1].vertices["position"]:
                found[int(place[0] // 2)] = document.materials[values["material"] - 1].values["diffuse"][0][:3]
    return found


@pytest.mark.parametrize("count", [5, 300])
def test_colored_polygons_keep_their_colors(count: int) -> None:
    scene = colored(count)
    document = export(scene)
    told = bogle.from_scene(scene).warnings
    assert any("rounded" in warning for warning in told) == (count > 64)
    srgb = scene.meshes[0].colors[0].data[::4, :3] * (1, 0.5, 1)
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    colors = drawn_colors(document)
    worst = max(float(np.abs(colors[number] - linear[number]).max()) for number in range(count))
    assert worst < (0.01 if count <= 64 else 0.35)
    assert len(document.instances) - 1 <= 64


def test_colors_that_cannot_be_held_are_told() -> None:
    scene = colored(1)
    scene.meshes[0].colors[0].data[0, :3] = 0
    assert any("go over from one to another" in warning for warning in bogle.from_scene(scene).warnings)
    scene.images = [neutral.Image("wood.png")]
    scene.materials[0].layers = [neutral.TextureLayer(0)]
    assert any("beside a texture" in warning for warning in bogle.from_scene(scene).warnings)


# ------------------------------------------------------------------------------------------------------------ GEOMETRIES


def saved(scene: neutral.Scene, path: Path) -> Document:
    options = bogle.ExportOptions(file_layout="GEOMETRIES")
    warnings = save_scene(bogle, path, scene, options, list)
    assert not [warning for warning in warnings if "camera" not in warning and "UV map" not in warning]
    document = bogle.read(path.read_bytes())
    assert isinstance(document, Document) and document.layout == "GEOMETRIES" and engine.refuses(document) == []
    return document


def test_geometries_in_files_are_written_and_read(tmp_path: Path) -> None:
    scene = climber()
    document = saved(scene, tmp_path / "climber.bgl")
    for frame in (0, 10, 20):
        ours = np.concatenate(shown(scene, frame))
        theirs = np.concatenate(engine.pose(document, frame / 30, folder=tmp_path))
        assert np.linalg.norm(ours[:, None] - theirs[None], axis=-1).min(1).max() < 1e-5
    again = load_scene(bogle, tmp_path / "climber.bgl", bogle.ImportOptions())
    assert again.warnings == [] and again.settings["bogle"]["layout"] == "GEOMETRIES"
    assert [len(mesh.positions) for mesh in again.meshes] == [10] and again.meshes[0].skin is not None
    other = tmp_path / "again"
    other.mkdir()
    save_scene(bogle, other / "climber.bgl", again, bogle.ExportOptions(), list)
    assert [path.name for path in (other / "geometries").iterdir()] == [p.name for p in (tmp_path / "geometries").iterdir()]


def test_geometry_files_come_back_byte_for_byte(tmp_path: Path) -> None:
    document = saved(climber(), tmp_path / "climber.bgl")
    assert bogle.write(document) == (tmp_path / "climber.bgl").read_bytes()
    paths = bogle.companions(tmp_path / "climber.bgl", document)
    assert len(paths) == 1
    for path in paths:
        data = path.read_bytes()
        part = bogle.read_companion(path, data)
        assert bogle.companion_files(tmp_path / "climber.bgl", part) == [(path, data)]
        for wrong in (data[:-1], data + b"x", data[:7], b"\xff" * 8):
            with pytest.raises(FormatError):
                bogle.read_companion(path, wrong)


def test_scenes_do_not_take_each_others_geometries(tmp_path: Path) -> None:
    """Two scenes in a folder with meshes of the same name, and names that would lead elsewhere."""
    saved(climber(), tmp_path / "one.bgl")
    scene = climber()
    scene.meshes[0].positions = scene.meshes[0].positions * 2
    saved(scene, tmp_path / "two.bgl")
    assert len(list((tmp_path / "geometries").iterdir())) == 2
    scene.meshes[0].name = "../../up"
    document = saved(scene, tmp_path / "three.bgl")
    assert not list(tmp_path.glob("*.bgg")) and len(list((tmp_path / "geometries").iterdir())) == 3
    for name in (b"../one", b"..", b"/tmp/x", b"a\\b", b"C:x", b""):
        document.geometries[0].file = name
        assert bogle.companions(tmp_path / "three.bgl", document) == []
    again = bogle.to_scene(document)
    assert any("Geometries not found" in warning for warning in again.warnings)

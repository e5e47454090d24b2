# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters as scenes: posed as the facts say, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FormatError, saturn
from io_retro_meshes.formats.saturn import face_attributes, skeleton, textures
from io_retro_meshes.formats.saturn.document import Document, same
from io_retro_meshes.scene import (
    Armature,
    Bone,
    Clip,
    Image,
    Layer,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    TextureLayer,
    Transform,
    animation,
    maths,
)
from tests.builders import saturn as made
from tests.conftest import CORPUS, corpus_files

FOLDER = CORPUS / "saturn"
CHARACTERS = [p for p in corpus_files("saturn", "*.bin") if p.parent == FOLDER and not p.stem.endswith("_an")]
WAYS = [saturn.ImportOptions(), saturn.ImportOptions(parts="EACH", images="ATLAS", spacing=0)]


def rigs(scene: Scene) -> list[int]:
    return [index for index, node in enumerate(scene.nodes) if node.armature is not None]


def posed(scene: Scene, rig: int, clip: Clip, frame: float) -> tuple[np.ndarray, np.ndarray | None]:
    """The body of a character, and its weapon, both seen from the armature."""
    frames = np.array([frame], np.float32)
    bones = np.array(animation.bone_matrices(scene, rig, clip.tracks or {}, frames))[:, 0]
    worlds = animation.node_matrices(scene, clip.tracks or {}, frames)
    home = np.linalg.inv(worlds[rig][0])
    body, weapon = [], None
    for index, node in enumerate(scene.nodes):
        mesh = scene.meshes[node.mesh] if node.mesh >= 0 else None
        if mesh is not None and mesh.skin is not None and mesh.skin.node == rig:
            moved = mesh.positions.copy()
            places = mesh.positions[mesh.skin.vertices]
            matrices = bones[mesh.skin.bones]
            moved[mesh.skin.vertices] = np.einsum("nij,nj->ni", matrices[:, :3, :3], places) + matrices[:, :3, 3]
            body.append(moved)
        elif mesh is not None and node.settings.get("saturn") == {"list": 1} and owner(scene, index) == rig:
            weapon = maths.transform_points(home @ worlds[index][0], mesh.positions)
    return np.concatenate(body), weapon


def owner(scene: Scene, index: int) -> int:
    while scene.nodes[index].parent >= 0:
        index = scene.nodes[index].parent
    return index


def check_frames(scene: Scene, rig: int, clip: Clip, frames: list[dict[str, Any]]) -> None:
    for frame in frames:
        body, weapon = posed(scene, rig, clip, frame["frame"])
        known = np.concatenate([np.array(mesh).reshape(-1, 3) for mesh in frame["body_blender"]])
        size = np.linalg.norm(np.ptp(known, 0))
        assert np.abs(body - known).max() < 1e-4 * size
        assert (weapon is None) == ("weapon_blender" not in frame)
        assert weapon is None or np.abs(weapon - frame["weapon_blender"]).max() < 1e-4 * size


# --------------------------------------------------------------------------------------------------------------- import


@pytest.mark.parametrize("options", WAYS, ids=["one", "each"])
@pytest.mark.parametrize("path", CHARACTERS)
def test_poses(path: Path, options: saturn.ImportOptions) -> None:
    scene = saturn.to_scene(saturn.read(path.read_bytes()), options)
    facts = json.loads(path.with_suffix(".json").read_text())
    for rig, fact in zip(rigs(scene), facts["characters"], strict=True):
        check_frames(scene, rig, scene.timeline, fact["frames"])


@pytest.mark.parametrize("path", CHARACTERS)
def test_joints(path: Path) -> None:
    scene = saturn.to_scene(saturn.read(path.read_bytes()))
    facts = json.loads(path.with_suffix(".json").read_text())
    for rig, fact in zip(rigs(scene), facts["characters"], strict=True):
        size = np.linalg.norm(np.ptp(np.concatenate(fact["frames"][0]["body_blender"]), 0))
        for bone, known in zip(scene.nodes[rig].armature.bones, fact["bones"], strict=True):
            off = bone.head - np.array(known["joint_blender"])
            if known["kind"] == "line":
                axis = np.array(known["axis"])[[0, 2, 1]] * (1, 1, -1)
                off = off - axis * (off @ axis) / (axis @ axis)
            if known["kind"] in ("point", "line"):
                assert np.linalg.norm(off) < 0.001 * size, bone.name


@pytest.mark.parametrize("options", WAYS, ids=["images", "atlas"])
@pytest.mark.parametrize("path", CHARACTERS)
def test_corners_show_the_right_pixels(path: Path, options: saturn.ImportOptions) -> None:
    scene = saturn.to_scene(saturn.read(path.read_bytes()), options)
    facts = json.loads(path.with_suffix(".json").read_text())
    lists = [listed for fact in facts["characters"] for listed in fact["mesh_lists"]]
    polygons = [polygon for listed in lists for mesh in listed["meshes"] for polygon in mesh["polys"]]
    meshes = [scene.meshes[node.mesh] for node in scene.nodes if node.mesh >= 0]
    assert sum(mesh.face_count for mesh in meshes) == len(polygons)
    faces = [(mesh, face) for mesh in meshes for face in range(mesh.face_count)]
    for (mesh, face), polygon in zip(faces, polygons, strict=True):
        starts = [*mesh.starts.tolist(), len(mesh.corners)]
        corners = slice(starts[face], starts[face + 1])
        values = [
            next(layer.data[face] for layer in mesh.attributes if layer.name == name) for name in face_attributes.ATTRIBUTES
        ]
        assert values == polygon["attr"]
        material = scene.materials[mesh.materials[mesh.face_materials[face]]]
        assert material.double_sided == polygon["double_sided"] and material.stipple == polygon["mesh"]
        assert (material.blend == "ALPHA") == (polygon["half_transparent"] or polygon["draw_mode"] == 1)
        if not polygon["textured"]:
            assert (mesh.colors[0].data[corners] == polygon["flat_rgba8"]).all()
            continue
        if starts[face + 1] - starts[face] == 4:
            image = scene.images[material.layers[0].image].pixels
            inner = mesh.uvs[0].data[corners] * 0.999 + mesh.uvs[0].data[corners].mean(0) * 0.001
            x, y = (inner * (image.shape[1], image.shape[0])).astype(int).T
            assert image[y, x].tolist() == polygon["corner_rgba8"]
        elif options.images == "EACH":
            mean = np.array(polygon["triangle_uv_mean"]).reshape(-1, 2)
            shown = mesh.uvs[0].data[corners] * (1, -1) + (0, 1)
            assert all((np.abs(shown - uv).max(1) < 1e-6).any() for uv in mean)


def test_segments_find_their_animations(corpus: Path) -> None:
    document = saturn.read((corpus / "saturn/hero.bin").read_bytes())
    more = saturn.read((corpus / "saturn/hero_an.bin").read_bytes())
    facts = json.loads((corpus / "saturn/hero_an.json").read_text())
    scene = saturn.to_scene(document, None, [more])
    assert not scene.warnings
    own = [clip for clip in scene.clips if clip.tracks is not None]
    for clip, segment in zip(own, facts["segments"], strict=True):
        assert (clip.first, clip.last) == (segment["first_frame"], segment["last_frame"])
        check_frames(scene, 0, clip, segment["frames"])
    alone = saturn.to_scene(document)
    assert len(alone.clips) == len(scene.clips) - 3 and "x8an" in alone.warnings[0]


def test_segments_of_a_group_are_found_by_their_bones_and_frames() -> None:
    document = made.puppet(2)
    wanted = made.more_animations(2)
    other = made.more_animations(2)
    for segment in other.segments:
        segment.bones.append(segment.bones[0])
    group = Document(segments=other.segments + wanted.segments)
    group = saturn.read(saturn.write(group))
    scene = saturn.to_scene(document, None, [group])
    assert not scene.warnings and len([clip for clip in scene.clips if clip.tracks]) == 2


@pytest.mark.parametrize(
    ("name", "beside"), [("x8pc90a.bin", "x8an90.bin"), ("X8PC07B.BIN", "X8AN07.BIN"), ("a.bin", "a_an.bin")]
)
def test_companions_are_found_by_name(tmp_path: Path, name: str, beside: str) -> None:
    (tmp_path / name).touch()
    (tmp_path / "x8an91.bin").touch()
    assert saturn.companions(tmp_path / name, made.puppet(1)) == []
    (tmp_path / beside).touch()
    assert saturn.companions(tmp_path / name, made.puppet(1)) == [tmp_path / beside]
    assert saturn.companions(tmp_path / name, made.puppet()) == []


def test_events_become_markers() -> None:
    scene = saturn.to_scene(made.puppet())
    counter = next(clip for clip in scene.clips if clip.name == "counter")
    assert counter.markers == [(13, "swoosh on"), (15, "hit"), (15, "sound 21")]
    assert (scene.fps, scene.timeline.first, scene.timeline.last) == (20, 1, 21)


# --------------------------------------------------------------------------------------------------------------- export


@pytest.mark.parametrize("options", WAYS, ids=["one", "each"])
@pytest.mark.parametrize("path", [*CHARACTERS, None], ids=lambda path: path.name if path else "puppet")
def test_scenes_come_back(path: Path | None, options: saturn.ImportOptions) -> None:
    document = saturn.read(path.read_bytes()) if path else made.puppet()
    scene = saturn.to_scene(document, options)
    for node in scene.nodes:
        node.settings.get("saturn", {}).pop("source", None)  # else it would be written from its own bytes
    exported = saturn.from_scene(scene)
    again = saturn.read(saturn.write(exported))
    assert not exported.warnings and not again.warnings
    for old, new in zip(document.characters, again.characters, strict=True):
        trees = [skeleton.tree(character.model.skeleton) for character in (old, new)]
        assert trees[0].parents == trees[1].parents and trees[0].mesh_bones == trees[1].mesh_bones
        assert trees[0].draw_codes == trees[1].draw_codes
        assert sorted((tag.code, tag.bone) for tag in trees[0].tags) == sorted((tag.code, tag.bone) for tag in trees[1].tags)
        pictures = zip(textures.pictures(old.textures), textures.pictures(new.textures), strict=True)
        assert all(np.array_equal(a, b) for a, b in pictures)
        for meshes, remade in zip(old.model.lists, new.model.lists, strict=True):
            for mesh, other in zip(meshes, remade, strict=True):
                assert same(mesh.points, other.points) and same(mesh.attributes, other.attributes)
                assert same(mesh.polygons["vertices"], other.polygons["vertices"])
        kept = [definition for definition in old.animation.definitions if not definition.external]
        assert same(kept, new.animation.definitions)
    first, second = saturn.to_scene(document, options), saturn.to_scene(again, options)
    for rig in rigs(first):
        for frame in np.linspace(first.timeline.first, first.timeline.last, 13):
            for a, b in zip(posed(first, rig, first.timeline, frame), posed(second, rig, second.timeline, frame), strict=True):
                assert a is None or np.abs(a - b).max() < 1e-3


def new_character() -> Scene:
    """Made in Blender, not imported: bones with places of their own, a quad and a triangle, an image."""
    low, high = np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32)
    high[:3, 3] = (0, 0, 2)
    high[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    bones = [
        Bone("hips", -1, low, Transform()),
        Bone("chest", 0, high, Transform.from_matrix(high)),
    ]
    points = np.array([(-1, 0, 0), (1, 0, 0), (1, 0, 2), (-1, 0, 2), (-1, 0, 2), (1, 0, 2), (0, 0, 3)], np.float32)
    uvs = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (0.5, 1)], np.float32)
    mesh = Mesh("body", points, np.arange(7, dtype=np.int32), face_starts=np.array([0, 4], np.int32), materials=[0])
    mesh.uvs = [Layer("UVMap", uvs, "CORNER")]
    mesh.skin = Skin(0, np.arange(7, dtype=np.int32), np.array([0] * 4 + [1] * 3, np.int32), np.ones(7, np.float32))
    pixels = np.zeros((8, 16, 4), np.uint8)
    pixels[..., 0], pixels[..., 1], pixels[..., 3] = np.arange(16) * 16, np.arange(8)[:, None] * 32, 255
    scene = Scene([Node("rig", armature=Armature("rig", bones)), Node("body", 0, mesh=0)], [mesh])
    scene.images = [Image("cloth.png", pixels=pixels)]
    scene.materials = [Material("cloth", layers=[TextureLayer(0)], double_sided=True)]
    return scene


def test_a_new_character() -> None:
    scene = new_character()
    turn = np.array([[1, 0, 0, 0], [0.8, 0.6, 0, 0]], np.float32)
    chest = scene.nodes[0].armature.bones[1]
    track = animation.Track(
        rotation=animation.Channel(np.array([1, 11], np.float32), maths.quaternion_multiply(chest.transform.rotation, turn))
    )
    scene.clips = [
        Clip("Idle", 1, 11, {(0, 1): track}),
        Clip("Attack.001", 1, 11, {(0, 1): track}, [(5, "hit"), (6, "nonsense")]),
    ]
    document = saturn.from_scene(scene)
    assert document.warnings == ["Markers that are no events were left out: nonsense."]
    again = saturn.to_scene(saturn.read(saturn.write(document)))
    assert [(clip.name, clip.first, clip.last) for clip in again.clips] == [("idle", 1, 11), ("attack", 12, 22)]
    assert np.allclose(again.nodes[0].armature.bones[1].head, (0, 0, 2), atol=0.02)
    for frame in (1, 4, 6, 11):
        bones = np.array(animation.bone_matrices(scene, 0, scene.clips[0].tracks, np.array([frame], np.float32)))[:, 0]
        moved = bones @ np.linalg.inv([bone.bind for bone in scene.nodes[0].armature.bones])
        mesh = scene.meshes[0]
        known = np.einsum("nij,nj->ni", moved[mesh.skin.bones], np.c_[mesh.positions, np.ones(7)])[:, :3]
        assert np.abs(posed(again, 0, again.timeline, frame)[0] - known).max() < 2e-3
        assert np.abs(posed(again, 0, again.timeline, frame + 11)[0] - known).max() < 2e-3
    attributes = document.characters[0].model.lists[0][0].attributes
    assert attributes["flag"].tolist() == [1] and attributes["dir"].tolist() == [0x22]


def test_slanted_pictures_are_drawn_anew() -> None:
    scene = new_character()
    scene.meshes[0].uvs[0].data[:4] = [(0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)]
    document = saturn.from_scene(scene)
    assert "drawn anew" in document.warnings[0]
    definitions = document.characters[0].textures.definitions
    assert (definitions["width"] % 8 == 0).all() and len(definitions) == 2


def soft(scene: Scene) -> None:
    scene.meshes[0].skin.vertices[4:] = 0


def joined(scene: Scene) -> None:
    scene.meshes[0].skin.bones[3] = 1


def narrow(scene: Scene) -> None:
    scene.images[0].pixels = scene.images[0].pixels[:, :12].copy()


def crowded(scene: Scene) -> None:
    """Ten quads, each with 240 x 240 pixels of its own."""
    count = 10
    mesh = scene.meshes[0]
    scene.images[0].pixels = np.full((2400, 2400, 4), 255, np.uint8)
    mesh.positions = np.tile(mesh.positions[:4], (count, 1))
    mesh.corners = np.arange(4 * count, dtype=np.int32)
    mesh.face_starts = np.arange(0, 4 * count, 4, dtype=np.int32)
    square = np.array([(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)], np.float32)
    mesh.uvs[0].data = np.concatenate([square + np.float32([index / 10, 0]) for index in range(count)])
    mesh.skin = Skin(0, np.arange(4 * count, dtype=np.int32), np.zeros(4 * count, np.int32), np.ones(4 * count, np.float32))


def far(scene: Scene) -> None:
    scene.meshes[0].positions[0, 0] = 40000


def late(scene: Scene) -> None:
    scene.timeline, scene.clips = Clip("timeline", 1, 6000, {}), [Clip("idle", 5000, 5100)]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (soft, "follow several bones"),
        (joined, "join several bones"),
        (narrow, "multiple of 8"),
        (crowded, "10 textures need"),
        (far, "farther than"),
        (late, "starts at frame 5000"),
    ],
)
def test_what_cannot_be_expressed(spoil: Any, message: str) -> None:
    scene = new_character()
    spoil(scene)
    with pytest.raises(FormatError, match=message):
        saturn.from_scene(scene)


def test_the_strongest_bone_on_request() -> None:
    for spoil in (soft, joined):
        scene = new_character()
        spoil(scene)
        document = saturn.from_scene(scene, saturn.ExportOptions(strongest=True))
        assert sum(len(mesh.polygons) for mesh in document.characters[0].model.lists[0]) == 2


def test_meshes_without_an_armature() -> None:
    scene = new_character()
    scene.meshes[0].skin = None
    scene.nodes = [Node("body", mesh=0, transform=Transform(np.array([0, 0, 5], np.float32)))]
    document = saturn.from_scene(scene)
    points = document.characters[0].model.lists[0][0].points
    assert points[:, 1].max() == -5 * 65536 and len(document.characters[0].animation.bones) == 1
    with pytest.raises(FormatError, match="nothing to export"):
        saturn.from_scene(Scene())

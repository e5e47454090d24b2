# SPDX-License-Identifier: GPL-3.0-or-later
"""Packed animations, and characters that come back from a scene byte for byte: an edit changes its own chunk alone."""

from __future__ import annotations

import contextlib
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FormatError, saturn
from io_retro_meshes.formats.saturn import packed, textures
from io_retro_meshes.formats.saturn.document import CHUNK_ENTRY, SECTOR, Document, PackedSegment
from io_retro_meshes.scene import Clip, Scene, animation
from tests.builders import saturn as made
from tests.builders import saturn_packed as later
from tests.conftest import CORPUS, corpus_files
from tests.engines import saturn_bytes as engine

FILES = [p for p in corpus_files("saturn", "*.bin") if p.parent == CORPUS / "saturn" and not p.stem.endswith("_an")]
VECTORS = {
    "0000 0008": "00000002 00000008 00000010",
    "0000 0008 0005 0005 FFFF FFFF": "00000006 00000008 00000010 C0E33194",
    "0000 4000 0000 0000 0000 0000": "00000006 0000000C 00008000 FFFF8000 00000000",
    "0000 0000 0258 0000 0000 0000": "00000006 0000000C 00000000 095F0000 F1338000",
    " ".join(f"{word:04X}" for word in range(40)): "00000028 00000008 00000002 9C400000 00000000",
    "8000 8000 8000 8000": "00000004 0000000C FFFFFFFF FFFFFFFF",
}


# -------------------------------------------------------------------------------------------------------------- packing


@pytest.mark.parametrize(("words", "chunk"), VECTORS.items())
def test_vectors(words: str, chunk: str) -> None:
    assert packed.pack(bytes.fromhex(words)) == bytes.fromhex(chunk)
    assert packed.unpack(bytes.fromhex(chunk)) == bytes.fromhex(words)


def test_packing_against_the_evaluator() -> None:
    random = np.random.default_rng(3)
    for step in (1, 5, 50, 600, 6000, 65535):
        for count in (1, 2, 37, 4001):
            lanes = np.cumsum(np.cumsum(random.integers(-step, step + 1, (count, 2)), 0), 0)
            plain = (lanes & 0xFFFF).astype(">u2").tobytes()
            chunk = packed.pack(plain)
            assert len(chunk) % 4 == 0 and packed.unpack(chunk) == plain
            assert step > 600 or engine.unpacked(chunk) == plain


def test_long_streams_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = (np.random.default_rng(5).integers(-40, 40, 6000).cumsum() & 0xFFFF).astype(">u2").tobytes()
    chunk = packed.pack(plain)
    for block in (1, 3, 64):
        monkeypatch.setattr(packed, "BLOCK", block)
        assert packed.unpack(chunk) == plain


# ------------------------------------------------------------------------------------------------------------ documents


def chunks(data: bytes, base: int = 0) -> list[bytes]:
    """The data of every chunk of a slot, by its own header."""
    found = []
    for offset, size, _, _ in np.frombuffer(data, CHUNK_ENTRY, 12, base).tolist():
        if offset in (0, 0xFFFFFFFF):
            break
        found.append(data[base + offset : base + offset + size])
    return found


def test_packed_animations_are_read_and_written() -> None:
    data = saturn.write(Document([later.fighter()]))
    document = saturn.read(data)
    assert not document.warnings and saturn.write(document) == data
    for number, segment in enumerate(document.characters[0].extra):
        assert segment.frame_range == (40 + 30 * number, 60 + 30 * number)
        assert packed.unpack(segment.source) == engine.unpacked(segment.source)
        fresh = replace(segment, source=None)
        assert saturn.write(Document([replace(document.characters[0], extra=[fresh], source=None)]))
        document.characters[0].extra[number] = fresh
    assert saturn.write(document) == data  # packing what was unpacked gives the same bytes


def test_a_damaged_one_is_kept() -> None:
    data = saturn.write(Document([later.fighter(3, damaged=1)]))
    document = saturn.read(data)
    assert ["damaged" in warning for warning in document.warnings] == [True]
    scene = saturn.to_scene(document)
    assert [clip.name for clip in scene.clips] == ["idle", "counter", "attack", "item"]
    assert saturn.write(saturn.from_scene(scene)) == data


def posed(scene: Scene, rig: int, clip: Clip, frame: float) -> np.ndarray:
    bones = np.array(animation.bone_matrices(scene, rig, clip.tracks or {}, np.array([frame], np.float32)))[:, 0]
    [mesh] = [mesh for mesh in scene.meshes if mesh.skin is not None and mesh.skin.node == rig]
    matrices = bones[mesh.skin.bones[np.argsort(mesh.skin.vertices)]]
    return np.einsum("nij,nj->ni", matrices[:, :3], np.c_[mesh.positions, np.ones(len(mesh.positions))])


def test_packed_poses_are_the_consoles() -> None:
    data = later.party()
    scene = saturn.to_scene(saturn.read(data))
    rigs = [index for index, node in enumerate(scene.nodes) if node.armature is not None]
    for number, rig in enumerate(rigs):
        drawn = engine.Character(data[0x5800 * number :])
        for frame in (1, 3.5, 12, 19):
            assert np.abs(posed(scene, rig, scene.timeline, frame) - np.concatenate(drawn.pose(frame))).max() < 1e-4
        own = [clip for clip in scene.clips if clip.tracks and clip.owner == rig]
        assert len(own) == number
        for place, clip in enumerate(own):
            for frame in np.linspace(clip.first, clip.last, 9):
                assert np.abs(posed(scene, rig, clip, frame) - np.concatenate(drawn.pose(frame, place))).max() < 1e-4


# --------------------------------------------------------------------------------------------- untouched, and edited


@pytest.mark.parametrize("way", [{}, {"parts": "EACH", "images": "EACH"}], ids=["one", "each"])
@pytest.mark.parametrize("path", [*FILES, None], ids=lambda path: path.name if path else "party")
def test_an_untouched_scene_gives_the_same_bytes(path: Path | None, way: dict[str, Any]) -> None:
    data = path.read_bytes() if path else later.party()
    beside = [saturn.read(path.with_name("hero_an.bin").read_bytes())] if path and path.stem == "hero" else []
    scene = saturn.to_scene(saturn.read(data), saturn.ImportOptions(**way), beside)
    document = saturn.from_scene(scene)
    assert saturn.write(document) == data and not document.warnings
    assert document.replaced == ([] if beside else None)


def fighter_scene(**way: Any) -> tuple[bytes, Scene]:
    data = saturn.write(Document([later.fighter()]))
    return data, saturn.to_scene(saturn.read(data), saturn.ImportOptions(**way))


def changed(data: bytes, other: bytes) -> list[int]:
    assert len(data) == len(other)
    return [index for index, (a, b) in enumerate(zip(chunks(data), chunks(other), strict=True)) if a != b]


@pytest.mark.parametrize("images", ["ATLAS", "EACH"])
def test_a_painted_texture_changes_its_pixels_alone(images: str) -> None:
    data, scene = fighter_scene(images=images)
    words = textures.cut(saturn.read(data).characters[0].textures)
    pixel = textures.rgba(words[1])[2, 3]  # of a colour that the other texture has not
    for image in scene.images:
        image.pixels[(image.pixels == pixel).all(-1)] = (255, 0, 0, 255)
    again = saturn.write(saturn.from_scene(scene))
    assert changed(data, again) == [1]
    painted = textures.cut(saturn.read(again).characters[0].textures)
    assert (painted[1] == np.where(words[1] == words[1][2, 3], 0x801F, words[1])).all()
    assert (painted[0] == words[0]).all()  # with its end codes and the word without its highest bit


def test_a_moved_vertex_keeps_the_other_normals() -> None:
    data, scene = fighter_scene()
    scene.meshes[0].positions[0] += 0.5
    again = saturn.write(saturn.from_scene(scene))
    assert changed(data, again) == [2]
    before, after = (saturn.read(each).characters[0].model.lists[0][0] for each in (data, again))
    touched = (before.polygons["vertices"] == 0).any(1)
    assert (before.polygons["normal"][~touched] == after.polygons["normal"][~touched]).all()
    assert (before.polygons["vertices"] == after.polygons["vertices"]).all()
    cross = [np.cross(p[2] - p[0], p[3] - p[1]) for p in (after.points[q].astype(float) for q in after.polygons["vertices"])]
    fronts = np.einsum("ij,ij->i", cross, after.polygons["normal"])
    assert ((fronts < 0) == later.AGAINST[0])[touched].all()


def test_faces_show_their_front() -> None:
    _, scene = fighter_scene()
    character = later.fighter()
    stored = np.concatenate([mesh.polygons["normal"] for mesh in character.model.lists[0]]).astype(float)
    mesh = scene.meshes[0]
    for face, normal in enumerate(stored):
        start = mesh.starts[face]
        corners = mesh.positions[mesh.corners[start : start + 3]]
        around = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        assert around @ (normal[0], normal[2], -normal[1]) > 0


def test_an_edited_packed_animation() -> None:
    data, scene = fighter_scene()
    clip = next(clip for clip in scene.clips if clip.name == "magic")
    later.swung(clip, 2, 30)
    clip.markers = [(72, "hit"), *clip.markers]
    wanted = [posed(scene, 0, clip, frame) for frame in (70, 74, 77, 81, 90)]
    again = saturn.write(saturn.from_scene(scene))
    assert changed(data, again) == [3, 5]  # the events are in the animation chunk
    drawn = engine.Character(again)
    for frame, points in zip((70, 74, 77, 81, 90), wanted, strict=True):
        assert np.abs(points - np.concatenate(drawn.pose(frame, 1))).max() < 2e-3
    bones = [saturn.read(each).characters[0].extra[1].bones for each in (data, again)]
    assert (bones[0][1].rotation.values == bones[1][1].rotation.values).all()


def test_an_edited_part_of_the_timeline() -> None:
    """As an action with keys of its own: in its place, or behind the others where it has become longer."""
    data, scene = fighter_scene()
    place = next(index for index, clip in enumerate(scene.clips) if clip.name == "idle")
    tracks = animation.cut(scene.timeline, 1, 11, "NLERP")
    clip = scene.clips[place] = replace(scene.clips[place], tracks=tracks, owner=-1)
    later.swung(clip, 2, 40)
    wanted = [posed(scene, 0, clip, frame) for frame in (1, 4, 8, 11)]
    kept = [posed(scene, 0, scene.timeline, frame) for frame in (12, 15, 18, 21)]
    again = saturn.write(saturn.from_scene(scene))
    assert changed(data, again) == [3]
    drawn = engine.Character(again)
    assert max(np.abs(a - np.concatenate(drawn.pose(f))).max() for a, f in zip(wanted, (1, 4, 8, 11), strict=True)) < 2e-3
    assert max(np.abs(a - np.concatenate(drawn.pose(f))).max() for a, f in zip(kept, (12, 15, 18, 21), strict=True)) < 2e-3
    clip.last = 31
    document = saturn.from_scene(scene)
    [definition] = [each for each in document.characters[0].animation.definitions if each.type == 0]
    assert (definition.first, definition.last) == (22, 52)
    drawn = engine.Character(saturn.write(document))
    assert max(np.abs(a - np.concatenate(drawn.pose(f + 21))).max() for a, f in zip(wanted, (1, 4, 8, 11), strict=True)) < 2e-3


def test_growth_moves_what_follows_or_is_refused() -> None:
    data, scene = fighter_scene()
    mesh = scene.meshes[0]
    again = saturn.to_scene(saturn.read(data))
    count = len(mesh.positions)
    for name in ("positions", "corners", "face_starts", "face_materials", "smooth"):
        values = getattr(mesh, name)
        shift = {"corners": count, "face_starts": len(mesh.corners)}.get(name, 0)
        pieces = [values + round_ * shift if shift else values for round_ in range(12)]
        setattr(again.meshes[0], name, np.concatenate(pieces).astype(values.dtype))
    again.meshes[0].normals = None
    for layers in (again.meshes[0].uvs, again.meshes[0].colors, again.meshes[0].attributes):
        for layer in layers:
            layer.data = np.concatenate([layer.data] * 12)
    skin = again.meshes[0].skin
    skin.vertices = np.concatenate([skin.vertices + count * round_ for round_ in range(12)]).astype(np.int32)
    skin.bones, skin.weights = np.tile(skin.bones, 12), np.tile(skin.weights, 12)
    document = saturn.from_scene(again)
    grown = saturn.write(document)
    assert any("model chunk" in warning and "moved" in warning for warning in document.warnings)
    assert chunks(grown)[3:] == chunks(data)[3:] and len(grown) > len(data)
    assert all(offset % SECTOR == 0 for offset in np.frombuffer(grown, CHUNK_ENTRY, 7)["offset"])
    with pytest.raises(FormatError, match="Keep Room"):
        saturn.write(saturn.from_scene(again, saturn.ExportOptions(keep_room=True)))


def test_a_grown_character_of_a_party() -> None:
    """The one slot that is too small makes all of them larger; an edit that fits moves nothing."""
    data = later.party()
    scene = saturn.to_scene(saturn.read(data))
    weapon = next(mesh for mesh in scene.meshes if mesh.name.endswith("_1_weapon"))
    weapon.positions[0] += 0.25
    again = saturn.write(saturn.from_scene(scene))
    assert len(again) == len(data)
    assert again[:0x5800] == data[:0x5800] and again[0xB000:] == data[0xB000:] and again != data
    document = saturn.read(data)
    document.characters[1].extra.append(PackedSegment(source=bytes(range(256)) * 200, damaged=True))
    grown = saturn.write(document)
    assert "slot" in document.warnings[-1] and len(grown) % 3 == 0 and len(saturn.read(grown).characters) == 3


def test_new_actions_need_a_type() -> None:
    _, scene = fighter_scene()
    clip = next(clip for clip in scene.clips if clip.name == "magic")
    scene.clips.append(Clip("dance", 70, 90, clip.tracks))
    with pytest.raises(FormatError, match='"dance" is of no known type'):
        saturn.from_scene(scene)
    definitions = saturn.from_scene(scene, saturn.ExportOptions(other_type="A0")).characters[0].animation.definitions
    assert (definitions[-1].type, definitions[-1].first) == (0xA0, 22)
    scene.clips[-1].settings = {"saturn": {"external": True}}
    document = saturn.from_scene(scene, saturn.ExportOptions(other_type="A0"))
    again = saturn.read(saturn.write(document)).characters[0]
    assert [each.external for each in again.animation.definitions] == [False, False, True, True, True, True]
    assert again.extra[3].frame_range == (70, 90)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("Attack.001", 0x30), ("far_attack", 0x60), ("FarAttack2", 0x60), ("Special 03", 0xA0), ("type_c4", 0xC4), ("HIT", 0x10)],
)
def test_types_by_name(name: str, kind: int) -> None:
    _, scene = fighter_scene()
    scene.clips.append(Clip(name, 70, 90, scene.clips[-1].tracks))
    assert saturn.from_scene(scene).characters[0].animation.definitions[-1].type == kind


@pytest.mark.parametrize("name", ["white", "submit", "special", "specialist 1", ""])
def test_other_names_are_refused(name: str) -> None:
    _, scene = fighter_scene()
    scene.clips.append(Clip(name, 70, 90, scene.clips[-1].tracks))
    with pytest.raises(FormatError, match="of no known type"):
        saturn.from_scene(scene)


# ------------------------------------------------------------------------------------------------------------- damage


def test_damaged_files_stay_within_their_means() -> None:
    """Overlapping chunks, headers that list the whole file again and again, streams that unpack to far more."""
    random = np.random.default_rng(8)
    size = 1 << 20
    party = later.party(1)
    hostile = []
    for packed_chunk in (bytes(64), packed.pack(bytes(200_000))):
        data = bytearray(party + bytes(random.integers(0, 256, size - len(party), dtype=np.uint8)))
        place = len(party)
        data[place : place + len(packed_chunk)] = packed_chunk
        entries = np.zeros(100, CHUNK_ENTRY)
        entries["offset"], entries["data_size"], entries["chunk_size"] = place, size - place, size - place
        data[0x40 : 0x40 + entries.nbytes] = entries.tobytes()
        hostile.append(bytes(data))
    segment = saturn.write(made.more_animations(1))
    segment += bytes(-len(segment) % SECTOR)
    hostile.append((segment * (size // len(segment) + 1))[:size])
    for data in hostile:
        tracemalloc.start()
        with contextlib.suppress(FormatError):
            saturn.read(data)
        assert tracemalloc.get_traced_memory()[1] < 64 * size
        tracemalloc.stop()


def test_mutated_packed_chunks() -> None:
    random = np.random.default_rng(9)
    data = saturn.write(Document([later.fighter()]))
    entries = np.frombuffer(data, CHUNK_ENTRY, 7)
    kept = 0
    for _ in range(150):
        broken = bytearray(data)
        offset, size = entries[["offset", "data_size"]][int(random.integers(4, 7))].tolist()
        for place in random.integers(offset, offset + size, random.integers(1, 6)).tolist():
            broken[place] = int(random.choice([0, 1, 0x7F, 0xFF, int(random.integers(256))]))
        document = saturn.read(bytes(broken))
        kept += bool(document.warnings)
        assert saturn.write(document) == bytes(broken)
        assert saturn.write(saturn.from_scene(saturn.to_scene(document))) == bytes(broken)
    assert kept > 30

# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters: every byte kept, every fact of the files found, nothing trusted."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FormatError, saturn, sniff
from io_retro_meshes.formats.saturn import axes, skeleton, textures
from io_retro_meshes.formats.saturn.document import DEFINITION, EVENT, Document, same
from io_retro_meshes.formats.saturn.to_scene.animation import quaternions
from tests.builders import saturn as made
from tests.conftest import CORPUS, corpus_files

FOLDER = CORPUS / "saturn"
FILES = [path for path in corpus_files("saturn", "*.bin") if path.parent == FOLDER]
CHARACTERS = [path for path in FILES if not path.stem.endswith("_an")]
BAD = json.loads((FOLDER / "malformed.json").read_text())["files"] if FOLDER.is_dir() else []


def facts(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".json").read_text())


def anew(document: Document) -> Document:
    """The same without any bytes of a file: everything has to be laid out again."""
    fresh = []
    for each in document.characters:
        parts = {name: replace(getattr(each, name), source=None) for name in ("textures", "model", "animation")}
        fresh.append(replace(each, source=None, **parts))
    return Document(fresh, [replace(segment, source=None) for segment in document.segments])


# ------------------------------------------------------------------------------------------------------------ documents


@pytest.mark.parametrize("path", FILES)
def test_files_come_back_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    assert saturn.sniff(data)
    assert saturn.write(saturn.read(data)) == data


@pytest.mark.parametrize("path", FILES)
def test_a_new_layout_holds_the_same(path: Path) -> None:
    document = saturn.read(path.read_bytes())
    again = saturn.read(saturn.write(anew(document)))
    assert same(again.characters, document.characters)
    assert same(again.segments, document.segments)


def test_an_untouched_chunk_stays_as_it_was() -> None:
    data = saturn.write(made.puppet())
    document = saturn.read(data)
    animation = document.characters[0].animation
    animation.definitions[1].distance = 99
    changed = saturn.write(document)
    assert changed != data
    assert changed[:0x2000] == data[:0x2000]
    assert saturn.read(changed).characters[0].animation.definitions[1].distance == 99
    animation.definitions[1].distance = 20
    assert saturn.write(document) == data


def test_slots_of_other_sizes_come_back() -> None:
    """Characters need not stand in equal slots to be found; one that cannot be read is kept as bytes."""
    data = saturn.write(made.puppet())
    given = data + bytes(0x1000) + data + bytes(0x800) + data + data[:-0xA00]
    document = saturn.read(given)
    assert len(document.characters) == 3 and "left out" in document.warnings[-1]
    assert saturn.write(document) == given


def test_only_battle_characters_look_like_them() -> None:
    data = saturn.write(made.puppet())
    assert sniff(data) is not None and sniff(data[:64]) is not None
    assert saturn.sniff(saturn.write(made.more_animations(2)))
    for other in (b"", b"\0" * 4096, b"BB3D" + bytes(60), b"\0\0\x08\0" * 32, bytes(range(256)) * 16, b"\xff" * 64):
        assert not saturn.sniff(other)
    for place in (4, 12, 16, 35):
        broken = bytearray(data[:64])
        broken[place] ^= 0xFF
        assert not saturn.sniff(bytes(broken)), place


# ---------------------------------------------------------------------------------------------------------------- facts


@pytest.mark.parametrize("path", CHARACTERS)
def test_skeletons(path: Path) -> None:
    for character, fact in zip(saturn.read(path.read_bytes()).characters, facts(path)["characters"], strict=True):
        tree = skeleton.tree(character.model.skeleton)
        assert tree.parents == fact["parents"]
        assert tree.mesh_bones == fact["mesh_bone"]
        assert [(tag.code, tag.bone) for tag in tree.tags] == [(tag["code"], tag["bone"]) for tag in fact["tags"]]
        for tag, known in zip(tree.tags, fact["tags"], strict=True):
            assert np.allclose(tag.translation, known["translation"], atol=1e-5)
            assert np.allclose(tag.rotation, known.get("quaternion", [0, 0, 0, 1]), atol=1e-5)
            assert np.allclose(tag.scale, known.get("scale", [1, 1, 1]), atol=1e-5)


@pytest.mark.parametrize("path", CHARACTERS)
def test_textures(path: Path) -> None:
    for character, fact in zip(saturn.read(path.read_bytes()).characters, facts(path)["characters"], strict=True):
        assert hashlib.sha256(character.textures.memory.tobytes()).hexdigest() == fact["unpacked_sha256"]
        pictures = textures.pictures(character.textures)
        for picture, known in zip(pictures, fact["textures"], strict=True):
            assert picture.shape == (known["height"], known["width"], 4)
            assert hashlib.sha256(picture.tobytes()).hexdigest() == known["rgba8_sha256"]
            words = textures.words(picture).astype(">u2")
            assert hashlib.sha256(words.tobytes()).hexdigest() == known["words_sha256"]


@pytest.mark.parametrize("path", CHARACTERS)
def test_polygons(path: Path) -> None:
    for character, fact in zip(saturn.read(path.read_bytes()).characters, facts(path)["characters"], strict=True):
        for meshes, listed in zip(character.model.lists, fact["mesh_lists"], strict=True):
            for mesh, known in zip(meshes, listed["meshes"], strict=True):
                assert np.allclose(axes.from_fixed(mesh.points), known["vertices"], atol=1e-6)
                assert np.allclose(mesh.normals / 4096, known["vertex_normals"], atol=1e-6)
                polygons = known["polys"]
                assert mesh.polygons["vertices"].tolist() == [polygon["indices"] for polygon in polygons]
                assert [list(row) for row in mesh.attributes.tolist()] == [polygon["attr"] for polygon in polygons]
                normals = axes.from_fixed(mesh.polygons["normal"])
                assert np.allclose(normals, [polygon["normal"] for polygon in polygons], atol=2e-5)


def check_keys(bones: list[Any], known: list[dict[str, Any]]) -> None:
    assert len(bones) == len(known)
    for bone, fact in zip(bones, known, strict=True):
        for channel, name, one in ((bone.translation, "T", 65536), (bone.rotation, "R", 16384), (bone.scale, "S", 65536)):
            assert channel.frames.tolist() == [frame for frame, _ in fact[name]]
            assert np.allclose(channel.values / one, [value for _, value in fact[name]], atol=1e-6)


@pytest.mark.parametrize("path", FILES)
def test_animations(path: Path) -> None:
    document, known = saturn.read(path.read_bytes()), facts(path)
    for character, fact in zip(document.characters, known.get("characters", []), strict=True):
        animation = fact["animation"]
        assert np.allclose(
            axes.from_fixed(character.animation.bounds), animation["centre"] + animation["half_extents"], atol=1e-5
        )
        for definition, expected in zip(character.animation.definitions, animation["definitions"], strict=True):
            assert (definition.start, definition.count) == (expected["raw_start"], expected["count"])
            assert (definition.first, definition.last) == (expected["start"], expected["last"])
            assert (definition.type, definition.distance) == (expected["type"], expected["distance"])
            assert definition.external == expected["external"]
            assert [list(event) for event in definition.events.tolist()] == expected["events"]
        check_keys(character.animation.bones, animation["keys"])
    for segment, fact in zip(document.segments, known.get("segments", []), strict=True):
        assert segment.frame_range == (fact["first_key"], fact["last_key"])
        check_keys(segment.bones, fact["keys"])


def test_quaternions_are_made_sound() -> None:
    bone = made.swing((0, 0, 0), (0, 0, 1), {3: 10, 1: 0, 7: 350})
    bone.rotation.values[2] *= -1
    bone.rotation.values[0] = 0
    frames, turns = quaternions(bone.rotation)
    assert frames.tolist() == [1, 3, 7]
    assert turns[1].tolist() == [0, 0, 0, 1]
    assert np.allclose(np.linalg.norm(turns, axis=1), 1)
    assert (np.sum(turns[1:] * turns[:-1], 1) >= 0).all()


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("bad", BAD, ids=[bad["file"] for bad in BAD])
def test_malformed_files(bad: dict[str, Any]) -> None:
    data = (FOLDER / "malformed" / bad["file"]).read_bytes()
    kinds = {bad["kind"], *bad["also"]}
    try:
        document = saturn.read(data)
    except FormatError as error:
        assert bad["must"] != "accept" and error.kind in kinds
        return
    assert bad["must"] != "reject"
    warnings = list(document.warnings)
    if document.characters:
        warnings = saturn.to_scene(document).warnings
    else:
        hero = saturn.read((FOLDER / "hero.bin").read_bytes())
        warnings += saturn.to_scene(hero, None, [document]).warnings
    assert bad["must"] == "accept" or any(kind in warning for kind in kinds for warning in warnings)
    assert saturn.write(document) == data


def test_mutations_raise_nothing_else() -> None:
    random = np.random.default_rng(6)
    sources = [saturn.write(made.puppet(2)), saturn.write(made.more_animations(2))]
    sources += [path.read_bytes() for path in FILES]
    read = 0
    for round_ in range(600):
        data = bytearray(sources[round_ % len(sources)])
        # Changes where it hurts: in the tables, whose numbers are small.
        used = np.flatnonzero(np.frombuffer(bytes(data), np.uint8))
        for place in random.choice(used, random.integers(1, 8)):
            data[place] = random.choice([0, 1, 0x7F, 0xFD, 0xFE, 0xFF, int(random.integers(256))])
        given = bytes(data[: random.integers(len(data))]) if round_ % 5 == 0 else bytes(data)
        try:
            document = saturn.read(given)
            assert saturn.write(document) == given
            scene = saturn.to_scene(document)
        except FormatError:
            continue
        read += 1
        assert all(np.isfinite(mesh.positions).all() for mesh in scene.meshes)
        assert all(np.isfinite(bone.head).all() for node in scene.nodes if node.armature for bone in node.armature.bones)
    assert read > 100


def test_many_tables_in_one_place_take_no_memory() -> None:
    document = made.puppet()
    textures_ = document.characters[0].textures
    textures_.definitions = np.tile(textures_.definitions, 4000)
    for data in (saturn.write(document), _one_event_list_for_all()):
        tracemalloc.start()
        with pytest.raises(FormatError, match="far more"):
            saturn.read(data)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(data)
        tracemalloc.stop()


def _one_event_list_for_all() -> bytes:
    """5000 definitions that share a list of 5000 events."""
    document = made.puppet()
    animation = document.characters[0].animation
    animation.definitions = [replace(animation.definitions[1])] * 5000
    animation.definitions[-1] = replace(animation.definitions[0], events=np.ones(5000, EVENT))
    data = bytearray(saturn.write(document))
    start = int.from_bytes(data[0x30:0x34], "big") + 0x1C
    table = np.frombuffer(data, DEFINITION, 5000, start)
    table["events"] = table["events"][-1]
    return bytes(data)

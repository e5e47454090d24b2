# SPDX-License-Identifier: GPL-3.0-or-later
"""BO3D in and out, without Blender."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from io_retro_meshes.formats import FormatError, bo3d
from io_retro_meshes.formats.bo3d import document as fields
from tests.builders import bo3d as made
from tests.builders.posing import told
from tests.conftest import CORPUS, ROOT, corpus_files
from tests.engines import bo3d as engine

REAL = corpus_files("bo3d", "*.bo3d")
FRAMES = (0, 1, 10, 37, 200, 299)


def size_of(points: np.ndarray) -> float:
    return float((points.max(0) - points.min(0)).max())


def assert_same(scene: object, document: fields.Document, frames: tuple[float, ...], tolerance: float = 1e-5) -> None:
    for frame in frames:
        expected = engine.drawn(document, frame)
        found = told(scene, scene.timeline, frame)
        assert found.keys() == expected.keys()
        for name, (points, _) in expected.items():
            scale = max(size_of(points), np.abs(points).max())
            assert np.abs(found[name] - points).max() < tolerance * scale, (name, frame)


# ----------------------------------------------------------------------------------------------------------- real files


@pytest.mark.parametrize("path", REAL)
def test_real_file(path: Path) -> None:
    data = path.read_bytes()
    document = bo3d.read(data)
    assert bo3d.write(document) == data
    scene = bo3d.to_scene(document)
    # Between the frames of a list that is out of order the engine jumps; lines cannot.
    assert_same(scene, document, FRAMES if "6c6fd96" in path.name else (*FRAMES, 22.5, 99.75))
    assert (scene.timeline.first, scene.timeline.last) == (0, 299)
    for frame, facts in json.loads((CORPUS / "bo3d" / "poses.json").read_text())[path.name].items():
        points = told(scene, scene.timeline, float(frame))["ROOT"]
        assert len(points) == facts["vertices"]
        assert np.allclose([points.min(0), points.max(0)], [facts["min"], facts["max"]], atol=2e-5)
    good = "82b970c" in path.name
    assert bool(scene.warnings) != good
    assert any("repeated" in warning for warning in scene.warnings) == ("6c6fd96" in path.name)
    assert any("no normals" in warning for warning in scene.warnings) != good


@pytest.mark.parametrize("path", REAL)
def test_real_file_again(path: Path) -> None:
    """Out and in again: the same model, and for the good file no key more than it had."""
    document = bo3d.read(path.read_bytes())
    again = bo3d.read(bo3d.write(bo3d.from_scene(bo3d.to_scene(document))))
    assert [entity.name for entity in again.entities] == [entity.name for entity in document.entities]
    assert [entity.parent for entity in again.entities] == [entity.parent for entity in document.entities]
    assert again.length == document.length
    assert again.entities[0].mesh.bones.tolist() == document.entities[0].mesh.bones.tolist()
    for frame in FRAMES:
        expected = engine.points(document, frame)
        assert np.abs(engine.points(again, frame) - expected).max() < 1e-4 * size_of(expected)
    if "82b970c" in path.name:
        new, old = (sum(len(entity.keys) for entity in each.entities) for each in (again, document))
        assert new <= old, (new, old)


def test_example() -> None:
    data = (ROOT / "examples" / "robot.bo3d").read_bytes()
    document = bo3d.read(data)
    assert bo3d.write(document) == data
    scene = bo3d.to_scene(document)
    assert not scene.warnings
    assert_same(scene, document, (1, 8, 20.5, 38))


# ----------------------------------------------------------------------------------------------------------- documents


@pytest.mark.parametrize("half", [False, True])
def test_every_list_there_and_back(half: bool) -> None:
    data = bo3d.write(made.two_arms(half))
    document = bo3d.read(data)
    assert not document.warnings
    assert bo3d.write(document) == data
    assert bo3d.sniff(data)
    body = document.entities[0].mesh
    assert body.bones["last"].tolist() == [7, 7, 15, 23, 31]
    assert (body.texture, body.color, float(body.alpha), body.fx) == (b"C:\\art\\Body.PNG", (10, 20, 30, 255), 0.5, 1061)
    assert body.colors.tolist() == made.two_arms().entities[0].mesh.colors.tolist()
    assert len(bo3d.summary(document)) == 9
    assert bo3d.summary(document)[0].endswith(f" entities, {document.length} frames") and document.length


def test_padding_and_leftovers_are_kept() -> None:
    document = made.two_arms()
    data = bytearray(bo3d.write(document))
    at = data.index(b"Left Hand") + 9
    data[at : at + 3] = b"abc"  # where zeros should be
    data += b"more"
    again = bo3d.read(bytes(data))
    assert bo3d.write(again) == data
    assert any("4 bytes after" in warning for warning in again.warnings)


def test_entity_with_more_than_its_lists() -> None:
    document = made.two_arms()
    document.entities[2].rest, document.entities[2].gap = b"extra", b"\1\2\3"
    data = bo3d.write(document)
    again = bo3d.read(data)
    assert (again.entities[2].rest, again.entities[2].gap) == (b"extra", b"\1\2\3")
    assert bo3d.write(again) == data


# ----------------------------------------------------------------------------------------------------------- bad input

ENTITY = {"size": 0, "keys": 52, "name": 56, "vertices": 60, "colors": 64, "triangles": 68, "texture": 72, "bones": 88}


def patched(offset: int, value: int) -> bytes:
    data = bytearray(bo3d.write(made.two_arms()))
    struct.pack_into("<i", data, offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"BO3D",
        b"BB3D" + patched(0, 0)[4:],
        patched(4, 200),
        patched(8, 0),
        patched(8, -1),
        patched(8, 9),
        patched(8, 0x7FFFFFFF),
        patched(16, 24),
        patched(20, 1 << 30),
        patched(20, -1),
        patched(20, 63),
        patched(20, 91),
        *(patched(20 + offset, value) for offset in list(ENTITY.values())[1:] for value in (-1, 1 << 20, 0x7FFFFFFF)),
        *(bo3d.write(made.two_arms())[:-cut] for cut in (1, 40, 700)),
    ],
)
def test_bad_bytes(data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        bo3d.read(data)
    assert caught.value.offset is not None
    assert caught.value.field


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: setattr(d.entities[2], "parent", 5), "hung on entity 0"),
        (lambda d: setattr(d.entities[2], "parent", 2), "hung on entity 0"),
        (lambda d: setattr(d.entities[0], "parent", 3), "hung on entity 0"),
        (lambda d: setattr(d.entities[4], "parent", -7), "hung on entity 0"),
        (lambda d: d.entities[0].mesh.bones["last"].__setitem__(4, 400), "vertices that do not exist"),
        (lambda d: d.entities[0].mesh.bones["first"].__setitem__(0, -4), "vertices that do not exist"),
        (lambda d: d.entities[0].mesh.bones["entity"].__setitem__(0, 40), "entities that do not exist"),
        (lambda d: d.entities[0].mesh.triangles.__setitem__(0, 999), "left out"),
        (lambda d: setattr(d.entities[0].mesh, "colors", d.entities[0].mesh.colors[:3]), "the engine uses none"),
        (lambda d: setattr(d.entities[3], "name", b"Spine"), "same name"),
        (lambda d: setattr(d.entities[3], "name", b""), "without a name"),
        (lambda d: setattr(d, "size", 7), "7 bytes"),
    ],
)
def test_odd_but_usable(change: object, words: str) -> None:
    document = made.two_arms()
    change(document)
    data = bo3d.write(document)
    again = bo3d.read(data)
    assert bo3d.write(again) == data
    scene = bo3d.to_scene(again)
    assert any(words in warning for warning in scene.warnings), scene.warnings
    expected, found = engine.points(again, 9), np.concatenate(list(told(scene, scene.timeline, 9).values()))
    assert np.abs(found - expected).max() < 1e-5 * size_of(expected)


def test_broken_bytes_raise_nothing_else() -> None:
    random = np.random.default_rng(7)
    originals = [np.frombuffer(bo3d.write(made.two_arms(half)), np.uint8) for half in (False, True)]
    usable = 0
    for turn in range(800):
        data = originals[turn % 2].copy()
        for _ in range(int(random.integers(1, 6))):
            at = int(random.integers(0, 1400 if random.random() < 0.5 else len(data)))
            data[at] = random.choice([0, 1, 127, 128, 255, int(random.integers(0, 256))])
        raw = data.tobytes()[: int(random.integers(0, len(data))) if random.random() < 0.3 else len(data)]
        try:
            document = bo3d.read(raw)
        except FormatError:
            continue
        usable += 1
        assert bo3d.write(document) == raw
        bo3d.from_scene(bo3d.to_scene(document))
        bo3d.summary(document)
    assert usable > 100


# -------------------------------------------------------------------------------------------------------------- meaning


def test_two_arms_in_the_scene() -> None:
    document = made.two_arms()
    scene = bo3d.to_scene(document)
    assert_same(scene, document, (0, 1, 3.5, 9, 20))
    armature = scene.nodes[0].armature
    assert [bone.name for bone in armature.bones] == ["Spine", "Left", "Left Arm", "Twist", "Left Hand", "Right Arm"]
    sword = next(node for node in scene.nodes if node.name == "Sword")
    assert armature.bones[sword.parent_bone].name == "Left Hand"
    material = scene.materials[0]
    assert np.allclose(material.color, [30 / 255, 20 / 255, 10 / 255, 0.5])
    assert (material.full_bright, material.double_sided, material.blend, material.vertex_colors) == (True, True, "ALPHA", True)
    assert material.settings == {"bo3d": {"fx": 1061}}
    assert scene.images[0].name == "C:\\art\\Body.PNG"
    mesh = scene.meshes[0]
    vertices = document.entities[0].mesh.vertices
    assert np.allclose(mesh.uvs[0].data, vertices["uv"] * (1, -1) + (0, 1))
    assert np.array_equal(mesh.colors[0].data[:, :3], document.entities[0].mesh.colors)


@pytest.mark.parametrize("seed", range(60))
def test_any_document_shows_as_the_engine_draws_it(seed: int) -> None:
    document = made.any_document(np.random.default_rng(seed))
    scene = bo3d.to_scene(bo3d.read(bo3d.write(document)))
    assert_same(scene, document, (0, 3, 8, 17, 29), 2e-4)


def test_half_floats_too_small_for_the_loader_are_nothing() -> None:
    document = made.two_arms(half=True)
    document.entities[0].mesh.vertices["position"][0] = (2.0**-15, 1, 2.0**-14)
    positions = bo3d.to_scene(document).meshes[0].positions
    assert positions[0].tolist() == [0, -(2.0**-14), 1]


def test_long_way_round_between_opposite_signs() -> None:
    document = made.two_arms()
    document.entities[1].keys = made.keys(
        (1, (0, 0, 0), made.turn(10, 0, 0, 1)), (9, (0, 0, 0), tuple(-np.array(made.turn(90, 0, 0, 1))))
    )
    assert_same(bo3d.to_scene(document), document, (1, 2, 3, 4, 5, 6, 7, 8, 9))

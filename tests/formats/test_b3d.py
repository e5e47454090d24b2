# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D documents: every byte kept, nothing trusted, and the pose of the engine."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_retro_meshes.formats import FormatError, b3d
from io_retro_meshes.formats.b3d import document as doc
from io_retro_meshes.scene import Scene, animation
from tests.builders import b3d as made
from tests.conftest import CORPUS, corpus_files
from tests.engines import b3d as engine
from tests.engines import gltf
from tests.growth import assert_linear

FILES = corpus_files("b3d", "*.b3d")
# Real files that do not come back byte for byte, and why. None is known.
EXCEPTIONS: dict[str, str] = {}


def scene_points(scene: Scene, frame: float) -> np.ndarray:
    """Every vertex of a neutral scene in the world, posed by its tracks and skins."""
    frames = np.array([frame], np.float32)
    tracks = (scene.timeline.tracks if scene.timeline else None) or {}
    worlds = animation.node_matrices(scene, tracks, frames)
    found = [np.zeros((0, 3))]
    for node, world in zip(scene.nodes, worlds, strict=True):
        if node.mesh < 0:
            continue
        mesh = scene.meshes[node.mesh]
        points = np.c_[mesh.positions, np.ones(len(mesh.positions))]
        if mesh.skin is not None:
            bones = scene.nodes[mesh.skin.node].armature.bones
            posed = animation.bone_matrices(scene, mesh.skin.node, tracks, frames)
            moves = np.array([pose[0] @ np.linalg.inv(bone.bind) for pose, bone in zip(posed, bones, strict=True)])
            vertices, weights = mesh.skin.vertices, mesh.skin.weights[:, None]
            moved = np.where(np.isin(np.arange(len(points)), vertices)[:, None], 0, points)
            np.add.at(moved, vertices, weights * np.einsum("nij,nj->ni", moves[mesh.skin.bones], points[vertices]))
            points = moved
        found.append(points @ world[0, :3].T)
    return np.concatenate(found)


def farthest(points: np.ndarray, others: np.ndarray) -> float:
    """How far any of the first lies from all of the second, in sizes of the second."""
    size = float(np.linalg.norm(np.ptp(others, 0))) or 1.0
    sample = points[:: max(len(points) // 50, 1)]
    return max(float(np.linalg.norm(others - point, axis=1).min()) for point in sample) / size


# ----------------------------------------------------------------------------------------------------------- documents


def test_every_chunk_is_kept() -> None:
    data = b3d.write(made.everything())
    document = b3d.read(data)
    assert b3d.write(document) == data
    assert [brush.name for brush in document.brushes] == [b"cloth", b"lit"]
    assert [texture.file for texture in document.textures] == [b"C:\\Maps\\cloth.PNG", b"light.png"]
    names = [(node.text, parent) for node, parent in document.walk()]
    assert names == [("Flagge ü", -1), ("lower", 0), ("between", 1), ("upper", 2), ("lamp", 3), ("second root", -1)]
    assert any("XXXX" in warning for warning in document.warnings)


@pytest.mark.parametrize("path", FILES)
def test_real_file_comes_back(path: Path) -> None:
    data = path.read_bytes()
    document = b3d.read(data)
    assert (b3d.write(document) == data) != (path.name in EXCEPTIONS)
    scene = b3d.to_scene(document)
    assert len(b3d.summary(document)) >= 4
    vertices = sum(len(mesh.vertices.rows) for node, _ in document.walk() for mesh in doc.of_kind(node.chunks, doc.Mesh))
    assert sum(len(mesh.positions) for mesh in scene.meshes) == vertices


words = st.binary(max_size=6).filter(lambda name: b"\0" not in name)
numbers = st.integers(-(2**31), 2**31 - 1)
singles = st.floats(width=32)


@st.composite
def documents(draw: st.DrawFn) -> doc.Document:
    def array(count: int, kind: str = "<f4") -> np.ndarray:
        return np.array(draw(st.lists(singles if kind == "<f4" else numbers, min_size=count, max_size=count)), kind)

    def unknown() -> doc.Unknown:
        tag = draw(st.binary(min_size=4, max_size=4).filter(lambda tag: tag not in known))
        return doc.Unknown(tag, draw(st.binary(max_size=9)))

    def leaf(kind: int) -> object:
        if kind == 0:
            return doc.Bone(np.array(draw(st.lists(st.tuples(numbers, singles), max_size=3)), doc.WEIGHT), draw(rest))
        if kind == 1:
            flags = draw(st.integers(0, 7))
            keys = np.frombuffer(draw(st.binary(min_size=88, max_size=88)), np.uint8)
            size = doc.key_dtype(flags).itemsize
            return doc.Keys(flags, keys[: size * 2].copy().view(doc.key_dtype(flags)))
        if kind == 2:
            return doc.Anim(draw(numbers), draw(numbers), draw(singles))
        if kind == 3:
            return doc.Sequence(draw(words), draw(numbers), draw(numbers), draw(numbers))
        if kind == 4:
            sets, size = draw(st.integers(0, 8)), draw(st.integers(0, 4))
            vertices = doc.Vertices(draw(st.integers(0, 3)), sets, size, np.zeros((0, 0), "<f4"))
            vertices.rows = np.resize(array(7), (2, vertices.row_size))
            triangles = doc.Triangles(draw(numbers), array(6, "<i4").reshape(2, 3), draw(rest))
            return doc.Mesh(draw(numbers), draw(st.permutations([vertices, triangles, unknown()])), draw(rest))
        return unknown()

    known = {b"TEXS", b"BRUS", b"NODE", b"MESH", b"BONE", b"KEYS", b"ANIM", b"SEQS", b"VRTS", b"TRIS"}
    rest = st.binary(max_size=3)
    nodes = [doc.Node(draw(words), array(3), array(3), array(4)) for _ in range(draw(st.integers(0, 4)))]
    texture = doc.Texture(draw(words), draw(numbers), draw(numbers), array(2), array(2), draw(singles))
    count = draw(st.integers(0, 3))
    brush = doc.Brush(draw(words), array(4), draw(singles), draw(numbers), draw(numbers), array(count, "<i4"))
    document = doc.Document(chunks=[unknown(), doc.Textures([texture]), doc.Brushes(count, [brush, brush])])
    holders: list[doc.Document | doc.Node] = [document]
    for node in nodes:
        node.chunks = [leaf(kind) for kind in draw(st.lists(st.integers(0, 5), max_size=4))]
        draw(st.sampled_from(holders)).chunks.append(node)
        holders.append(node)
    return document


@settings(max_examples=150, deadline=None)
@given(documents())
def test_any_document_comes_back(document: doc.Document) -> None:
    data = b3d.write(document)
    read = b3d.read(data)
    assert b3d.write(read) == data
    assert [node.name for node, _ in read.walk()] == [node.name for node, _ in document.walk()]
    b3d.write(b3d.from_scene(b3d.to_scene(read)))


# ----------------------------------------------------------------------------------------------------------- bad files


def test_empty_and_foreign_files_say_so() -> None:
    with pytest.raises(FormatError, match="empty"):
        b3d.read(b"")
    with pytest.raises(FormatError, match="BB3D"):
        b3d.read(b"PK\3\4" + bytes(40))
    assert not b3d.sniff(b"PK\3\4") and b3d.sniff(b"BB3D\0\0\0\0")


def test_every_truncation_is_an_error() -> None:
    data = b3d.write(made.everything())
    for size in range(len(data)):
        with pytest.raises(FormatError) as error:
            b3d.read(data[:size])
        assert error.value.offset is not None and error.value.field


def test_mutations_give_errors_or_scenes() -> None:
    """Nothing but FormatError comes out of any bytes, and what can be read can be written, shown and exported."""
    whole = b3d.write(made.everything())
    values = [0, 1, -1, 8, 255, 65536, 2**31 - 1, -(2**31), 0x7FC00000, 0x7F800000]
    random = np.random.default_rng(7)
    read = 0
    for _ in range(1000):
        data = bytearray(whole)
        for place in random.integers(0, len(whole) - 4, random.integers(1, 4)):
            if random.random() < 0.5:
                data[place] = int(random.integers(256))
            else:
                struct.pack_into("<i", data, int(place), int(random.choice(values)))
        try:
            document = b3d.read(bytes(data))
        except FormatError as error:
            assert error.offset is not None and error.field
            continue
        read += 1
        assert b3d.write(document) == data
        b3d.write(b3d.from_scene(b3d.to_scene(document)))
    assert 50 < read < 950


def test_wrong_length_of_the_whole_is_read_past() -> None:
    data = b3d.write(made.everything())
    for length in (0, len(data) - 12, len(data)):
        lying = data[:4] + struct.pack("<i", length) + data[8:]
        document = b3d.read(lying)
        assert len(list(document.walk())) == (6 if length else 0)
        assert b3d.write(document) == lying
        assert document.warnings
    trailed = b3d.read(data + b"more")
    assert trailed.trailing == b"more" and b3d.write(trailed) == data + b"more"
    assert any("4 bytes after" in warning for warning in trailed.warnings)


def test_versions() -> None:
    later = made.everything()
    later.version = 7
    assert any("0.07" in warning for warning in b3d.read(b3d.write(later)).warnings)
    later.version = 100
    with pytest.raises(FormatError, match=r"1\.00"):
        b3d.read(b3d.write(later))


@pytest.mark.parametrize(("sets", "size"), [(9, 2), (2, 5), (-1, 2), (2**31 - 1, 4)])
def test_too_many_uvs(sets: int, size: int) -> None:
    chunk = b"VRTS" + struct.pack("<4i", 12, 0, sets, size)
    mesh = b"MESH" + struct.pack("<2i", len(chunk) + 4, -1) + chunk
    node = b"NODE" + struct.pack("<i", len(mesh) + 41) + bytes(41) + mesh
    with pytest.raises(FormatError, match="tex_coord"):
        b3d.read(b"BB3D" + struct.pack("<2i", len(node) + 4, 1) + node)


@pytest.mark.parametrize("bones", [False, True])
def test_deep_nesting(bones: bool) -> None:
    def there_and_back(depth: int) -> None:
        data = b3d.write(made.chain(depth, bones))
        document = b3d.read(data)
        assert b3d.write(document) == data
        scene = b3d.to_scene(document)
        assert (len(scene.nodes[0].armature.bones) if bones else len(scene.nodes) - 1) == depth
        b3d.write(b3d.from_scene(scene))

    assert_linear(there_and_back, 6_000)


def test_memory_is_a_few_times_the_file() -> None:
    data = b3d.write(made.grid(300))
    tracemalloc.start()
    document = b3d.read(data)
    held = tracemalloc.get_traced_memory()[1]
    scene = b3d.to_scene(document)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 0.1 * len(data)
    assert peak < 4 * len(data)
    assert len(scene.meshes[0].positions) == 301**2


# --------------------------------------------------------------------------------------------------------------- poses


@pytest.mark.parametrize("path", FILES)
def test_poses(path: Path) -> None:
    """The evaluator agrees with the recorded poses, the scene with the evaluator, and a scene that was exported too."""
    document = b3d.read(path.read_bytes())
    scene = b3d.to_scene(document)
    exported = b3d.read(b3d.write(b3d.from_scene(scene)))
    recorded = json.loads((CORPUS / "b3d" / "poses.json").read_text())[path.relative_to(CORPUS / "b3d").as_posix()]
    for frame, facts in recorded.items():
        points = np.concatenate(engine.pose(document, float(frame))[0])
        assert len(points) == facts["vertices"]
        size = float(np.linalg.norm(np.subtract(facts["max"], facts["min"])))
        np.testing.assert_allclose(points.min(0), facts["min"], atol=1e-4 * size)
        np.testing.assert_allclose(points.max(0), facts["max"], atol=1e-4 * size)
        assert farthest(np.array(facts["some"]), points) < 1e-4
        np.testing.assert_allclose(scene_points(scene, float(frame)), points, atol=1e-5 * size)
        again = np.concatenate(engine.pose(exported, float(frame))[0])
        assert max(farthest(points, again), farthest(again, points)) < 1e-5


def test_poses_of_everything() -> None:
    """A pivot between bones, keys in several chunks, unweighted vertices, a mirrored mesh on a bone, a moved mesh node."""
    document = b3d.read(b3d.write(made.everything()))
    exported = b3d.read(b3d.write(b3d.from_scene(b3d.to_scene(document))))
    for frame in (0, 1, 6, 11, 15.5, 21, 30):
        points = np.concatenate(engine.pose(document, frame)[0])
        np.testing.assert_allclose(scene_points(b3d.to_scene(document), frame), points, atol=1e-5)
        again = np.concatenate(engine.pose(exported, frame)[0])
        assert max(farthest(points, again), farthest(again, points)) < 1e-6


# -------------------------------------------------------------------------------------------------------------- Assimp


@pytest.mark.skipif(shutil.which("assimp") is None, reason="assimp is not installed")
@pytest.mark.parametrize("path", FILES)
def test_assimp_counts_the_same(path: Path, tmp_path: Path) -> None:
    document = b3d.read(path.read_bytes())
    exported = tmp_path / "exported.b3d"
    exported.write_bytes(b3d.write(b3d.from_scene(b3d.to_scene(document))))
    for file in (path, exported):
        counts = assimp_counts(file)
        if counts is None:
            assert file is path  # what Assimp cannot read of the real ones
            continue
        assert counts == surface_counts(b3d.read(file.read_bytes()))


@pytest.mark.skipif(shutil.which("assimp") is None, reason="assimp is not installed")
@pytest.mark.parametrize("path", FILES[::3])
def test_assimp_sees_the_same_motion(path: Path, tmp_path: Path) -> None:
    """Assimp poses an exported file as the engine does, or at least as it poses the real one."""
    document = b3d.read(path.read_bytes())
    scene = b3d.to_scene(document)
    frames = engine.test_frames(document)
    expected = [np.concatenate(engine.pose(document, frame)[0]) for frame in frames]
    real, ours = (assimp_poses(file, frames, scene.fps or 60, tmp_path) for file in (document, b3d.from_scene(scene)))
    assert ours is not None
    size = float(np.ptp(expected[0]))
    assert bounds_apart(ours, expected) < 1e-5 * size or (real is not None and bounds_apart(ours, real) < 1e-5 * size)


def assimp_poses(document: doc.Document, frames: list[int], fps: float, folder: Path) -> list[np.ndarray] | None:
    (folder / "a.b3d").write_bytes(b3d.write(document))
    command = ["assimp", "export", str(folder / "a.b3d"), str(folder / "a.gltf")]
    if subprocess.run(command, capture_output=True, timeout=60).returncode:
        return None
    other = gltf.Gltf(folder / "a.gltf")
    return [np.concatenate(other.pose(frame / fps)) for frame in frames]


def bounds_apart(some: list[np.ndarray], others: list[np.ndarray]) -> float:
    pairs = zip(some, others, strict=True)
    return max(float(np.abs(edge(a, 0) - edge(b, 0)).max()) for a, b in pairs for edge in (np.min, np.max))


def assimp_counts(path: Path) -> tuple[int, ...] | None:
    """Meshes, faces and materials."""
    run = subprocess.run(["assimp", "info", str(path), "-r", "-v"], capture_output=True, timeout=60)
    text = run.stdout.decode("latin-1")
    found = [re.search(rf"^{word}:\s+(\d+)", text, re.MULTILINE) for word in ("Meshes", "Faces", "Materials")]
    return None if run.returncode or None in found else tuple(int(match[1]) for match in found if match)


def surface_counts(document: doc.Document) -> tuple[int, ...]:
    """Assimp makes a mesh of every surface, and always a material."""
    meshes = [mesh for node, _ in document.walk() for mesh in doc.of_kind(node.chunks, doc.Mesh)]
    sizes = [len(surface.vertex_ids) for mesh in meshes for surface in mesh.triangles]
    return len(sizes), sum(sizes), max(len(document.brushes), 1)

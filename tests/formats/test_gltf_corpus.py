# SPDX-License-Identifier: GPL-3.0-or-later
"""Every real file as glTF, without Blender: posed as its engine poses it, with the bones of the source, and valid."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.formats import FORMATS, gltf
from io_retro_meshes.formats.b3d import document as b3d_document
from io_retro_meshes.formats.binary import decode
from io_retro_meshes.formats.options import make
from io_retro_meshes.scene import Scene
from tests.conftest import corpus_files
from tests.engines import b3d as b3d_engine
from tests.engines import bo3d as bo3d_engine
from tests.engines import dbo as dbo_engine
from tests.engines.gltf import Gltf
from tests.formats.test_bogle import engine_pose
from tests.formats.test_gltf import reach, validate

B3D = corpus_files("b3d", "*.b3d")
DBO = corpus_files("dbo", "*.dbo", "*.DBO")
BO3D = corpus_files("bo3d", "*.bo3d")
BOGLE = [path for path in corpus_files("bogle", "*.bgl") if path.parent.name == "bogle"]
SATURN = [path for path in corpus_files("saturn", "*.bin") if path.parent.name == "saturn" and not path.stem.endswith("_an")]
FORMAT_OF = {".b3d": "b3d", ".dbo": "dbo", ".bo3d": "bo3d", ".bgl": "bogle", ".bin": "saturn"}

CLOSE = 1e-4  # sizes of the model


@cache
def converted(path: Path) -> tuple[Any, Scene, bytes]:
    entry = FORMATS[FORMAT_OF[path.suffix.lower()]]
    document = entry.read(path.read_bytes())
    beside = [entry.read_companion(each, each.read_bytes()) for each in entry.companions(path, document)]
    with tempfile.TemporaryDirectory() as folder:
        convert(path, Path(folder) / "made.glb")
        scene = entry.to_scene(document, make(entry.ImportOptions, {"name": path.stem}), beside)
        return document, scene, (Path(folder) / "made.glb").read_bytes()


def four(first: float, last: float) -> list[int]:
    return sorted({int(first + (last - first) * part // 3) for part in range(4)})


def check(path: Path, frames: list[int], engine: Callable[[float | None], np.ndarray]) -> None:
    _, scene, data = converted(path)
    file = Gltf(data)
    for frame in frames if scene.timeline is not None else [None]:
        seconds = None if frame is None else frame / (scene.fps or 24)
        ours, theirs = np.concatenate([np.zeros((0, 3)), *file.pose(seconds)]), engine(frame)
        assert (len(ours) > 0) == (len(theirs) > 0)
        if len(ours):
            assert max(reach(ours, theirs), reach(theirs, ours)) < CLOSE, frame


# --------------------------------------------------------------------------------------------------------------- poses


@pytest.mark.parametrize("path", B3D)
def test_b3d_poses(path: Path) -> None:
    document = converted(path)[0]
    frames = [frame for frame in b3d_engine.test_frames(document) if frame >= 0]
    check(path, frames, lambda frame: np.concatenate([np.zeros((0, 3)), *b3d_engine.pose(document, frame or 0)[0]]))


@pytest.mark.parametrize("path", DBO)
def test_dbo_poses(path: Path) -> None:
    scene = converted(path)[1]
    frames = four(0, scene.timeline.last) if scene.timeline else []
    check(path, frames, lambda frame: np.concatenate(dbo_engine.pose(path.read_bytes(), frame)))


@pytest.mark.parametrize("path", BO3D)
def test_bo3d_poses(path: Path) -> None:
    document, scene, _ = converted(path)
    frames = four(0, scene.timeline.last) if scene.timeline else []
    check(path, frames, lambda frame: bo3d_engine.points(document, frame))


@pytest.mark.parametrize("path", BOGLE)
def test_bogle_poses(path: Path) -> None:
    """What stands still by the matrices of the file's tree; the skin by the engine's rules, on four keys of each animation."""
    document, scene, data = converted(path)
    file = Gltf(data)
    worlds = dict(zip([node.name for node in scene.nodes], scene.global_matrices(), strict=True))
    for number, points in file.posed(None):
        node = next(node for node in scene.nodes if node.name == file.nodes[number]["name"] and node.mesh >= 0)
        if scene.meshes[node.mesh].skin is None:
            still = scene.meshes[node.mesh].positions @ worlds[node.name][:3, :3].T + worlds[node.name][:3, 3]
            assert reach(points, still) < CLOSE
    for index, clip in enumerate(scene.clips):
        instance = next(each for each in document.instances if each.values["animation"][0])
        shape = document.geometries[int(instance.values["geometry"][0]) - 1]
        collection = document.collections[int(instance.values["animation"][0]) - 1]
        keys = next(each.keys for each in collection.animations if each.name.decode() == clip.name)
        world = worlds[next(node.name for node in scene.nodes if node.mesh >= 0 and scene.meshes[node.mesh].skin)]
        rest = np.c_[shape.vertices["position"], np.ones(len(shape.vertices))]
        for key in keys[four(0, len(keys) - 1)]:
            moves = np.array(engine_pose(collection, key))[shape.vertices["bones"].astype(int)]
            posed = np.einsum("nk,nkij,nj->ni", shape.vertices["weights"], moves, rest) @ world.T
            skin = np.concatenate([p for n, p in file.posed(float(key["time"]), index) if "skin" in file.nodes[n]])
            assert max(reach(skin, posed[:, :3]), reach(posed[:, :3], skin)) < CLOSE


@pytest.mark.parametrize("path", SATURN)
def test_saturn_poses(path: Path) -> None:
    _, scene, data = converted(path)
    file = Gltf(data)
    characters = json.loads(path.with_suffix(".json").read_text())["characters"]
    rigs = [node for node in scene.nodes if node.armature is not None]
    for rig, known in zip(rigs, characters, strict=True):
        for frame in known["frames"]:
            skins = {n: p for n, p in file.posed(frame["frame"] / scene.fps) if "skin" in file.nodes[n]}
            mine = np.concatenate([p for n, p in skins.items() if file.nodes[file.parents[n]]["name"] == rig.name])
            body = np.concatenate([np.array(mesh).reshape(-1, 3) for mesh in frame["body_blender"]]) + rig.transform.location
            assert reach(mine, body) < CLOSE


# ---------------------------------------------------------------------------------------------------------------- bones


@pytest.mark.parametrize("path", B3D)
def test_bones_are_the_files_own(path: Path) -> None:
    """F · M · F of every node of the source, at rest and on three frames: overrides and attachments of mods act as before."""
    document, scene, data = converted(path)
    file = Gltf(data)
    walked = list(document.walk())
    flip = np.diag([1, 1, -1, 1])
    frames = [frame for frame in b3d_engine.test_frames(document) if frame >= 0][:3] if scene.timeline else []
    for frame in [None, *frames]:
        theirs: list[np.ndarray] = []
        for node, parent in walked:
            own = b3d_engine.local(node, frame)[0]
            theirs.append(own if parent < 0 else theirs[parent] @ own)
        ours: dict[str, list[np.ndarray]] = {}
        for node, world in zip(file.nodes, file.worlds(None if frame is None else frame / (scene.fps or 24)), strict=True):
            ours.setdefault(node["name"], []).append(world)
        size = max(float(np.abs(np.array(theirs)[:, :3, 3]).max()), 1e-6)
        for (node, _), world in zip(walked, theirs, strict=True):
            if any(isinstance(chunk, b3d_document.Bone) for chunk in node.chunks):
                wanted = flip @ world @ flip
                scale = np.array([1, 1, 1, size])
                found = ours[decode(node.name)]
                assert min(float(np.abs((each - wanted)[:3] / scale).max()) for each in found) < 1e-4 * max(
                    1, float(np.abs(wanted[:3, :3]).max())
                )


@pytest.mark.parametrize("path", B3D)
def test_slots_are_in_the_order_of_the_file(path: Path) -> None:
    """Meshes in the order of the source, and the texture of every surface under the number of the surface."""
    document, scene, _ = converted(path)
    found = Gltf(gltf.write(gltf.from_scene(scene, gltf.ExportOptions(pictures="NONE")))).json
    waiting, order = list(reversed(found["scenes"][0]["nodes"])), []
    while waiting:
        node = found["nodes"][waiting.pop()]
        waiting += reversed(node.get("children", []))
        order += [node] if "mesh" in node else []
    meshes = [node.name for node, _ in document.walk() for chunk in node.chunks if isinstance(chunk, b3d_document.Mesh)]
    shown = [decode(name) for name in meshes]
    assert [node["name"] for node in order] == [name for name in shown if name in {node["name"] for node in order}]
    primitives = [primitive for node in order for primitive in found["meshes"][node["mesh"]]["primitives"]]
    for number, primitive in enumerate(primitives):
        material = found["materials"][primitive["material"]] if "material" in primitive else {"pbrMetallicRoughness": {}}
        assert material["pbrMetallicRoughness"].get("baseColorTexture", {"index": number})["index"] == number
    assert len(found.get("textures", [])) in (0, len(primitives)) and "images" not in found


# ------------------------------------------------------------------------------------------------------------ validator


def test_the_validator_finds_no_error_in_any(tmp_path: Path) -> None:
    paths = [*B3D, *DBO, *BO3D, *BOGLE, *SATURN]
    if not paths:
        pytest.skip("no corpus")
    for number, path in enumerate(paths):
        (tmp_path / f"{number:03}_{path.name}.glb").write_bytes(converted(path)[2])
    bad = {report["file"]: report["messages"][:3] for report in validate(sorted(tmp_path.glob("*.glb"))) if report["errors"]}
    assert not bad


def test_keys_are_those_of_the_file() -> None:
    """No key more than the source has: the engine goes along arcs, as glTF does."""
    for path in B3D[:40]:
        document, scene, _ = converted(path)
        file = Gltf(gltf.write(gltf.from_scene(scene)))
        count = 0
        for node, _ in document.walk():
            chunks = [chunk for chunk in node.chunks if isinstance(chunk, b3d_document.Keys)]
            for name in ("position", "rotation", "scale"):
                frames = {int(f) for chunk in chunks if name in chunk.keys.dtype.names for f in chunk.keys["frame"]}
                count += len(frames)
        animations = file.json.get("animations", [])[:1]
        found = sum(file.json["accessors"][sampler["input"]]["count"] for each in animations for sampler in each["samplers"])
        assert found == count, path

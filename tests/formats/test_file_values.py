# SPDX-License-Identifier: GPL-3.0-or-later
"""Normals, texture coordinates and colours of every format, against the numbers in the files' own bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from io_retro_meshes import formats
from io_retro_meshes.scene import Layer, Mesh, Scene
from tests.builders.painted import painted, painted_character
from tests.conftest import ROOT
from tests.engines import raw

SOURCES = {"b3d": painted, "bo3d": painted, "bogle": painted, "dbo": painted, "saturn": painted_character}
EXAMPLES = {"b3d": "fox.b3d", "bo3d": "robot.bo3d", "bogle": "lighthouse.bgl", "dbo": "flower.dbo", "saturn": "knight.bin"}
# Saturn has 12 bits for a part of a normal, and 5 for one of a colour; what is turned into bytes is off by half of one.
LIMITS = {"position": 2e-5, "uv": 1e-6, "second_uv": 1e-6, "color": 0.5 / 255, "normal": 0.05}
SATURN_LIMITS = {**LIMITS, "color": 1.01 / 255}

# Whole textures, as the file has them, instead of places in an atlas.
PLAIN: dict[str, dict[str, str]] = {"saturn": {"images": "EACH"}}


def scene_faces(scene: Scene) -> list[np.ndarray]:
    """Every corner of a neutral scene's meshes in the columns of `raw`."""

    def values(mesh: Mesh, layer: Layer) -> np.ndarray:
        rows = layer.data if layer.domain == "CORNER" else layer.data[mesh.corners]
        return rows / 255 if rows.dtype == np.uint8 else rows.astype(float)

    found = []
    for mesh in scene.meshes:
        normals = values(mesh, mesh.normals) if mesh.normals is not None else None
        colors = values(mesh, mesh.colors[0]) if mesh.colors else None
        rows = raw.table(mesh.positions[mesh.corners], normals, [values(mesh, layer) for layer in mesh.uvs], colors)
        found += np.split(rows, mesh.starts[1:])
    return found


def quads(faces: list[np.ndarray]) -> list[np.ndarray]:
    return [face for face in faces if len(face) == 4]


def assert_same(found: list[np.ndarray], expected: list[np.ndarray], format_id: str, **limits: float) -> None:
    off = raw.differences(found, expected)
    allowed = {**(SATURN_LIMITS if format_id == "saturn" else LIMITS), **limits}
    assert {name: value for name, value in off.items() if value > allowed[name]} == {}


def columns_there(faces: list[np.ndarray]) -> dict[str, bool]:
    known = ~np.isnan(np.concatenate(faces)).all(0)
    return {name: bool(known[part][0]) for name, part in (("normal", raw.NORMAL), ("uv", raw.UV), ("color", raw.COLOR))}


def written(format_id: str) -> bytes:
    module: Any = getattr(formats, format_id)
    data: bytes = module.write(module.from_scene(SOURCES[format_id]()))
    return data


@pytest.mark.parametrize("format_id", SOURCES)
def test_what_is_written_is_what_the_scene_says(format_id: str) -> None:
    faces = getattr(raw, format_id)(written(format_id))
    assert columns_there(faces) == {"normal": True, "uv": True, "color": format_id != "bogle"}
    assert_same(scene_faces(SOURCES[format_id]()), faces, format_id)


@pytest.mark.parametrize("format_id", SOURCES)
def test_what_is_read_is_what_the_file_says(format_id: str) -> None:
    data, module = written(format_id), getattr(formats, format_id)
    assert_same(
        scene_faces(module.to_scene(module.read(data), module.ImportOptions(**PLAIN.get(format_id, {})))),
        getattr(raw, format_id)(data),
        format_id,
    )


@pytest.mark.parametrize("format_id", EXAMPLES)
def test_what_is_read_of_a_whole_model_is_what_the_file_says(format_id: str) -> None:
    data, module = (ROOT / "examples" / EXAMPLES[format_id]).read_bytes(), getattr(formats, format_id)
    faces = scene_faces(module.to_scene(module.read(data), module.ImportOptions(**PLAIN.get(format_id, {}))))
    layout = ["ANIM"] if format_id == "bogle" else []
    assert_same(quads(faces) if format_id == "saturn" else faces, getattr(raw, format_id)(data, *layout), format_id)

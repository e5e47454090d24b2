# SPDX-License-Identifier: GPL-3.0-or-later
"""Normals, texture coordinates and colours in Blender's meshes, and in what is exported, against the files' own bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.engines import raw
from tests.formats.test_file_values import EXAMPLES, PLAIN, SOURCES, assert_same, columns_there, quads, written

SUFFIXES = {"b3d": ".b3d", "bo3d": ".bo3d", "bogle": ".bgl", "dbo": ".dbo", "saturn": ".bin"}
# Blender keeps the normals of skinned meshes, and in 4.2 all, as two angles of 16 bits.
NORMAL = 0.5
# At the poles of the flower faces have no area: around those Blender mixes what it keeps of the normals.
NORMALS = {"dbo": 1.5}


def srgb(linear: np.ndarray) -> np.ndarray:
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)


def got(source: Any, name: str, count: int, width: int) -> np.ndarray:
    values = np.empty(count * width, np.float32)
    source.foreach_get(name, values)
    return values.reshape(count, width).astype(float)


def mesh_faces(mesh: Any) -> list[np.ndarray]:
    """Every corner of a mesh of Blender in the columns of `raw`."""
    corners = np.array([loop.vertex_index for loop in mesh.loops], int)
    colors = None
    if mesh.color_attributes:
        layer = mesh.color_attributes[mesh.color_attributes.render_color_index]
        as_bytes = layer.data_type == "BYTE_COLOR"
        colors = got(layer.data, "color_srgb" if as_bytes else "color", len(layer.data), 4)
        if not as_bytes:
            colors[:, :3] = srgb(colors[:, :3])
        colors = colors if layer.domain == "CORNER" else colors[corners]
    rows = raw.table(
        got(mesh.vertices, "co", len(mesh.vertices), 3)[corners],
        got(mesh.corner_normals, "vector", len(corners), 3),
        [got(layer.uv, "vector", len(corners), 2) for layer in mesh.uv_layers],
        colors,
    )
    return np.split(rows, [face.loop_start for face in mesh.polygons][1:])


def all_faces(bpy: Any) -> list[np.ndarray]:
    return [face for mesh in bpy.data.meshes if mesh.users and len(mesh.polygons) for face in mesh_faces(mesh)]


@pytest.mark.parametrize("format_id", SOURCES)
def test_painted_models_there_and_back(blender: Any, tmp_path: Path, format_id: str) -> None:
    path = tmp_path / f"painted{SUFFIXES[format_id]}"
    path.write_bytes(written(format_id))
    expected = getattr(raw, format_id)(path.read_bytes())
    assert columns_there(expected) == {"normal": True, "uv": True, "color": format_id != "bogle"}
    assert getattr(blender.ops.import_scene, format_id)(filepath=str(path), **PLAIN.get(format_id, {})) == {"FINISHED"}
    assert_same(all_faces(blender), expected, format_id, normal=NORMAL)
    assert getattr(blender.ops.export_scene, format_id)(filepath=str(path)) == {"FINISHED"}
    assert_same(getattr(raw, format_id)(path.read_bytes()), expected, format_id, normal=NORMAL)


@pytest.mark.parametrize("format_id", EXAMPLES)
def test_whole_models(blender: Any, format_id: str) -> None:
    path = ROOT / "examples" / EXAMPLES[format_id]
    expected = getattr(raw, format_id)(path.read_bytes(), *(["ANIM"] if format_id == "bogle" else []))
    assert getattr(blender.ops.import_scene, format_id)(filepath=str(path), **PLAIN.get(format_id, {})) == {"FINISHED"}
    faces = all_faces(blender)
    normal = NORMALS.get(format_id, NORMAL)
    assert_same(quads(faces) if format_id == "saturn" else faces, expected, format_id, normal=normal)

# SPDX-License-Identifier: GPL-3.0-or-later
"""16-bit floats: the engine's loader makes nothing of the smallest, and there are none above 65504."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.formats import bo3d
from io_retro_meshes.scene import Layer, Mesh, Node, Scene
from tests.builders import bo3d as made
from tests.engines import raw

SMALLEST, LARGEST = 2.0**-14, 65504.0


def test_what_is_written() -> None:
    points = np.array([(SMALLEST * 0.9, 1, 2), (SMALLEST, -70000, 3), (1e-7, 1e9, -SMALLEST / 2)], np.float32)
    mesh = Mesh("triangle", points, np.array([0, 1, 2], np.int32))
    mesh.uvs = [Layer("UVMap", np.array([(0.25, 1 - 1e-5), (0.5, 0.75), (1, 0)], np.float32))]
    document = bo3d.from_scene(Scene([Node("triangle", mesh=0)], [mesh]), bo3d.ExportOptions(half_floats=True))
    (face,) = raw.bo3d(bo3d.write(document))
    expected = [(0, 1, 2), (SMALLEST, -LARGEST, 3), (0, LARGEST, 0)]
    np.testing.assert_array_equal(face[:, raw.POSITION], expected)
    np.testing.assert_array_equal(face[:, raw.UV], [(0.25, 1), (0.5, 0.75), (1, 0)])
    assert any("2 vertices are too far out" in warning for warning in document.warnings)


def test_what_is_read() -> None:
    document = made.two_arms(half=True)
    rows = document.entities[0].mesh.vertices
    rows["position"][0] = (SMALLEST / 2, SMALLEST, 1)
    rows["uv"][0] = (SMALLEST / 4, 0.5)
    data = bo3d.write(document)
    assert data.count(np.array([SMALLEST / 2, SMALLEST, 1], "<f2").tobytes()) == 1
    mesh = bo3d.to_scene(bo3d.read(data)).meshes[0]
    np.testing.assert_array_equal(mesh.positions[0], (0, -1, SMALLEST))
    np.testing.assert_array_equal(mesh.uvs[0].data[0], (0, 0.5))

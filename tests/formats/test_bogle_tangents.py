# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents go where U grows and binormals where V grows, also where the UV map is mirrored."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from io_retro_meshes.formats import bogle
from io_retro_meshes.scene import Camera, Layer, Mesh, Node, Scene

POINTS = np.array([(0, 0, 0), (2, 0, 0), (0, 1, 0)], np.float32)


def vertices_of(data: bytes) -> np.ndarray:
    """Position, UV, normal, tangent and binormal of the first geometry of a file of layout SEED with one camera."""
    at = 6 + 20 + 16 + 22 + 1
    (count,) = struct.unpack_from("<I", data, at)
    return np.frombuffer(data, "<f4", 14 * count, at + 8).reshape(-1, 14)


@pytest.mark.parametrize(
    "uvs",
    [
        [(0, 0), (1, 0), (0, 1)],
        [(1, 0), (0, 0), (1, 1)],
        [(0, 1), (1, 1), (0, 0)],
        [(1, 1), (0, 1), (1, 0)],
        [(0, 0), (0, 1), (1, 0)],
        [(0.2, 0.1), (0.3, 0.9), (-0.5, 0.4)],
    ],
)
def test_tangents(uvs: list[tuple[float, float]]) -> None:
    mesh = Mesh("triangle", POINTS, np.array([0, 1, 2], np.int32))
    mesh.normals = Layer("normal", np.tile(np.float32([0, 0, 1]), (3, 1)))
    mesh.uvs = [Layer("UVMap", np.array(uvs, np.float32))]
    scene = Scene([Node("Eye", camera=0), Node("triangle", mesh=0)], [mesh], cameras=[Camera("Eye", main=True)])
    rows = vertices_of(bogle.write(bogle.from_scene(scene)))
    assert len(rows) == 3
    # Along an edge, position changes by (change of U) times one vector and (change of V) times the other.
    edges, changes = rows[1:, :3] - rows[0, :3], rows[1:, 3:5] - rows[0, 3:5]
    along_u, along_v = np.linalg.solve(changes.astype(float), edges.astype(float))
    for row in rows:
        np.testing.assert_allclose(row[8:11], along_u / np.linalg.norm(along_u), atol=1e-5)
        assert row[11:14] @ along_v > 0
        np.testing.assert_allclose(np.abs(row[11:14]), np.abs(np.cross(row[5:8], row[8:11])), atol=1e-5)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents as MikkTSpace makes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....scene import Floats, Ints, Layer, Mesh, floats, maths
from ....scene.surfaces import engine_vertices
from ..document import Array
from ..hashes import row_hashes

AT_ONCE = 3 << 12  # corners
AHEAD, BEHIND = [1, 2, 0], [2, 0, 1]  # of each corner of a triangle


@dataclass
class Tangents:
    """A row for each vertex of a place, normal, coordinate and handedness."""

    vectors: Floats  # (n, 3) the direction in which U grows
    signs: Floats  # (n,) whether V grows to its left (1) or right (-1)
    corners: Ints  # (k,) the row of each corner of the mesh


def tangents(mesh: Mesh, normals: Layer, uvs: Layer) -> Tangents:
    """As MikkTSpace does it, and so Blender: corners of the same place, normal, coordinate and handedness share a tangent,
    the mean of their triangles' by the angle each has there.

    Vectors are kept as three columns, and only so many at a time as a processor's cache holds: several times as fast.
    """
    split = engine_vertices(mesh, [normals, uvs])
    normal = split.values(normals)
    table = np.concatenate([mesh.positions[split.source], normal, split.values(uvs)], 1).astype(np.float32) + np.float32(0)
    _, same = np.unique(row_hashes(table), return_inverse=True)
    rows, weighted = split.corners * 2, np.zeros((3, len(split.corners)), np.float32)
    for start in range(0, len(rows), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        columns = np.ascontiguousarray(table.take(split.corners[some], 0).T)
        weighted[:, some], area = _weighted(columns.reshape(8, -1, 3))
        rows[some] += np.repeat(area > 0, 3)
    group = (2 * same.reshape(-1, 1) + (0, 1)).reshape(-1)  # of each row
    shared = group.take(rows)
    total = np.stack([np.bincount(shared, axis, len(group)) for axis in weighted], 1).take(group, 0)
    found = maths.normalized(total).astype(np.float32)
    # Where the UV map is folded to nothing any direction will do that lies in the surface.
    lost = np.flatnonzero(np.abs(total).max(1, initial=0) < 1e-12)
    across = normal[lost // 2].T
    found[lost] = _across(np.where(np.abs(across[0]) < 0.9, [[1], [0], [0]], [[0], [1], [0]]), across).T
    return Tangents(found, np.tile(floats(-1, 1), len(table)), rows)


def _weighted(corners: Floats) -> tuple[Floats, Floats]:
    """The part of each corner of some triangles in its vertex's tangent, and the area that each triangle has in the UV map.
    Corners are place, normal and coordinate."""
    points, normals, coords = corners[:3], corners[3:6], corners[6:]
    along_u, area = _along_u(points, coords)
    weight = np.where((area != 0)[:, None], _angles(points, normals), 0)
    return (_across(along_u[:, :, None], normals) * weight).reshape(3, -1), area


def _along_u(points: Floats, coords: Floats) -> tuple[Floats, Floats]:
    """For each triangle the direction in which U grows, and twice its area in the UV map, less than 0 if mirrored."""
    d1, d2 = points[:, :, 1] - points[:, :, 0], points[:, :, 2] - points[:, :, 0]
    (u1, v1), (u2, v2) = coords[:, :, 1] - coords[:, :, 0], coords[:, :, 2] - coords[:, :, 0]
    area = u1 * v2 - v1 * u2
    return _unit((v2 * d1 - v1 * d2) * np.where(area > 0, np.float32(1), np.float32(-1))), area


def _dot(a: Array, b: Array) -> Array:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _unit(vectors: Array) -> Array:
    """Columns of length 1, or 0 where there was none."""
    length = np.sqrt(_dot(vectors, vectors))
    return vectors / np.where(length > 1e-20, length, length.dtype.type(1))


def _across(vectors: Array, normals: Array) -> Array:
    """The unit part of vectors that lies in the plane of a normal."""
    return _unit(vectors - normals * _dot(vectors, normals))


def _angles(points: Floats, normals: Floats) -> Floats:
    """The angle of every corner, seen along its normal: between the parts of two edges that lie in its plane."""
    ahead = points[:, :, AHEAD] - points
    behind = -ahead[:, :, BEHIND]
    up, down = _dot(ahead, normals), _dot(behind, normals)
    length = _dot(ahead, ahead)
    size = np.sqrt(np.maximum((length - up * up) * (length[:, BEHIND] - down * down), np.float32(1e-30)))
    return np.arccos(np.clip((_dot(ahead, behind) - up * down) / size, -1, 1))

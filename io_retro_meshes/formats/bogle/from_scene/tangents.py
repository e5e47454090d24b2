# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents as MikkTSpace makes them."""

from __future__ import annotations

import numpy as np

from ....scene import Floats, floats, maths
from ..hashes import row_hashes


def tangents(positions: Floats, normals: Floats, uvs: Floats) -> tuple[Floats, Floats]:
    """For every corner of triangles, the direction in which U grows, and whether V grows to its left (1) or right (-1).

    As MikkTSpace does it, and so Blender: corners of the same place, normal, coordinate and handedness share a tangent, the
    mean of their triangles' by the angle each has there.
    """
    if not len(positions):
        return np.zeros((0, 3), np.float32), np.zeros(0, np.float32)
    points, coords = positions.reshape(-1, 3, 3), uvs.reshape(-1, 3, 2)
    d1, d2 = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    t1, t2 = coords[:, 1] - coords[:, 0], coords[:, 2] - coords[:, 0]
    area = t1[:, 0] * t2[:, 1] - t1[:, 1] * t2[:, 0]
    sign = np.where(area > 0, np.float32(1), np.float32(-1))
    along_u = maths.normalized((t2[:, 1, None] * d1 - t1[:, 1, None] * d2) * sign[:, None])
    weight = np.where(np.repeat(area != 0, 3), _angles(points, normals), 0)
    flat = _across(np.repeat(along_u, 3, 0), normals)
    corner_sign = np.repeat(sign, 3)
    key = np.concatenate([positions, normals, uvs, corner_sign[:, None]], 1) + np.float32(0)
    _, group = np.unique(row_hashes(key), return_inverse=True)
    group = group.reshape(-1)
    total = np.stack([np.bincount(group, weight * flat[:, axis]) for axis in range(3)], 1)
    found = maths.normalized(total)[group].astype(np.float32)
    lost = np.flatnonzero((np.abs(total).max(1) < 1e-12)[group])
    # Where the UV map is folded to nothing any direction will do that lies in the surface.
    aside = np.where(np.abs(normals[lost, :1]) < 0.9, floats(1, 0, 0), floats(0, 1, 0))
    found[lost] = _across(aside, normals[lost])
    return found, corner_sign


def _across(vectors: Floats, normals: Floats) -> Floats:
    """The unit part of vectors that lies in the plane of a normal."""
    return maths.normalized(vectors - normals * np.einsum("ij,ij->i", vectors, normals)[:, None])


def _angles(points: Floats, normals: Floats) -> Floats:
    """The angle of every corner, seen along its normal."""
    ahead = (np.roll(points, -1, 1) - points).reshape(-1, 3)
    back = -np.roll(ahead.reshape(-1, 3, 3), 1, 1).reshape(-1, 3)
    cosine = np.einsum("ij,ij->i", _across(back, normals), _across(ahead, normals))
    return np.arccos(np.clip(cosine, -1, 1))

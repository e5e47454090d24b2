# SPDX-License-Identifier: GPL-3.0-or-later
"""MESH chunks to meshes of the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths, surfaces
from ...scene import COLOR_NAME, Floats, Ints, Layer, Mesh, uv_name
from . import document as b3d
from .materials import Materials

# The engine's axes to Blender's, and back: y and z change places.
VECTOR = [0, 2, 1]
QUATERNION = [0, 1, 3, 2]


def finite(values: npt.ArrayLike) -> Floats:
    """A copy that Blender can live with: no NaN, and nothing too great to be squared."""
    return np.clip(np.nan_to_num(np.array(values, np.float32)), -1e18, 1e18)


class Meshes:
    """Every vertex of the file is kept; triangles that the engine could not draw are counted and left out."""

    def __init__(self, materials: Materials) -> None:
        self.materials = materials
        self.bad_triangles = self.flat_triangles = self.extra_vertices = 0

    def mesh(self, chunk: b3d.Mesh, name: str) -> Mesh:
        vertices = chunk.vertices or b3d.Vertices(0, 0, 0, np.zeros((0, 3), "<f4"))
        self.extra_vertices += len(b3d.of_kind(chunk.chunks, b3d.Vertices)) > 1
        positions = finite(vertices.positions[:, VECTOR])
        pieces = [self.triangles(triangles, len(positions)) for triangles in chunk.triangles]
        corners = np.concatenate([np.zeros(0, np.int32), *pieces])
        mesh = Mesh(name, positions, corners)
        self.set_materials(mesh, chunk, [len(piece) // 3 for piece in pieces])
        mesh.normals = _normals(vertices, positions, corners, pieces)
        if vertices.tex_coord_set_size:
            mesh.uvs = [Layer(uv_name(i), _uvs(vertices.uvs(i))) for i in range(vertices.tex_coord_sets)]
        if vertices.colors is not None:
            mesh.colors = [Layer(COLOR_NAME, np.clip(finite(vertices.colors), 0, 1))]
        return mesh

    def triangles(self, chunk: b3d.Triangles, count: int) -> Ints:
        """The corners of the triangles that can be drawn, turned round."""
        ids = chunk.vertex_ids[:, VECTOR].astype(np.int32)
        if not len(ids):
            return ids.reshape(-1)
        if ids.min() < 0 or ids.max() >= count:
            usable = ((ids >= 0) & (ids < count)).all(1)
            self.bad_triangles += int(np.count_nonzero(~usable))
            ids = ids[usable]
        flat = (ids[:, 0] == ids[:, 1]) | (ids[:, 1] == ids[:, 2]) | (ids[:, 2] == ids[:, 0])
        if flat.any():
            self.flat_triangles += int(np.count_nonzero(flat))
            ids = ids[~flat]
        return ids.reshape(-1)

    def set_materials(self, mesh: Mesh, chunk: b3d.Mesh, counts: list[int]) -> None:
        """A slot for each material, in the order of the surfaces."""
        used = [self.materials.get(chunk.brush_id, triangles.brush_id) for triangles in chunk.triangles]
        slots = {material: slot for slot, material in enumerate(dict.fromkeys(used))}
        if list(slots) in ([], [-1]):
            return
        mesh.materials = list(slots)
        mesh.face_materials = np.repeat(np.array([slots[material] for material in used], np.int32), counts)


def _normals(vertices: b3d.Vertices, positions: Floats, corners: Ints, pieces: list[Ints]) -> Layer:
    """The file's own, or those the engine makes: smooth within each surface."""
    if vertices.normals is not None:
        return Layer("normal", maths.normalized(finite(vertices.normals[:, VECTOR]), (0, 0, 1)))
    normals = np.zeros((len(corners), 3), np.float32)
    start = 0
    for piece in pieces:
        used, inverse = np.unique(piece, return_inverse=True)
        local: Ints = inverse.reshape(-1).astype(np.int32)
        normals[start : start + len(piece)] = surfaces.smooth_normals(positions[used], local)[local]
        start += len(piece)
    return Layer("normal", normals, "CORNER")


def _uvs(values: npt.NDArray[Any]) -> Floats:
    """The first two values of a set, with v going up."""
    uvs = np.zeros((len(values), 2), np.float32)
    uvs[:, : min(values.shape[1], 2)] = finite(values[:, :2])
    uvs[:, 1] = 1 - uvs[:, 1]
    return uvs

# SPDX-License-Identifier: GPL-3.0-or-later
"""MESH chunks to meshes of the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import COLOR_NAME, Floats, Ints, Layer, Mesh, maths, surfaces, uv_name
from ....scene.sanitize import finite
from .. import axes
from .. import document as b3d
from ..options import ImportOptions
from .materials import Materials

MOST_TURNED = 0.1  # of a mesh's normals that may point away from its faces without a warning


class Meshes:
    """Every vertex of the file is kept; triangles that the engine could not draw are counted and left out."""

    def __init__(self, materials: Materials, options: ImportOptions) -> None:
        self.materials = materials
        self.options = options
        self.bad_triangles = 0
        self.turned: list[str] = []  # meshes with normals that point into them

    def mesh(self, chunk: b3d.Mesh, name: str, mirrored: bool) -> Mesh:
        """`mirrored`: whether the node is mirrored in the world."""
        vertices = _all_vertices(b3d.of_kind(chunk.chunks, b3d.Vertices))
        positions = np.array(finite(axes.vectors_to_scene(vertices.positions)), np.float32)
        ids, parts = self.triangles(chunk, len(positions), mirrored)
        mesh = Mesh(name, positions, ids.reshape(-1))
        mesh.normals = self.normals(mesh, vertices, parts)
        if vertices.tex_coord_set_size:
            mesh.uvs = [Layer(uv_name(i), _uvs(vertices.uvs(i))) for i in range(vertices.tex_coord_sets)]
        if vertices.colors is not None:
            mesh.colors = [Layer(COLOR_NAME, np.clip(finite(vertices.colors), 0, 1).astype(np.float32))]
        self.set_materials(mesh, chunk, parts)
        return mesh

    def triangles(self, chunk: b3d.Mesh, count: int, mirrored: bool) -> tuple[Ints, Ints]:
        """The vertices of the triangles that can be drawn, and the surface of each. There may be thousands of surfaces."""
        lists = [triangles.vertex_ids for triangles in chunk.triangles]
        parts = np.repeat(np.arange(len(lists), dtype=np.int32), [len(ids) for ids in lists])
        ids = axes.winding(np.concatenate([np.zeros((0, 3), np.int32), *lists]), mirrored)
        if len(ids) and (ids.min() < 0 or ids.max() >= count):
            usable = ((ids >= 0) & (ids < count)).all(1)
            self.bad_triangles += int(np.count_nonzero(~usable))
            ids, parts = ids[usable], parts[usable]
        return ids.astype(np.int32), parts

    def set_materials(self, mesh: Mesh, chunk: b3d.Mesh, parts: Ints) -> None:
        """A slot for each material, or for each surface, in the order of the surfaces."""
        used = [self.materials.get(chunk.brush_id, triangles.brush_id, bool(mesh.colors)) for triangles in chunk.triangles]
        if not self.options.merge_surfaces:
            mesh.materials, mesh.face_materials = used, parts
            return
        slots = {material: slot for slot, material in enumerate(dict.fromkeys(used))}
        if list(slots) in ([], [-1]):
            return
        mesh.materials = list(slots)
        mesh.face_materials = np.array([slots[material] for material in used], np.int32)[parts]

    def normals(self, mesh: Mesh, vertices: b3d.Vertices, parts: Ints) -> Layer:
        """The file's own, or those the engine makes: smooth within each surface."""
        if vertices.normals is not None and self.options.use_normals == "FILE":
            layer = Layer("normal", maths.normalized(finite(axes.vectors_to_scene(vertices.normals)), (0, 0, 1)))
            if surfaces.turned_normals(mesh.positions, mesh.corners, layer.data) > MOST_TURNED:
                self.turned.append(mesh.name)
            return layer
        by_place = self.options.missing_normals == "BLITZ3D"
        return Layer("normal", surfaces.parted_normals(mesh.positions, mesh.corners, np.repeat(parts, 3), by_place), "CORNER")


def _all_vertices(chunks: list[b3d.Vertices]) -> b3d.Vertices:
    """Lists of vertices follow one another. One of another kind than the first has what it lacks at zero."""
    if len(chunks) == 1:
        return chunks[0]
    kind = chunks[0] if chunks else b3d.Vertices(0, 0, 0, np.zeros((0, 3), "<f4"))
    rows = [np.zeros((len(chunk.rows), kind.row_size), np.float32) for chunk in chunks]
    for made, chunk in zip(rows, chunks, strict=True):
        same = (chunk.flags, chunk.tex_coord_sets, chunk.tex_coord_set_size) == (
            kind.flags,
            kind.tex_coord_sets,
            kind.tex_coord_set_size,
        )
        made[:, : None if same else 3] = chunk.rows if same else chunk.positions
    whole = np.concatenate([np.zeros((0, kind.row_size), np.float32), *rows])
    return b3d.Vertices(kind.flags, kind.tex_coord_sets, kind.tex_coord_set_size, whole)


def _uvs(values: npt.NDArray[Any]) -> Floats:
    """The first two values of a set."""
    uvs = np.zeros((len(values), 2), np.float32)
    uvs[:, : min(values.shape[1], 2)] = finite(values[:, :2])
    return axes.flip_v(uvs)

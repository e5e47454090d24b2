# SPDX-License-Identifier: GPL-3.0-or-later
"""MESH chunks to meshes of the scene, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths, surfaces
from ...scene import COLOR_NAME, Floats, Ints, Layer, Mesh, Skin, uv_name
from . import document as b3d
from .materials import Materials
from .options import ExportOptions

# The engine's axes to Blender's, and back: y and z change places.
VECTOR = [0, 2, 1]
QUATERNION = [0, 1, 3, 2]

MOST_WEIGHTS = 4  # of a vertex, in the engine
LARGEST = 1e18  # its square is still a number


def finite(values: npt.ArrayLike) -> Floats:
    """A copy that Blender can live with: no NaN, and nothing too great to be squared."""
    copy = np.array(values, np.float32)
    if copy.size and not (copy.min() >= -LARGEST and copy.max() <= LARGEST):  # also where one is NaN
        copy = np.clip(np.nan_to_num(copy), -LARGEST, LARGEST)
    return copy


class Meshes:
    """Every vertex of the file is kept; triangles that the engine could not draw are counted and left out."""

    def __init__(self, materials: Materials) -> None:
        self.materials = materials
        self.bad_triangles = 0

    def mesh(self, chunk: b3d.Mesh, name: str, mirrored: bool = False) -> Mesh:
        """Blender turns the faces of mirrored objects round when it draws them, the engine does not: so they are not here."""
        vertices = _all_vertices(b3d.of_kind(chunk.chunks, b3d.Vertices))
        positions = finite(vertices.positions[:, VECTOR])
        pieces = [self.triangles(triangles, len(positions), mirrored) for triangles in chunk.triangles]
        corners = np.concatenate([np.zeros(0, np.int32), *pieces])
        mesh = Mesh(name, positions, corners)
        self.set_materials(mesh, chunk, [len(piece) // 3 for piece in pieces])
        mesh.normals = _normals(vertices, positions, corners, pieces)
        if vertices.tex_coord_set_size:
            mesh.uvs = [Layer(uv_name(i), _uvs(vertices.uvs(i))) for i in range(vertices.tex_coord_sets)]
        if vertices.colors is not None:
            mesh.colors = [Layer(COLOR_NAME, np.clip(finite(vertices.colors), 0, 1))]
        return mesh

    def triangles(self, chunk: b3d.Triangles, count: int, mirrored: bool) -> Ints:
        """The corners of the triangles that can be drawn, turned round as the exchange of axes asks for."""
        ids = (chunk.vertex_ids if mirrored else chunk.vertex_ids[:, VECTOR]).astype(np.int32)
        if not len(ids):
            return ids.reshape(-1)
        if ids.min() < 0 or ids.max() >= count:
            usable = ((ids >= 0) & (ids < count)).all(1)
            self.bad_triangles += int(np.count_nonzero(~usable))
            ids = ids[usable]
        return ids.reshape(-1)

    def set_materials(self, mesh: Mesh, chunk: b3d.Mesh, counts: list[int]) -> None:
        """A slot for each material, in the order of the surfaces."""
        used = [self.materials.get(chunk.brush_id, triangles.brush_id) for triangles in chunk.triangles]
        slots = {material: slot for slot, material in enumerate(dict.fromkeys(used))}
        if list(slots) in ([], [-1]):
            return
        mesh.materials = list(slots)
        mesh.face_materials = np.repeat(np.array([slots[material] for material in used], np.int32), counts)


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


# -------------------------------------------------------------------------------------------------------------- writing

MOST_VERTICES = 65535  # of a surface, in the engine


def mesh_chunk(
    mesh: Mesh, brush: Callable[[int], int], options: ExportOptions, mirrored: bool = False
) -> tuple[b3d.Mesh, Ints]:
    """A mesh of triangles as a chunk, and the vertex of the mesh that each vertex of the chunk was.

    Vertices lie surface by surface, none shared between two; those of no surface come last.
    """
    normals = mesh.normals if options.normals else None
    uvs = mesh.uvs[: min(options.uv_sets, b3d.MAX_UV_SETS)]
    colors = mesh.colors[:1] if options.colors else []
    vertices = surfaces.engine_vertices(mesh, [layer for layer in [normals, *uvs, *colors] if layer is not None])
    chunk = b3d.Mesh()
    order: list[Ints] = []
    count = 0
    for material, corners in _surfaces(mesh, vertices.corners):
        for used, local in surfaces.limited(corners, MOST_VERTICES):
            ids = (local + count).reshape(-1, 3)
            chunk.chunks.append(b3d.Triangles(brush(material), ids if mirrored else ids[:, VECTOR]))
            order.append(used)
            count += len(used)
    loose = np.ones(len(vertices.source), bool)
    loose[vertices.corners] = False
    rows = np.concatenate([*order, np.flatnonzero(loose)]).astype(np.int32)
    layout = _rows(mesh, vertices, rows, normals, uvs, colors)
    chunk.chunks.insert(0, layout)
    return chunk, vertices.source[rows]


def _surfaces(mesh: Mesh, corners: Ints) -> Iterator[tuple[int, Ints]]:
    """The corners of the triangles of each material slot that has any, in the order of the slots."""
    slots = mesh.materials or [-1]
    if mesh.face_materials is None or len(slots) == 1:
        yield slots[0], corners
        return
    used = np.clip(mesh.face_materials, 0, len(slots) - 1)
    for slot, material in enumerate(slots):
        faces = used == slot
        if faces.any():
            yield material, corners.reshape(-1, 3)[faces].reshape(-1)


def _rows(
    mesh: Mesh, vertices: surfaces.Vertices, rows: Ints, normals: Layer | None, uvs: list[Layer], colors: list[Layer]
) -> b3d.Vertices:
    flags = (b3d.NORMALS if normals else 0) | (b3d.COLORS if colors else 0)
    chunk = b3d.Vertices(flags, len(uvs), 2, np.zeros((0, 0), "<f4"))
    chunk.rows = np.empty((len(rows), chunk.row_size), "<f4")
    chunk.rows[:, :3] = mesh.positions[vertices.source[rows]][:, VECTOR]
    # A vertex of no corner has no values of a layer that is by corner: it gets none.
    inside = (vertices.corner[rows] >= 0)[:, None]

    def values(layer: Layer) -> npt.NDArray[Any]:
        if not len(layer.data):
            return np.zeros((len(rows), layer.data.shape[1]), np.float32)
        picked = layer.data[vertices.corner[rows] if layer.domain == "CORNER" else vertices.source[rows]]
        return np.where(inside, picked, 0) if layer.domain == "CORNER" else picked

    if normals is not None:
        chunk.rows[:, 3:6] = values(normals)[:, VECTOR]
    for layer in colors:
        start = 6 if normals is not None else 3
        given = values(layer)
        chunk.rows[:, start : start + 4] = np.clip(given / 255 if given.dtype == np.uint8 else given, 0, 1)
    for number, layer in enumerate(uvs):
        pair = values(layer)
        chunk.uvs(number)[:, 0] = pair[:, 0]
        chunk.uvs(number)[:, 1] = 1 - pair[:, 1]
    return chunk


def weight_chunks(skin: Skin, sources: Ints, bones: int) -> tuple[list[b3d.Bone], int]:
    """The weights of each bone, and how many vertices had more of them than the engine takes."""
    vertices, joints, weights, lost = surfaces.strongest(skin.vertices, skin.bones, skin.weights, MOST_WEIGHTS)
    count = np.bincount(vertices, minlength=int(sources.max()) + 1 if len(sources) else 0)
    start = np.cumsum(count) - count
    repeats = count[sources]
    within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    pick = np.repeat(start[sources], repeats) + within
    table = np.empty(len(pick), b3d.WEIGHT)
    table["vertex"] = np.repeat(np.arange(len(sources)), repeats)
    table["weight"] = weights[pick]
    owner = joints[pick]
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.arange(1, bones))
    return [b3d.Bone(rows) for rows in np.split(table[order], cuts)], lost

# SPDX-License-Identifier: GPL-3.0-or-later
"""What exporters need of a mesh: engine vertices out of corners, and surfaces of a limited size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import maths
from .model import Floats, Ints, Layer, Mesh, Skin

Array = npt.NDArray[Any]

SAMPLED = 1 << 14  # triangles that tell of all of a mesh

EVERY = slice(None)

# Rounds of the fast merge before the rest is sorted: a vertex rarely has more different corners than this.
MERGE_ROUNDS = 4


@dataclass
class Vertices:
    """Engine vertices: corners that are equal in everything share one."""

    corner: Ints  # (n,) a corner that shows what the vertex is like
    source: Ints  # (n,) the vertex of the mesh it comes from
    corners: Ints  # (k,) the engine vertex of each corner of the mesh

    def values(self, layer: Layer) -> Array:
        """A layer of the mesh, a row for each engine vertex."""
        if layer.domain != "CORNER":
            return layer.data[self.source]
        if not len(layer.data):  # nothing but loose vertices
            return np.zeros((len(self.corner), *layer.data.shape[1:]), layer.data.dtype)
        return layer.data[self.corner]


def extent(points: Array) -> float:
    """The length of the diagonal of a box around points; 0 of none."""
    if not len(points):
        return 0.0
    return float(np.linalg.norm([np.ptp(column) for column in points.T]))  # by columns: several times as fast as all at once


def corner_values(mesh: Mesh, layer: Layer) -> Array:
    """A POINT or CORNER layer of the mesh, a row a corner."""
    return layer.data if layer.domain == "CORNER" else layer.data[mesh.corners]


def engine_vertices(mesh: Mesh, layers: list[Layer]) -> Vertices:
    """Splits the mesh's vertices where the corners around one differ in any of the CORNER layers, and nowhere else.

    Vertices that no face uses are kept: a model may be made of points that scripts ask for.
    """
    data = [column for layer in layers if layer.domain == "CORNER" for column in _words(layer.data)]
    count = len(mesh.positions)
    first = np.full(count, -1, np.int32)
    corner_of = np.arange(len(mesh.corners), dtype=np.int32)
    first[mesh.corners[::-1]] = corner_of[::-1]
    vertex = mesh.corners.copy()
    if not data:
        return Vertices(first, np.arange(count, dtype=np.int32), vertex)
    found_corner, found_source = [first], [np.arange(count, dtype=np.int32)]
    rest = corner_of[_differs(data, first[mesh.corners])]
    total = count
    for _ in range(MERGE_ROUNDS):
        if not len(rest):
            break
        chosen = np.full(count, -1, np.int32)
        chosen[mesh.corners[rest[::-1]]] = rest[::-1]
        owners = np.flatnonzero(chosen >= 0).astype(np.int32)
        number = np.zeros(count, np.int32)
        number[owners] = np.arange(total, total + len(owners), dtype=np.int32)
        differs = _differs(data, chosen[mesh.corners[rest]], rest)
        same = rest[~differs]
        vertex[same] = number[mesh.corners[same]]
        found_corner.append(chosen[owners])
        found_source.append(owners)
        total += len(owners)
        rest = rest[differs]
    if len(rest):
        table = np.concatenate([mesh.corners[rest, None].astype(np.int64), *(column[rest, None] for column in data)], 1)
        keys = np.ascontiguousarray(table).view(f"V{table.shape[1] * 8}")[:, 0]
        _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
        vertex[rest] = total + inverse.reshape(-1).astype(np.int32)
        found_corner.append(rest[index])
        found_source.append(mesh.corners[rest[index]])
    return Vertices(np.concatenate(found_corner), np.concatenate(found_source), vertex)


def _words(rows: Array) -> list[Array]:
    """Columns of integers that are equal where rows are equal in every bit (so that NaN equals itself); -0 is 0."""
    if rows.dtype.itemsize != 4:
        rows = rows.astype(np.float32)
    if rows.dtype.kind == "f":
        rows = rows + np.float32(0)
    words = np.ascontiguousarray(rows).view(np.int32).reshape(len(rows), math.prod(rows.shape[1:]))
    if words.shape[1] % 2 == 0:
        words = words.view(np.int64)  # two at once
    return list(words.T)


def _differs(data: list[Array], a: Ints, b: Ints | slice = EVERY) -> npt.NDArray[np.bool_]:
    differs = data[0].take(a) != data[0][b]
    for column in data[1:]:
        differs |= column.take(a) != column[b]
    return differs


def limited(corners: Ints, limit: int) -> Iterator[tuple[Ints, Ints]]:
    """Cuts triangles into runs that use at most `limit` vertices each: (the vertices of a run, its corners among them)."""
    start, window = 0, limit * 8
    while start < len(corners):
        piece = corners[start : start + window]
        low = piece.min()
        near = piece - low
        first = np.full(int(near.max()) + 1, len(corners), np.int32)
        first[near[::-1]] = np.arange(len(piece) - 1, -1, -1, dtype=np.int32)
        vertices = np.flatnonzero(first < len(corners)).astype(np.int32)
        if len(vertices) > limit:
            over = np.partition(first[vertices], limit)[limit]
            near = near[: over // 3 * 3]
            vertices = vertices[first[vertices] < len(near)]
        elif start + window < len(corners):
            window *= 2  # it may hold more before the limit is met
            continue
        first[vertices] = np.arange(len(vertices), dtype=np.int32)  # of each vertex in its run
        yield vertices + low, first[near]
        start += len(near)


def triangulated(mesh: Mesh, quads: bool = False) -> Mesh:
    """The mesh with every polygon cut into triangles: fans, but quads that are hollow at a corner from there. `quads` stay."""
    if mesh.face_starts is None:
        return mesh
    sizes = np.diff(np.append(mesh.face_starts, len(mesh.corners)))
    whole = np.logical_and(sizes == 4, quads)
    if (whole | (sizes == 3)).all() and quads:
        return mesh
    count = np.where(whole, 1, np.maximum(sizes - 2, 0))
    face = np.repeat(np.arange(len(sizes)), count)
    step = np.arange(len(face)) - np.repeat(np.cumsum(count) - count, count)
    steps = np.stack([np.zeros_like(step), step + 1, step + 2, np.full_like(step, 3)], 1)
    turn = (_hollow(mesh, sizes) & ~whole)[face]
    pick = mesh.face_starts[face][:, None] + np.where(turn[:, None], (steps + 1) % 4, steps)
    pick = pick[np.arange(4) < np.where(whole[face], 4, 3)[:, None]]
    starts = np.cumsum(np.where(whole[face], 4, 3)) - np.where(whole[face], 4, 3)

    def cut(layer: Layer) -> Layer:
        picked: dict[str, Array] = {"CORNER": pick, "FACE": face}
        return replace(layer, data=layer.data[picked[layer.domain]]) if layer.domain in picked else layer

    return replace(
        mesh,
        corners=mesh.corners[pick],
        face_starts=starts.astype(np.int32) if quads else None,
        face_materials=None if mesh.face_materials is None else mesh.face_materials[face],
        smooth=None if mesh.smooth is None else mesh.smooth[face],
        normals=None if mesh.normals is None else cut(mesh.normals),
        uvs=[cut(layer) for layer in mesh.uvs],
        colors=[cut(layer) for layer in mesh.colors],
        attributes=[cut(layer) for layer in mesh.attributes],
    )


def _hollow(mesh: Mesh, sizes: Array) -> npt.NDArray[np.bool_]:
    """Which faces are quads that the diagonal from their first corner does not lie in."""
    found = np.zeros(len(sizes), bool)
    quad = np.flatnonzero(sizes == 4)
    a, b, c, d = (mesh.positions[mesh.corners[mesh.starts[quad] + k]].astype(np.float64) for k in range(4))
    found[quad] = np.einsum("ij,ij->i", np.cross(b - a, c - a), np.cross(c - a, d - a)) < 0
    return found


def moved(mesh: Mesh, matrix: Floats) -> Mesh:
    """The mesh in another space. Where that is a mirrored one, its faces are turned round, each from its first corner."""
    if np.array_equal(matrix, np.eye(4)):
        return mesh
    made = replace(mesh, positions=maths.transform_points(matrix, mesh.positions))
    if mesh.normals is not None:
        made.normals = replace(mesh.normals, data=maths.transform_normals(matrix, mesh.normals.data))
    if np.linalg.det(matrix[:3, :3]) >= 0:
        return made
    sizes = np.diff(np.append(mesh.starts, len(mesh.corners)))
    starts, sizes = np.repeat(mesh.starts, sizes), np.repeat(sizes, sizes)
    order = starts + (sizes - (np.arange(len(mesh.corners)) - starts)) % sizes

    def turned(layer: Layer) -> Layer:
        return replace(layer, data=layer.data[order]) if layer.domain == "CORNER" else layer

    return replace(
        made,
        corners=mesh.corners[order],
        normals=None if made.normals is None else turned(made.normals),
        uvs=[turned(layer) for layer in mesh.uvs],
        colors=[turned(layer) for layer in mesh.colors],
        attributes=[turned(layer) for layer in mesh.attributes],
    )


def joined(meshes: list[Mesh]) -> Mesh:
    """Several meshes of triangles as one, their layers matched by number; what one lacks is zero, or white."""
    if len(meshes) == 1:
        return meshes[0]
    offsets = np.cumsum([0, *(len(mesh.positions) for mesh in meshes)])
    slots = list(dict.fromkeys(material for mesh in meshes for material in mesh.materials or [-1]))

    def layer(name: str, number: int, width: int, fill: float) -> Layer:
        parts = []
        for mesh in meshes:
            layers: list[Layer] = getattr(mesh, name)
            found = corner_values(mesh, layers[number]) if number < len(layers) else np.full((len(mesh.corners), width), fill)
            parts.append(found / 255 if found.dtype == np.uint8 else found)
        title = next(getattr(mesh, name)[number].name for mesh in meshes if number < len(getattr(mesh, name)))
        return Layer(title, np.concatenate(parts).astype(np.float32), "CORNER")

    def faces(mesh: Mesh) -> Ints:
        own = np.array([slots.index(material) for material in mesh.materials or [-1]], np.int32)
        used = np.zeros(mesh.face_count, np.int32) if mesh.face_materials is None else mesh.face_materials
        return own[np.clip(used, 0, len(own) - 1)]

    whole = Mesh(
        meshes[0].name,
        np.concatenate([mesh.positions for mesh in meshes]),
        np.concatenate([mesh.corners + offset for mesh, offset in zip(meshes, offsets, strict=False)]).astype(np.int32),
        face_materials=np.concatenate([faces(mesh) for mesh in meshes]),
        materials=slots,
    )
    if any(mesh.normals is not None for mesh in meshes):
        whole.normals = Layer("normal", np.concatenate([corner_normals(mesh) for mesh in meshes]), "CORNER")
    whole.uvs = [layer("uvs", number, 2, 0) for number in range(max(len(mesh.uvs) for mesh in meshes))]
    whole.colors = [layer("colors", number, 4, 1) for number in range(max(len(mesh.colors) for mesh in meshes))]
    skins = [(mesh.skin, offset) for mesh, offset in zip(meshes, offsets, strict=False) if mesh.skin is not None]
    if skins:
        whole.skin = Skin(
            skins[0][0].node,
            np.concatenate([skin.vertices + offset for skin, offset in skins]).astype(np.int32),
            np.concatenate([skin.bones for skin, _ in skins]),
            np.concatenate([skin.weights for skin, _ in skins]),
        )
    return whole


def corner_normals(mesh: Mesh) -> Floats:
    """A row a corner; where the mesh has none, smooth ones."""
    if mesh.normals is None:
        return smooth_normals(mesh.positions, triangulated(mesh).corners)[mesh.corners]
    values: Floats = corner_values(mesh, mesh.normals)
    return values


def face_normals(mesh: Mesh) -> Floats:
    """The normal of each face, of the whole outline where that has more than three corners."""
    if not len(mesh.corners):
        return np.zeros((0, 3), np.float32)
    sizes = np.diff(np.append(mesh.starts, len(mesh.corners)))
    first = np.repeat(mesh.starts, sizes)
    following = np.arange(1, len(mesh.corners) + 1)
    following[mesh.starts + sizes - 1] = mesh.starts
    points = mesh.positions.astype(np.float64)[mesh.corners]
    points = points - points[first]
    outline = np.add.reduceat(np.cross(points, points[following]), mesh.starts)
    return maths.normalized(outline, (0, 0, 1)).astype(np.float32)


def strongest(skin_vertices: Ints, bones: Ints, weights: Floats, most: int) -> tuple[Ints, Ints, Floats, int]:
    """The `most` greatest influences of each vertex, made to sum to one; and how many vertices lost some that mattered.

    Rows come back sorted by vertex, then by falling weight.
    """
    used = weights > 0
    vertices, bones, weights = skin_vertices[used], bones[used], weights[used]
    order = np.lexsort((-weights, vertices))
    vertices, bones, weights = vertices[order], bones[order], weights[order]
    starts = np.flatnonzero(np.diff(vertices, prepend=-1))
    rank = np.arange(len(vertices)) - np.repeat(starts, np.diff(np.append(starts, len(vertices))))
    keep = rank < most
    lost = len(np.unique(vertices[~keep]))
    vertices, bones, weights = vertices[keep], bones[keep], weights[keep]
    total = np.zeros(int(vertices.max()) + 1 if len(vertices) else 0, np.float32)
    np.add.at(total, vertices, weights)
    return vertices, bones, (weights / total[vertices]).astype(np.float32), lost


def smooth_normals(positions: Floats, corners: Ints) -> Floats:
    """Vertex normals of triangles as engines make them: by position, so that seams of the UV map do not show."""
    place = _places(positions)
    return _summed_normals(positions, corners, place[corners], int(place.max(initial=-1)) + 1)[place]


def parted_normals(positions: Floats, corners: Ints, parts: Ints, by_place: bool) -> Floats:
    """Corner normals of triangles that are smooth only within each part: `parts` has a number for every corner.

    `by_place`: as most engines make them, by position; else as Luanti does, where faces share a vertex.
    """
    place = _places(positions) if by_place else np.arange(len(positions))
    _, group = np.unique(parts * np.int64(len(positions)) + place[corners], return_inverse=True)
    group = group.reshape(-1)
    return _summed_normals(positions, corners, group, int(group.max(initial=-1)) + 1)[group]


def _places(positions: Floats) -> Array:
    """The same number for vertices in the same place."""
    _, place = np.unique(np.ascontiguousarray(positions + np.float32(0)).view("V12")[:, 0], return_inverse=True)
    return place.reshape(-1)


def _summed_normals(positions: Floats, corners: Ints, group: Array, count: int) -> Floats:
    """The normals of groups of corners, `count` of them."""
    face = _triangle_normals(positions, corners)
    total = np.zeros((count, 3))
    for axis in range(3):
        total[:, axis] = np.bincount(group, np.repeat(face[:, axis], 3), count)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 1e-12, total / np.where(length > 1e-12, length, 1), (0, 0, 1)).astype(np.float32)


def _triangle_normals(positions: Floats, corners: Ints) -> Array:
    """Of length 1, or 0 where a triangle has no area."""
    points = positions[corners].reshape(-1, 3, 3).astype(np.float64)
    face = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    length = np.linalg.norm(face, axis=1, keepdims=True)
    face /= np.where(length > 1e-20, length, 1)
    return face


def turned_normals(positions: Floats, corners: Ints, normals: Floats) -> float:
    """The part of the corners of triangles whose vertex normals point away from the face: of all, or in a large mesh of
    an even sample."""
    triangles = corners.reshape(-1, 3)
    some = triangles[:: max(len(triangles) // SAMPLED, 1)]
    face = _triangle_normals(positions, some.reshape(-1))
    return float(np.count_nonzero(np.einsum("ij,ikj->ik", face, normals[some]) < 0) / max(some.size, 1))

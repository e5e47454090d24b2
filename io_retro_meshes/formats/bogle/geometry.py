# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometries both ways, and the tangents that the engine wants with every vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ... import maths
from ... import scene as neutral
from ...scene import Floats, Ints, Layer, floats
from ...surfaces import corner_values, engine_vertices, smooth_normals, strongest
from ..binary import encode
from .document import SKINNED_VERTEX, VERTEX, Array, Geometry

INFLUENCES = 3  # bones a vertex can have
# Normals that agree to so many digits are one: Blender's differ in the last bits between the triangles of a flat face.
DIGITS = 5


# -------------------------------------------------------------------------------------------------------------- import


def to_mesh(geometry: Geometry, name: str, warnings: list[str]) -> neutral.Mesh:
    vertices = geometry.vertices
    positions, uvs = (_sound(vertices[field], f"{name}: {field}", warnings) for field in ("position", "uv"))
    corners = _triangles(geometry.indices, len(vertices), name, warnings)
    mesh = neutral.Mesh(name, positions, corners, uvs=[Layer(neutral.uv_name(0), uvs)])
    mesh.normals = Layer("normal", _normals(vertices["normal"], mesh, warnings))
    return mesh


def _sound(values: Array, what: str, warnings: list[str]) -> Floats:
    good = np.isfinite(values)
    if good.all():
        return np.ascontiguousarray(values, np.float32)
    warnings.append(f"{what} is not a number in {np.sum(~good.all(1))} vertices; 0 was taken.")
    return np.where(good, values, 0).astype(np.float32)


def _triangles(indices: Array, count: int, name: str, warnings: list[str]) -> Ints:
    """The triangles that can be drawn: whole ones, of three vertices that are there."""
    if len(indices) % 3:
        warnings.append(f"{name}: {len(indices)} indices are no whole triangles; the last {len(indices) % 3} were left out.")
    rows = indices[: len(indices) // 3 * 3].reshape(-1, 3)
    inside = (rows < count).all(1)
    if not inside.all():
        warnings.append(f"{name}: {np.sum(~inside)} triangles use vertices beyond the {count} there are; left out.")
        rows = rows[inside]
    flat = (rows == np.roll(rows, 1, 1)).any(1)
    if flat.any():
        warnings.append(f"{name}: {flat.sum()} triangles use a vertex twice; left out.")
        rows = rows[~flat]
    once = _first_of_each(rows.astype(np.int32))
    if len(once) < len(rows):
        warnings.append(f"{name}: {len(rows) - len(once)} triangles are there twice; left out.")
    return rows[once].astype(np.int32).reshape(-1)


def _first_of_each(rows: Ints) -> Array:
    """The first of equal triangles, whichever corner they start with; the back of a double-sided one is another."""
    if not len(rows):
        return np.zeros(0, np.intp)
    turned = np.take_along_axis(rows, (np.argmin(rows, 1)[:, None] + np.arange(3)) % 3, 1)
    _, first = np.unique(_hashes(turned), return_index=True)
    return np.sort(first)


def _hashes(rows: Array) -> Array:
    """A number of 64 bits for each row of 32-bit values: equal for equal rows, and sorted far faster than the rows."""
    factors = np.random.default_rng(36).integers(1, 1 << 63, rows.shape[1], np.uint64) | np.uint64(1)
    words = np.ascontiguousarray(rows).view(np.uint32)
    found = np.zeros(len(rows), np.uint64)
    for column, factor in zip(words.T, factors, strict=True):
        found += column * factor
        found ^= found >> np.uint64(29)
    return found


def _normals(normals: Array, mesh: neutral.Mesh, warnings: list[str]) -> Floats:
    normals = maths.normalized(np.where(np.isfinite(normals), normals, 0).astype(np.float64))
    none = np.logical_not(normals.any(1))
    if none.any():
        warnings.append(f"{mesh.name}: {none.sum()} vertices have no normal; made from the triangles around them.")
        normals = np.where(none[:, None], smooth_normals(mesh.positions, mesh.corners), normals)
    return np.ascontiguousarray(normals, np.float32)


def skin_rows(geometry: Geometry, bones: int, name: str, warnings: list[str]) -> tuple[Ints, Ints, Floats]:
    """Vertex, bone and weight of each influence that counts."""
    weights = geometry.vertices["weights"].astype(np.float32).reshape(-1)
    index = geometry.vertices["bones"].astype(np.float64).reshape(-1)
    used = np.isfinite(weights) & (weights > 0)
    known = np.isfinite(index) & (index > -0.5) & (index < bones - 0.5)
    if (used & ~known).any():
        warnings.append(f"{name}: {np.sum(used & ~known)} weights are of bones that are not there; left out.")
    rows = np.flatnonzero(used & known)
    return (rows // INFLUENCES).astype(np.int32), np.rint(index[rows]).astype(np.int32), weights[rows]


# -------------------------------------------------------------------------------------------------------------- export


def split(mesh: neutral.Mesh) -> dict[int, neutral.Mesh]:
    """A mesh for each material slot that is used: an object of the engine has one material."""
    if mesh.face_materials is None or not len(mesh.face_materials):
        return {0: mesh}
    slots = np.unique(mesh.face_materials)
    if len(slots) == 1:
        return {int(slots[0]): mesh}
    return {int(slot): _faces(mesh, mesh.face_materials == slot) for slot in slots}


def _faces(mesh: neutral.Mesh, chosen: Array) -> neutral.Mesh:
    corners = np.repeat(chosen, 3)

    def part(layer: Layer | None) -> Layer | None:
        return replace(layer, data=layer.data[corners]) if layer is not None and layer.domain == "CORNER" else layer

    uvs = [layer for layer in map(part, mesh.uvs) if layer is not None]
    return replace(
        mesh, corners=mesh.corners[corners], face_starts=None, face_materials=None, normals=part(mesh.normals), uvs=uvs
    )


def from_mesh(mesh: neutral.Mesh, clamp: bool, warnings: list[str]) -> tuple[Geometry, Ints]:
    """The geometry, and the mesh's vertex behind each of its own. Vertices that no triangle uses are left out."""
    positions = mesh.positions[mesh.corners]
    normals = mesh.normals or Layer("normal", smooth_normals(mesh.positions, mesh.corners))
    uvs = mesh.uvs[0] if mesh.uvs else Layer("uv", np.zeros((len(mesh.positions), 2), np.float32))
    if not mesh.uvs and len(mesh.corners):
        warnings.append(f"{mesh.name}: has no UV map; the texture coordinates are 0, and its tangents mean nothing.")
    tangent, sign = tangents(positions, corner_values(mesh, normals), corner_values(mesh, uvs))
    frame = Layer("tangent", np.concatenate([tangent, sign[:, None]], 1), "CORNER")
    rounded = replace(normals, data=np.round(normals.data, DIGITS))
    split_up = engine_vertices(mesh, [rounded, uvs, replace(frame, data=np.round(frame.data, DIGITS))])
    used, indices = np.unique(split_up.corners, return_inverse=True)
    corner, source = split_up.corner[used], split_up.source[used]
    vertices = np.zeros(len(used), VERTEX)
    vertices["position"] = mesh.positions[source]
    vertices["normal"] = normals.data[corner if normals.domain == "CORNER" else source]
    vertices["uv"] = uvs.data[corner if uvs.domain == "CORNER" else source]
    if clamp:
        vertices["uv"] = np.clip(vertices["uv"], 0, 1)
    vertices["tangent"] = tangent[corner]
    vertices["binormal"] = np.cross(vertices["normal"], tangent[corner]) * sign[corner, None]
    return Geometry(vertices, indices.reshape(-1).astype("<u4"), encode(mesh.name)), source


def skinned(geometry: Geometry, source: Ints, skin: neutral.Skin | None, order: Ints, warnings: list[str]) -> Geometry:
    """The geometry with bones; `order` has the place of each bone in the file."""
    made = np.zeros(len(geometry.vertices), SKINNED_VERTEX)
    for field in VERTEX.names or ():
        made[field] = geometry.vertices[field]
    if skin is not None and len(skin.vertices):
        vertex, bone, weight, lost = strongest(skin.vertices, skin.bones, skin.weights, INFLUENCES)
        if lost:
            warnings.append(
                f"{geometry.name.decode('latin-1')}: {lost} vertices follow more than 3 bones; the strongest 3 were kept."
            )
        count = max(int(vertex.max(initial=-1)), int(source.max(initial=-1))) + 1
        rank = np.arange(len(vertex)) - np.searchsorted(vertex, vertex)
        bones, weights = np.zeros((count, INFLUENCES), np.float32), np.zeros((count, INFLUENCES), np.float32)
        bones[vertex, rank], weights[vertex, rank] = order[bone], weight
        made["bones"], made["weights"] = bones[source], weights[source]
    return replace(geometry, vertices=made)


# ------------------------------------------------------------------------------------------------------------ tangents


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
    _, group = np.unique(_hashes(key), return_inverse=True)
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

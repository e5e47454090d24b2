# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometries as meshes: only what can be drawn."""

from __future__ import annotations

import numpy as np

from .... import scene as neutral
from ....scene import Floats, Ints, Layer, maths, sanitize
from ....scene.surfaces import smooth_normals
from ..document import INFLUENCES, Array, Geometry
from ..hashes import row_hashes


def to_mesh(geometry: Geometry, name: str, warnings: list[str], normals: bool = True) -> neutral.Mesh:
    """The mesh of a geometry; without `normals`, they are left to the one who draws."""
    vertices = geometry.vertices
    positions, uvs = (_finite(vertices[field], f"{name}: {field}", warnings) for field in ("position", "uv"))
    corners = _triangles(geometry.indices, len(vertices), name, warnings)
    mesh = neutral.Mesh(name, positions, corners, uvs=[Layer(neutral.uv_name(0), uvs)])
    if normals:
        mesh.normals = Layer("normal", _normals(vertices["normal"], mesh, warnings))
    return mesh


def _finite(values: Array, what: str, warnings: list[str]) -> Floats:
    good = sanitize.usable(values)
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
    _, first = np.unique(row_hashes(turned), return_index=True)
    return np.sort(first)


def _normals(normals: Array, mesh: neutral.Mesh, warnings: list[str]) -> Floats:
    normals = maths.normalized(sanitize.finite(normals).astype(np.float64))
    none = np.logical_not(normals.any(1))
    if none.any():
        warnings.append(f"{mesh.name}: {none.sum()} vertices have no normal; made from the triangles around them.")
        normals = np.where(none[:, None], smooth_normals(mesh.positions, mesh.corners), normals)
    return np.ascontiguousarray(normals, np.float32)


def skin_rows(geometry: Geometry, bones: int, name: str, warnings: list[str]) -> tuple[Ints, Ints, Floats]:
    """Vertex, bone and weight of each influence that counts."""
    weights = geometry.vertices["weights"].astype(np.float32).reshape(-1)
    index = geometry.vertices["bones"].astype(np.float64).reshape(-1)
    used = sanitize.usable(weights) & (weights > 0)
    known = sanitize.usable(index) & (index > -0.5) & (index < bones - 0.5)
    if (used & ~known).any():
        warnings.append(f"{name}: {np.sum(used & ~known)} weights are of bones that are not there; left out.")
    rows = np.flatnonzero(used & known)
    return (rows // INFLUENCES).astype(np.int32), np.rint(index[rows]).astype(np.int32), weights[rows]

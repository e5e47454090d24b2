# SPDX-License-Identifier: GPL-3.0-or-later
"""Polygons of four corners -> meshes of the scene: quads, and triangles for those with two corners on one vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import COLOR_NAME, Layer, Mesh, maths, uv_name
from .. import axes, textures
from .. import document as doc
from ..face_attributes import ATTRIBUTES, NO_AREA, PAIR, PART, POLYGON, REVERSED, TURNED
from .materials import Materials

Array = npt.NDArray[Any]


@dataclass
class Polygons:
    """All polygons of some meshes over all their points."""

    points: Array  # (n, 3) in the scene's axes
    normals: Array | None
    quads: Array  # (f, 4)
    fronts: Array  # (f, 3) the stored normals: they, and not the order of the corners, say which side is the front
    numbers: Array  # (f,) of the polygon in its mesh
    attributes: Array
    parts: Array  # (f,) the number of the mesh that each polygon is from
    point_parts: Array  # (n,)


def gather(meshes: list[doc.Mesh], first_part: int = 0) -> Polygons:
    counts = [len(mesh.points) for mesh in meshes]
    base = np.cumsum([0, *counts])[:-1]
    usable = [(mesh.polygons["vertices"] < count).all(1) for mesh, count in zip(meshes, counts, strict=True)]
    parts = range(first_part, first_part + len(meshes))
    has_normals = all(mesh.normals is not None for mesh in meshes)
    normals = [mesh.normals for mesh in meshes if mesh.normals is not None]

    def joined(arrays: list[Array], empty: Array) -> Array:
        return np.concatenate(arrays) if arrays else empty

    quads = [
        mesh.polygons["vertices"][kept].astype(np.int64) + start for mesh, kept, start in zip(meshes, usable, base, strict=True)
    ]
    fronts = [mesh.polygons["normal"][kept] for mesh, kept in zip(meshes, usable, strict=True)]
    points = axes.vectors_to_scene(axes.from_fixed(joined([mesh.points for mesh in meshes], np.zeros((0, 3), doc.FIXED))))
    turned = axes.vectors_to_scene(axes.from_normal_words(joined(normals, np.zeros((0, 3)))))
    return Polygons(
        points.astype(np.float32),
        maths.normalized(turned, (0, 0, 1)) if has_normals else None,
        joined(quads, np.zeros((0, 4), np.int64)),
        axes.vectors_to_scene(axes.from_fixed(joined(fronts, np.zeros((0, 3), doc.FIXED)))),
        joined([np.flatnonzero(kept) for kept in usable], np.zeros(0, np.int64)).astype(np.int32),
        joined([mesh.attributes[kept] for mesh, kept in zip(meshes, usable, strict=True)], np.zeros(0, doc.ATTR)),
        np.repeat(parts, [int(kept.sum()) for kept in usable]).astype(np.int32),
        np.repeat(parts, counts).astype(np.int32),
    )


def _doubled_corners(quads: Array) -> Array:
    """(f,) For quads that are triangles the first of the two corners on one vertex, else -1 or NO_AREA."""
    meets = quads == np.roll(quads, -1, 1)
    distinct = 1 + (np.diff(np.sort(quads, 1), axis=1) != 0).sum(1)
    pair = np.where((distinct == 3) & (meets.sum(1) == 1), meets.argmax(1), NO_AREA)
    return np.where(distinct == 4, -1, pair).astype(np.int32)


def _against(points: Array, quads: Array, fronts: Array) -> Array:
    """(f,) mask of the quads that are wound against their normals."""
    corners = points[quads].astype(np.float64)
    around = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    return np.einsum("ij,ij->i", around, fronts) < 0


def scene_mesh(name: str, polygons: Polygons, materials: Materials) -> Mesh:
    """The scene's mesh. A polygon of three vertices is a triangle: its merged corner shows the mean of two UVs."""
    quads, attributes = polygons.quads.copy(), polygons.attributes
    uvs = materials.uvs(attributes)
    turned = _against(polygons.points, quads, polygons.fronts)
    quads[turned], uvs[turned] = quads[turned][:, REVERSED], uvs[turned][:, REVERSED]
    pair = _doubled_corners(quads)
    keep = np.ones(quads.shape, bool)
    triangles = np.flatnonzero(pair >= 0)
    # The corners after the first on a vertex go; 3 meets 0, which stays.
    first = np.where(pair[triangles] == 3, 0, pair[triangles])
    second = np.where(pair[triangles] == 3, 3, pair[triangles] + 1)
    keep[triangles, second] = False
    uvs[triangles, first] = (uvs[triangles, first] + uvs[triangles, second]) / 2
    sizes = keep.sum(1)
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    slots, slot_materials = materials.of_polygons(attributes)
    flat = ~materials.textured(attributes)
    mode = attributes["atrb"] & doc.DRAW_MODE
    mesh = Mesh(
        name,
        polygons.points,
        quads[keep].astype(np.int32),
        face_starts=starts,
        face_materials=slots,
        materials=slot_materials,
        normals=Layer("normals", polygons.normals) if polygons.normals is not None else None,
        smooth=(mode & doc.GOURAUD) != 0,
    )
    mesh.uvs = [Layer(uv_name(0), uvs[keep], "CORNER")]
    if flat.any():
        colors = np.where(flat[:, None], textures.rgba(attributes["colno"]), 255).astype(np.uint8)
        mesh.colors = [Layer(COLOR_NAME, np.repeat(colors, sizes, 0), "CORNER")]
    mesh.attributes = [Layer(PART, polygons.parts, "FACE"), Layer(PAIR, pair, "FACE")]
    mesh.attributes += [Layer(POLYGON, polygons.numbers, "FACE"), Layer(TURNED, turned.astype(np.int32), "FACE")]
    mesh.attributes += [Layer(field, attributes[field].astype(np.int32), "FACE") for field in ATTRIBUTES]
    return mesh

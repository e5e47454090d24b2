# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of four-cornered polygons as Blender has them: quads, and triangles for those with two corners on one vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths
from ...scene import COLOR_NAME, Layer, Mesh, uv_name
from . import axes, textures
from . import document as doc
from .materials import Looks

Array = npt.NDArray[Any]

ATTRIBUTES = ("flag", "sort", "texno", "atrb", "colno", "gstb", "dir")
PART = "part"  # which of the list's meshes a face belongs to
PAIR = "pair"  # which corner of the file's polygon lies on the one after it; -1: none does
LOST = -2  # as PAIR: corners lie on each other in a way that leaves no area


@dataclass
class Polygons:
    """All polygons of some meshes over all their points."""

    points: Array  # (n, 3) in Blender's axes
    normals: Array | None
    quads: Array  # (f, 4)
    attributes: Array
    parts: Array  # (f,)
    point_parts: Array  # (n,)


def gather(meshes: list[doc.Mesh], first_part: int = 0) -> Polygons:
    counts = [len(mesh.points) for mesh in meshes]
    base = np.cumsum([0, *counts])[:-1]
    sound = [(mesh.polygons["vertices"] < count).all(1) for mesh, count in zip(meshes, counts, strict=True)]
    parts = range(first_part, first_part + len(meshes))
    has_normals = all(mesh.normals is not None for mesh in meshes)
    normals = [mesh.normals for mesh in meshes if mesh.normals is not None]

    def joined(arrays: list[Array], empty: Array) -> Array:
        return np.concatenate(arrays) if arrays else empty

    quads = [
        mesh.polygons["vertices"][kept].astype(np.int64) + start for mesh, kept, start in zip(meshes, sound, base, strict=True)
    ]
    points = axes.to_blender(axes.from_fixed(joined([mesh.points for mesh in meshes], np.zeros((0, 3), doc.FIXED))))
    turned = axes.to_blender(joined(normals, np.zeros((0, 3))).astype(np.float32) / doc.NORMAL_ONE)
    return Polygons(
        points.astype(np.float32),
        maths.normalized(turned, (0, 0, 1)) if has_normals else None,
        joined(quads, np.zeros((0, 4), np.int64)),
        joined([mesh.attributes[kept] for mesh, kept in zip(meshes, sound, strict=True)], np.zeros(0, doc.ATTR)),
        np.repeat(parts, [int(kept.sum()) for kept in sound]).astype(np.int32),
        np.repeat(parts, counts).astype(np.int32),
    )


def collapsed(quads: Array) -> Array:
    """(f,) For quads that are triangles the first of the two corners on one vertex, else -1 or LOST."""
    meets = quads == np.roll(quads, -1, 1)
    distinct = 1 + (np.diff(np.sort(quads, 1), axis=1) != 0).sum(1)
    pair = np.where((distinct == 3) & (meets.sum(1) == 1), meets.argmax(1), LOST)
    return np.where(distinct == 4, -1, pair).astype(np.int32)


def build(name: str, polygons: Polygons, looks: Looks) -> Mesh:
    """The scene's mesh. A polygon of three vertices is a triangle: its merged corner shows the mean of two UVs."""
    quads, attributes = polygons.quads, polygons.attributes
    pair = collapsed(quads)
    uvs = looks.uvs(attributes)
    keep = np.ones(quads.shape, bool)
    triangles = np.flatnonzero(pair >= 0)
    # The corners after the first on a vertex go; 3 meets 0, which stays.
    first = np.where(pair[triangles] == 3, 0, pair[triangles])
    second = np.where(pair[triangles] == 3, 3, pair[triangles] + 1)
    keep[triangles, second] = False
    uvs[triangles, first] = (uvs[triangles, first] + uvs[triangles, second]) / 2
    sizes = keep.sum(1)
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    slots, materials = looks.materials(attributes)
    flat = ~looks.textured(attributes)
    mode = attributes["atrb"] & doc.DRAW_MODE
    mesh = Mesh(
        name,
        polygons.points,
        quads[keep].astype(np.int32),
        face_starts=starts,
        face_materials=slots,
        materials=materials,
        normals=Layer("normals", polygons.normals) if polygons.normals is not None else None,
        smooth=(mode & doc.GOURAUD) != 0,
    )
    mesh.uvs = [Layer(uv_name(0), uvs[keep], "CORNER")]
    if flat.any():
        colors = np.where(flat[:, None], textures.rgba(attributes["colno"]), 255).astype(np.uint8)
        mesh.colors = [Layer(COLOR_NAME, np.repeat(colors, sizes, 0), "CORNER")]
    mesh.attributes = [Layer(PART, polygons.parts, "FACE"), Layer(PAIR, pair, "FACE")]
    mesh.attributes += [Layer(field, attributes[field].astype(np.int32), "FACE") for field in ATTRIBUTES]
    return mesh

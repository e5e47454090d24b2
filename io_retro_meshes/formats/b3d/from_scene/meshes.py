# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the scene to MESH chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Ints, Layer, Mesh, Scene, surfaces
from .. import axes, engine
from .. import document as b3d
from ..options import ExportOptions
from .materials import BrushTable


class Meshes:
    def __init__(self, scene: Scene, options: ExportOptions, brushes: BrushTable) -> None:
        self.scene = scene
        self.options = options
        self.brushes = brushes

    def triangulated(self, index: int) -> Mesh:
        """The mesh of a node in triangles, with the materials that the node gives it."""
        node = self.scene.nodes[index]
        mesh = surfaces.triangulated(self.scene.meshes[node.mesh])
        if len(mesh.uvs) > engine.MAX_UV_SETS and self.options.uv_sets > engine.MAX_UV_SETS:
            message = f'"{node.name}" has {len(mesh.uvs)} UV maps; Blitz3D and Luanti read {engine.MAX_UV_SETS}.'
            self.scene.warnings.append(message)
        return mesh if node.materials is None else replace(mesh, materials=node.materials)

    def brush(self, material: int) -> int:
        return self.brushes.number(material) if self.options.materials else -1

    def chunk(self, mesh: Mesh, mirrored: bool) -> tuple[b3d.Mesh, Ints]:
        """A mesh of triangles as a chunk, and the vertex of the mesh that each vertex of the chunk was.

        Vertices lie surface by surface, none shared between two; those of no surface come last.
        `mirrored`: whether the node is mirrored in the world.
        """
        normals = mesh.normals if self.options.normals else None
        uvs = mesh.uvs[: min(self.options.uv_sets, b3d.MAX_UV_SETS)]
        colors = mesh.colors[:1] if self.options.colors else []
        vertices = surfaces.engine_vertices(mesh, [layer for layer in [normals, *uvs, *colors] if layer is not None])
        chunk = b3d.Mesh()
        order: list[Ints] = []
        count = 0
        for material, corners in _surfaces(mesh, vertices.corners):
            for used, local in surfaces.limited(corners, engine.MAX_VERTICES):
                ids = (local + count).reshape(-1, 3)
                chunk.chunks.append(b3d.Triangles(self.brush(material), axes.winding(ids, mirrored)))
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
    source, corner = vertices.source[rows], vertices.corner[rows]
    chunk.rows[:, :3] = axes.vectors_to_file(mesh.positions.take(source, 0))
    # A vertex of no corner has no values of a layer that is by corner: it gets none.
    outside = corner < 0

    def values(layer: Layer) -> npt.NDArray[Any]:
        if not len(layer.data):
            return np.zeros((len(rows), layer.data.shape[1]), np.float32)
        picked = layer.data.take(corner if layer.domain == "CORNER" else source, 0)
        if layer.domain == "CORNER":
            picked[outside] = 0
        return picked

    if normals is not None:
        chunk.rows[:, 3:6] = axes.vectors_to_file(values(normals))
    for layer in colors:
        start = 6 if normals is not None else 3
        given = values(layer)
        chunk.rows[:, start : start + 4] = np.clip(given / 255 if given.dtype == np.uint8 else given, 0, 1)
    for number, layer in enumerate(uvs):
        chunk.uvs(number)[:] = axes.flip_v(values(layer))
    return chunk

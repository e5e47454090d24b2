# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the scene to those of entities: split so that each has one material and at most 65,536 vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .... import scene
from ....scene import Ints, Material, Scene, TextureLayer, maths, surfaces
from .. import axes, document, engine
from ..document import BONE, HALF_VERTEX, VERTEX, VERTEX_LIMIT, Document
from ..options import ExportOptions
from .materials import Colors, Materials, transformed_uv

Array = npt.NDArray[Any]

LARGEST_HALF = 65504.0


@dataclass
class MeshPart:
    """As much of a mesh as one entity can hold."""

    mesh: document.Mesh
    bones: Ints  # (vertices,) ascending; -1 for those that no bone moves

    def ranges(self, count: int) -> Array:
        """The vertices of each of `count` bones; `entity` is still to be filled in."""
        table = np.zeros(count, BONE)
        table["first"] = np.searchsorted(self.bones, np.arange(count), "left")
        table["last"] = np.searchsorted(self.bones, np.arange(count), "right") - 1
        return table


@dataclass
class VertexTable:
    """Everything that the vertices of a mesh are, for one of its UV layers."""

    vertices: surfaces.Vertices
    rows: Array  # VERTEX, the UVs as in the scene
    colors: npt.NDArray[np.uint8] | None
    bones: Ints

    @property
    def loose(self) -> Ints:
        return np.flatnonzero(self.vertices.corner < 0).astype(np.int32)


class Meshes:
    def __init__(self, source: Scene, options: ExportOptions) -> None:
        self.scene = source
        self.options = options
        self.materials = Materials(source)
        self.several_weights = 0  # vertices
        self.split: set[str] = set()  # names of meshes

    def warnings(self) -> list[str]:
        found = []
        if self.several_weights:
            message = "vertices were moved by several bones; each follows the one with the greatest weight."
            found.append(f"{self.several_weights} {message}")
        found += self.materials.warnings()
        message = f"more than {VERTEX_LIMIT} vertices; it was split into several entities."
        return found + [f'"{name}": {message}' for name in sorted(self.split)]

    def parts(self, node: scene.Node, matrix: Array) -> list[MeshPart]:
        """The node's mesh with the matrix applied to it: unit scale is what the engine wants, so all else goes in here."""
        mesh = self.scene.meshes[node.mesh]
        slots = mesh.materials if node.materials is None else node.materials
        bones = self.vertex_bones(mesh)
        mirrored = bool(np.linalg.det(matrix[:3, :3]) < 0)
        tables: dict[int, VertexTable] = {}
        found: list[MeshPart] = []
        for slot, faces in _by_material(mesh):
            index = slots[slot] if slot < len(slots) else -1
            material = self.scene.materials[index] if index >= 0 else Material("")
            texture = self.materials.texture(material)
            uv = texture.uv if texture is not None and texture.uv < len(mesh.uvs) else 0
            if uv not in tables:
                tables[uv] = self.table(mesh, uv, matrix, bones)
            triangles = axes.winding(tables[uv].vertices.corners.reshape(-1, 3)[faces], mirrored)
            loose = tables[uv].loose if not found else np.empty(0, np.int32)
            pieces = _pieces(triangles, loose)
            if len(pieces) > 1:
                self.split.add(mesh.name)
            kind = self.colors(material, texture, tables[uv])
            surface = self.materials.surface(material, texture, kind)
            made = [_part(tables[uv], chosen, corners, texture, surface) for chosen, corners in pieces]
            for part in made if kind == "MATERIAL" else []:
                part.mesh.colors = np.repeat(_bytes(material.color[None, :3]), len(part.mesh.vertices), 0)
            found += made
        return found

    def colors(self, material: Material, texture: TextureLayer | None, table: VertexTable) -> Colors:
        """Which colours vertices get: a plain coloured material would be white in the engine."""
        if table.colors is not None:
            return "OWN"
        plain = texture is None and bool((np.rint(np.clip(material.color[:3], 0, 1) * 255) < 255).any())
        return "MATERIAL" if plain and self.options.material_colors else ""

    def table(self, mesh: scene.Mesh, uv: int, matrix: Array, bones: Ints) -> VertexTable:
        color = mesh.colors[0] if mesh.colors and self.options.colors else None
        layers = [layer for layer in (mesh.normals, *mesh.uvs[uv : uv + 1], color) if layer is not None]
        vertices = surfaces.engine_vertices(mesh, layers)
        rows = np.zeros(len(vertices.source), VERTEX)
        plain = np.array_equal(matrix, np.eye(4))
        positions = mesh.positions if plain else maths.transform_points(matrix, mesh.positions.astype(np.float64))
        rows["position"] = axes.vectors_to_file(positions)[vertices.source]
        if mesh.normals is not None:
            normals = vertices.values(mesh.normals)
        else:
            normals = surfaces.smooth_normals(mesh.positions, mesh.corners)[vertices.source]
        rows["normal"] = axes.vectors_to_file(normals if plain else maths.transform_normals(matrix, normals))
        if mesh.uvs:
            rows["uv"] = vertices.values(mesh.uvs[uv])
        else:
            rows["uv"] = (0, 1)
        colors = None if color is None else _bytes(vertices.values(color))[:, :3]
        return VertexTable(vertices, rows, colors, bones[vertices.source])

    def vertex_bones(self, mesh: scene.Mesh) -> Ints:
        """The bone of each vertex: the one with the greatest weight."""
        owner = np.full(len(mesh.positions), -1, np.int32)
        if mesh.skin is not None:
            skin = mesh.skin
            vertices, bones, _, lost = surfaces.strongest(skin.vertices, skin.bones, skin.weights, 1)
            owner[vertices] = bones
            self.several_weights += lost
        return owner


def _by_material(mesh: scene.Mesh) -> Iterator[tuple[int, Ints]]:
    """Each material slot that has faces, and its faces. A mesh of points alone has one too."""
    if mesh.face_materials is None or not mesh.face_count:
        yield 0, np.arange(mesh.face_count, dtype=np.int32)
        return
    for slot in np.unique(mesh.face_materials).tolist():
        yield slot, np.flatnonzero(mesh.face_materials == slot).astype(np.int32)


def _pieces(triangles: Ints, loose: Ints) -> list[tuple[Ints, Ints]]:
    """Runs of at most VERTEX_LIMIT vertices; points without faces go with the first, or by themselves."""
    pieces = list(surfaces.limited(triangles.reshape(-1), VERTEX_LIMIT))
    for start in range(0, len(loose), VERTEX_LIMIT):
        points = loose[start : start + VERTEX_LIMIT]
        if pieces and len(pieces[0][0]) + len(points) <= VERTEX_LIMIT:
            pieces[0] = np.concatenate([pieces[0][0], points]), pieces[0][1]
        else:
            pieces.append((points, np.empty(0, np.int32)))
    return pieces


def _part(table: VertexTable, chosen: Ints, corners: Ints, texture: TextureLayer | None, surface: dict[str, Any]) -> MeshPart:
    """Some vertices of a table, sorted by bone, and the triangles between them."""
    order = np.argsort(table.bones[chosen], kind="stable")
    place = np.empty(len(order), "<u2")
    place[order] = np.arange(len(order))
    chosen = chosen[order]
    rows = table.rows[chosen]
    rows["uv"] = axes.flip_v(transformed_uv(rows["uv"], texture))
    mesh = document.Mesh(rows, place[corners].reshape(-1, 3), **surface)
    if table.colors is not None:
        mesh.colors = table.colors[chosen]
    return MeshPart(mesh, table.bones[chosen])


def _bytes(colors: Array) -> npt.NDArray[np.uint8]:
    return colors if colors.dtype == np.uint8 else np.rint(np.clip(colors, 0, 1) * 255).astype(np.uint8)


def round_to_halves(document: Document) -> str:
    """Rounds all vertices to half floats, and says how far they are off."""
    worst = {"position": 0.0, "uv": 0.0, "normal": 0.0}
    clamped = 0
    for entity in document.entities:
        if entity.mesh is None:
            continue
        table = np.zeros(len(entity.mesh.vertices), HALF_VERTEX)
        for name in worst:
            exact = entity.mesh.vertices[name]
            clamped += int((np.abs(exact) > LARGEST_HALF).any(1).sum())
            near = np.clip(exact, -LARGEST_HALF, LARGEST_HALF)
            near = np.where(np.abs(near) < engine.SMALLEST_HALF, 0, near)
            table[name] = near
            if len(exact):
                worst[name] = max(worst[name], float(np.abs(table[name].astype(np.float32) - exact).max()))
        entity.mesh.vertices = table
    message = (
        f"Half floats move vertices by up to {worst['position']:.3g} units along an axis, "
        f"UVs by up to {worst['uv']:.3g} and normals by up to {worst['normal']:.3g}."
    )
    if clamped:
        message += f" {clamped} vertices are too far out for them, and were brought to {LARGEST_HALF:g}."
    return message

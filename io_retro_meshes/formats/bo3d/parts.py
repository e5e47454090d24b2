# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of a Scene, cut into what an entity of the file can hold: one material and 65,536 vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths, scene, surfaces
from ...scene import Floats, Ints, Layer, Material, Scene, TextureLayer
from ..binary import encode
from . import axes, document
from .document import BONE, VERTEX, VERTEX_LIMIT
from .options import ExportOptions

Array = npt.NDArray[Any]


@dataclass
class Losses:
    """What the file has no place for, counted."""

    weights: int = 0  # vertices
    layers: set[str] = field(default_factory=set)  # materials
    colors: set[str] = field(default_factory=set)  # materials
    split: set[str] = field(default_factory=set)  # meshes

    def warnings(self) -> list[str]:
        found = []
        if self.weights:
            found.append(f"{self.weights} vertices were moved by several bones; each follows the one with the greatest weight.")
        for names, message in (
            (self.layers, "only the first texture was written, the file has room for one."),
            (self.colors, "the engine shows the vertex colours instead of the material's colour; both were written."),
            (self.split, f"more than {VERTEX_LIMIT} vertices; it was split into several entities."),
        ):
            found += [f'"{name}": {message}' for name in sorted(names)]
        return found


@dataclass
class Part:
    mesh: document.Mesh
    bones: Ints  # (vertices,) ascending; -1 for those that no bone moves

    def ranges(self, count: int) -> Array:
        """The vertices of each of `count` bones; `entity` is still to be filled in."""
        table = np.zeros(count, BONE)
        table["first"] = np.searchsorted(self.bones, np.arange(count), "left")
        table["last"] = np.searchsorted(self.bones, np.arange(count), "right") - 1
        return table


@dataclass
class Table:
    """Everything that the vertices of a mesh are, for one of its UV layers."""

    vertices: surfaces.Vertices
    rows: Array  # VERTEX, the UVs still Blender's
    colors: npt.NDArray[np.uint8] | None
    bones: Ints

    @property
    def loose(self) -> Ints:
        return np.flatnonzero(self.vertices.corner < 0).astype(np.int32)


class Cutter:
    def __init__(self, source: Scene, options: ExportOptions, losses: Losses) -> None:
        self.scene = source
        self.options = options
        self.losses = losses

    def parts(self, node: scene.Node, matrix: Array) -> list[Part]:
        """The node's mesh with the matrix applied to it: unit scale is what the engine wants, so all else goes in here."""
        mesh = self.scene.meshes[node.mesh]
        slots = mesh.materials if node.materials is None else node.materials
        bones = self.owners(mesh)
        tables: dict[int, Table] = {}
        found: list[Part] = []
        for slot, faces in _by_material(mesh):
            index = slots[slot] if slot < len(slots) else -1
            material = self.scene.materials[index] if index >= 0 else Material("")
            texture = self.texture(material)
            uv = texture.uv if texture is not None and texture.uv < len(mesh.uvs) else 0
            if uv not in tables:
                tables[uv] = self.table(mesh, uv, matrix, bones)
            triangles = tables[uv].vertices.corners.reshape(-1, 3)[faces]
            if np.linalg.det(matrix[:3, :3]) < 0:
                triangles = triangles[:, ::-1]
            loose = tables[uv].loose if not found else np.empty(0, np.int32)
            pieces = _pieces(triangles, loose)
            if len(pieces) > 1:
                self.losses.split.add(mesh.name)
            looks = self.looks(material, texture, tables[uv].colors is not None)
            found += [_part(tables[uv], chosen, corners, texture, looks) for chosen, corners in pieces]
        return found

    def texture(self, material: Material) -> TextureLayer | None:
        layers = [layer for layer in material.layers if layer.use == "COLOR"]
        if len(layers) > 1:
            self.losses.layers.add(material.name)
        return layers[0] if layers else None

    def table(self, mesh: scene.Mesh, uv: int, matrix: Array, bones: Ints) -> Table:
        color = mesh.colors[0] if mesh.colors and self.options.colors else None
        layers = [layer for layer in (mesh.normals, *mesh.uvs[uv : uv + 1], color) if layer is not None]
        vertices = surfaces.engine_vertices(mesh, layers)
        rows = np.zeros(len(vertices.source), VERTEX)
        plain = np.array_equal(matrix, np.eye(4))
        positions = mesh.positions if plain else maths.transform_points(matrix, mesh.positions.astype(np.float64))
        rows["position"] = axes.vectors_to_file(positions)[vertices.source]
        if mesh.normals is not None:
            normals = _values(vertices, mesh.normals)
        else:
            normals = surfaces.smooth_normals(mesh.positions, mesh.corners)[vertices.source]
        rows["normal"] = axes.vectors_to_file(normals if plain else maths.transform_normals(matrix, normals))
        if mesh.uvs:
            rows["uv"] = _values(vertices, mesh.uvs[uv])
        else:
            rows["uv"] = (0, 1)
        colors = None if color is None else _bytes(_values(vertices, color))[:, :3]
        return Table(vertices, rows, colors, bones[vertices.source])

    def owners(self, mesh: scene.Mesh) -> Ints:
        """The bone of each vertex: the one with the greatest weight."""
        owner = np.full(len(mesh.positions), -1, np.int32)
        if mesh.skin is not None:
            skin = mesh.skin
            vertices, bones, _, lost = surfaces.strongest(skin.vertices, skin.bones, skin.weights, 1)
            owner[vertices] = bones
            self.losses.weights += lost
        return owner

    def looks(self, material: Material, texture: TextureLayer | None, colored: bool) -> dict[str, Any]:
        red, green, blue = (int(value) for value in np.rint(np.clip(material.color[:3], 0, 1) * 255))
        if colored and (red, green, blue) != (255, 255, 255):
            self.losses.colors.add(material.name)
        name = b""
        if texture is not None:
            name = encode(self.scene.images[texture.image].name)
        return {
            "texture": name,
            "color": (blue, green, red, 255),
            "alpha": 1.0 if material.blend == "OPAQUE" else float(np.clip(material.color[3], 0, 1)),
            "fx": _fx(material),
        }


def _fx(material: Material) -> int:
    """What the panel says; without that, what shows."""
    given = material.settings.get("bo3d", {}).get("fx")
    if given is not None:
        return int(given)
    return (
        document.FX_FULL_BRIGHT * material.full_bright
        | document.FX_FLAT * material.flat
        | document.FX_ADD * (material.blend == "ADD")
        | document.FX_MULTIPLY * (material.blend == "MULTIPLY")
        | document.FX_NO_CULL * material.double_sided
    )


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


def _part(table: Table, chosen: Ints, corners: Ints, texture: TextureLayer | None, looks: dict[str, Any]) -> Part:
    """Some vertices of a table, sorted by bone, and the triangles between them."""
    order = np.argsort(table.bones[chosen], kind="stable")
    place = np.empty(len(order), "<u2")
    place[order] = np.arange(len(order))
    chosen = chosen[order]
    rows = table.rows[chosen]
    rows["uv"] = axes.flip_v(_placed(rows["uv"], texture))
    mesh = document.Mesh(rows, place[corners].reshape(-1, 3), **looks)
    if table.colors is not None:
        mesh.colors = table.colors[chosen]
    return Part(mesh, table.bones[chosen])


def _values(vertices: surfaces.Vertices, layer: Layer) -> Array:
    if layer.domain == "CORNER" and not len(layer.data):
        return np.zeros((len(vertices.source), layer.data.shape[1]), layer.data.dtype)
    return vertices.values(layer)


def _placed(uv: Array, texture: TextureLayer | None) -> Floats:
    """The file has no texture matrices: they go into the coordinates."""
    if texture is None:
        return uv
    cosine, sine = np.cos(texture.rotation), np.sin(texture.rotation)
    turned = np.stack([uv[:, 0] * cosine - uv[:, 1] * sine, uv[:, 0] * sine + uv[:, 1] * cosine], -1)
    return (turned * texture.scale + texture.offset).astype(np.float32)


def _bytes(colors: Array) -> npt.NDArray[np.uint8]:
    return colors if colors.dtype == np.uint8 else np.rint(np.clip(colors, 0, 1) * 255).astype(np.uint8)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the scene -> mesh blocks, cut into pieces that the engine can draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Ints, Layer, Material, Node, Scene
from ....scene import Mesh as SceneMesh
from ....scene.surfaces import Vertices, engine_vertices, limited, smooth_normals, triangulated
from .. import axes, levels, vertices
from ..document import LINES, POINTS, TRIANGLES, Mesh, MultiMaterial
from ..fields import Block
from ..options import ExportOptions
from .materials import material_block, set_render_states, texture_records
from .rigs import SkinBinding, bone_records, vertex_influences

Array = npt.NDArray[Any]

MOST_VERTICES = 65_535


@dataclass
class Piece:
    """Triangles that one mesh block can hold: vertices of the engine, and corners among them, sorted by material."""

    vertices: Ints
    corners: Ints
    slots: Ints  # (f,) material slot of each face


class MeshBuilder:
    def __init__(self, scene: Scene, options: ExportOptions, warnings: list[str]) -> None:
        self.scene = scene
        self.options = options
        self.effect = options.effect
        self.warnings = warnings

    def build(self, node: Node, binding: SkinBinding | None, own_frame: str, mirrored: bool) -> list[Mesh]:
        """The node's mesh as one block or as several: one for each set of render states, and for 65,535 vertices.

        The engine draws what is mirrored inside out unless it draws both sides: its triangles are turned.
        """
        source = self._source(node)
        self.effect = self.options.skinned_effect or self.options.effect if binding else self.options.effect
        materials = self._slots(node, source)
        normals = source.normals or Layer("normals", smooth_normals(source.positions, source.corners))
        engine = engine_vertices(source, [normals, *source.uvs, *source.colors])
        rows, fvf = _vertex_rows(source, normals, engine, binding)
        influences = vertex_influences(source, engine, self.options.influences, self.warnings) if binding else None
        found = []
        for piece in self._cut(source, engine, materials):
            used = sorted(set(piece.slots.tolist())) or [0]
            chosen = [materials[slot] if 0 <= slot < len(materials) else None for slot in used]
            mesh = Mesh(fvf=fvf, stride=rows.dtype.itemsize)
            if mirrored and not (chosen[0] is not None and chosen[0].double_sided):
                piece.corners = axes.winding(piece.corners.reshape(-1, 3)).reshape(-1)
            self._geometry(mesh, rows, piece, source)
            bones = []
            if binding and influences:
                bones = bone_records(piece.vertices, influences, binding, own_frame, self.options.deforming_only)
            mesh.bone_count, mesh.bones = len(bones), bones
            self._count_bones(source.name, len(bones))
            self._materials(mesh, piece, used, chosen)
            self._levels(mesh, piece, source, engine)
            set_render_states(mesh, chosen[0], node.hidden, self.effect, source.settings.get("dbo", {}))
            found.append(mesh)
        return found

    def _levels(self, mesh: Mesh, piece: Piece, source: SceneMesh, engine: Vertices) -> None:
        text = source.settings.get("dbo", {}).get("levels", "")
        if not levels.write(mesh, text, len(source.positions), engine.source[piece.vertices]):
            self.warnings.append(
                f'"{source.name}" is not made of the vertices it was imported with: its levels of detail were left out. '
                "Make them anew in the engine."
            )

    def _count_bones(self, name: str, count: int) -> None:
        for most, engine in ((170, "GameGuru MAX"), (60, "Dark Basic Pro's shaders")):
            if count > most:
                hint = "" if self.options.deforming_only else " Deforming Only may leave some out."
                self.warnings.append(f'"{name}": {count} bones; {engine} takes {most}.{hint}')

    def _source(self, node: Node) -> SceneMesh:
        """The node's mesh as triangles, with the layers that are wanted."""
        mesh = triangulated(self.scene.meshes[node.mesh])
        return replace(mesh, uvs=mesh.uvs[: self.options.uv_sets], colors=mesh.colors[:1] if self.options.colors else [])

    def _slots(self, node: Node, source: SceneMesh) -> list[Material | None]:
        if not self.options.materials:
            return []
        numbers = node.materials if node.materials is not None else source.materials
        return [self.scene.materials[number] if number >= 0 else None for number in numbers]

    def _cut(self, source: SceneMesh, engine: Vertices, materials: list[Material | None]) -> Iterator[Piece]:
        """The faces in pieces of equal render states that indices of 16 bits can address."""
        faces = engine.corners.reshape(-1, 3)
        slots = np.zeros(len(faces), np.int32) if source.face_materials is None else source.face_materials
        slots = np.clip(slots, 0, max(len(materials) - 1, 0)).astype(np.int32)
        kinds = np.array([self._state_key(material) for material in materials] or [b""])
        if self.options.mesh_per_material:
            kinds = np.arange(len(kinds))
        _, kind = np.unique(kinds, return_inverse=True)
        kind = kind.reshape(-1)[slots]
        if len(engine.source) <= MOST_VERTICES and (not len(kind) or (kind == kind[0]).all()):
            order = np.argsort(slots, kind="stable")
            yield Piece(np.arange(len(engine.source), dtype=np.int32), _file_corners(faces[order]), slots[order])
            return
        for each in np.unique(kind):
            mine = np.flatnonzero(kind == each)
            mine = mine[np.argsort(slots[mine], kind="stable")]
            start = 0
            for used, corners in limited(faces[mine].reshape(-1), MOST_VERTICES):
                count = len(corners) // 3
                yield Piece(used, _file_corners(corners.reshape(-1, 3)), slots[mine[start : start + count]])
                start += count

    def _state_key(self, material: Material | None) -> bytes:
        """What all parts of one mesh block have in common: the render states, and the textures but for the first's name."""
        textures = texture_records(material, self.scene, self.effect)
        mesh = Mesh(textures=[*textures[1:], *textures[:1]])
        for texture in textures[:1]:
            texture.name = ""
        set_render_states(mesh, material, False, self.effect, {})
        return repr([_block_values(block) for block in mesh.blocks]).encode()

    def _geometry(self, mesh: Mesh, rows: Array, piece: Piece, source: SceneMesh) -> None:
        """Blocks 113 to 119: triangles; without faces the edges as lines, or the vertices as points."""
        corners, kind, primitives = piece.corners, TRIANGLES, len(piece.corners) // 3
        chosen = piece.vertices
        if not len(corners) and source.edges is not None and len(source.edges):
            corners, kind, primitives = source.edges.reshape(-1), LINES, len(source.edges)
            if len(chosen) > MOST_VERTICES:
                chosen, corners = chosen[corners], corners[:0]
        elif not len(corners):
            kind, primitives = POINTS, len(chosen)
        mesh.vertex_count, mesh.index_count, mesh.sub_frames = len(chosen), len(corners), []
        mesh.vertices = rows[chosen].tobytes()
        if len(corners):
            mesh.indices = corners
        mesh.primitive_type, mesh.draw_vertices, mesh.draw_primitives = kind, len(chosen), primitives

    def _materials(self, mesh: Mesh, piece: Piece, used: list[int], chosen: list[Material | None]) -> None:
        """The first material is the mesh's own; where there are more, each is a part with a run of triangles."""
        first = chosen[0]
        settings = first.settings.get("dbo", {}) if first else {}
        mesh.use_material, mesh.material = settings.get("use_material", first is not None), material_block(first)
        textures = texture_records(first, self.scene, self.effect)
        mesh.texture_count, mesh.textures = len(textures), textures
        parts = []
        for slot, material in zip(used, chosen, strict=True) if len(used) > 1 else ():
            start, end = np.searchsorted(piece.slots, slot, "left"), np.searchsorted(piece.slots, slot, "right")
            textures = texture_records(material, self.scene, self.effect)
            name = textures[0].name if textures else ""
            part = MultiMaterial(name=name, material=material_block(material))
            part.start, part.count, part.polygons = int(start) * 3, int(end - start) * 3, int(end - start)
            parts.append(part)
        mesh.use_multi_material = bool(parts)
        mesh.multi_material_count, mesh.multi_materials = len(parts), parts


def _vertex_rows(source: SceneMesh, normals: Layer, engine: Vertices, binding: SkinBinding | None) -> tuple[Array, int]:
    """All vertices in a plain vertex format: position, normal, perhaps a colour, and at least one pair of UVs."""
    uvs = source.uvs
    fvf = vertices.XYZ | vertices.NORMAL | max(len(uvs), 1) << vertices.TEXTURE_SHIFT
    fvf |= vertices.DIFFUSE if source.colors else 0
    rows = vertices.make(fvf, len(engine.source))
    place = np.eye(4, dtype=np.float32) if binding is None else binding.place
    rows["position"] = axes.vectors_to_file(source.positions[engine.source] @ place[:3, :3].T + place[:3, 3])
    turned = engine.values(normals) @ np.linalg.pinv(place[:3, :3])
    with np.errstate(over="ignore"):
        length = np.linalg.norm(turned, axis=1, keepdims=True)
    rows["normal"] = axes.vectors_to_file(turned / np.where(length > 1e-12, length, 1))
    for index, layer in enumerate(uvs):
        rows[f"uv{index}"] = axes.flip_v(engine.values(layer))
    if source.colors:
        color = engine.values(source.colors[0])
        color = color if color.dtype == np.uint8 else np.rint(np.clip(color, 0, 1) * 255).astype(np.uint8)
        rows["diffuse"] = color[:, [2, 1, 0, 3]]
    return rows, fvf


def _file_corners(faces: Array) -> Ints:
    return axes.winding(faces).reshape(-1).astype(np.int32)


def _block_values(block: Block) -> Any:
    data = block.data
    return (block.code, data if isinstance(data, bytes) else [[_block_values(b) for b in r.blocks] for r in data.entries])  # type: ignore[union-attr]

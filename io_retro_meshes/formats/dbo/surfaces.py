# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of a scene to mesh blocks, in the engine's order, in pieces that the engine can draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import Ints, Layer, Material, Node, Scene
from ...scene import Mesh as SceneMesh
from ...surfaces import Vertices, engine_vertices, limited, smooth_normals, strongest, triangulated
from . import space, vertices
from .document import LINES, POINTS, TRIANGLES, Bone, Mesh, MultiMaterial
from .fields import Block
from .materials import write_material, write_states, write_textures
from .options import ExportOptions

Array = npt.NDArray[Any]

MOST_VERTICES = 65_535


@dataclass
class Binding:
    """What a skinned mesh needs of its armature."""

    names: list[str]  # of the frames, by bone
    inverses: Array  # (b, 4, 4) row matrices: block 305
    place: Array  # (4, 4) the armature in the world at rest
    own: Array  # (4, 4) row matrix: 305 for vertices that stay with the mesh's own frame


@dataclass
class Piece:
    """Triangles that one mesh block can hold: vertices of the engine, and corners among them, sorted by material."""

    vertices: Ints
    corners: Ints
    slots: Ints  # (f,) material slot of each face


class MeshWriter:
    def __init__(self, scene: Scene, options: ExportOptions, warnings: list[str]) -> None:
        self.scene = scene
        self.options = options
        self.effect = options.effect
        self.warnings = warnings

    def pieces(self, node: Node, binding: Binding | None, own_frame: str) -> list[Mesh]:
        """The node's mesh as one block or as several: one for each set of render states, and for 65,535 vertices."""
        source = self._source(node)
        materials = self._slots(node, source)
        normals = source.normals or Layer("normals", smooth_normals(source.positions, source.corners))
        engine = engine_vertices(source, [normals, *source.uvs, *source.colors])
        rows, fvf = _rows(source, normals, engine, binding)
        influences = self._influences(source, engine, binding)
        found = []
        for piece in self._cut(source, engine, materials):
            used = sorted(set(piece.slots.tolist())) or [0]
            chosen = [materials[slot] if 0 <= slot < len(materials) else None for slot in used]
            mesh = Mesh(fvf=fvf, stride=rows.dtype.itemsize)
            self._geometry(mesh, rows, piece, source)
            self._bones(mesh, piece, influences, binding, own_frame)
            self._materials(mesh, piece, used, chosen)
            write_states(mesh, chosen[0], node.hidden, self.effect, source.settings.get("dbo", {}))
            found.append(mesh)
        return found

    # ------------------------------------------------------------------------------------------------------- vertices

    def _source(self, node: Node) -> SceneMesh:
        """The node's mesh as triangles, with the layers that are wanted."""
        mesh = triangulated(self.scene.meshes[node.mesh])
        return replace(mesh, uvs=mesh.uvs[: self.options.uv_sets], colors=mesh.colors[:1] if self.options.colors else [])

    def _influences(self, source: SceneMesh, engine: Vertices, binding: Binding | None) -> tuple[Ints, Ints, Array]:
        """(vertex of the engine, bone, weight), sorted by vertex. Bone -1: the vertex stays with the mesh's own frame."""
        skin = source.skin
        if skin is None or binding is None:
            return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
        of_vertex, bones, weights, lost = strongest(skin.vertices, skin.bones, skin.weights, self.options.influences)
        if lost:
            most = self.options.influences
            self.warnings.append(f'"{source.name}": {lost} vertices have more than {most} weights; the least were left out.')
        loose = np.setdiff1d(np.arange(len(source.positions), dtype=np.int32), of_vertex)
        if len(loose):
            of_vertex = np.concatenate([of_vertex, loose])
            order = np.argsort(of_vertex, kind="stable")
            of_vertex = of_vertex[order]
            bones = np.concatenate([bones, np.full(len(loose), -1, np.int32)])[order]
            weights = np.concatenate([weights, np.ones(len(loose), np.float32)])[order]
        first, last = (np.searchsorted(of_vertex, engine.source, side) for side in ("left", "right"))
        count = last - first
        rows = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        return np.repeat(np.arange(len(count), dtype=np.int32), count), bones[rows], weights[rows]

    # --------------------------------------------------------------------------------------------------------- pieces

    def _slots(self, node: Node, source: SceneMesh) -> list[Material | None]:
        if not self.options.materials:
            return []
        numbers = node.materials if node.materials is not None else source.materials
        return [self.scene.materials[number] if number >= 0 else None for number in numbers]

    def _cut(self, source: SceneMesh, engine: Vertices, materials: list[Material | None]) -> Iterator[Piece]:
        faces = engine.corners.reshape(-1, 3)
        slots = np.zeros(len(faces), np.int32) if source.face_materials is None else source.face_materials
        slots = np.clip(slots, 0, max(len(materials) - 1, 0)).astype(np.int32)
        kinds = np.array([self._kind(material) for material in materials] or [b""])
        _, kind = np.unique(kinds, return_inverse=True)
        kind = kind.reshape(-1)[slots]
        if len(engine.source) <= MOST_VERTICES and (not len(kind) or (kind == kind[0]).all()):
            order = np.argsort(slots, kind="stable")
            yield Piece(np.arange(len(engine.source), dtype=np.int32), _wound(faces[order]), slots[order])
            return
        for each in np.unique(kind):
            mine = np.flatnonzero(kind == each)
            mine = mine[np.argsort(slots[mine], kind="stable")]
            start = 0
            for used, corners in limited(faces[mine].reshape(-1), MOST_VERTICES):
                count = len(corners) // 3
                yield Piece(used, _wound(corners.reshape(-1, 3)), slots[mine[start : start + count]])
                start += count

    def _kind(self, material: Material | None) -> bytes:
        """What all parts of one mesh block have in common: the render states, and the textures after the first."""
        mesh = Mesh(textures=write_textures(material, self.scene, self.effect)[1:])
        write_states(mesh, material, False, self.effect, {})
        return repr([_plain(block) for block in mesh.blocks]).encode()

    def _geometry(self, mesh: Mesh, rows: Array, piece: Piece, source: SceneMesh) -> None:
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

    # -------------------------------------------------------------------------------------------- bones and materials

    def _bones(
        self, mesh: Mesh, piece: Piece, influences: tuple[Ints, Ints, Array], binding: Binding | None, own_frame: str
    ) -> None:
        found: list[Bone] = []
        if binding is not None:
            of_vertex, bones, weights = influences
            local = np.full(int(max(piece.vertices.max(initial=-1), of_vertex.max(initial=-1))) + 1, -1, np.int64)
            local[piece.vertices] = np.arange(len(piece.vertices))
            inside = local[of_vertex] >= 0
            order = np.argsort(bones[inside], kind="stable")
            bones, rows, weights = bones[inside][order], local[of_vertex[inside]][order], weights[inside][order]
            loose = [-1] if len(bones) and bones[0] < 0 else []
            for bone in [*loose, *range(len(binding.names))]:
                first, last = np.searchsorted(bones, bone, "left"), np.searchsorted(bones, bone, "right")
                found.append(_bone(bone, binding, own_frame, rows[first:last], weights[first:last]))
        mesh.bone_count, mesh.bones = len(found), found

    def _materials(self, mesh: Mesh, piece: Piece, used: list[int], chosen: list[Material | None]) -> None:
        first = chosen[0]
        settings = first.settings.get("dbo", {}) if first else {}
        mesh.use_material, mesh.material = settings.get("use_material", first is not None), write_material(first)
        textures = write_textures(first, self.scene, self.effect)
        mesh.texture_count, mesh.textures = len(textures), textures
        parts = []
        for slot, material in zip(used, chosen, strict=True) if len(used) > 1 else ():
            start, end = np.searchsorted(piece.slots, slot, "left"), np.searchsorted(piece.slots, slot, "right")
            textures = write_textures(material, self.scene, self.effect)
            name = textures[0].name if textures else ""
            part = MultiMaterial(name=name, material=write_material(material))
            part.start, part.count, part.polygons = int(start) * 3, int(end - start) * 3, int(end - start)
            parts.append(part)
        mesh.use_multi_material = bool(parts)
        mesh.multi_material_count, mesh.multi_materials = len(parts), parts


def _rows(source: SceneMesh, normals: Layer, engine: Vertices, binding: Binding | None) -> tuple[Array, int]:
    """All vertices in a plain vertex format: position, normal, perhaps a colour, and at least one pair of UVs."""
    uvs = source.uvs
    fvf = vertices.XYZ | vertices.NORMAL | max(len(uvs), 1) << vertices.TEXTURE_SHIFT
    fvf |= vertices.DIFFUSE if source.colors else 0
    rows = vertices.make(fvf, len(engine.source))
    place = np.eye(4, dtype=np.float32) if binding is None else binding.place
    rows["position"] = space.points(source.positions[engine.source] @ place[:3, :3].T + place[:3, 3])
    turned = engine.values(normals) @ np.linalg.pinv(place[:3, :3])
    with np.errstate(over="ignore"):
        length = np.linalg.norm(turned, axis=1, keepdims=True)
    rows["normal"] = space.points(turned / np.where(length > 1e-12, length, 1))
    for index, layer in enumerate(uvs):
        uv = engine.values(layer)
        rows[f"uv{index}"] = np.stack([uv[:, 0], 1 - uv[:, 1]], 1)
    if source.colors:
        color = engine.values(source.colors[0])
        color = color if color.dtype == np.uint8 else np.rint(np.clip(color, 0, 1) * 255).astype(np.uint8)
        rows["diffuse"] = color[:, [2, 1, 0, 3]]
    return rows, fvf


def _bone(bone: int, binding: Binding, own_frame: str, rows: Array, weights: Array) -> Bone:
    made = Bone(name=own_frame if bone < 0 else binding.names[bone], influences=len(rows))
    if len(rows):
        made.vertices, made.weights = rows, weights
    made.matrix = binding.own if bone < 0 else binding.inverses[bone]
    return made


def _wound(faces: Array) -> Ints:
    return np.ascontiguousarray(faces[:, [0, 2, 1]]).reshape(-1).astype(np.int32)


def _plain(block: Block) -> Any:
    data = block.data
    return (block.code, data if isinstance(data, bytes) else [[_plain(b) for b in r.blocks] for r in data.entries])  # type: ignore[union-attr]

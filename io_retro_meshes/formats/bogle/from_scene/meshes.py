# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes as geometries: one for each material, with the tangents that the engine wants with every vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .... import scene as neutral
from ....scene import Floats, Ints, Layer
from ....scene.surfaces import engine_vertices, moved, smooth_normals, strongest
from ...binary import decode, encode
from ..document import INFLUENCES, SKINNED_VERTEX, VERTEX, Array, Geometry
from ..hashes import row_hashes
from .tangents import Tangents, tangents

# Normals that agree to so many digits are one: Blender's differ in the last bits between the triangles of a flat face.
DIGITS = 5


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


def rigid(mesh: neutral.Mesh, rig: int, bone: int, matrix: Floats) -> neutral.Mesh:
    """A mesh that hangs on a bone as one that is skinned to it; `matrix` is where it is in the armature as that was bound."""
    every = np.arange(len(mesh.positions), dtype=np.int32)
    skin = neutral.Skin(rig, every, np.full(len(every), bone, np.int32), np.ones(len(every), np.float32))
    return replace(moved(mesh, matrix), skin=skin)


def free_vertices(mesh: neutral.Mesh) -> bool:
    """Are there vertices in use that follow no bone?"""
    if mesh.skin is None:
        return False
    held = np.zeros(len(mesh.positions), bool)
    held[mesh.skin.vertices[mesh.skin.weights > 0]] = True
    return not held[mesh.corners].all()


def from_mesh(mesh: neutral.Mesh, clamp: bool, warnings: list[str]) -> tuple[Geometry, Ints]:
    """The geometry, and the mesh's vertex behind each of its own. Vertices that no triangle uses are left out."""
    normals = mesh.normals or Layer("normal", smooth_normals(mesh.positions, mesh.corners))
    uvs = mesh.uvs[0] if mesh.uvs else Layer("uv", np.zeros((len(mesh.positions), 2), np.float32))
    if not mesh.uvs and len(mesh.corners):
        warnings.append(f"{mesh.name}: has no UV map; the texture coordinates are 0, and its tangents mean nothing.")
    frames = tangents(mesh, normals, uvs)
    split_up = engine_vertices(mesh, [_looks(mesh, normals, uvs, frames)])
    is_used = np.zeros(len(split_up.corner), bool)
    is_used[split_up.corners] = True
    indices = (np.cumsum(is_used) - 1)[split_up.corners]
    corner, source = split_up.corner[is_used], split_up.source[is_used]
    row = frames.corners[corner]
    vertices = np.zeros(len(corner), VERTEX)
    vertices["position"] = mesh.positions[source]
    vertices["normal"] = normals.data[corner if normals.domain == "CORNER" else source]
    vertices["uv"] = uvs.data[corner if uvs.domain == "CORNER" else source]
    if clamp:
        vertices["uv"] = np.clip(vertices["uv"], 0, 1)
    vertices["tangent"] = frames.vectors[row]
    vertices["binormal"] = np.cross(vertices["normal"], frames.vectors[row]) * frames.signs[row, None]
    return Geometry(vertices, indices.astype("<u4"), encode(mesh.name)), source


def _looks(mesh: neutral.Mesh, normals: Layer, uvs: Layer, frames: Tangents) -> Layer:
    """A hash for each corner: equal where normal, coordinate and tangent are so close that one vertex serves."""
    if not len(mesh.corners):
        return Layer("look", np.zeros((0, 2), np.int32), "CORNER")
    example = np.zeros(len(frames.vectors), np.intp)
    example[frames.corners] = np.arange(len(mesh.corners))
    parts = (np.round(_at(mesh, normals, example), DIGITS), _at(mesh, uvs, example), np.round(frames.vectors, DIGITS))
    table = np.concatenate([*parts, frames.signs[:, None]], 1).astype(np.float32) + np.float32(0)  # -0 is 0
    return Layer("look", row_hashes(table).view(np.int32).reshape(-1, 2)[frames.corners], "CORNER")


def _at(mesh: neutral.Mesh, layer: Layer, corners: Array) -> Array:
    """What a layer has at some corners."""
    return layer.data[corners if layer.domain == "CORNER" else mesh.corners[corners]]


def skinned(
    geometry: Geometry, source: Ints, skin: neutral.Skin | None, order: Ints, still: int, warnings: list[str]
) -> Geometry:
    """The geometry with bones; `order` has the place of each bone in the file, `still` is that of one that never moves."""
    made = np.zeros(len(geometry.vertices), SKINNED_VERTEX)
    for field in VERTEX.names or ():
        made[field] = geometry.vertices[field]
    if skin is not None:
        vertex, bone, weight, lost = strongest(skin.vertices, skin.bones, skin.weights, INFLUENCES)
        if lost:
            warnings.append(f"{decode(geometry.name)}: {lost} vertices follow more than 3 bones; the strongest 3 were kept.")
        count = max(int(vertex.max(initial=-1)), int(source.max(initial=-1))) + 1
        rank = np.arange(len(vertex)) - np.searchsorted(vertex, vertex)
        bones, weights = np.zeros((count, INFLUENCES), np.float32), np.zeros((count, INFLUENCES), np.float32)
        bones[vertex, rank], weights[vertex, rank] = order[bone], weight
        free = ~weights.any(1)
        bones[free, 0], weights[free, 0] = still, 1
        made["bones"], made["weights"] = bones[source], weights[source]
    return replace(geometry, vertices=made)

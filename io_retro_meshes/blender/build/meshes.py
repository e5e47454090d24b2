# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene meshes to Blender meshes, through whole arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import bpy
import numpy as np

from ... import scene as neutral
from ...scene import maths
from .. import compat, properties

Kind = Literal["BOOLEAN", "INT", "FLOAT", "FLOAT2", "FLOAT_VECTOR", "FLOAT_COLOR", "BYTE_COLOR"]  # of an attribute


def build_mesh(mesh: neutral.Mesh, materials: list[bpy.types.Material]) -> tuple[bpy.types.Mesh, neutral.Skin | None]:
    """The mesh, and the skin of the vertices it has now."""
    repeats = _repeated_corners(mesh)
    if len(repeats):
        mesh = _with_own_vertices(mesh, repeats)
    data = bpy.data.meshes.new(compat.short_name(mesh.name, "Mesh"))
    _set_faces(data, mesh)
    for slot in mesh.materials:
        data.materials.append(materials[slot] if slot >= 0 else None)
    _set_uvs(data, mesh)
    _set_colors(data, mesh)
    for layer in mesh.attributes:
        _set_attribute(data, layer)
    _set_normals(data, mesh)
    properties.apply(data, mesh.settings)
    return data, mesh.skin


def _repeated_corners(mesh: neutral.Mesh) -> np.ndarray:
    """Corners whose vertex an earlier corner of the same face has already."""
    if mesh.face_starts is None:
        a, b, c = mesh.corners[0::3], mesh.corners[1::3], mesh.corners[2::3]
        second = np.flatnonzero(a == b) * 3 + 1
        third = np.flatnonzero((c == a) | (c == b)) * 3 + 2
        return np.sort(np.concatenate([second, third]))
    face = np.repeat(np.arange(mesh.face_count), np.diff(np.append(mesh.face_starts, len(mesh.corners))))
    order = np.lexsort((mesh.corners, face))
    same = (np.diff(mesh.corners[order]) == 0) & (np.diff(face[order]) == 0)
    return np.sort(order[1:][same])


def _with_own_vertices(mesh: neutral.Mesh, repeats: np.ndarray) -> neutral.Mesh:
    """Gives each repeated corner a copy of its vertex: the face has no area, but it is kept, and the mesh is valid."""
    source = mesh.corners[repeats]
    count = len(mesh.positions)
    corners = mesh.corners.copy()
    corners[repeats] = np.arange(count, count + len(repeats), dtype=np.int32)

    def longer(layer: neutral.Layer) -> neutral.Layer:
        if layer.domain != "POINT":
            return layer
        return replace(layer, data=np.concatenate([layer.data, layer.data[source]]))

    skin = mesh.skin
    if skin is not None:
        rows, owners = _rows_of(skin.vertices, source)
        skin = replace(
            skin,
            vertices=np.concatenate([skin.vertices, (owners + count).astype(np.int32)]),
            bones=np.concatenate([skin.bones, skin.bones[rows]]),
            weights=np.concatenate([skin.weights, skin.weights[rows]]),
        )
    return replace(
        mesh,
        positions=np.concatenate([mesh.positions, mesh.positions[source]]),
        corners=corners,
        normals=longer(mesh.normals) if mesh.normals else None,
        uvs=[longer(layer) for layer in mesh.uvs],
        colors=[longer(layer) for layer in mesh.colors],
        attributes=[longer(layer) for layer in mesh.attributes],
        skin=skin,
    )


def _rows_of(column: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that hold each wanted value, and for each row which of the wanted it is."""
    order = np.argsort(column, kind="stable")
    first, last = np.searchsorted(column[order], wanted, "left"), np.searchsorted(column[order], wanted, "right")
    owners = np.repeat(np.arange(len(wanted)), last - first)
    within = np.arange(len(owners)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    return order[first[owners] + within], owners


def _set_faces(data: bpy.types.Mesh, mesh: neutral.Mesh) -> None:
    """Straight into the attributes: several times as fast as `vertices`, `loops` and `polygons`."""
    if not len(mesh.positions):  # a mesh of nothing has no attributes to fill
        return
    data.vertices.add(len(mesh.positions))
    data.attributes["position"].data.foreach_set("vector", _flat(mesh.positions, np.float32))
    if mesh.edges is not None and len(mesh.edges):
        data.edges.add(len(mesh.edges))
        data.edges.foreach_set("vertices", _flat(mesh.edges, np.int32))
    if not len(mesh.corners):
        return
    data.loops.add(len(mesh.corners))
    data.polygons.add(mesh.face_count)
    data.attributes[".corner_vert"].data.foreach_set("value", _flat(mesh.corners, np.int32))
    data.polygons.foreach_set("loop_start", mesh.starts)
    if mesh.face_materials is not None and mesh.face_materials.any():
        data.attributes.new("material_index", "INT", "FACE")
        data.attributes["material_index"].data.foreach_set("value", _flat(mesh.face_materials, np.int32))
    if mesh.smooth is not None and not mesh.smooth.all():
        data.attributes.new("sharp_face", "BOOLEAN", "FACE")
        data.attributes["sharp_face"].data.foreach_set("value", ~mesh.smooth)
    data.update(calc_edges=True)


def _set_uvs(data: bpy.types.Mesh, mesh: neutral.Mesh) -> None:
    for layer in mesh.uvs[:8]:  # Blender's limit
        name = data.uv_layers.new(name=compat.short_name(layer.name, "UVMap"), do_init=False).name
        values = _flat(layer.data, np.float32)
        if layer.domain != "CORNER":
            values = np.take(values.view(np.int64), mesh.corners).view(np.float32)  # pairs as wholes: five times as fast
        data.uv_layers[name].uv.foreach_set("vector", values)
    if mesh.uvs and len(mesh.corners):
        data.uv_layers.active_index = 0


def _set_colors(data: bpy.types.Mesh, mesh: neutral.Mesh) -> None:
    for layer in mesh.colors:
        as_bytes = layer.data.dtype == np.uint8
        kind: Kind = "BYTE_COLOR" if as_bytes else "FLOAT_COLOR"
        name = data.color_attributes.new(compat.short_name(layer.name, "Color"), kind, layer.domain).name
        if as_bytes:
            data.color_attributes[name].data.foreach_set("color_srgb", _flat(layer.data.astype(np.float32) / 255, np.float32))
        else:  # Blender's own conversion is off by up to a thousandth
            linear = np.c_[maths.srgb_to_linear(layer.data[:, :3]), layer.data[:, 3]]
            data.color_attributes[name].data.foreach_set("color", _flat(linear, np.float32))
    if mesh.colors:
        data.color_attributes.active_color_index = 0
        data.color_attributes.render_color_index = 0


def _set_attribute(data: bpy.types.Mesh, layer: neutral.Layer) -> None:
    kinds: dict[tuple[str, int], tuple[Kind, str, type]] = {
        ("b", 1): ("BOOLEAN", "value", np.bool_),
        ("i", 1): ("INT", "value", np.int32),
        ("u", 1): ("INT", "value", np.int32),
        ("f", 1): ("FLOAT", "value", np.float32),
        ("f", 2): ("FLOAT2", "vector", np.float32),
        ("f", 3): ("FLOAT_VECTOR", "vector", np.float32),
    }
    kind, field, dtype = kinds[layer.data.dtype.kind, 1 if layer.data.ndim == 1 else layer.data.shape[1]]
    attribute = data.attributes.new(compat.short_name(layer.name, "attribute"), kind, layer.domain)
    attribute.data.foreach_set(field, _flat(layer.data, dtype))


def _set_normals(data: bpy.types.Mesh, mesh: neutral.Mesh) -> None:
    if mesh.normals is None or not len(mesh.corners):
        return
    normals, domain = mesh.normals.data, mesh.normals.domain
    if mesh.smooth is not None and not mesh.smooth.all():
        # Flat faces show their own normal, whatever the file says of their vertices.
        face_normals = np.empty(len(data.polygons) * 3, np.float32)
        data.polygons.foreach_get("normal", face_normals)
        sizes = np.diff(np.append(mesh.starts, len(mesh.corners)))
        by_corner = normals if domain == "CORNER" else normals[mesh.corners]
        flat = np.repeat(~mesh.smooth, sizes)
        normals = np.where(flat[:, None], np.repeat(face_normals.reshape(-1, 3), sizes, 0), by_corner)
        domain = "CORNER"
    if not compat.set_free_normals(data, normals, domain, deformed=mesh.skin is not None):
        _part_twins(data, mesh)
        compat.set_split_normals(data, normals, domain)


def _part_twins(data: bpy.types.Mesh, mesh: neutral.Mesh) -> None:
    """Makes the edges of a face and its reversed twin sharp.

    Blender keeps a custom normal as an angle from the mean of the faces around: of twins that mean is nothing at all.
    """
    corners = mesh.corners.astype(np.int64)
    numbers = [np.add.reduceat(corners**power, mesh.starts) for power in (1, 2)]
    numbers.append(np.maximum.reduceat(corners, mesh.starts))
    order = np.lexsort(numbers)
    same = np.logical_and.reduce([np.diff(number[order]) == 0 for number in numbers])
    if not same.any():
        return
    twins = np.zeros(mesh.face_count, bool)
    twins[order[1:][same]] = twins[order[:-1][same]] = True
    edges = np.empty(len(corners), np.int32)
    data.attributes[".corner_edge"].data.foreach_get("value", edges)
    sharp = np.zeros(len(data.edges), bool)
    sharp[edges[np.repeat(twins, np.diff(np.append(mesh.starts, len(corners))))]] = True
    data.attributes.new("sharp_edge", "BOOLEAN", "EDGE").data.foreach_set("value", sharp)


def _flat(values: np.ndarray, dtype: Any) -> np.ndarray:
    return np.ascontiguousarray(values, dtype).reshape(-1)


def set_weights(target: bpy.types.Object, skin: neutral.Skin, bone_names: list[str]) -> None:
    """Vertex groups, one `add` for each (bone, weight) there is: vertices of equal weight go in together."""
    groups = [target.vertex_groups.new(name=name) for name in bone_names]
    if not len(skin.vertices):
        return
    order = np.lexsort((skin.weights, skin.bones))
    vertices, bones, weights = skin.vertices[order], skin.bones[order], skin.weights[order]
    starts = np.flatnonzero(np.diff(bones, prepend=-1) | (np.diff(weights, prepend=np.float32(-1)) != 0))
    ends = np.append(starts[1:], len(bones))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        groups[bones[start]].add(vertices[start:end].tolist(), float(weights[start]), "REPLACE")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender meshes to scene meshes, through whole arrays."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ... import scene as neutral
from ...scene import maths
from .. import properties

ATTRIBUTE_FIELDS = {
    "FLOAT": ("value", np.float32, 1),
    "INT": ("value", np.int32, 1),
    "BOOLEAN": ("value", np.bool_, 1),
    "FLOAT2": ("vector", np.float32, 2),
    "FLOAT_VECTOR": ("vector", np.float32, 3),
}

SAME_NORMAL = np.cos(np.radians(0.7))

# What Blender itself keeps in attributes, and this module reads by other ways.
OWN_ATTRIBUTES = {"position", "material_index", "sharp_face", "sharp_edge", "custom_normal", "crease_edge", "crease_vert"}


Chosen = np.ndarray | slice
EVERY = slice(None)


def collect_mesh(data: bpy.types.Mesh | None, quads: bool) -> neutral.Mesh:
    """A mesh with its faces cut to triangles, or to triangles and quads."""
    if data is None:
        return neutral.Mesh("", np.zeros((0, 3), np.float32), np.zeros(0, np.int32))
    positions = _get(data.vertices, "co", len(data.vertices), 3)
    corners, starts, faces = _faces(data, quads)
    mesh = neutral.Mesh(data.name, positions, np.empty(0, np.int32), starts)
    all_corners = np.empty(len(data.loops), np.int32)
    if len(data.loops):
        data.attributes[".corner_vert"].data.foreach_get("value", all_corners)
    mesh.corners = all_corners[corners]
    materials: bpy.types.Attribute | None = data.attributes.get("material_index")
    if materials is not None and materials.domain == "FACE":
        mesh.face_materials = _get(materials.data, "value", len(data.polygons), 1, np.int32)[faces]
    sharp: bpy.types.Attribute | None = data.attributes.get("sharp_face")
    if sharp is not None and sharp.domain == "FACE":
        mesh.smooth = ~_get(sharp.data, "value", len(data.polygons), 1, np.bool_)[faces]
    mesh.normals = _normals(data, all_corners, corners)
    for layer in uv_maps(data):
        mesh.uvs.append(neutral.Layer(layer.name, _get(layer.uv, "vector", len(data.loops), 2)[corners], "CORNER"))
    mesh.colors = _colors(data, corners)
    mesh.attributes = _attributes(data, corners, faces)
    if not len(data.polygons) and len(data.edges):
        mesh.edges = _get(data.edges, "vertices", len(data.edges), 2, np.int32)
    mesh.settings = properties.collect(data)
    return mesh


def uv_maps(data: bpy.types.Mesh) -> list[Any]:
    """The one that renders first: a texture without a map of its own shows that one."""
    return sorted(data.uv_layers, key=lambda layer: not layer.active_render)


def _get(source: Any, field: str, count: int, width: int, dtype: Any = np.float32) -> np.ndarray:
    values = np.empty(count * width, dtype)
    if count:
        source.foreach_get(field, values)
    return values.reshape(count, width) if width > 1 else values


def _faces(data: bpy.types.Mesh, quads: bool) -> tuple[Chosen, np.ndarray | None, Chosen]:
    """The corners of the faces to export, where each face starts (None: triangles), and which polygon each comes from."""
    if len(data.loops) == 3 * len(data.polygons):
        return EVERY, None, EVERY
    data.calc_loop_triangles()
    count = len(data.loop_triangles)
    loops = _get(data.loop_triangles, "loops", count, 3, np.int32)
    polygons = _get(data.loop_triangles, "polygon_index", count, 1, np.int32)
    if not quads:
        return loops.reshape(-1), None, polygons
    begin = _get(data.polygons, "loop_start", len(data.polygons), 1, np.int32)
    total = _get(data.polygons, "loop_total", len(data.polygons), 1, np.int32)
    kept = np.flatnonzero(total == 4)
    cut = total[polygons] != 4
    face_of = np.concatenate([kept, polygons[cut]])
    order = np.argsort(face_of, kind="stable")
    sizes = np.concatenate([np.full(len(kept), 4), np.full(int(cut.sum()), 3)])[order]
    padded = np.concatenate([begin[kept][:, None] + np.arange(4), np.pad(loops[cut], ((0, 0), (0, 1)))])[order]
    corners = padded[np.arange(4) < sizes[:, None]]
    starts = np.cumsum(sizes) - sizes
    return corners.astype(np.int32), starts.astype(np.int32), face_of[order].astype(np.int32)


def _normals(data: bpy.types.Mesh, vertices: np.ndarray, corners: Chosen) -> neutral.Layer:
    """Blender keeps custom normals in 16 bits a corner: those of a vertex that differ by no more than that are one again."""
    if data.normals_domain == "POINT":
        return neutral.Layer("normal", _get(data.vertex_normals, "vector", len(data.vertices), 3))
    values = _get(data.corner_normals, "vector", len(data.loops), 3)
    first = np.zeros(len(data.vertices), np.int32)
    first[vertices[::-1]] = np.arange(len(vertices), dtype=np.int32)[::-1]
    shared = values[first[vertices]]
    same = np.einsum("ij,ij->i", values, shared) > SAME_NORMAL
    return neutral.Layer("normal", np.where(same[:, None], shared, values)[corners], "CORNER")


def _colors(data: bpy.types.Mesh, corners: Chosen) -> list[neutral.Layer]:
    """Colour attributes, the one that renders first."""
    found = []
    for attribute in data.color_attributes:
        as_bytes = attribute.data_type == "BYTE_COLOR"
        values = _get(attribute.data, "color_srgb" if as_bytes else "color", len(attribute.data), 4)
        if not as_bytes:
            values[:, :3] = maths.linear_to_srgb(values[:, :3])
        if attribute.domain == "CORNER":
            values = values[corners]
        elif attribute.domain != "POINT":
            continue
        found.append(neutral.Layer(attribute.name, values, attribute.domain))
    first = data.color_attributes.render_color_index
    if 0 < first < len(found):
        found.insert(0, found.pop(first))
    return found


def _attributes(data: bpy.types.Mesh, corners: Chosen, faces: Chosen) -> list[neutral.Layer]:
    found = []
    for attribute in data.attributes:
        if attribute.name in OWN_ATTRIBUTES or attribute.name.startswith(".") or attribute.data_type not in ATTRIBUTE_FIELDS:
            continue
        if attribute.name in data.uv_layers or attribute.name in data.color_attributes:
            continue
        field, dtype, width = ATTRIBUTE_FIELDS[attribute.data_type]
        values = _get(attribute.data, field, len(attribute.data), width, dtype)
        if attribute.domain == "CORNER":
            values = values[corners]
        elif attribute.domain == "FACE":
            values = values[faces]
        elif attribute.domain != "POINT":
            continue
        found.append(neutral.Layer(attribute.name, values, attribute.domain))
    return found

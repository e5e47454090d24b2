# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh blocks -> meshes of the scene."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import COLOR_NAME, Layer, maths, sanitize, uv_name
from ....scene import Mesh as SceneMesh
from .. import axes, levels, vertices
from ..document import LINE_STRIP, LINES, POINTS, TRIANGLES, Mesh
from .materials import Materials
from .settings import changed

Array = npt.NDArray[Any]


def scene_mesh(mesh: Mesh, name: str, materials: Materials, warnings: list[str]) -> SceneMesh:
    rows = vertices.vertices(mesh, warnings)
    names = rows.dtype.names or ()
    positions = np.zeros((len(rows), 3), np.float32)
    if "position" in names:
        given = vertices.finite(rows["position"], warnings, "vertex positions")[:, :3]
        positions[:, : given.shape[1]] = given
    made = SceneMesh(name, axes.vectors_to_scene(positions), np.zeros(0, np.int32))
    _faces(mesh, len(rows), made, warnings)
    if "normal" in names and rows["normal"].shape[1] >= 3:
        normals = vertices.finite(rows["normal"], warnings, "normals")[:, :3]
        made.normals = Layer("normals", maths.normalized(axes.vectors_to_scene(normals)))
    for column in sorted(column for column in names if column.startswith("uv")):
        made.uvs.append(_uv_layer(rows[column], uv_name(len(made.uvs)), warnings))
    if "diffuse" in names:
        made.colors.append(Layer(COLOR_NAME, _rgba(rows["diffuse"])))
    made.materials = materials.of_mesh(mesh, name, len(made.uvs), bool(made.colors))
    if len(made.materials) > 1:
        _face_materials(mesh, made, warnings)
    settings = changed(mesh, ("linked", "arbitrary_value"))
    if settings:
        made.settings["dbo"] = settings
    if kept := levels.pack(mesh):
        made.settings.setdefault("dbo", {})["levels"] = kept
    return made


def coarser_meshes(mesh: Mesh, made: SceneMesh, warnings: list[str]) -> list[SceneMesh]:
    """A mesh for each level of detail, over the vertices of the mesh that was made."""
    found: list[SceneMesh] = []
    for indices in levels.lists(levels.blocks(mesh)).values():
        faces = indices[: len(indices) // 3 * 3].reshape(-1, 3)
        faces = faces[(faces < len(made.positions)).all(1)]
        corners = axes.winding(faces).reshape(-1)
        name = f"{made.name} LOD {len(found) + 1}"
        found.append(replace(made, name=name, corners=corners, face_materials=None, materials=made.materials[:1], settings={}))
    if levels.blocks(mesh) and not found:
        warnings.append(f'"{made.name}": its levels of detail are no lists of triangles; they are kept, and not shown.')
    return found


def _faces(mesh: Mesh, count: int, made: SceneMesh, warnings: list[str]) -> None:
    """Corners, or edges, from whatever primitives the mesh is made of. Without indices its vertices are taken in order."""
    indices = mesh.indices.astype(np.int32)
    if not len(indices):
        indices = np.arange(count, dtype=np.int32)
    kind = int(mesh.primitive_type)
    if kind == POINTS:
        return
    if kind in (LINES, LINE_STRIP):
        edges = vertices.lines(indices, kind)
        good = (edges < count).all(1)
        made.edges = edges[good]
    else:
        faces = vertices.triangles(indices, kind).reshape(-1, 3)
        good = (faces < count).all(1)
        made.corners = axes.winding(faces[good]).reshape(-1)
    if not good.all():
        warnings.append(f'"{made.name}": {int((~good).sum())} faces use vertices that are not there; they were left out.')


def _uv_layer(values: Array, name: str, warnings: list[str]) -> Layer:
    uv = np.zeros((len(values), 2), np.float32)
    given = vertices.finite(values, warnings, "texture coordinates")[:, :2]
    uv[:, : given.shape[1]] = given
    return Layer(name, axes.flip_v(uv))


def _rgba(values: Array) -> Array:
    if values.dtype == np.uint8:
        return np.ascontiguousarray(values[:, [2, 1, 0, 3]])  # a DWORD of alpha, red, green, blue
    found = np.ones((len(values), 4), np.float32)
    found[:, : values.shape[1]] = sanitize.finite(values)
    return found


def _face_materials(mesh: Mesh, made: SceneMesh, warnings: list[str]) -> None:
    """Each part of a multi-material mesh is a run of triangles."""
    if mesh.primitive_type != TRIANGLES or len(made.corners) != len(mesh.indices) // 3 * 3:
        warnings.append(f'"{made.name}": its parts do not fit its triangles; all have the first material.')
        return
    found = np.zeros(len(made.corners) // 3, np.int32)
    for slot, part in enumerate(mesh.multi_materials):
        first = int(part.start) // 3
        found[first : first + (int(part.polygons) or int(part.count) // 3)] = slot
    made.face_materials = found

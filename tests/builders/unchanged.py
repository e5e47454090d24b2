# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything a .blend file holds, by the paths of its properties: to see that an export has changed nothing."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

BLOCKS = ("objects", "meshes", "armatures", "actions", "materials", "images", "collections", "curves", "scenes", "shape_keys")
# What is not the scene: what Blender counts by itself, and works out again when it is asked.
NOISE = {"session_uid", "is_evaluated", "rna_type", "users", "tag", "preview", "depsgraph", "loop_triangles"}
NOISE |= {"is_updated", "is_updated_data", "loop_triangle_polygons", "original", "id_data", "is_embedded_data"}
NOISE |= {"pin", "vertex_selection", "edge_selection"}  # to look at these of a UV map makes them
NOISE |= {"particle_edit", "uv_sculpt", "matrix_world", "matrix_local"}  # the matrices of hidden objects are as old as they are
DEPTH = 4
MANY = 50  # elements that have arrays instead of a walk


def fingerprint() -> dict[str, Any]:
    """Every property of all datablocks, some levels deep; of meshes and curves, all their numbers."""
    found: dict[str, Any] = {}
    for name in BLOCKS:
        for block in getattr(bpy.data, name, ()):
            _take(found, f"{name}[{block.name_full}]", block, DEPTH)
    found["mode"] = bpy.context.mode
    found["selected"] = [source.name for source in bpy.context.selected_objects]
    found["active"] = getattr(bpy.context.view_layer.objects.active, "name", None)
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    every = {**before, **after}
    return {path: (before.get(path), after.get(path)) for path in every if before.get(path) != after.get(path)}


def _take(found: dict[str, Any], path: str, block: Any, depth: int) -> None:
    for each in block.bl_rna.properties:
        name = each.identifier
        if name in NOISE or name.startswith("bl_"):
            continue
        try:
            value = getattr(block, name)
        except (AttributeError, RuntimeError, ReferenceError):
            continue
        if each.type == "COLLECTION":
            _take_all(found, f"{path}.{name}", value, depth)
        elif each.type != "POINTER":
            found[f"{path}.{name}"] = _plain(value)
        elif isinstance(value, bpy.types.ID) and not isinstance(value, bpy.types.NodeTree):
            found[f"{path}.{name}"] = value.name_full
        elif value is not None and depth > 0:
            _take(found, f"{path}.{name}", value, depth - 1)


def _take_all(found: dict[str, Any], path: str, items: Any, depth: int) -> None:
    found[path] = len(items)
    if depth <= 0 or not len(items):
        return
    if isinstance(items[0], bpy.types.ID):
        found[path] = [item.name_full if item is not None else None for item in items]
        return
    if len(items) > MANY:
        found[path] = {each.identifier: _array(items, each) for each in items[0].bl_rna.properties if each.type == "FLOAT"}
        return
    for number, item in enumerate(items):
        _take(found, f"{path}[{number}]", item, depth - 1)


def _array(items: Any, each: Any) -> bytes:
    values = np.zeros(len(items) * max(each.array_length, 1), np.float32)
    try:
        items.foreach_get(each.identifier, values)
    except (TypeError, RuntimeError):
        return b""
    return np.round(values, 5).tobytes()


def _plain(value: Any) -> Any:
    if isinstance(value, str | int) or value is None:
        return value
    try:
        return np.round(np.array(value, np.float64), 6).tolist()
    except (TypeError, ValueError):
        return str(value)

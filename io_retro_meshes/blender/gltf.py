# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's glTF exporter, and what it needs to be told so that every animation of an imported model comes out right.

The whole timeline is an animation with the file's own times, and the first one: some engines play no other. Each named
sequence is one more, which starts at zero.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from . import compat

HEADER = struct.Struct("<4sII")
CHUNK = struct.Struct("<I4s")


def export(path: str, kind: str) -> None:
    """Writes the scene as a .glb ("GLB") or .gltf ("GLTF_SEPARATE"). Changes its actions."""
    for action in bpy.data.actions:
        if action.retro_meshes.role == "SEQUENCE":
            _start_at_zero(action)
    whole = _stash_actions()
    bpy.ops.export_scene.gltf(filepath=path, export_format=kind, export_yup=True, export_animation_mode="ACTIONS")
    _put_first(Path(path), whole)


def _start_at_zero(action: bpy.types.Action) -> None:
    first = action.frame_start
    for _, curves in compat.action_curves(action):
        for curve in curves:
            points = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", points)
            points[::2] -= first
            curve.keyframe_points.foreach_set("co", points)
            curve.update()
    action.frame_start, action.frame_end = 0, action.frame_end - first


def _stash_actions() -> set[str]:
    """Puts actions that wait for their turn into silent NLA tracks, one a track: the exporter looks for them there.

    Before slots an action is about one object; tracks of the same name are one animation then. Returns the names of the
    animations that are whole timelines.
    """
    whole = set()
    for owner in bpy.context.scene.objects:
        data = owner.animation_data
        if data is None or data.action is None or data.nla_tracks:
            continue
        for action, slot in compat.actions_of(owner):
            name = action.name if slot is not None else action.name.removesuffix(f" {owner.name}")
            if action.retro_meshes.role == "TIMELINE":
                whole.add(name)
            if slot is not None and action == data.action:
                continue  # found as it is
            track = data.nla_tracks.new()
            track.name = name
            strip = track.strips.new(action.name, max(round(action.frame_range[0]), 0), action)
            if slot is not None:
                strip.action_slot = slot
            track.mute = True
    return whole


def _put_first(path: Path, whole: set[str]) -> None:
    """Reorders the animations of the file, which the exporter sorts by name. Nothing else refers to them by number."""
    data = path.read_bytes()
    if data[:4] != b"glTF":
        path.write_bytes(json.dumps(_reordered(json.loads(data), whole), indent="\t").encode())
        return
    size, kind = CHUNK.unpack_from(data, HEADER.size)
    start = HEADER.size + CHUNK.size
    text = json.dumps(_reordered(json.loads(data[start : start + size]), whole), separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    rest = data[start + size :]
    header = HEADER.pack(b"glTF", 2, start + len(text) + len(rest))
    path.write_bytes(header + CHUNK.pack(len(text), kind) + text + rest)


def _reordered(gltf: dict[str, Any], whole: set[str]) -> dict[str, Any]:
    if "animations" in gltf:
        gltf["animations"].sort(key=lambda animation: animation.get("name") not in whole)
    return gltf

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones and objects are when nothing moves them: one action must not begin where another has left them."""

from __future__ import annotations

import bpy
from mathutils import Quaternion

from . import compat
from .animations import BONE_PATH, Owner

POSE_FIELDS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}

# An object, one of its bones or "" for itself, and a field.
PoseChannel = tuple[bpy.types.Object, str, str]


def channels(owner: Owner) -> set[PoseChannel]:
    """What an action moves of its object."""
    found = set()
    for slot, curves in compat.action_curves(owner.action):
        for path in {curve.data_path for curve in curves} if slot == owner.slot else ():
            match = BONE_PATH.match(path)
            bone = bpy.utils.unescape_identifier(match[1]) if match else ""
            found.add((owner.object, bone, path[match.end() + 1 :] if match else path))
    return {channel for channel in found if channel[2] in POSE_FIELDS}


def set_rest(source: bpy.types.Object, bone: str, field: str) -> None:
    """Puts a field where the file has it when nothing moves it. Objects that no import has made stay where they are."""
    target, rest = source, source.retro_meshes.place
    if bone:
        if source.pose is None or bone not in source.pose.bones:
            return
        target = source.pose.bones[bone]
        rest = target.bone.retro_meshes.pose
    elif not source.retro_meshes.is_property_set("place"):
        return
    rotation = Quaternion(rest[3:7])
    axis, angle = rotation.to_axis_angle()
    order = target.rotation_mode if len(target.rotation_mode) == 3 else "XYZ"
    values = {
        "location": rest[0:3],
        "rotation_quaternion": rotation,
        "rotation_euler": rotation.to_euler(order),
        "rotation_axis_angle": (angle, *axis),
        "scale": rest[7:10],
    }
    setattr(target, field, values[field])

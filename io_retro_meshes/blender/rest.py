# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones and objects are when nothing moves them: one action must not begin where another has left them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Quaternion

from . import compat
from .animations import Owner
from .renamed import BONE_PATH, bone_of

POSE_FIELDS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}

POSE_PATH = re.compile(rf"(?:^|\]\.)(?:{'|'.join(POSE_FIELDS)})$")

# An object, one of its bones or "" for itself, and a field.
PoseChannel = tuple[bpy.types.Object, str, str]


def channels(owner: Owner) -> set[PoseChannel]:
    """What an action moves of its object."""
    found = set()
    for slot, curves in compat.action_curves(owner.action):
        for path in {curve.data_path for curve in curves} if slot == owner.slot else ():
            match = BONE_PATH.match(path)
            found.add((owner.object, bone_of(path), path[match.end() + 1 :] if match else path))
    return {channel for channel in found if channel[2] in POSE_FIELDS}


@dataclass
class Other:
    """A value beside the pose that an action moves, as the influence of a constraint or a custom property."""

    object: bpy.types.Object
    path: str
    value: Any

    def put_back(self) -> None:
        at = self.path.rfind('["') if self.path.endswith('"]') else self.path.rfind(".")
        holder = self.object.path_resolve(self.path[:at]) if at > 0 else self.object
        now = self.object.path_resolve(self.path)
        if _plain(now) == self.value:
            return
        if self.path.endswith('"]'):
            holder[bpy.utils.unescape_identifier(self.path[at + 2 : -2])] = self.value
        else:
            setattr(holder, self.path[at + 1 :], self.value)
        self.object.update_tag()  # drivers read it


def others(owners: Iterable[Owner]) -> list[Other]:
    """What actions move beside poses, with its values now. No file has a rest for it."""
    paths: dict[tuple[bpy.types.Object, str], None] = {}
    for owner in owners:
        for slot, curves in compat.action_curves(owner.action):
            if slot == owner.slot:
                paths |= {(owner.object, curve.data_path): None for curve in curves if not POSE_PATH.search(curve.data_path)}
    return [Other(source, path, _plain(value)) for source, path in paths if (value := _resolve(source, path)) is not None]


def _resolve(source: bpy.types.Object, path: str) -> Any:
    try:
        return source.path_resolve(path)
    except ValueError:  # a curve of something that is gone
        return None


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) or not hasattr(value, "__len__") else tuple(value)


def set_rest(source: bpy.types.Object, bone: str, field: str) -> None:
    """Puts a field where the file has it when nothing moves it. Objects that no import has made stay where they are."""
    target: bpy.types.Object | bpy.types.PoseBone = source
    rest = source.retro_meshes.place
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

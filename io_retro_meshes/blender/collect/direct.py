# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that nothing but F-curves moves: their poses are worked out from those, without Blender playing frame by frame.

Everything else (constraints, drivers, NLA, physics, bones that do not simply follow their parents) Blender has to play.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...scene import maths
from .. import compat
from ..renamed import BONE_PATH, bone_of
from ..rest import POSE_FIELDS
from .armatures import pose_matrices

DELTAS = {"delta_location": 3, "delta_rotation_quaternion": 4, "delta_rotation_euler": 3, "delta_scale": 3}
OBJECT_FIELDS = POSE_FIELDS | DELTAS

# What may have keys without moving anything: custom properties, modifiers, whether an object is shown.
HARMLESS = re.compile(r'(.*\])?\["[^"]*"\]|modifiers\[.*|hide_viewport|hide_render|hide_select|color')

QUATERNION, AXIS_ANGLE = 0, -1  # rotation modes as foreach_get has them; 1 to 6 are the orders below
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
MODES = {"QUATERNION": QUATERNION, "AXIS_ANGLE": AXIS_ANGLE} | {order: 1 + place for place, order in enumerate(ORDERS)}

LINEAR = 1  # Keyframe.interpolation

Values = dict[str, np.ndarray]  # by field: (frames, width) of an object, (frames, bones, width) of an armature; or 1 for frames


class Direct:
    """Which objects these are, and where they and their bones are on some frames, as Blender would show them.

    What no curve moves is where Blender has it now.
    """

    def __init__(self, context: bpy.types.Context, frames: np.ndarray) -> None:
        render, handlers = context.scene.render, bpy.app.handlers
        self.possible = render.frame_map_old == render.frame_map_new
        self.possible &= not (handlers.frame_change_pre or handlers.frame_change_post)
        self.frames = frames
        self.plain: dict[bpy.types.Object, bool] = {}
        self.curves: dict[bpy.types.Object, list[Curve]] = {}
        self.moving: dict[bpy.types.Object, bool] = {}  # does the object go anywhere, whatever its bones do?
        self.places: dict[bpy.types.Object, np.ndarray] = {}
        self.posed: dict[bpy.types.Object, np.ndarray] = {}

    def covers(self, source: bpy.types.Object) -> bool:
        """Is it moved by F-curves alone, and all that carries it as well?"""
        for each in _line(source, self.plain):
            self.plain[each] = self.possible and _is_plain(each) and (each.parent is None or self.plain[each.parent])
            self.curves[each] = _curves(each) if self.plain[each] else []
            carried = each.parent is not None and self.moving[each.parent]
            bent = each.parent_type == "BONE" and any(curve.bone for curve in self.curves[each.parent])
            self.moving[each] = carried or bent or any(not curve.bone for curve in self.curves[each])
        return self.plain[source]

    def worlds(self, source: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        """Its matrices in the world: (frames, 4, 4), or (1, 4, 4) where it stays."""
        for each in _line(source, self.places):
            if not self.moving[each]:
                self.places[each] = np.array(each.evaluated_get(depsgraph).matrix_world, np.float64)[None]
                continue
            place = _object_matrices(each, self.curves[each], self.frames)
            if each.parent is not None:
                above = self.places[each.parent]
                if each.parent_type == "BONE":
                    above = above @ self._tail(each.parent, each.parent_bone, depsgraph)
                place = above @ np.array(each.matrix_parent_inverse) @ place
            self.places[each] = place
        return self.places[source]

    def poses(self, rig: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        """Blender's pose matrices in the armature's space, in the order of its pose bones: (frames or 1, bones, 4, 4)."""
        if rig not in self.posed:
            curves = [curve for curve in self.curves[rig] if curve.bone]
            now = pose_matrices(rig.evaluated_get(depsgraph))[None].astype(np.float64)
            self.posed[rig] = _pose(rig, curves, self.frames) if curves else now
        return self.posed[rig]

    def _tail(self, rig: bpy.types.Object, name: str, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        """What hangs on a bone hangs on its tail."""
        found = self.poses(rig, depsgraph)[:, rig.pose.bones.find(name)].copy()
        found[:, :3, 3] += found[:, :3, 1] * rig.data.bones[name].length
        return found


def _line(source: bpy.types.Object, known: Mapping[bpy.types.Object, object]) -> list[bpy.types.Object]:
    """An object and those above it that are not known yet, the topmost first."""
    found: list[bpy.types.Object] = []
    each: bpy.types.Object | None = source
    while each is not None and each not in known:
        found.append(each)
        each = each.parent
    return found[::-1]


# ------------------------------------------------------------------------------------------------------ who is plain


def _is_plain(source: bpy.types.Object) -> bool:
    owners = [source, source.data] if source.type == "ARMATURE" else [source]
    animated = [owner.animation_data for owner in owners if owner.animation_data is not None]
    if source.constraints or source.rigid_body is not None or any(each.drivers for each in animated) or _hangs_oddly(source):
        return False
    if any(each.use_nla and each.nla_tracks for each in animated):
        return False
    if source.type == "ARMATURE" and (source.data.animation_data is not None or not _bones_are_plain(source)):
        return False
    playing = _playing(source)
    if any(group.mute for group in {curve.group for curve in playing} - {None}):  # Blender minds it, or does not
        return False
    paths = dict.fromkeys(curve.data_path for curve in playing)
    return all(_field(path) is not None or HARMLESS.fullmatch(path) for path in paths)


def _bones_are_plain(rig: bpy.types.Object) -> bool:
    bones, count = rig.data.bones, len(rig.data.bones)
    kept = np.empty(count, bool), np.empty(count, bool), np.empty(count, np.int32)
    for name, values in zip(("use_inherit_rotation", "use_local_location", "inherit_scale"), kept, strict=True):
        bones.foreach_get(name, values)
    plain = bool(kept[0].all() and kept[1].all() and not kept[2].any())
    return plain and rig.data.pose_position == "POSE" and not any(bone.constraints for bone in rig.pose.bones)


def _hangs_oddly(source: bpy.types.Object) -> bool:
    """On vertices, on a curve that it may run along, or on a bone in a way of its own."""
    if source.parent is None or source.parent_type not in ("OBJECT", "ARMATURE", "BONE"):
        return source.parent is not None
    if source.parent_type != "BONE":
        return source.parent.type == "CURVE"
    bone = source.parent.data.bones.get(source.parent_bone) if source.parent.type == "ARMATURE" else None
    return bone is None or bone.use_relative_parent


# -------------------------------------------------------------------------------------------------------------- curves


class Curve(NamedTuple):
    bone: str  # "": the object itself
    field: str
    index: int  # type: ignore[assignment]  # tuples have a method of that name
    source: bpy.types.FCurve


def _field(path: str) -> tuple[str, str] | None:
    """The bone, or "", and what of it a data path is about, if that is where it is."""
    match = BONE_PATH.match(path)
    if match is None:
        return ("", path) if path in OBJECT_FIELDS else None
    field = path[match.end() + 1 :]
    return (bone_of(path), field) if field in POSE_FIELDS else None


def _playing(source: bpy.types.Object) -> list[bpy.types.FCurve]:
    data = source.animation_data
    slot = compat.assigned_slot(source)
    if data is None or data.action is None or (compat.HAS_SLOTS and slot is None):
        return []
    found = [curve for of, curves in compat.action_curves(data.action) if of == slot for curve in curves]
    return [curve for curve in found if not (curve.mute or curve.is_empty)]


def _curves(source: bpy.types.Object) -> list[Curve]:
    """What plays on the object and its bones, without curves that move nothing."""
    found = [(_field(curve.data_path), curve) for curve in _playing(source)]
    return [Curve(*place, curve.array_index, curve) for place, curve in found if place is not None]


def _played(curve: bpy.types.FCurve, frames: np.ndarray) -> np.ndarray:
    """The values of a curve: where lines join all its keys from the keys, else as Blender says."""
    count = len(curve.keyframe_points)
    points, kinds = np.empty((count, 2), np.float32), np.empty(count, np.int32)
    curve.keyframe_points.foreach_get("co", points.reshape(-1))
    curve.keyframe_points.foreach_get("interpolation", kinds)
    lines = count > 0 and curve.extrapolation == "CONSTANT" and not curve.modifiers
    if lines and (kinds[:-1] == LINEAR).all() and (np.diff(points[:, 0]) > 0).all():
        return np.interp(frames, points[:, 0], points[:, 1])
    return np.array([curve.evaluate(frame) for frame in frames.tolist()])


def _fill(values: Values, curve: Curve, place: tuple[int, ...], frames: np.ndarray) -> None:
    """Puts a curve where it belongs; a field that nothing has moved before gets a value for each frame."""
    if len(values[curve.field]) == 1:
        values[curve.field] = np.repeat(values[curve.field], len(frames), 0)
    where: tuple[Any, ...] = (slice(None), *place, curve.index)
    values[curve.field][where] = _played(curve.source, frames)


# ------------------------------------------------------------------------------------------------------------ matrices


def _object_matrices(source: bpy.types.Object, curves: list[Curve], frames: np.ndarray) -> np.ndarray:
    """Of an object in its parent: (frames, 4, 4), or (1, 4, 4) where it is only carried."""
    values: Values = {name: np.array(getattr(source, name), np.float64)[None] for name in OBJECT_FIELDS}
    for curve in curves:
        if not curve.bone:
            _fill(values, curve, (), frames)
    mode = MODES[source.rotation_mode]
    rotation = _rotations(values, "rotation", mode)
    if mode != AXIS_ANGLE:
        rotation = _rotations(values, "delta_rotation", mode) @ rotation
    scale = values["scale"] * values["delta_scale"]
    return _affine(rotation * scale[..., None, :], values["location"] + values["delta_location"])


def _pose(rig: bpy.types.Object, curves: list[Curve], frames: np.ndarray) -> np.ndarray:
    bones = rig.pose.bones
    number = {bone.name: place for place, bone in enumerate(bones)}
    values: Values = {}
    for name, width in POSE_FIELDS.items():
        flat = np.empty(len(bones) * width, np.float32)
        bones.foreach_get(name, flat)
        values[name] = flat.reshape(1, -1, width).astype(np.float64)
    for curve in curves:
        if curve.bone in number:
            _fill(values, curve, (number[curve.bone],), frames)
    modes = np.empty(len(bones), np.int32)
    bones.foreach_get("rotation_mode", modes)
    basis = _affine(_bone_rotations(values, modes) * values["scale"][..., None, :], values["location"])
    parents = [number[bone.parent.name] if bone.parent is not None else -1 for bone in bones]
    rests = np.array([bone.bone.matrix_local for bone in bones], np.float64)
    above = np.where((np.array(parents) >= 0)[:, None, None], rests[parents], np.eye(4))
    local = maths.inverse(above) @ rests @ basis
    found = np.broadcast_to(local, (len(frames), *local.shape[1:])).copy()
    for level in _levels(parents):
        found[:, level] = found[:, [parents[place] for place in level]] @ found[:, level]
    return found


def _levels(parents: list[int]) -> list[list[int]]:
    """The bones that have one above them, those with the fewest above them first."""
    children: list[list[int]] = [[] for _ in parents]
    for place, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(place)
    found = []
    level = [child for place, parent in enumerate(parents) if parent < 0 for child in children[place]]
    while level:
        found.append(level)
        level = [child for place in level for child in children[place]]
    return found


def _affine(linear: np.ndarray, location: np.ndarray) -> np.ndarray:
    found = np.zeros((*np.broadcast_shapes(linear.shape[:-2], location.shape[:-1]), 4, 4))
    found[..., :3, :3], found[..., :3, 3], found[..., 3, 3] = linear, location, 1
    return found


def _bone_rotations(values: Values, modes: np.ndarray) -> np.ndarray:
    """(frames, bones, 3, 3), each bone by its own mode."""
    found = {mode: _rotations(values, "rotation", mode) for mode in np.unique(modes).tolist()}
    made = np.empty((max(len(each) for each in found.values()), len(modes), 3, 3))
    for mode, each in found.items():
        made[:, modes == mode] = each[:, modes == mode]
    return made


def _rotations(values: Values, name: str, mode: int) -> np.ndarray:
    """The rotation that counts in this mode, as matrices."""
    if mode == QUATERNION:
        return maths.quaternion_to_matrix(maths.normalized(values[name + "_quaternion"], (0, 1, 0, 0)))  # as Blender does
    if mode == AXIS_ANGLE:
        angle, axis = values[name + "_axis_angle"][..., :1] / 2, maths.normalized(values[name + "_axis_angle"][..., 1:])
        return maths.quaternion_to_matrix(np.concatenate([np.cos(angle), np.sin(angle) * axis], -1))
    first, second, third = (_turn(values[name + "_euler"], "XYZ".index(axis)) for axis in ORDERS[mode - 1])
    return third @ second @ first


def _turn(euler: np.ndarray, axis: int) -> np.ndarray:
    """About one of the three axes."""
    found = np.zeros((*euler.shape[:-1], 3, 3))
    after, last = (axis + 1) % 3, (axis + 2) % 3
    found[..., axis, axis] = 1
    found[..., after, after] = found[..., last, last] = np.cos(euler[..., axis])
    found[..., last, after] = np.sin(euler[..., axis])
    found[..., after, last] = -found[..., last, after]
    return found

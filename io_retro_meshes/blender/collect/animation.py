# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation as it plays: sampled on whole frames, so that NLA, constraints and drivers count, then reduced to few keys."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ... import maths
from ... import scene as neutral
from .. import compat, properties
from .armatures import bone_order, file_axes, pose_matrices
from .objects import ObjectCollector, ancestors

# Below this a pose is the same pose: a part of the model's size.
STILL = 1e-6

# An animation that is longer than that is not played frame by frame.
MOST_FRAMES = 20_000
FEW_FRAMES = 1000

POSE_FIELDS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}


def collect_animation(collector: ObjectCollector, options: Any) -> None:
    """Fills the scene's timeline, or its clips."""
    if options.animation == "NONE":
        return
    scene = collector.scene
    sampler = Sampler(collector, options.key_tolerance)
    with _everything_restored(collector):
        plan = _plan(collector, options.animation)
        if options.animation != "SCENE":
            _let_move(collector)
        if plan.range is not None:
            first, last = plan.range
            scene.timeline = neutral.Clip("timeline", first, last, sampler.tracks(first, last), _markers(plan.assigned))
            scene.clips = [_range(action) for action in plan.sequences]
        if plan.clips:
            rest = _rest(collector, plan)
            for name, owners in plan.clips.items():
                for source, pose in rest:
                    _set_pose(source, pose)
                first, last = _assign(collector, owners)
                settings = properties.collect(owners[0].action)
                scene.clips.append(neutral.Clip(name, first, last, sampler.tracks(first, last), _markers(owners), settings))
        elif plan.range is None:
            frame = collector.context.scene.frame_current
            tracks = sampler.tracks(frame, frame)
            if tracks:
                scene.timeline = neutral.Clip("timeline", frame, frame, tracks)
    scene.interpolation = "SLERP"


# ---------------------------------------------------------------------------------------------------------------- plan


@dataclass
class Owner:
    """An object with an action that moves it."""

    object: bpy.types.Object
    action: bpy.types.Action
    slot: Any = None


@dataclass
class Plan:
    clips: dict[str, list[Owner]]  # each action in turn
    range: tuple[float, float] | None  # or one timeline; both only for formats that have both
    sequences: list[bpy.types.Action]
    assigned: list[Owner]


def _plan(collector: ObjectCollector, mode: str) -> Plan:
    objects = [source for source in collector.objects if source is not None]
    assigned = [
        Owner(source, source.animation_data.action, compat.assigned_slot(source))
        for source in objects
        if source.animation_data and source.animation_data.action
    ]
    timelines = [owner for owner in assigned if owner.action.retro_meshes.role == "TIMELINE"]
    plan = Plan({}, None, [], assigned)
    if mode in ("AUTO", "ACTIONS") and not (mode == "AUTO" and timelines):
        clips = _fitting(objects, assigned)
        # Where every action is in use now, on one object or another, they are one movement of them all.
        together = mode == "AUTO" and set(clips) <= {owner.action.name for owner in assigned}
        if (len(clips) > 1 and not together) or (clips and mode == "ACTIONS"):
            plan.clips = clips
            return plan
        if mode == "AUTO" and clips and not assigned:
            plan.clips = clips
            return plan
    if mode != "SCENE" and assigned:
        spans = [tuple(owner.action.frame_range) for owner in assigned]
        plan.range = (math.floor(min(span[0] for span in spans)), math.ceil(max(span[1] for span in spans)))
        sources = {owner.action for owner in timelines}
        plan.sequences = [
            action
            for action in bpy.data.actions
            if action.retro_meshes.role == "SEQUENCE" and action.retro_meshes.timeline in sources
        ]
        if mode == "AUTO" and timelines and collector.beside_timeline:
            names = {action.name for action in sources}
            plan.clips = {name: owners for name, owners in _fitting(objects, assigned).items() if name not in names}
    elif mode == "SCENE" or any(_driven(source) for source in objects) or _carried(objects):
        plan.range = (collector.context.scene.frame_start, collector.context.scene.frame_end)
    return plan


def _driven(source: bpy.types.Object) -> bool:
    """Moved by something other than an action of its own."""
    data = source.animation_data
    if source.constraints or (data and (data.drivers or data.nla_tracks)):
        return True
    return source.pose is not None and any(bone.constraints for bone in source.pose.bones)


def _carried(objects: list[bpy.types.Object]) -> bool:
    """Something moves with a parent that is not exported."""
    exported = set(objects)
    edge = [source for source in objects if source.parent is not None and source.parent not in exported]
    above = {parent for source in edge for parent in ancestors(source)} - exported
    return any(parent.animation_data or _driven(parent) for parent in above)


def _fitting(objects: list[bpy.types.Object], assigned: list[Owner]) -> dict[str, list[Owner]]:
    """The actions that can play on these objects, by name. Ranges of a timeline are left to it."""
    found: dict[str, list[Owner]] = {}
    used = {(owner.object, owner.action) for owner in assigned}
    for action in bpy.data.actions:
        if action.retro_meshes.role == "SEQUENCE" and action.retro_meshes.timeline is not None:
            continue
        slots = [(slot, _bone_names(curves)) for slot, curves in compat.action_curves(action)]
        for source in objects:
            slot = compat.assigned_slot(source) if (source, action) in used else None
            mine = [(source, action) in used and each == slot for each, _ in slots]
            mine = mine if any(mine) else [each is not None and compat.slot_is_for(each, source) for each, _ in slots]
            mine = mine if any(mine) else [_has_bones(source, names) for _, names in slots]
            if any(mine):
                found.setdefault(action.name, []).append(Owner(source, action, slots[mine.index(True)][0]))
    return found


def _has_bones(source: bpy.types.Object, names: set[str]) -> bool:
    """All the bones that something moves are this armature's."""
    return source.type == "ARMATURE" and bool(names) and all(name in source.pose.bones for name in names)


def _bone_names(curves: list[bpy.types.FCurve]) -> set[str]:
    found = (re.match(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]', curve.data_path) for curve in curves)
    return {bpy.utils.unescape_identifier(match[1]) for match in found if match}


def _range(action: bpy.types.Action) -> neutral.Clip:
    first, last = action.frame_range
    settings = properties.collect(action)
    return neutral.Clip(action.name, float(first), float(last), markers=_markers([Owner(None, action)]), settings=settings)


def _markers(owners: list[Owner]) -> list[tuple[float, str]]:
    actions = dict.fromkeys(owner.action for owner in owners)
    return [(float(marker.frame), marker.name) for action in actions for marker in action.pose_markers]


# ---------------------------------------------------------------------------------------------------- playing an action


@contextlib.contextmanager
def _everything_restored(collector: ObjectCollector) -> Iterator[None]:
    """Puts back the frame, the actions and the poses that sampling changes."""
    scene = collector.context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    objects = [source for source in collector.objects if source is not None]
    tweaked = [source.animation_data for source in objects if source.animation_data and source.animation_data.use_tweak_mode]
    for data in tweaked:
        data.use_tweak_mode = False  # in it the action cannot be changed, and is not the object's own
    actions = [
        (source, source.animation_data.action, compat.assigned_slot(source), source.animation_data.use_nla)
        for source in objects
        if source.animation_data
    ]
    bare = [source for source in objects if not source.animation_data]
    poses = [(source, _pose(source)) for source in objects]
    resting = [(source.data, source.data.pose_position) for source in objects if source.type == "ARMATURE"]
    try:
        yield
    finally:
        for armature, position in resting:
            armature.pose_position = position
        for source, action, slot, use_nla in actions:
            compat.assign_action(source, action, slot)
            source.animation_data.use_nla = use_nla
        for source in bare:
            if source.animation_data:
                source.animation_data_clear()
        for source, pose in poses:
            _set_pose(source, pose)
        for data in tweaked:
            data.use_tweak_mode = True
        scene.frame_set(frame, subframe=subframe)
        for source, pose in poses:
            _set_pose(source, pose)
        collector.context.view_layer.update()


def _let_move(collector: ObjectCollector) -> None:
    """Actions are exported though their armature is shown at rest."""
    for source in collector.objects:
        if source is not None and source.type == "ARMATURE":
            source.data.pose_position = "POSE"


def _pose(source: bpy.types.Object) -> dict[str, Any]:
    saved: dict[str, Any] = {name: getattr(source, name)[:] for name in POSE_FIELDS}
    if source.pose is not None:
        for name, width in POSE_FIELDS.items():
            saved["bones." + name] = np.empty(len(source.pose.bones) * width, np.float32)
            source.pose.bones.foreach_get(name, saved["bones." + name])
    return saved


def _set_pose(source: bpy.types.Object, saved: dict[str, Any]) -> None:
    for name, value in saved.items():
        if name.startswith("bones."):
            source.pose.bones.foreach_set(name[6:], value)
        else:
            setattr(source, name, value)


def _rest(collector: ObjectCollector, plan: Plan) -> list[tuple[bpy.types.Object, dict[str, Any]]]:
    """The pose that every clip starts from: what any of the actions moves is at rest, not where the last one left it."""
    for owner in (owner for owners in plan.clips.values() for owner in owners):
        if owner.object.animation_data:
            owner.object.animation_data.use_nla = False
        if owner.object.pose is None:
            continue
        for _, curves in compat.action_curves(owner.action):
            for name in _bone_names(curves) & set(owner.object.pose.bones.keys()):
                owner.object.pose.bones[name].matrix_basis = Matrix()
    return [(source, _pose(source)) for source in collector.objects if source is not None]


def _assign(collector: ObjectCollector, owners: list[Owner]) -> tuple[float, float]:
    """Gives these objects their actions, all others none; and the frames to play."""
    playing = {owner.object for owner in owners}
    for source in collector.objects:
        if source is not None and source.animation_data and source not in playing:
            source.animation_data.action = None
    for owner in owners:
        compat.assign_action(owner.object, owner.action, owner.slot)
    spans = [owner.action.frame_range for owner in owners]
    return float(math.floor(min(span[0] for span in spans))), float(math.ceil(max(span[1] for span in spans)))


# ------------------------------------------------------------------------------------------------------------ sampling


class Sampler:
    def __init__(self, collector: ObjectCollector, tolerance: float) -> None:
        self.collector = collector
        self.scene = collector.scene
        self.tolerance = tolerance
        self.nodes = [index for index, source in enumerate(collector.objects) if source is not None]
        self.armatures = {index: bone_order(collector.objects[index].data) for index in self.nodes if self._is_rig(index)}
        self.size = _scene_size(self.scene)
        self.told = False

    def _is_rig(self, index: int) -> bool:
        return self.scene.nodes[index].armature is not None

    def tracks(self, first: float, last: float) -> dict[neutral.Target, neutral.Track]:
        """The keys of everything that moves between two frames, or is posed other than it rests."""
        frames = self._frames(first, last)
        worlds, poses = self._play(frames)
        found: dict[neutral.Target, neutral.Track] = {}
        for index in self.nodes:
            node = self.scene.nodes[index]
            skinned = node.mesh >= 0 and self.scene.meshes[node.mesh].skin is not None
            if not skinned:
                self._add(found, (index, -1), frames, self._locals(index, worlds, poses), node.transform)
            for number, bone in enumerate(node.armature.bones if node.armature else ()):
                posed = poses[index]
                local = posed[:, number]
                if bone.parent >= 0:
                    local = _where_seen(_inverse(posed[:, bone.parent]) @ local, _is_flat(posed[:, bone.parent]))
                if bone.transform.prefix is not None and not self._is_still(local, bone.transform):
                    bone.transform = neutral.Transform(*maths.decompose(bone.transform.matrix))  # a bone's shear never lasts
                self._add(found, (index, number), frames, local, bone.transform)
        return found

    def _frames(self, first: float, last: float) -> np.ndarray:
        """Every frame; of a very long animation, some, and those with keys."""
        if last - first <= MOST_FRAMES:
            return np.arange(first, last + 1, dtype=np.float32)
        frames = np.rint(np.linspace(first, last, FEW_FRAMES))
        keys = [np.zeros(0, np.float32)]
        for source in filter(None, self.collector.objects):
            if source.animation_data and source.animation_data.action:
                for _, curves in compat.action_curves(source.animation_data.action):
                    keys += [curve_frames(curve) for curve in curves]
        keyed = np.clip(np.rint(np.concatenate(keys)), first, last)
        if not self.told:
            self.told = True
            self.scene.warnings.append(
                f"The animation has {last - first:.0f} frames; only {len(frames)} and the keyed ones were exported."
            )
        return np.union1d(frames, keyed).astype(np.float32)

    def _play(self, frames: np.ndarray) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
        """World matrices of objects, and bones in their armature's space in the file's axes, at every frame."""
        context, objects = self.collector.context, self.collector.objects
        worlds = {index: np.empty((len(frames), 4, 4)) for index in self.nodes}
        poses = {index: np.empty((len(frames), len(bones), 4, 4)) for index, bones in self.armatures.items()}
        names = {index: [bone.name for bone in bones] for index, bones in self.armatures.items()}
        manager = context.window_manager
        manager.progress_begin(0, len(frames))
        for number, frame in enumerate(frames):
            manager.progress_update(number)
            context.scene.frame_set(int(frame))
            depsgraph = context.evaluated_depsgraph_get()
            for index in self.nodes:
                evaluated = objects[index].evaluated_get(depsgraph)
                worlds[index][number] = maths.bounded(np.array(evaluated.matrix_world))
                if index in poses:
                    poses[index][number] = pose_matrices(evaluated, names[index])
        manager.progress_end()
        return worlds, {index: posed @ file_axes(self.armatures[index]) for index, posed in poses.items()}

    def _locals(self, index: int, worlds: dict[int, np.ndarray], poses: dict[int, np.ndarray]) -> np.ndarray:
        node = self.scene.nodes[index]
        if node.parent < 0:
            return worlds[index]
        above = worlds[self.collector.holder(node.parent)]
        if node.parent_bone >= 0:
            above = above @ poses[node.parent][:, node.parent_bone]
        return _inverse(above) @ worlds[index]

    def _is_still(self, local: np.ndarray, rest: neutral.Transform) -> bool:
        return bool(np.abs(local - rest.matrix).max() <= STILL * self.size)

    def _warn_of_shear(self, target: neutral.Target, shear: float) -> None:
        node, bone = target
        owner = self.scene.nodes[node] if bone < 0 else self.scene.nodes[node].armature.bones[bone]
        warning = f'"{owner.name}" is sheared as it moves, which an animation cannot hold: the nearest pose was exported'
        if shear > 0.01 and warning not in self.scene.warnings:
            self.scene.warnings.append(warning)

    def _add(
        self,
        found: dict[neutral.Target, neutral.Track],
        target: neutral.Target,
        frames: np.ndarray,
        local: np.ndarray,
        rest: neutral.Transform,
    ) -> None:
        if self._is_still(local, rest):
            return
        if rest.prefix is not None:
            local = _inverse(rest.prefix[None].astype(np.float64)) @ local
        location, rotation, scale = maths.decompose(local)
        self._warn_of_shear(target, np.abs(maths.compose(location, rotation, scale) - local)[:, :3, :3].max())
        track = neutral.Track()
        for name, values, still, tolerance, kind in (
            ("location", location, STILL * self.size, self.tolerance * self.size, ""),
            ("rotation", maths.continuous(rotation), STILL, self.tolerance, "SLERP"),
            ("scale", scale, STILL, self.tolerance, ""),
        ):
            if maths.key_error(getattr(rest, name)[None].astype(np.float64), values, kind).max() > still:
                keep = maths.reduce_keys(frames, values, tolerance, kind)
                setattr(track, name, neutral.Channel(frames[keep], values[keep].astype(np.float32)))
        if track != neutral.Track():
            found[target] = track


def curve_frames(curve: bpy.types.FCurve) -> np.ndarray:
    points = np.empty(len(curve.keyframe_points) * 2, np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points[::2]


def _is_flat(matrices: np.ndarray) -> np.ndarray:
    """Which matrices have no inverse: a scale of zero."""
    return np.abs(np.linalg.det(matrices[..., :3, :3])) < 1e-18


def _inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses; of a matrix that has none, the nearest thing."""
    return np.linalg.pinv(matrices) if _is_flat(matrices).any() else np.linalg.inv(matrices)


def _where_seen(local: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """What a bone does on a vanished one cannot be told from the pose: as on the nearest frame where it can."""
    seen = np.flatnonzero(~flat)
    if not len(seen) or len(seen) == len(flat):
        return local
    after = np.clip(np.searchsorted(seen, np.arange(len(flat))), 0, len(seen) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(seen[before] - np.arange(len(flat))) < np.abs(seen[after] - np.arange(len(flat)))
    return local[seen[np.where(nearer, before, after)]]


def _scene_size(scene: neutral.Scene) -> float:
    sizes = [float(np.linalg.norm(np.ptp(mesh.positions, 0))) for mesh in scene.meshes if len(mesh.positions)]
    return max(sizes, default=1.0) or 1.0

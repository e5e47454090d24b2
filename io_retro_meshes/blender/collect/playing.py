# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets objects play one action after the other while they are sampled, and leaves everything as it was."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import bpy
import numpy as np

from .. import compat
from ..animations import Owner
from ..renamed import follow
from ..rest import POSE_FIELDS, Other, channels, others, set_rest

Pose = dict[str, Any]


class Stage:
    """While it is entered, actions, poses and the frame may be changed: they are put back at the end."""

    def __init__(self, context: bpy.types.Context, objects: list[bpy.types.Object], owners: list[Owner]) -> None:
        """`owners`: with all actions that may be assigned."""
        self.context = context
        self.objects = objects
        self.owners = owners
        self.others: list[Other] = []
        self.rest: list[tuple[bpy.types.Object, Pose]] = []

    def __enter__(self) -> Stage:
        scene = self.context.scene
        self.frame = scene.frame_current, scene.frame_subframe
        data = [source.animation_data for source in self.objects if source.animation_data]
        self.tweaked = [each for each in data if each.use_tweak_mode]
        for each in self.tweaked:
            each.use_tweak_mode = False  # in it the action cannot be changed, and is not the object's own
        self.actions = [
            (source, source.animation_data.action, compat.assigned_slot(source), source.animation_data.use_nla)
            for source in self.objects
            if source.animation_data
        ]
        self.slots = [(source, compat.last_slot(source)) for source in self.objects if source.animation_data]
        self.bare = [source for source in self.objects if not source.animation_data]
        self.poses = [(source, _pose(source)) for source in self.objects]
        self.renamed = follow((owner.object, owner.action) for owner in self.owners)
        self.others = others(self.owners)
        self.resting = [(source.data, source.data.pose_position) for source in self.objects if source.type == "ARMATURE"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for armature, position in self.resting:
            armature.pose_position = position
        for curve, path in self.renamed:
            curve.data_path = path
        for source, action, slot, use_nla in self.actions:
            compat.assign_action(source, action, slot)
            source.animation_data.use_nla = use_nla
        for source, identifier in self.slots:
            compat.set_last_slot(source, identifier)
        for source in self.bare:
            if source.animation_data:
                source.animation_data_clear()
        self._set_poses(self.poses)
        self._put_back()
        for data in self.tweaked:
            data.use_tweak_mode = True
        self.context.scene.frame_set(self.frame[0], subframe=self.frame[1])
        self._set_poses(self.poses)
        self._put_back()
        self.context.view_layer.update()

    def _put_back(self) -> None:
        for other in self.others:
            other.put_back()

    @staticmethod
    def _set_poses(poses: list[tuple[bpy.types.Object, Pose]]) -> None:
        for source, pose in poses:
            _set_pose(source, pose)

    def let_move(self) -> None:
        """Actions are exported though their armature is shown at rest."""
        for armature, _ in self.resting:
            armature.pose_position = "POSE"

    def show(self, base: list[Owner], others: list[Owner]) -> None:
        """Gives objects their timelines back on the current frame, whatever was assigned. What only other actions move is at
        rest, not where one of them left it."""
        kept = {channel for owner in base for channel in channels(owner)}
        extra = {channel for owner in others for channel in channels(owner)} - kept
        changed = [owner for owner in base if not _is_assigned(owner)]
        if changed or extra:
            for channel in extra:
                set_rest(*channel)
            self.assign(changed)
            self.context.scene.frame_set(self.frame[0], subframe=self.frame[1])

    def start_from_rest(self, owners: list[Owner]) -> None:
        """From now on, what any of these actions moves is at rest where it has no key, not where another one left it."""
        for channel in {channel for owner in owners for channel in channels(owner)}:
            set_rest(*channel)
        self.rest = [(source, _pose(source)) for source in self.objects]

    def assign(self, owners: list[Owner], alone: bool = False) -> None:
        """Gives these objects their actions, without their NLA. All others keep theirs, or lose them."""
        self._set_poses(self.rest)
        self._put_back()
        playing = {owner.object for owner in owners}
        for source in self.objects:
            if alone and source.animation_data and source not in playing:
                source.animation_data.action = None
        for owner in owners:
            if owner.object.animation_data and (alone or not _is_assigned(owner)):
                owner.object.animation_data.use_nla = False
            compat.assign_action(owner.object, owner.action, owner.slot)


def _is_assigned(owner: Owner) -> bool:
    data = owner.object.animation_data
    return bool(data and data.action == owner.action and compat.assigned_slot(owner.object) == owner.slot)


def _pose(source: bpy.types.Object) -> Pose:
    saved: Pose = {name: getattr(source, name)[:] for name in POSE_FIELDS}
    if source.pose is not None:
        for name, width in POSE_FIELDS.items():
            saved["bones." + name] = np.empty(len(source.pose.bones) * width, np.float32)
            source.pose.bones.foreach_get(name, saved["bones." + name])
    return saved


def _set_pose(source: bpy.types.Object, saved: Pose) -> None:
    for name, value in saved.items():
        if name.startswith("bones."):
            source.pose.bones.foreach_set(name[6:], value)
        else:
            setattr(source, name, value)

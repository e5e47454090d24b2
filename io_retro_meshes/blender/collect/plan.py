# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the animations of the exported objects are written, and which are left out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import bpy

from .. import compat
from ..animations import Animation, Owner, assigned_owner, own_actions, parts_of, played_frames, timeline_owner
from ..fingerprints import is_edited
from ..rest import channels
from .objects import ancestors

Frames = tuple[float, float]

MOST_NAMES = 12  # in a warning

LEFT_OUT = {
    "NONE": "No animation was exported",
    "ACTIVE": "Only what is assigned now was exported",
    "SCENE": "Only the scene's range was exported, without names of parts of it",
}


@dataclass
class Plan:
    """One timeline with named parts, or clips with frames of their own, or both."""

    base: list[Owner] = field(default_factory=list)  # what the timeline is played with
    range: Frames | None = None
    parts: list[Animation] = field(default_factory=list)
    clips: list[Animation] = field(default_factory=list)
    imported: bool = False  # the timeline is that of a file: its parts are written as they were edited
    left_out: list[str] = field(default_factory=list)

    @property
    def owners(self) -> list[Owner]:
        """Of everything that may be played."""
        return [*self.base, *(owner for animation in [*self.parts, *self.clips] for owner in animation.owners)]


def make_plan(objects: list[bpy.types.Object], scene: bpy.types.Scene, mode: str) -> Plan:
    if mode in ("AUTO", "ACTIONS"):
        if any(timeline_owner(source) is not None for source in objects):
            return _timeline_plan(objects, mode)
        plan = _clips_plan(objects, mode)
        if plan is not None:
            return plan
    plan = Plan()
    if mode in ("AUTO", "ACTIONS", "ACTIVE"):
        plan = _assigned_plan(objects, scene)
    if mode == "SCENE" or (plan.range is None and mode != "NONE" and _is_moved(objects)):
        plan.range = (scene.frame_start, scene.frame_end)
    if mode in LEFT_OUT:
        plan.left_out = _left_out(objects, plan, mode)
    return plan


def _timeline_plan(objects: list[bpy.types.Object], mode: str) -> Plan:
    """The timeline of an imported file, its parts, and what else there is, whatever is assigned."""
    owners = [timeline_owner(source) or assigned_owner(source) for source in objects]
    plan = Plan([owner for owner in owners if owner is not None], imported=True)
    plan.range = _range(plan.base)
    plan.parts = parts_of(objects)
    playing = {owner.action for owner in plan.base}
    plan.clips = [clip for clip in own_actions(objects, mode == "ACTIONS") if not playing & set(clip.actions)]
    lone = plan.base[0].action if len(playing) == 1 else None
    if plan.clips and lone is not None and lone.retro_meshes.role == "ACTION":
        plan.parts = [Animation(lone.name, "TIMELINE", plan.base)]  # what was all the file had is one of several now
    return plan


def _clips_plan(objects: list[bpy.types.Object], mode: str) -> Plan | None:
    """Each action in turn; None where the assigned ones are all there is."""
    clips = own_actions(objects, mode == "ACTIONS")
    assigned = {owner.action for source in objects if (owner := assigned_owner(source)) is not None}
    # Where every action is in use now, on one object or another, they are one movement of them all.
    together = mode == "AUTO" and {action for clip in clips for action in clip.actions} <= assigned
    if clips and (mode == "ACTIONS" or not assigned or (len(clips) > 1 and not together)):
        return Plan(clips=clips)
    return None


def _assigned_plan(objects: list[bpy.types.Object], scene: bpy.types.Scene) -> Plan:
    """What is assigned now, at its own frames. A single action keeps its name."""
    assigned = [owner for source in objects if (owner := assigned_owner(source)) is not None]
    plan = Plan(assigned)
    if not assigned:
        return plan
    plan.range = _range(assigned)
    if plan.range[0] == plan.range[1] and any(has_no_end(owner.action) for owner in assigned):
        plan.range = (scene.frame_start, scene.frame_end)
    actions = {owner.action for owner in assigned}
    timelines = {owner.action for source in objects if (owner := timeline_owner(source)) is not None}
    if actions & timelines:
        plan.parts = [part for part in parts_of(objects) if {action.retro_meshes.timeline for action in part.actions} & actions]
    else:
        plan.parts = [each for each in [*parts_of(objects), *own_actions(objects)] if set(each.actions) >= actions]
    return plan


def _range(owners: list[Owner]) -> Frames:
    spans = [played_frames(action) for action in {owner.action for owner in owners}]
    return math.floor(min(span[0] for span in spans)), math.ceil(max(span[1] for span in spans))


# ------------------------------------------------------------------------------------------------------ what moves


def _is_moved(objects: list[bpy.types.Object]) -> bool:
    """By something other than actions of the objects' own."""
    return any(_driven(source) for source in objects) or _carried(objects)


def has_no_end(action: bpy.types.Action) -> bool:
    """Does it move beyond its keys, as noise does?"""
    curves = [curve for _, found in compat.action_curves(action) for curve in found]
    return any(not modifier.mute for curve in curves for modifier in curve.modifiers)


def _driven(source: bpy.types.Object) -> bool:
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


# ---------------------------------------------------------------------------------------------- what is left out


def _left_out(objects: list[bpy.types.Object], plan: Plan, mode: str) -> list[str]:
    """A warning with the names of the animations that the chosen way of exporting does not write."""
    playing = _playing(objects) if mode != "NONE" else set()
    timelines = {owner.action for source in objects if (owner := timeline_owner(source)) is not None}
    kept = {action for part in plan.parts for action in part.actions if not is_edited(action) or action in playing}
    names = [action.name for action in timelines - playing]
    names += [
        animation.name
        for animation in [*parts_of(objects), *own_actions(objects)]
        if not set(animation.actions) <= (kept if animation.role == "SEQUENCE" else playing)
    ]
    if not names:
        return []
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    shown = ", ".join(f'"{name}"' for name in sorted(names)[:MOST_NAMES])
    return [f"{LEFT_OUT[mode]}, as the option Animation says. Left out: {shown}{more}"]


def missing_bones(owners: list[Owner]) -> list[str]:
    """Blender renames a bone in the assigned action alone: the others of its model then move a bone that is not there."""
    lost: dict[tuple[str, str], list[str]] = {}
    for owner in owners:
        if owner.object.pose is None or not owner.action.retro_meshes.model:
            continue
        for bone in sorted({bone for _, bone, _ in channels(owner) if bone and bone not in owner.object.pose.bones}):
            lost.setdefault((bone, owner.object.name), []).append(owner.action.name)
    return [
        f'"{bone}" is no bone of "{rig}": what it does in {", ".join(dict.fromkeys(names))} was left out. '
        "If the bone was renamed, give the curves its new name"
        for (bone, rig), names in lost.items()
    ]


def _playing(objects: list[bpy.types.Object]) -> set[bpy.types.Action]:
    """Assigned, or in a strip of the NLA."""
    found: set[bpy.types.Action] = set()
    for data in (source.animation_data for source in objects if source.animation_data):
        strips = [strip for track in data.nla_tracks for strip in track.strips]
        found.update(filter(None, [data.action, *(strip.action for strip in strips)]))
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""Which animations a model has: its timeline, the named parts of it, and actions of their own.

The exporters and the player ask here, so that what is listed is what is written. An import marks all that it makes with the
same text (`retro_meshes.model`), and every object remembers its timeline: whatever is assigned now, both are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import bpy

from . import compat, properties

BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')


@dataclass
class Owner:
    """An object with an action that moves it."""

    object: bpy.types.Object
    action: bpy.types.Action
    slot: Any = None


@dataclass
class Animation:
    """One choice for a person: the action, or before slots the actions, of all that moves in it."""

    name: str
    role: str  # TIMELINE, SEQUENCE or ACTION, as in ActionSettings
    owners: list[Owner] = field(default_factory=list)

    @property
    def actions(self) -> list[bpy.types.Action]:
        return list(dict.fromkeys(owner.action for owner in self.owners))

    @property
    def frames(self) -> tuple[float, float]:
        """As Blender has them."""
        spans = [tuple(action.frame_range) for action in self.actions]
        return min(span[0] for span in spans), max(span[1] for span in spans)


# --------------------------------------------------------------------------------------------------- what is whose


def model_of(source: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The objects that came with this one; of one that was made here, those above and below it."""
    if source.retro_meshes.model:
        return [other for other in scene.objects if other.retro_meshes.model == source.retro_meshes.model]
    root = source
    while root.parent is not None:
        root = root.parent
    family = {root, *root.children_recursive}
    return [other for other in scene.objects if other in family]


def assigned_owner(source: bpy.types.Object) -> Owner | None:
    data = source.animation_data
    return Owner(source, data.action, compat.assigned_slot(source)) if data and data.action else None


def timeline_owner(source: bpy.types.Object) -> Owner | None:
    """The object with its timeline: the assigned one if it is a timeline, else the one that an import gave it."""
    assigned = assigned_owner(source)
    remembered = source.retro_meshes.timeline
    if assigned is not None and (assigned.action.retro_meshes.role == "TIMELINE" or assigned.action == remembered):
        return assigned
    if remembered is None:
        return None
    slot = _slot(remembered, source)
    return None if compat.HAS_SLOTS and slot is None else Owner(source, remembered, slot)


def _slot(action: bpy.types.Action, source: bpy.types.Object) -> Any:
    """The slot that is meant for the object. Blender does not rename slots with objects: an imported one has the first name."""
    names = [source.retro_meshes.slot, source.name, compat.last_slot(source)[2:]]
    meta = action.retro_meshes
    if meta.owner and meta.owner == source.retro_meshes.slot:
        return compat.only_slot(action)  # made before there were slots
    return compat.slot_for(action, source, names if meta.model else [names[1], names[2], names[0]])


def parts_of(objects: Iterable[bpy.types.Object]) -> list[Animation]:
    """The named parts of the objects' timelines, in the order of the file."""
    timelines: dict[bpy.types.Action, list[bpy.types.Object]] = {}
    for source in objects:
        owner = timeline_owner(source)
        for action in {owner.action, source.retro_meshes.timeline} if owner else ():
            if action is not None:
                timelines.setdefault(action, []).append(source)
    found: dict[Any, Animation] = {}
    for action in sorted(_originals(timelines), key=lambda action: action.retro_meshes.place):
        meta = action.retro_meshes
        owners = [
            Owner(source, action, slot)
            for source in timelines[meta.timeline]
            if (slot := _slot(action, source)) is not None or not compat.HAS_SLOTS
        ]
        if owners or not has_keys(action):
            part = found.setdefault((meta.model, _place(action)), Animation(_name(action), "SEQUENCE"))
            part.owners += owners or [Owner(source, action) for source in timelines[meta.timeline]]
    return list(found.values())


def _originals(timelines: Iterable[bpy.types.Action]) -> list[bpy.types.Action]:
    """The actions that are parts of these timelines. A copy that a person has made of one is an action of its own."""
    found: dict[Any, bpy.types.Action] = {}
    for action in bpy.data.actions:
        meta = action.retro_meshes
        if meta.role != "SEQUENCE" or meta.timeline not in timelines or not action.users:
            continue
        key = meta.timeline, _place(action)
        found[key] = min(found.get(key, action), action, key=_by_age)
    return list(found.values())


def _place(action: bpy.types.Action) -> int | str:
    """Which of the file's animations it is. Files of earlier versions do not say it."""
    return action.retro_meshes.place if action.retro_meshes.fingerprint else action.name


def _by_age(action: bpy.types.Action) -> tuple[bool, int]:
    return not action.name.startswith(action.retro_meshes.name), action.session_uid


def has_keys(action: bpy.types.Action) -> bool:
    return any(curves for _, curves in compat.action_curves(action))


def _name(action: bpy.types.Action) -> str:
    """The animation's name for the file: the file's own while nobody has renamed the action."""
    owner = action.retro_meshes.owner  # before slots, it is in the action's name
    return properties.file_name(action, action.name.removesuffix(f" {owner}") if owner else action.name)


# -------------------------------------------------------------------------------------------- actions of their own


def own_actions(objects: list[bpy.types.Object], every: bool = False) -> list[Animation]:
    """The actions that can play on these objects and are not part of a timeline, imported ones first.

    An imported action is its model's: another model has it only when it is assigned there; or, with `every`, when nothing is
    left of its own.
    """
    models = {source.retro_meshes.model for source in objects} - {""}
    if every:
        models |= _orphans()
    timelines = {owner.action for source in objects if (owner := timeline_owner(source)) is not None}
    parts = {action for part in parts_of(objects) for action in part.actions}
    found: dict[Any, Animation] = {}
    for action in sorted(bpy.data.actions, key=_by_place):
        meta = action.retro_meshes
        if action in timelines or action in parts:
            continue
        mine = not meta.model or meta.model in models
        owners = [owner for source in objects if (owner := _fitting(action, source, mine)) is not None]
        owners = [owner for owner in owners if mine or owner.object.animation_data.action == action]
        if owners and not _is_left_to_its_timeline(action, objects):
            grouped = meta.owner and meta.role == "ACTION"  # without slots, one of several actions
            key = (meta.model, meta.place) if grouped else action
            name = _name(action) if meta.role == "ACTION" else action.name
            moved = {owner.object for owner in found[key].owners} if key in found else set()
            if any(owner.object in moved for owner in owners):  # a copy of one that is there
                key = action
            found.setdefault(key, Animation(name, "ACTION")).owners += owners
    return list(found.values())


def _by_place(action: bpy.types.Action) -> tuple[Any, ...]:
    """Imported ones first, each before its copies."""
    meta = action.retro_meshes
    return (meta.place, *_by_age(action)) if meta.model else (1e9,)


def _orphans() -> set[str]:
    """Models of which only actions are left."""
    alive = {source.retro_meshes.model for source in bpy.data.objects}
    return {action.retro_meshes.model for action in bpy.data.actions} - alive


def is_part(action: bpy.types.Action) -> bool:
    """A part of a timeline, and no copy of one."""
    meta = action.retro_meshes
    return meta.role == "SEQUENCE" and meta.timeline is not None and action in _originals({meta.timeline})


def _is_left_to_its_timeline(action: bpy.types.Action, objects: list[bpy.types.Object]) -> bool:
    """Timelines and parts of them are no actions of their own, unless somebody has made a copy to be one."""
    meta = action.retro_meshes
    if any(source.animation_data and source.animation_data.action == action for source in objects):
        return False
    if meta.role == "TIMELINE" or (meta.role == "SEQUENCE" and not action.users):
        return True
    return is_part(action)


def _fitting(action: bpy.types.Action, source: bpy.types.Object, mine: bool) -> Owner | None:
    """The object with this action, if it can play it."""
    used = next((owner for owner in owners_of(source) if owner.action == action), None)
    if used is not None and (mine or used == assigned_owner(source)):
        return used
    if not mine:
        return None
    others = _taken(action, source)
    slot = _slot(action, source)
    if slot is not None and slot not in others:
        return Owner(source, action, slot)
    meta = action.retro_meshes
    if any(other.retro_meshes.model == meta.model for other in bpy.data.objects if meta.model):  # it is known whose it is
        own = meta.model == source.retro_meshes.model and meta.owner and meta.owner == source.retro_meshes.slot
        return Owner(source, action) if own else None
    for slot, curves in compat.action_curves(action):
        if slot not in others and _has_bones(source, curves):
            return Owner(source, action, slot)
    return None


def owners_of(source: bpy.types.Object) -> list[Owner]:
    """The actions that an object has: the assigned one, and those in strips of its NLA."""
    data = source.animation_data
    strips = [strip for track in data.nla_tracks for strip in track.strips if strip.action] if data else []
    assigned = assigned_owner(source)
    found = [] if assigned is None else [assigned]
    return found + [Owner(source, strip.action, compat.strip_slot(strip)) for strip in strips]


def _taken(action: bpy.types.Action, source: bpy.types.Object) -> list[Any]:
    """The slots of an action that are another object's: it has them, or they have its name. Before slots, None is the slot."""
    others = [other for other in bpy.data.objects if other != source]
    found = [owner.slot for other in others for owner in owners_of(other) if owner.action == action]
    if not compat.HAS_SLOTS:
        return found or [None for other in others if not _is_for(action, source) and _is_for(action, other)]
    names = {other.name for other in others if other.type == source.type}
    own = {source.name, source.retro_meshes.slot, compat.last_slot(source)[2:]}
    return found + [slot for slot in action.slots if slot.name_display in names - own]


def _is_for(action: bpy.types.Action, source: bpy.types.Object) -> bool:
    """The name of the action has the object's in it, as "Walk Hero" and "Hero|Walk"."""
    return source.name.casefold() in action.name.casefold()


def _has_bones(source: bpy.types.Object, curves: list[bpy.types.FCurve]) -> bool:
    """All the bones that something moves are this armature's, and there is one."""
    if source.type != "ARMATURE":
        return False
    known = source.pose.bones
    found = [match for curve in curves if (match := BONE_PATH.match(curve.data_path))]
    return bool(found) and all(bpy.utils.unescape_identifier(match[1]) in known for match in found)


# ------------------------------------------------------------------------------------------------------ for people


def animations_of(objects: list[bpy.types.Object]) -> list[Animation]:
    """Everything that the model can play: the whole timeline first, then its parts, then what has frames of its own."""
    owners = [owner for source in objects if (owner := timeline_owner(source)) is not None]
    whole = [Animation(owners[0].action.name, "TIMELINE", owners)] if owners else []
    return [*whole, *parts_of(objects), *own_actions(objects)]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Which animations a model has: its timeline, the named parts of it, and actions of their own.

The exporters and the player ask here, so that what is listed is what is written. An import marks all that it makes with the
same text (`retro_meshes.model`), and every object remembers its timeline: whatever is assigned now, both are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import bpy

from . import compat, properties
from .renamed import bone_of, new_names


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
        """As an export writes them."""
        spans = [played_frames(action) for action in self.actions]
        return min(span[0] for span in spans), max(span[1] for span in spans)


def _nearly_whole(frame: float) -> float:
    """Importers that work in seconds leave keys on frame 0.999999, which is meant to be 1."""
    return float(round(frame)) if abs(frame - round(frame)) < 1e-3 else frame


def played_frames(action: bpy.types.Action) -> tuple[float, float]:
    """The frames of an action: those that a person has set; else those of the file, and of keys that were added outside."""
    first, last = (float(frame) for frame in action.frame_range)
    meta = action.retro_meshes
    if not meta.fingerprint or (first, last) != tuple(meta.frames):
        return _nearly_whole(first), _nearly_whole(last)
    span = action.curve_frame_range[:] if has_keys(action) else tuple(meta.keyed)
    slid = span[0] - meta.keyed[0]
    if slid and abs(span[1] - meta.keyed[1] - slid) < 1e-3:
        return first + slid, last + slid  # all keys were moved by as much
    first = min(first, span[0]) if span[0] < meta.keyed[0] else first
    last = max(last, span[1]) if span[1] > meta.keyed[1] else last
    return first, last


# --------------------------------------------------------------------------------------------------- what is whose


def model_of(source: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The objects that came with this one; of one that was made here, or of a copy of a model, those above and below it."""
    root = source
    while root.parent is not None:
        root = root.parent
    above_and_below = {root, *root.children_recursive}
    family = [other for other in scene.objects if other in above_and_below]
    if not source.retro_meshes.model:
        return family
    model = [other for other in scene.objects if other.retro_meshes.model == source.retro_meshes.model]
    slots = {other.retro_meshes.slot for other in model}
    copied = len(slots) < len(model)
    return family if copied and slots <= {other.retro_meshes.slot for other in family} else model


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
    return compat.slot_for(action, source, names if meta.model else [names[2], names[1], names[0]])


def parts_of(objects: Iterable[bpy.types.Object]) -> list[Animation]:
    """The named parts of the objects' timelines, in the order of the file."""
    timelines: dict[bpy.types.Action, list[bpy.types.Object]] = {}
    for source in objects:
        owner = timeline_owner(source)
        for action in {owner.action, source.retro_meshes.timeline} if owner else ():
            if action is not None:
                timelines.setdefault(action, []).append(source)
    found: dict[Any, Animation] = {}
    wholes = _wholes(timelines)
    for action in sorted(_originals(timelines), key=lambda action: action.retro_meshes.place):
        meta = action.retro_meshes
        sources = list(dict.fromkeys(source for whole in wholes[action] for source in timelines[whole]))
        owners = [
            Owner(source, action, slot)
            for source in sources
            if (slot := _slot(action, source)) is not None or not compat.HAS_SLOTS
        ]
        if owners or not has_keys(action):
            part = found.setdefault((meta.model, _place(action)), Animation(_name(action), "SEQUENCE"))
            part.name = _new_name(part.name, action)
            part.owners += owners or [Owner(source, action) for source in sources]
    return list(found.values())


def _originals(timelines: Iterable[bpy.types.Action]) -> list[bpy.types.Action]:
    """The actions that are parts of these timelines. A copy that a person has made of one is an action of its own."""
    found: dict[Any, bpy.types.Action] = {}
    listed = _listed()
    gone = _deleted(listed)
    for action in _wholes(timelines):
        meta = action.retro_meshes
        if meta.role != "SEQUENCE" or action in gone or not action.users:
            continue
        key = meta.timeline, _place(action)
        found[key] = min(found.get(key, action), action, key=lambda action: (not listed[action], *_by_age(action)))
    return list(found.values())


def _wholes(timelines: Iterable[bpy.types.Action]) -> dict[bpy.types.Action, list[bpy.types.Action]]:
    """The parts of these timelines, each with those that it is a part of: the one it was cut from, and copies of that."""
    found: dict[bpy.types.Action, list[bpy.types.Action]] = {}
    for whole in timelines:
        for link in whole.retro_meshes.parts:
            if link.action is not None:
                found.setdefault(link.action, []).append(whole)
    for action in bpy.data.actions:
        own = action.retro_meshes.timeline
        if own is not None and own in timelines and own not in found.setdefault(action, []):
            found[action].append(own)
    return found


def _listed() -> Counter[bpy.types.Action]:
    """How often each action is in the list that an import made of what belongs together."""
    links = [link for action in bpy.data.actions for link in action.retro_meshes.parts]
    links += [link for source in bpy.data.objects for link in source.retro_meshes.clips]
    return Counter(link.action for link in links if link.action is not None)


def _deleted(listed: Counter[bpy.types.Action]) -> set[bpy.types.Action]:
    """Imported actions that nothing but a list uses any more: a person has thrown them away, without their fake user. Where no
    action of the model has one, it was appended from another .blend file: that takes them from all."""
    imported = [action for action in bpy.data.actions if listed[action] or action.retro_meshes.role == "TIMELINE"]
    kept = {action.retro_meshes.model for action in imported if action.use_fake_user}
    return {action for action in imported if 0 < listed[action] >= action.users and action.retro_meshes.model in kept}


def is_made_here(action: bpy.types.Action) -> bool:
    """No import has made it, but a person; perhaps as a copy of what one has made."""
    return action.retro_meshes.role != "TIMELINE" and not _listed()[action]


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


def _new_name(name: str, action: bpy.types.Action) -> str:
    """Of several actions of one animation any may have been renamed."""
    own = _name(action)
    return own if own != action.retro_meshes.name else name


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
    left, uses = _left_to_timelines(), _Uses()
    for action in sorted(bpy.data.actions, key=_by_place):
        meta = action.retro_meshes
        if action in timelines or action in parts:
            continue
        mine = not meta.model or meta.model in models
        owners = [owner for source in objects if (owner := _fitting(action, source, mine, uses)) is not None]
        owners = [owner for owner in owners if mine or owner.object.animation_data.action == action]
        if owners and (action not in left or _is_assigned(action, objects)):
            grouped = meta.owner and meta.role == "ACTION"  # without slots, one of several actions
            key = (meta.model, meta.place) if grouped else action
            name = _name(action) if meta.role == "ACTION" else action.name
            moved = {owner.object for owner in found[key].owners} if key in found else set()
            if any(owner.object in moved for owner in owners):  # a copy of one that is there
                key = action
            own = found.setdefault(key, Animation(name, "ACTION"))
            own.name = own.name if key == action else _new_name(own.name, action)
            own.owners += owners
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


def _left_to_timelines() -> set[bpy.types.Action]:
    """Timelines, parts of them, and what was deleted: no actions of their own. A copy that somebody has made of a part is."""
    parts = [action for action in bpy.data.actions if action.retro_meshes.role == "SEQUENCE"]
    found = {action for action in bpy.data.actions if action.retro_meshes.role == "TIMELINE"}
    found |= set(_originals({action.retro_meshes.timeline for action in parts} - {None})) | _deleted(_listed())
    # Earlier versions made no lists of parts: there what has no user was deleted.
    return found | {
        action
        for action in parts
        if not action.users and action.retro_meshes.timeline and not action.retro_meshes.timeline.retro_meshes.parts
    }


def _is_assigned(action: bpy.types.Action, objects: list[bpy.types.Object]) -> bool:
    return any(source.animation_data and source.animation_data.action == action for source in objects)


def _fitting(action: bpy.types.Action, source: bpy.types.Object, mine: bool, uses: _Uses) -> Owner | None:
    """The object with this action, if it can play it."""
    used = next((owner for owner in uses.of.get(action, ()) if owner.object == source), None)
    if used is not None and (mine or used == assigned_owner(source)):
        return used
    if not mine:
        return None
    others = uses.taken(action, source)
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


class _Uses:
    """Which objects have which actions, of all there are: looked up once, since each action is tried on each object."""

    def __init__(self) -> None:
        self.of: dict[bpy.types.Action, list[Owner]] = {}
        self.names: dict[str, set[str]] = {}  # of objects, by their type
        self.slots: dict[str, set[str]] = {}  # that they have had
        self.told: dict[bpy.types.Action, bool] = {}
        for source in bpy.data.objects:
            self.names.setdefault(source.type, set()).add(source.name)
            self.slots.setdefault(source.type, set()).update(_used_slots(source))
            for owner in owners_of(source):
                self.of.setdefault(owner.action, []).append(owner)

    def taken(self, action: bpy.types.Action, source: bpy.types.Object) -> list[Any]:
        """The slots of an action that are another object's: it has them, or they have its name, or the one it had before it
        was renamed. Before slots, None is the slot."""
        found = [owner.slot for owner in self.of.get(action, ()) if owner.object != source]
        if not compat.HAS_SLOTS:
            return found or ([None] if not _is_for(action, source) and self._has_a_name_in(action) else [])
        own = _used_slots(source)
        names = (self.slots[source.type] - own) | (self.names[source.type] - own - {source.name})
        return found + [slot for slot in action.slots if slot.name_display in names]

    def _has_a_name_in(self, action: bpy.types.Action) -> bool:
        """Has the action any object's name in its own?"""
        if action not in self.told:
            self.told[action] = any(_is_for(action, other) for other in bpy.data.objects)
        return self.told[action]


def _used_slots(source: bpy.types.Object) -> set[str]:
    """The names of slots that an object has had, whatever it is called by now."""
    return {source.retro_meshes.slot, compat.last_slot(source)[2:]} - {""}


def _is_for(action: bpy.types.Action, source: bpy.types.Object) -> bool:
    """The name of the action has the object's in it, as "Walk Hero" and "Hero|Walk"."""
    return source.name.casefold() in action.name.casefold()


def _has_bones(source: bpy.types.Object, curves: list[bpy.types.FCurve]) -> bool:
    """All the bones that something moves are this armature's, and there is one."""
    if source.type != "ARMATURE":
        return False
    armature: Any = source.data
    found = {bone_of(curve.data_path) for curve in curves} - {""}
    return bool(found) and found <= {*source.pose.bones.keys(), *new_names(armature)}


# ------------------------------------------------------------------------------------------------------ for people


def animations_of(objects: list[bpy.types.Object]) -> list[Animation]:
    """Everything that the model can play: the whole timeline first, then its parts, then what has frames of its own."""
    owners = [owner for source in objects if (owner := timeline_owner(source)) is not None]
    whole = [Animation(owners[0].action.name, "TIMELINE", owners)] if owners else []
    return [*whole, *parts_of(objects), *own_actions(objects)]

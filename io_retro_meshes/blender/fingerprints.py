# SPDX-License-Identifier: GPL-3.0-or-later
"""What an action looked like when it was imported, in few letters: an export knows by it what was edited since."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import bpy
import numpy as np

from . import compat
from .renamed import bone_of, first_names, with_bone


@dataclass
class Keys:
    """All keys of an action, one curve after the other."""

    curves: list[bpy.types.FCurve]
    words: list[str]  # of each curve: what it has beside keys
    slots: list[str]  # ... and the slot it is in
    curve: np.ndarray  # of each key: its curve
    points: np.ndarray  # frame and value
    interpolation: np.ndarray

    @classmethod
    def of(cls, action: bpy.types.Action) -> Keys:
        curves: list[bpy.types.FCurve] = []
        slots: list[str] = []
        for slot, found in compat.action_curves(action):
            curves += found
            slots += [slot_name(slot)] * len(found)
        names = first_names(action.retro_meshes.model)
        counts = [len(curve.keyframe_points) for curve in curves]
        points, kinds = np.empty((sum(counts), 2), np.float32), np.empty(sum(counts), np.int32)
        start = 0
        for curve, count in zip(curves, counts, strict=True):
            curve.keyframe_points.foreach_get("co", points[start : start + count].reshape(-1))
            curve.keyframe_points.foreach_get("interpolation", kinds[start : start + count])
            start += count
        return cls(
            curves,
            [_properties(curve, names) for curve in curves],
            slots,
            np.repeat(np.arange(len(counts)), counts),
            points,
            kinds,
        )

    @property
    def span(self) -> tuple[float, float] | None:
        frames = self.points[:, 0]
        return (float(frames.min()), float(frames.max())) if len(frames) else None

    def fingerprint(self) -> str:
        """Of everything that the action plays."""
        return _digest(self.words, self.curve, self.points, self.interpolation)

    def part_fingerprint(self, first: float, last: float, slots: set[str]) -> str:
        """Of what some slots play from one frame to another, whatever they do elsewhere."""
        chosen = [number for number, slot in enumerate(self.slots) if slot in slots]
        borders = [(self.curves[number].evaluate(first), self.curves[number].evaluate(last)) for number in chosen]
        place = np.full(len(self.curves), -1)
        place[chosen] = np.arange(len(chosen))  # counted among the chosen curves: others may come and go
        frames = self.points[:, 0]
        keep = (frames >= first) & (frames <= last) & (place[self.curve] >= 0)
        words = [self.words[number] for number in chosen]
        edges = np.round(np.array(borders, np.float64), 5)
        return _digest(words, place[self.curve[keep]], self.points[keep], self.interpolation[keep], edges)


def _digest(words: list[str], *arrays: np.ndarray) -> str:
    made = hashlib.blake2b("\n".join(words).encode(), digest_size=12)
    for array in arrays:
        made.update(array.tobytes())
    return made.hexdigest()


def _properties(curve: bpy.types.FCurve, names: dict[str, str]) -> str:
    """What a curve has beside its keys. A bone that was renamed since is still the same."""
    group = curve.group
    path = curve.data_path
    if names and (name := names.get(bone_of(path))) is not None:
        path = with_bone(path, name)
    silent = curve.mute or (group is not None and group.mute)
    return f"{path} {curve.array_index} {silent} {curve.extrapolation} {len(curve.modifiers)}"


def slot_name(slot: object) -> str:
    """Before slots there is one place, without a name."""
    return "" if slot is None else str(slot.identifier)  # type: ignore[attr-defined]


def slots_of(action: bpy.types.Action) -> set[str]:
    return {slot_name(slot) for slot in (action.slots if compat.HAS_SLOTS else [None])}


def is_edited(action: bpy.types.Action) -> bool:
    """Other keys than an import gave it. An action that no import has made is never edited."""
    known: str = action.retro_meshes.fingerprint
    return bool(known) and Keys.of(action).fingerprint() != known


def came_without_keys(action: bpy.types.Action) -> bool:
    """Imported as a name with its frames: see MOST_CURVES in build/actions.py."""
    return bool(action.retro_meshes.fingerprint == _digest([]))


def remember(action: bpy.types.Action, frames: tuple[float, float], timeline: Keys | None = None) -> Keys:
    """To be called when an import has written the last key; `timeline`: the keys of the action that this one is a part of.

    Returns its keys.
    """
    meta, keys = action.retro_meshes, Keys.of(action)
    meta.frames, meta.keyed = frames, keys.span or frames
    meta.fingerprint = keys.fingerprint()
    if timeline is not None:
        meta.source = timeline.part_fingerprint(*frames, slots_of(action))
    return keys


def timeline_was_edited(action: bpy.types.Action) -> bool:
    """On the frames of a part, in what the part is about."""
    meta = action.retro_meshes
    if meta.timeline is None or not meta.source:
        return False
    first, last = meta.frames
    return Keys.of(meta.timeline).part_fingerprint(first, last, slots_of(action)) != meta.source

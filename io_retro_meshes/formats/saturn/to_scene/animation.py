# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone keys -> tracks; definitions and their events -> clips and their markers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Channel, Clip, Scene, Target, Track, maths
from .. import axes, events
from ..document import Animation, BoneKeys, Keys, Segment

Array = npt.NDArray[Any]


# ---------------------------------------------------------------------------------------------------------------- keys


def vectors(keys: Keys) -> tuple[Array, Array]:
    """Frames, ascending, and values of a translation or scale channel, in the file's axes."""
    frames, values = _ascending(keys)
    return frames, axes.from_fixed(values)


def quaternions(keys: Keys) -> tuple[Array, Array]:
    """Frames, ascending, and x y z w of a rotation channel, of length one and with agreeing signs; the file's are neither."""
    frames, words = _ascending(keys)
    values = maths.normalized(axes.from_quaternion_words(words), (0, 0, 0, 1))
    return frames, maths.continuous(values)


def _ascending(keys: Keys) -> tuple[Array, Array]:
    """Of keys of the same time the first one."""
    frames = keys.frames.astype(np.float64)
    if (np.diff(frames) > 0).all():
        return frames, keys.values
    frames, first = np.unique(frames, return_index=True)
    return frames, keys.values[first]


def track(bone: BoneKeys) -> Track:
    """The keys of a bone in the scene's axes."""

    def channel(frames: Array, values: Array) -> Channel | None:
        return Channel(frames.astype(np.float32), values.astype(np.float32)) if len(frames) else None

    frames, values = vectors(bone.translation)
    scale_frames, scales = vectors(bone.scale)
    turn_frames, turns = quaternions(bone.rotation)
    return Track(
        channel(frames, axes.vectors_to_scene(values)),
        channel(turn_frames, axes.rotations_to_scene(turns)),
        channel(scale_frames, axes.scales_to_scene(scales)),
    )


def _tracks(node: int, bones: list[BoneKeys], count: int) -> dict[Target, Track]:
    return {(node, bone): track(channels) for bone, channels in enumerate(bones[:count])}


# --------------------------------------------------------------------------------------------------------------- clips


def add_clips(
    scene: Scene, animation: Animation, segments: dict[int, Segment], node: int, number: int, bone_count: int
) -> None:
    """The character's part of the timeline, and its definitions: parts of it, or of an x8an file."""
    tracks = _tracks(node, animation.bones, bone_count)
    timeline = scene.timeline or Clip("", 0, 0, {})
    scene.timeline = timeline
    assert timeline.tracks is not None
    timeline.tracks |= tracks
    for index, definition in enumerate(animation.definitions):
        own = _tracks(node, segments[index].bones, bone_count) if index in segments else None
        if definition.external and own is None:
            continue
        settings = {"type": definition.type, "distance": definition.distance, "character": number, "order": index}
        if definition.external:
            settings["external"] = True
        clip = Clip(definition.name, definition.first, definition.last, own, settings={"saturn": settings}, owner=node)
        clip.markers = [(float(frame), events.marker_name(code)) for frame, code in definition.events.tolist()]
        scene.clips.append(clip)


def span_timeline(scene: Scene) -> None:
    """The timeline spans all keys and all definitions that are parts of it; clips of equal names get numbers."""
    timeline = scene.timeline
    if timeline is None or timeline.tracks is None:
        return
    channels = [c for t in timeline.tracks.values() for c in (t.location, t.rotation, t.scale) if c is not None]
    ranges = [(float(channel.frames[0]), float(channel.frames[-1])) for channel in channels]
    ranges += [(clip.first, clip.last) for clip in scene.clips if clip.tracks is None]
    if not channels:
        scene.timeline, scene.clips = None, [clip for clip in scene.clips if clip.tracks is not None]
        return
    timeline.first, timeline.last = min(r[0] for r in ranges), max(r[1] for r in ranges)
    names: dict[str, int] = {}
    for clip in scene.clips:
        names[clip.name] = names.get(clip.name, 0) + 1
        if names[clip.name] > 1:
            clip.name = f"{clip.name}.{names[clip.name] - 1:03}"

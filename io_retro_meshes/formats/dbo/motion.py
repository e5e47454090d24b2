# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation sets to clips. An animated frame forgets its own matrix: where keys of a kind are missing, it has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths
from ...animation import cut
from ...scene import Channel, Clip, Scene, Target, Track, Transform
from . import space
from .document import CLIP, IDENTITY, Animation, AnimationSet, Document, chain
from .materials import changed
from .skeleton import Frames

Array = npt.NDArray[Any]

# A piece of animation longer than this is not evaluated on every frame.
MOST_FRAMES = 20_000
FOOTFALLS = ("footfall_1", "footfall_2", "footfall_3")


def add_clips(
    document: Document, frames: Frames, rest: list[Transform], targets: Callable[[int], list[Target]], scene: Scene
) -> None:
    """The first set that moves anything is the timeline; others are clips: parts of it, or with keys of their own."""
    for entry in document.animation_sets():
        tracks = _tracks(entry, frames, rest, targets, scene.warnings)
        last = max((float(c.frames[-1]) for t in tracks.values() for c in (t.location, t.rotation, t.scale) if c), default=0.0)
        if entry.length <= 10 * last + 1000:
            last = max(last, float(entry.length))
        name = entry.name or "animation"
        part = entry.finish > entry.start and (entry.type == CLIP or entry.find(206) is not None)
        if tracks and scene.timeline is None:
            scene.timeline = Clip(name, 0.0, last, tracks)
            tracks = {}
        elif not tracks and not part:
            continue
        first, last = (float(entry.start), float(entry.finish)) if part else (0.0, last)
        if tracks or part:
            clip = Clip(name, first, last, tracks or None)
            clip.settings["dbo"] = changed(entry, FOOTFALLS)
            scene.clips.append(clip)
    _settle(scene)


def _settle(scene: Scene) -> None:
    """Clips are all parts of the timeline, or all have keys of their own."""
    timeline = scene.timeline
    if timeline is None:
        scene.clips = []
    elif any(clip.tracks for clip in scene.clips):
        scene.clips = [timeline] + [
            clip if clip.tracks else replace(clip, tracks=cut(timeline, clip.first, clip.last, "SLERP")) for clip in scene.clips
        ]
        scene.timeline = None


def _tracks(
    entry: AnimationSet,
    frames: Frames,
    rest: list[Transform],
    targets: Callable[[int], list[Target]],
    warnings: list[str],
) -> dict[Target, Track]:
    found: dict[Target, Track] = {}
    for animation in chain(entry.animation):
        frame = frames.by_name.get(animation.name)
        if frame is None:
            warnings.append(f'No frame is called "{animation.name}": its animation was left out.')
            continue
        track = _track(animation, frames.user[frame], rest[frame], warnings)
        if track is not None:
            found |= dict.fromkeys(targets(frame), track)
    return found


def _track(animation: Animation, user: Array, rest: Transform, warnings: list[str]) -> Track | None:
    positions = _keys(animation.positions, warnings)
    rotations = _keys(animation.rotations, warnings)
    scales = _keys(animation.scales, warnings)
    matrices = _keys(animation.matrices, warnings)
    times = [keys["time"] for keys in (positions, rotations, scales, matrices) if len(keys)]
    if not times:
        return None
    track = Track(
        _channel(positions, space.points, (0, 0, 0)),
        _channel(rotations, _unit_rotations, (1, 0, 0, 0)),
        _channel(scales, space.points, (1, 1, 1)),
    )
    if len(matrices) or not np.array_equal(user, IDENTITY) or rest.prefix is not None:
        every = np.unique(np.concatenate(times)).astype(np.float64)
        return _baked(track, every, matrices, user, rest, animation.name, warnings)
    return track


def _keys(keys: Array, warnings: list[str]) -> Array:
    """In order of time, one key a frame (the last), those that are no numbers left out."""
    good = (np.abs(keys["value"]) < space.HUGE).all(tuple(range(1, keys["value"].ndim)))
    if not good.all():
        warnings.append("Some animation keys are not numbers; they were left out.")
    keys = keys[good]
    keys = keys[np.argsort(keys["time"], kind="stable")]
    return keys[np.diff(keys["time"].astype(np.int64), append=-1) != 0]


def _unit_rotations(values: Array) -> Array:
    return maths.continuous(maths.normalized(space.rotations(values), (1, 0, 0, 0)))


def _channel(keys: Array, convert: Callable[[Array], Array], missing: tuple[float, ...]) -> Channel:
    if not len(keys):
        return Channel(np.zeros(1, np.float32), np.array([missing], np.float32))
    return Channel(keys["time"].astype(np.float32), convert(keys["value"]))


def _baked(track: Track, times: Array, matrices: Array, user: Array, rest: Transform, name: str, warnings: list[str]) -> Track:
    """Matrix keys come after the others, the user's transform before them: evaluated on every frame, and split again."""
    if times[-1] - times[0] < MOST_FRAMES:
        times = np.union1d(times, np.arange(np.ceil(times[0]), times[-1]))
    values = maths.compose(*(_sampled(channel, times, kind) for channel, kind in _kinds(track)))
    values = values @ user
    if len(matrices):
        left = np.clip(np.searchsorted(matrices["time"], times, "right") - 1, 0, len(matrices) - 1)
        since = np.clip(times - matrices["time"][left], 0, None) * (left < len(matrices) - 1)
        slope = np.nan_to_num(matrices["interpolation"][left], nan=0, posinf=0, neginf=0)
        values = space.matrices(space.sound(matrices["value"][left] + since[:, None, None] * slope)) @ values
    if rest.prefix is not None:
        values = _beside_shear(rest, values)
    location, rotation, scale, sheared = space.split(values.astype(np.float32))
    if sheared.any():
        count = int(sheared.sum())
        warnings.append(f'The matrices of "{name}" shear on {count} frames; there its animation comes near, no more.')
    at = times.astype(np.float32)
    return Track(Channel(at, location), Channel(at, maths.continuous(rotation)), Channel(at, scale))


def _beside_shear(rest: Transform, values: Array) -> Array:
    """A moving frame forgets its own matrix: the shear in that stays only where the keys all have it, too."""
    kept = (np.linalg.pinv(rest.matrix) @ values).astype(np.float32)
    if not space.split(kept)[3].any():
        return kept
    rest.location, rest.rotation, rest.scale = maths.decompose(rest.matrix)
    rest.prefix = None
    return values


def _kinds(track: Track) -> list[tuple[Any, str]]:
    return [(track.location, ""), (track.rotation, "SLERP"), (track.scale, "")]


def _sampled(channel: Channel, times: Array, kind: str) -> Array:
    return maths.sample(channel.frames, channel.values, times, kind).astype(np.float32)

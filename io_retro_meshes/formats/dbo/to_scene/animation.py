# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation sets -> clips.

The engine drops the matrix of an animated frame: a channel without keys is no location, no rotation or a scale of 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Channel, Clip, Scene, Target, Track, Transform, maths, sanitize
from ....scene.animation import cut
from .. import axes
from ..document import CLIP, IDENTITY, Animation, AnimationSet, Document, chain
from ..matrices import decompose, sanitize_matrices
from .rigs import Frames
from .settings import changed

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
    _same_kind_of_clips(scene)


def _same_kind_of_clips(scene: Scene) -> None:
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
        _from_start(_channel(positions, axes.vectors_to_scene, (0, 0, 0))),
        _turned_from_start(_channel(rotations, _unit_rotations, (1, 0, 0, 0))),
        _from_start(_channel(scales, axes.scales_to_scene, (1, 1, 1))),
    )
    if len(matrices) or not np.array_equal(user, IDENTITY) or rest.prefix is not None:
        every = np.unique(np.concatenate([*times, np.zeros(1)])).astype(np.float64)
        return _baked(track, every, matrices, user, rest, animation.name, warnings)
    return track


def _keys(keys: Array, warnings: list[str]) -> Array:
    """In order of time, one key a frame (the last), without those that are NaN, infinite or huge."""
    good = sanitize.usable(keys["value"]).all(tuple(range(1, keys["value"].ndim)))
    if not good.all():
        warnings.append("Some animation keys are not numbers; they were left out.")
    keys = keys[good]
    keys = keys[np.argsort(keys["time"], kind="stable")]
    return keys[np.diff(keys["time"].astype(np.int64), append=-1) != 0]


def _unit_rotations(values: Array) -> Array:
    return maths.continuous(maths.normalized(axes.rotations_to_scene(values), (1, 0, 0, 0)))


def _channel(keys: Array, convert: Callable[[Array], Array], missing: tuple[float, ...]) -> Channel:
    if not len(keys):
        return Channel(np.zeros(1, np.float32), np.array([missing], np.float32))
    return Channel(keys["time"].astype(np.float32), convert(keys["value"]))


def _from_start(channel: Channel) -> Channel:
    """With a key on frame 0: before its first key the engine goes on backwards along the first interval."""
    frames, values = channel.frames, channel.values
    if len(frames) < 2 or frames[0] <= 0:
        return channel
    first = values[0] - (values[1] - values[0]) * (frames[0] / (frames[1] - frames[0]))
    return Channel(np.append(np.float32(0), frames), np.concatenate([first[None], values]).astype(np.float32))


def _turned_from_start(channel: Channel) -> Channel:
    """The same for rotations, frame by frame: going on backwards may be more than half a turn."""
    frames, values = channel.frames, channel.values
    if len(frames) < 2 or frames[0] <= 0:
        return channel
    before = np.linspace(0, frames[0], int(min(frames[0], MOST_FRAMES)) + 1)[:-1]
    step = maths.quaternion_multiply(values[1].astype(np.float64), maths.quaternion_conjugate(values[0].astype(np.float64)))
    half = np.arctan2(np.linalg.norm(step[1:]), step[0])
    axis = maths.normalized(step[None, 1:], (0, 0, 0))[0]
    turn = half * (before - frames[0]) / (frames[1] - frames[0])
    turns = np.concatenate([np.cos(turn)[:, None], np.sin(turn)[:, None] * axis], 1)
    added = maths.quaternion_multiply(turns, values[0].astype(np.float64)[None]).astype(np.float32)
    return Channel(
        np.concatenate([before, frames]).astype(np.float32),
        maths.continuous(np.concatenate([added, values]).astype(np.float32)),
    )


def _baked(track: Track, times: Array, matrices: Array, user: Array, rest: Transform, name: str, warnings: list[str]) -> Track:
    """The track with the frame's matrix keys and the user's transform in it, sampled on every frame."""
    if times[-1] - times[0] < MOST_FRAMES:
        times = np.union1d(times, np.arange(np.ceil(times[0]), times[-1]))
    values = maths.compose(*(_sampled(channel, times, kind) for channel, kind in _kinds(track)))
    values = values @ user  # the engine applies the user's transform first, then keys, then matrix keys
    if len(matrices):
        left = np.clip(np.searchsorted(matrices["time"], times, "right") - 1, 0, len(matrices) - 1)
        since = (times - matrices["time"][left]) * (left < len(matrices) - 1)  # below 0 before the first
        slope = sanitize.finite(matrices["interpolation"][left])
        values = axes.matrices_to_scene(sanitize_matrices(matrices["value"][left] + since[:, None, None] * slope)) @ values
    if rest.prefix is not None:
        values = _without_shear(rest, values)
    location, rotation, scale, sheared = decompose(values.astype(np.float32))
    if sheared.any():
        count = int(sheared.sum())
        warnings.append(f'The matrices of "{name}" shear on {count} frames; there its animation comes near, no more.')
    at = times.astype(np.float32)
    return Track(Channel(at, location), Channel(at, maths.continuous(rotation)), Channel(at, scale))


def _without_shear(rest: Transform, values: Array) -> Array:
    """A prefix with a shear in the rest transform stays only if all keys have the same shear; else it is dropped."""
    kept = (np.linalg.pinv(rest.matrix) @ values).astype(np.float32)
    if not decompose(kept)[3].any():
        return kept
    rest.location, rest.rotation, rest.scale = maths.decompose(rest.matrix)
    rest.prefix = None
    return values


def _kinds(track: Track) -> list[tuple[Any, str]]:
    return [(track.location, ""), (track.rotation, "SLERP"), (track.scale, "")]


def _sampled(channel: Channel, times: Array, kind: str) -> Array:
    return maths.sample(channel.frames, channel.values, times, kind).astype(np.float32)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Timeline and clips -> animation sets; tracks -> keys, with the slopes between them that the engine expects in the file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Clip, Interpolation, Target, Track, Transform
from ....scene.animation import CHANNELS, channel_values, local_matrices, whole_frames
from .. import axes
from ..document import ALL, CLIP, IDENTITY, MATRIX_KEY, ROTATION_KEY, VECTOR_KEY, Animation, AnimationSet
from ..matrices import decompose
from .rigs import SceneFrame

Array = npt.NDArray[Any]
Keys = tuple[Array, Array]  # frames and values


# ---------------------------------------------------------------------------------------------------------------- sets


def animation_sets(
    timeline: Clip,
    clips: list[Clip],
    frames: list[SceneFrame],
    tracks: dict[Target, Track],
    interpolation: Interpolation,
    warnings: list[str],
) -> AnimationSet:
    """The timeline as the first set, with all keys; the clips are parts of it in the sets that follow."""
    shift = -min(0, round(timeline.first))
    if shift:
        warnings.append(f"The animation begins {shift} frames before 0, which the format cannot: it was moved there.")
    following: AnimationSet | None = None
    for clip in reversed(clips):
        following = _clip_set(clip, shift, following)
    made = AnimationSet(name=timeline.name, length=_frame(timeline.last, shift))
    first = _animations(frames, tracks, interpolation, shift)
    if first is not None:
        made.animation = first
    if following is not None:
        made.type, made.next = ALL, following
    return made


def _clip_set(clip: Clip, shift: int, following: AnimationSet | None) -> AnimationSet:
    start, finish = _frame(clip.first, shift), _frame(clip.last, shift)
    made = AnimationSet(name=clip.name, length=finish - start, type=CLIP)
    made.start, made.finish = float(start), float(finish)
    for name, value in clip.settings.get("dbo", {}).items():
        setattr(made, name, value)
    if following is not None:
        made.next = following
    return made


def _frame(frame: float, shift: int) -> int:
    return max(round(frame) + shift, 0)


def _animations(
    frames: list[SceneFrame], tracks: dict[Target, Track], interpolation: Interpolation, shift: int
) -> Animation | None:
    """The animations of all frames that move, linked: the first of them."""
    following: Animation | None = None
    for frame in reversed(frames):
        if frame.target is None:
            continue
        made = _animation(frame.name, frame.before, frame.transform, tracks[frame.target], interpolation, shift)
        if following is not None:
            made.next = following
        following = made
    return following


# ---------------------------------------------------------------------------------------------------------------- keys


def _animation(
    name: str, before: Array, transform: Transform, track: Track, interpolation: Interpolation, shift: int
) -> Animation:
    """The engine drops the matrix of an animated frame, so it has keys of all three kinds; or matrices, if there is a shear."""
    if transform.prefix is None and np.array_equal(before, IDENTITY):
        location, rotation, scale = (_channel_keys(transform, track, kind, interpolation) for kind in CHANNELS)
        return _made(name, shift, location, rotation, scale)
    frames = _whole_frames(track)
    matrices = before @ local_matrices(transform, track, frames, interpolation)
    *parts, sheared = decompose(matrices.astype(np.float32))
    if sheared.any():
        return _made(name, shift, matrices=(frames, axes.matrices_to_file(matrices)))
    return _made(name, shift, *((frames, values) for values in parts))


def _channel_keys(transform: Transform, track: Track, kind: str, interpolation: Interpolation) -> Keys:
    channel = getattr(track, kind)
    frames = channel.frames if channel is not None and len(channel.frames) else np.zeros(1, np.float32)
    return frames, channel_values(transform, track, kind, frames, interpolation)


def _whole_frames(track: Track) -> Array:
    found = [channel.frames for channel in (track.location, track.rotation, track.scale) if channel is not None]
    every = np.concatenate([np.zeros(1, np.float32), *found][1 if found else 0 :])
    return whole_frames(np.unique(np.concatenate([np.floor(every), np.ceil(every)])))


def _made(
    name: str,
    shift: int,
    location: Keys | None = None,
    rotation: Keys | None = None,
    scale: Keys | None = None,
    matrices: Keys | None = None,
) -> Animation:
    made = Animation(name=name)
    positions = _table(VECTOR_KEY, location, axes.vectors_to_file, shift)
    rotations = _table(ROTATION_KEY, rotation, axes.rotations_to_file, shift)
    scales = _table(VECTOR_KEY, scale, axes.scales_to_file, shift)
    rows = _table(MATRIX_KEY, matrices, np.asarray, shift)
    for kind, count, table in (
        ("positions", "position_count", positions),
        ("rotations", "rotation_count", rotations),
        ("scales", "scale_count", scales),
        ("matrices", "matrix_count", rows),
    ):
        setattr(made, count, len(table))
        if len(table):
            setattr(made, kind, table)
    return made


def _table(dtype: np.dtype[Any], keys: Keys | None, convert: Any, shift: int) -> Array:
    """Keys at whole frames, one a frame (the last), with the slope to the next where the file has a place for it.

    There is always one on frame 0, where playing starts: before its first key the engine goes on backwards along the first
    interval.
    """
    if keys is None:
        return np.zeros(0, dtype)
    times = np.clip(np.rint(keys[0]).astype(np.int64) + shift, 0, 0xFFFFFFFF)
    keep = np.flatnonzero(np.diff(times, append=-1) != 0)
    if len(keep) > 1 and times[keep[0]] > 0:
        keep = np.append(keep[0], keep)
    table = np.zeros(len(keep), dtype)
    table["time"], table["value"] = times[keep], convert(keys[1])[keep]
    table["time"][:1] = 0
    if "interpolation" in (dtype.names or ()) and len(table) > 1:
        span = np.diff(table["time"].astype(np.float64)).reshape(-1, *[1] * (table["value"].ndim - 1))
        table["interpolation"][:-1] = np.diff(table["value"], axis=0) / span
    return table

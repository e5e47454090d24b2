# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks to animation keys, with the interpolation that the engine does not work out by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...animation import CHANNELS, channel_values, local_matrices, whole_frames
from ...scene import Interpolation, Track, Transform
from . import space
from .document import IDENTITY, MATRIX_KEY, ROTATION_KEY, VECTOR_KEY, Animation

Array = npt.NDArray[Any]


def animation(
    name: str, before: Array, transform: Transform, track: Track, interpolation: Interpolation, shift: int
) -> Animation:
    """An animated frame forgets its matrix, so it has keys of all three kinds; or matrices, where those would not do."""
    if transform.prefix is None and np.array_equal(before, IDENTITY):
        location, rotation, scale = (_part(transform, track, kind, interpolation) for kind in CHANNELS)
        return _made(name, shift, location, rotation, scale)
    frames = _whole_frames(track)
    matrices = before @ local_matrices(transform, track, frames, interpolation)
    *parts, sheared = space.split(matrices.astype(np.float32))
    if sheared.any():
        return _made(name, shift, matrices=(frames, space.matrices(matrices)))
    return _made(name, shift, *((frames, values) for values in parts))


Keys = tuple[Array, Array]  # frames and values


def _part(transform: Transform, track: Track, kind: str, interpolation: Interpolation) -> Keys:
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
    positions = _table(VECTOR_KEY, location, space.points, shift)
    rotations = _table(ROTATION_KEY, rotation, space.engine_rotations, shift)
    scales = _table(VECTOR_KEY, scale, space.points, shift)
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
    if keys is None:
        return np.zeros(0, dtype)
    times = np.clip(np.rint(keys[0]).astype(np.int64) + shift, 0, 0xFFFFFFFF)
    keep = np.diff(times, append=-1) != 0
    table = np.zeros(int(keep.sum()), dtype)
    table["time"], table["value"] = times[keep], convert(keys[1])[keep]
    if "interpolation" in (dtype.names or ()) and len(table) > 1:
        span = np.diff(table["time"].astype(np.float64)).reshape(-1, *[1] * (table["value"].ndim - 1))
        table["interpolation"][:-1] = np.diff(table["value"], axis=0) / span
    return table

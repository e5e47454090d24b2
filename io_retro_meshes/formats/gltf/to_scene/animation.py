# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations to clips. Keys that are linear stay as they are; steps and splines are sampled on whole frames."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Channel, Clip, Floats, Scene, Target, Track, animation, maths
from .. import axes, extras
from ..document import Part
from .accessors import Accessors
from .rigs import Place, Rigs

Array = npt.NDArray[Any]

# The usual rates, the first that puts every key on a whole frame is taken; none: the first.
FRAME_RATES = (24.0, 30.0, 60.0, 25.0, 50.0, 15.0, 12.0, 20.0, 10.0, 120.0, 100.0)
LAST_FRAME = 1_048_574  # Blender's timeline ends here
MOST_SAMPLES = 200_000  # of one channel of splines
PATHS = {"translation": "location", "rotation": "rotation", "scale": "scale"}
WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}


class Animations:
    def __init__(self, root: Part, scene: Scene, accessors: Accessors, rigs: Rigs, fps: float) -> None:
        self.scene = scene
        self.accessors = accessors
        self.rigs = rigs
        self.parts = root.parts("animations")
        self.known: dict[tuple[int, int, str, str, bool], Channel | None] = {}
        self.fps = fps or (self.guessed_fps() if self.parts else 0.0)

    def run(self) -> None:
        self.scene.fps = self.fps or None
        own = [extras.unpack(part).values.get("role") for part in self.parts]
        whole = own.index("TIMELINE") if "TIMELINE" in own else -1
        for index, part in enumerate(self.parts):
            name = part.text("name") or f"Animation {index}"
            if index == whole:
                self.scene.timeline = self.clip(part, name, self.tracks(part))
                if extras.unpack(part).values.get("part") is True:  # it has a name of its own
                    self.scene.clips.append(replace(self.scene.timeline, tracks=None))
            elif own[index] == "PART" and whole >= 0:
                self.scene.clips.append(self.clip(part, name, None))
            elif tracks := self.tracks(part):
                self.scene.clips.append(self.clip(part, name, tracks))
        if whole < 0 and len(self.parts) == 1 and self.scene.clips and own == [None]:
            # The only one is all that moves; its name is that of a part, which is the whole.
            clip = self.scene.clips[0]
            self.scene.timeline = Clip(clip.name, clip.first, clip.last, clip.tracks)
            self.scene.clips = [Clip(clip.name, clip.first, clip.last)] if "name" in self.parts[0] else []

    def clip(self, part: Part, name: str, tracks: dict[Target, Track] | None) -> Clip:
        own = extras.unpack(part)
        span = animation.frame_span(tracks or {}) or (0.0, 0.0)
        first = own.number("first", span[0])
        made = Clip(name, first, max(own.number("last", span[1]), first), tracks, settings=extras.settings(part))
        if own.values.get("role") == "CLIP" and first < 0 and tracks:
            made.tracks = {target: _shifted(track, first) for target, track in tracks.items()}
        owner = own.index("owner", len(self.rigs.parts))
        if owner in self.rigs.places:
            made.owner = self.rigs.places[owner].target[0]
        markers = own.values.get("markers")
        for marker in markers if isinstance(markers, list) else []:
            if (
                isinstance(marker, list)
                and len(marker) == 2
                and isinstance(marker[0], int | float)
                and isinstance(marker[1], str)
            ):
                made.markers.append((float(marker[0]), marker[1]))
        return made

    def guessed_fps(self) -> float:
        inputs = {
            sampler.index("input", len(self.accessors.parts)) for part in self.parts for sampler in part.parts("samplers")
        }
        times = [self.accessors.floats(index, 1)[:, 0].astype(np.float64) for index in inputs if index >= 0]
        every = np.unique(np.concatenate([*times, np.zeros(1)]))
        every = every[np.abs(every) < 1e5]
        fits = (rate for rate in FRAME_RATES if np.abs(every * rate - np.rint(every * rate)).max() < 2e-3)
        return next(fits, FRAME_RATES[0])

    # -------------------------------------------------------------------------------------------------------- channels

    def tracks(self, part: Part) -> dict[Target, Track]:
        samplers = part.parts("samplers")
        found: dict[Target, Track] = {}
        for entry in part.parts("channels"):
            target = entry.part("target")
            node = target.index("node", len(self.rigs.parts))
            path = target.text("path")
            number = entry.index("sampler", len(samplers))
            if number < 0:
                raise entry.bad("sampler", "missing")
            if path not in PATHS:
                self.scene.warnings.append(
                    f'The animation of "{path[:50]}" was left out: only places, turns and sizes can move.'
                )
                continue
            place = self.rigs.places.get(node)
            if place is None or not place.moves:
                continue
            channel = self.channel(samplers[number], path, place)
            if channel is not None:
                setattr(found.setdefault(place.target, Track()), PATHS[path], channel)
        return found

    def channel(self, sampler: Part, path: str, place: Place) -> Channel | None:
        count = len(self.accessors.parts)
        times, values = sampler.index("input", count), sampler.index("output", count)
        way = sampler.text("interpolation", "LINEAR")
        if times < 0 or values < 0:
            raise sampler.bad("input", "missing")
        key = (times, values, way, path, place.looks)
        if key not in self.known:
            self.known[key] = self.made(sampler, times, values, way, path, place.looks)
        return self.known[key]

    def made(self, sampler: Part, times: int, values: int, way: str, path: str, looks: bool) -> Channel | None:
        seconds = self.accessors.floats(times, 1)[:, 0].astype(np.float64)
        rows = self.accessors.floats(values, WIDTHS[path])
        if len(rows) != len(seconds) * (3 if way == "CUBICSPLINE" else 1):
            raise sampler.bad("output", f"{len(rows)} values for {len(seconds)} keys")
        frames = _whole(seconds * self.fps)
        good = np.flatnonzero(np.abs(frames) <= LAST_FRAME)
        frames, place = np.unique(frames[good].astype(np.float32), return_index=True)
        if not len(frames):
            return None
        place = good[place]
        if way == "CUBICSPLINE":
            frames, rows = _splines(frames, rows.reshape(-1, 3, WIDTHS[path])[place], self.fps)
        elif way == "STEP":
            frames, rows = _steps(frames, rows[place])
        else:
            rows = rows[place]
        return Channel(frames, in_scene(path, rows, looks))


def in_scene(path: str, rows: Array, looks: bool) -> Floats:
    if path == "translation":
        return axes.vectors_to_scene(rows).astype(np.float32)
    if path == "scale":
        return np.ascontiguousarray(rows if looks else axes.swap_scale(rows), np.float32)
    turns = maths.normalized(axes.rotations_to_scene(rows.astype(np.float64)), (1, 0, 0, 0))
    if looks:
        turns = axes.look(turns, axes.LOOK_TO_SCENE)
    return maths.continuous(turns).astype(np.float32)


def _whole(frames: Array) -> Array:
    """Seconds are rounded: a frame that is nearly whole is."""
    near = np.rint(frames)
    return np.where(np.abs(frames - near) < 1e-3 + 2e-7 * np.abs(frames), near, frames)


def _steps(frames: Floats, rows: Array) -> tuple[Floats, Array]:
    """Each value holds until the frame before the next key."""
    hold = np.flatnonzero((np.diff(frames) > 1.001) & (rows[1:] != rows[:-1]).any(1))
    at = np.concatenate([frames, frames[hold + 1] - 1])
    order = np.argsort(at, kind="stable")
    return at[order].astype(np.float32), np.concatenate([rows, rows[hold]])[order]


def _splines(frames: Floats, rows: Array, fps: float) -> tuple[Floats, Array]:
    """Hermite splines (tangent in, value, tangent out) on the keys and the whole frames between them."""
    if len(frames) * 8 > MOST_SAMPLES:
        return frames, rows[:, 1]
    at = frames if len(frames) < 2 else animation.whole_frames(frames)
    if len(at) > MOST_SAMPLES:
        at = np.union1d(frames, at[:: len(at) // (MOST_SAMPLES // 2) + 1]).astype(np.float32)
    if len(frames) < 2:
        return frames, rows[:, 1]
    right = np.clip(np.searchsorted(frames, at, "right"), 1, len(frames) - 1)
    left = right - 1
    span = (frames[right] - frames[left]).astype(np.float64)
    t = ((at - frames[left]) / span)[:, None]
    seconds = (span / fps)[:, None]
    values = (2 * t**3 - 3 * t**2 + 1) * rows[left, 1] + seconds * (t**3 - 2 * t**2 + t) * rows[left, 2]
    values += (-2 * t**3 + 3 * t**2) * rows[right, 1] + seconds * (t**3 - t**2) * rows[right, 0]
    return at, values


def _shifted(track: Track, by: float) -> Track:
    def moved(channel: Channel | None) -> Channel | None:
        return None if channel is None else Channel((channel.frames + np.float32(by)).astype(np.float32), channel.values)

    return Track(moved(track.location), moved(track.rotation), moved(track.scale))

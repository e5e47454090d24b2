# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips to animations: the timeline first, then every named part of it, which starts at zero, and what has tracks of its own.

Frame N of the timeline, and of a clip with tracks of its own, is at N / fps seconds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Channel, Clip, Floats, Scene, Target, Track, animation, maths
from .. import axes, extras
from ..document import Json
from .buffers import Buffer
from .rigs import Tree, turned

Array = npt.NDArray[Any]

DEFAULT_FPS = 24.0  # Blender's, for a scene that has no rate
TOLERANCE = 1e-4  # radians that the file's way between two rotations may be off the engine's: a limb is no longer than a model
MOST_ROUNDS = 8  # of halving a stretch between two keys
PATHS = {"location": "translation", "rotation": "rotation", "scale": "scale"}


class Animations:
    def __init__(self, scene: Scene, tree: Tree, buffer: Buffer) -> None:
        self.scene = scene
        self.tree = tree
        self.buffer = buffer
        self.fps = scene.fps or DEFAULT_FPS
        self.made: list[Json] = []
        self.known: dict[bytes, int] = {}  # accessors of seconds, by frames
        self.skinned = {index for index in range(len(scene.nodes)) if tree.skin_of(index) is not None}
        part = any(_is_whole(clip, scene.timeline) for clip in scene.clips)
        if scene.timeline is not None:
            self.add(scene.timeline, scene.timeline.tracks or {}, 0.0, "TIMELINE", part)
        for clip in scene.clips:
            if not _is_whole(clip, scene.timeline):
                self.add_clip(clip)

    def add_clip(self, clip: Clip) -> None:
        if clip.tracks is not None:
            self.add(clip, clip.tracks, min(clip.first, 0.0), "CLIP")
        elif self.scene.timeline is not None:
            tracks = animation.cut(self.scene.timeline, clip.first, clip.last, self.scene.interpolation)
            own = {target: track for target, track in tracks.items() if clip.owner in (-1, target[0])}
            self.add(clip, own, clip.first, "PART")

    def add(self, clip: Clip, tracks: dict[Target, Track], start: float, role: str, part: bool = False) -> None:
        """The frame `start` is at zero seconds. part: it is also a named part, of the same name and frames."""
        made: Json = {"name": clip.name, "channels": [], "samplers": []}
        for name, path in PATHS.items():
            self.add_channels(made, name, path, self.channels(tracks, name), start)
        if not made["channels"]:
            if clip.tracks is None or clip.tracks:
                self.scene.warnings.append(f'The animation "{clip.name}" moves nothing; it was left out.')
            return
        if role == "TIMELINE" and clip.first < 0:
            self.scene.warnings.append(f'The animation "{clip.name}" begins before frame 0; that part of it was left out.')
        owner = self.tree.places[clip.owner] if 0 <= clip.owner < len(self.tree.places) else None
        values = {"role": role, "first": clip.first, "last": clip.last, "owner": owner, "markers": clip.markers or None}
        extras.pack(made, clip.settings, part=part, **values)
        self.made.append(made)

    def channels(self, tracks: dict[Target, Track], name: str) -> list[tuple[Target, Channel]]:
        """The channels of one kind that have keys."""
        found = []
        for target, track in tracks.items():
            channel: Channel | None = getattr(track, name)
            if channel is None or not len(channel.frames):
                continue
            if target[1] < 0 and target[0] in self.skinned:
                words = "has a skin: what moves it apart from its bones was left out."
                self.scene.warnings.append(f'"{self.scene.nodes[target[0]].name}" {words}')
            else:
                found.append((target, channel))
        return found

    def add_channels(self, made: Json, name: str, path: str, channels: list[tuple[Target, Channel]], start: float) -> None:
        """All at once: keys are many, and few in each channel."""
        if not channels:
            return
        keys = [self.keys(channel, name, start) for _, channel in channels]
        parts = [self.in_place(target, name, values) for (target, _), (_, values) in zip(channels, keys, strict=True)]
        values = in_file(name, np.concatenate(parts))
        end = 0
        for (target, _), (frames, part) in zip(channels, keys, strict=True):
            begin, end = end, end + len(part)
            sampler = {
                "input": self.times(frames),
                "output": self.buffer.keys(values[begin:end]),
                "interpolation": "LINEAR",
            }
            node, bone = target
            number = self.tree.places[node] if bone < 0 else self.tree.bones[node][bone]
            made["channels"].append({"sampler": len(made["samplers"]), "target": {"node": number, "path": path}})
            made["samplers"].append(sampler)

    def times(self, frames: Array) -> int:
        """Many channels have keys on the same frames. Seconds must ascend, however near the frames are."""
        key = frames.tobytes()
        if key not in self.known:
            seconds = (frames / self.fps).astype("<f4")
            while (np.diff(seconds) <= 0).any():
                late = np.append(False, np.diff(seconds) <= 0)
                seconds[late] = np.nextafter(seconds[np.flatnonzero(late) - 1], np.float32(np.inf))
            self.known[key] = self.buffer.keys(seconds.reshape(-1, 1), times=True)
        return self.known[key]

    def keys(self, channel: Channel, name: str, start: float) -> tuple[Array, Array]:
        """Frames from `start` on, none of them before it, and values with as many keys as the file's way between them needs."""
        frames, values = channel.frames, channel.values
        kind = self.scene.interpolation if name == "rotation" else ""
        if frames[0] < start:
            after = frames > start
            at = np.concatenate([[start], frames[after]]).astype(np.float32)
            frames, values = at, maths.sample(frames, values, at, kind)
        if kind == "NLERP":
            frames, values = as_slerp(frames, values)
        return frames.astype(np.float64) - start, values

    def in_place(self, target: Target, name: str, values: Array) -> Array:
        """Values as the node of the file needs them, which may stand in a shear, or look along another axis."""
        turn = self.tree.turns.get(target)
        looks = target[1] < 0 and target[0] in self.tree.looks
        if turn is not None and name == "rotation":
            values = maths.quaternion_multiply(turn, values)
        if turn is not None and name == "location":
            values = turned(turn, values, np.zeros(4))[0]
        if looks and name == "rotation":
            values = axes.look(values, axes.LOOK_TO_FILE)
        return axes.swap_scale(values) if looks and name == "scale" else values


def _is_whole(clip: Clip, timeline: Clip | None) -> bool:
    """A part that would be the timeline once more, from zero to its end."""
    return timeline is not None and clip.tracks is None and clip.first == 0 and replace(timeline, tracks=None) == clip


def in_file(name: str, values: Array) -> Array:
    if name == "rotation":
        values = axes.rotations_to_file(maths.normalized(values.astype(np.float64), (1, 0, 0, 0)))
    elif name == "scale":
        values = axes.swap_scale(values)
    else:
        values = axes.vectors_to_file(values)
    return np.ascontiguousarray(values, "<f4")


def as_slerp(frames: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Keys that are near the engine's straight lines when they are followed along arcs: halved only where they are not."""
    at, keys = frames.astype(np.float64), values.astype(np.float64)
    given = at, keys
    for _ in range(MOST_ROUNDS):
        if len(at) < 2:
            break
        # A straight line is farthest from its arc at about a fifth and four fifths of it.
        parts = np.array([0.21, 0.5, 0.79])
        test = (at[:-1, None] + np.diff(at)[:, None] * parts).reshape(-1)
        ours, theirs = maths.sample(at, keys, test, "SLERP"), maths.sample(*given, test, "NLERP")
        off = maths.key_error(ours, theirs, "SLERP").reshape(-1, 3).max(1) > TOLERANCE
        if not off.any():
            break
        middle = (at[:-1] + at[1:])[off] / 2
        new = np.union1d(at, middle)
        at, keys = new, maths.sample(*given, new, "NLERP")
    return at.astype(np.float32), maths.continuous(keys).astype(np.float32)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys as exporters want them: within their clip, on whole frames, arcs between rotations, and none for what does not move.

Keys that are so already stay as the file has them. Only where they have to be moved is the motion sampled, and reduced again to
the keys that give it back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from . import animation, maths, surfaces
from .model import Channel, Clip, Floats, Scene, Target, Track, Transform

STILL = 1e-6  # below this a pose is the same pose: a part of the model's size, or radians
FAR = 0.05  # radians: an arc of less is never a millionth off a straight line


def prepared(scene: Scene, tolerance: float, fractions: bool) -> Scene:
    """The scene with such keys. `fractions`: they may be between whole frames."""
    if not any(clip.tracks for clip in (scene.timeline, *scene.clips) if clip is not None):
        return replace(scene, interpolation="SLERP")
    work = _Work(scene, _size(scene), tolerance, fractions)
    timeline = None if scene.timeline is None else work.clip(scene.timeline)
    return replace(scene, timeline=timeline, clips=[work.clip(clip) for clip in scene.clips], interpolation="SLERP")


def _size(scene: Scene) -> float:
    return max((surfaces.extent(mesh.positions) for mesh in scene.meshes), default=1.0) or 1.0


@dataclass
class _Work:
    scene: Scene
    size: float
    tolerance: float
    fractions: bool

    def clip(self, clip: Clip) -> Clip:
        if clip.tracks is None:
            return clip
        first, last = clip.first, clip.last
        if not self.fractions:
            first, last = float(math.floor(first)), float(math.ceil(last))
        tracks = {target: self.track(track, self.rest(target), first, last) for target, track in clip.tracks.items()}
        tracks = {target: track for target, track in tracks.items() if track != Track()}
        return replace(clip, first=first, last=last, tracks=tracks)

    def rest(self, target: Target) -> Transform:
        node = self.scene.nodes[target[0]]
        return node.transform if target[1] < 0 or node.armature is None else node.armature.bones[target[1]].transform

    def track(self, track: Track, rest: Transform, first: float, last: float) -> Track:
        def channel(name: str, size: float, kind: str) -> Channel | None:
            found = self.within(getattr(track, name), first, last, kind)
            return found and self.channel(found, getattr(rest, name), size, kind)

        return Track(channel("location", self.size, ""), channel("rotation", 1.0, "SLERP"), channel("scale", 1.0, ""))

    def within(self, channel: Channel | None, first: float, last: float, kind: str) -> Channel | None:
        """What of a channel can be seen between two frames."""
        if channel is None or not len(channel.frames):
            return None
        if channel.frames[0] >= first and channel.frames[-1] <= last:
            return channel
        inside = (channel.frames > first) & (channel.frames < last)
        frames = np.unique(np.concatenate([[first], channel.frames[inside], [last]])).astype(np.float32)
        return Channel(frames, maths.sample(channel.frames, channel.values, frames, self.scene.interpolation if kind else ""))

    def channel(self, channel: Channel, rest: Floats, size: float, kind: str) -> Channel | None:
        still = STILL * size
        if len(channel.frames) == 1 or maths.key_error(channel.values[:1], channel.values, kind).max() <= still:
            if maths.key_error(rest[None], channel.values[:1], kind)[0] <= still:
                return None
            channel = Channel(channel.frames[:1], channel.values[:1])
        moved = not self.fractions and bool((channel.frames != np.rint(channel.frames)).any())
        if not moved and not (kind and self.strays(channel)):
            return channel
        keyed = np.unique(np.concatenate([np.floor(channel.frames), np.ceil(channel.frames)]))
        frames = animation.whole_frames(np.union1d(keyed, channel.frames) if self.fractions else keyed)
        values = maths.sample(channel.frames, channel.values, frames, self.scene.interpolation if kind else "")
        if kind:
            values = maths.continuous(values)
        kept = maths.reduce_keys(frames, values, self.tolerance * size, kind)
        return Channel(frames[kept], values[kept])

    def strays(self, rotation: Channel) -> bool:
        """Do the rotations go in straight lines, where arcs would lead elsewhere?"""
        if self.scene.interpolation == "SLERP" or len(rotation.frames) < 2:
            return False
        far = maths.key_error(rotation.values[1:], rotation.values[:-1], "SLERP") > FAR
        return bool((far & (np.diff(rotation.frames) > 1)).any())

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks and clips of the scene to KEYS, ANIM and SEQS chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....scene import Channel, Clip, Floats, Ints, Scene, Track, Transform, animation, maths
from ...binary import encode
from .. import axes, engine
from .. import document as b3d

FLAGS = {"position": b3d.POSITION, "scale": b3d.SCALE, "rotation": b3d.ROTATION}


@dataclass
class AnimatedTransform:
    """A transform and its animation."""

    transform: Transform
    track: Track

    @property
    def can_be_baked(self) -> bool:
        """Is it constant, without shear or mirror, with the same scale on all axes?"""
        track, transform = self.track, self.transform
        if track.location or track.rotation or track.scale or transform.prefix is not None:
            return False
        scale = transform.scale
        return bool(scale[0] > 0 and np.ptp(scale) <= 1e-5 * scale[0])

    def premultiplied(self, above: Transform) -> AnimatedTransform:
        """With a transform without shear and of even scale applied after it. Each channel stays on its own keys."""
        if self.transform.prefix is not None:
            return AnimatedTransform(replace(self.transform, prefix=above.matrix @ self.transform.prefix), self.track)
        linear = above.matrix[:3, :3]

        def each(name: str, values: Floats) -> Floats:
            if name == "location":
                return (values @ linear.T + above.location).astype(np.float32)
            if name == "rotation":
                return maths.quaternion_multiply(above.rotation, values).astype(np.float32)
            return (values * above.scale[0]).astype(np.float32)

        moved, track = Transform(), Track()
        for name in animation.CHANNELS:
            setattr(moved, name, each(name, getattr(self.transform, name)))
            channel: Channel | None = getattr(self.track, name)
            if channel is not None:
                setattr(track, name, Channel(channel.frames, each(name, channel.values)))
        return AnimatedTransform(moved, track)

    def split_shear(self) -> tuple[Transform | None, AnimatedTransform]:
        """Two transforms without shear whose product has it: the constant upper one, None without shear, and the lower one."""
        prefix = self.transform.prefix
        if prefix is None:
            return None, self
        left, scale, right = np.linalg.svd(prefix[:3, :3].astype(np.float64))
        flips = np.sign(np.linalg.det(left)), np.sign(np.linalg.det(right))
        left, scale, right = left * flips[0], scale * flips[0] * flips[1], right * flips[1]
        turns = [maths.matrix_to_quaternion(each).astype(np.float32) for each in (left, right)]
        above = Transform(prefix[:3, 3].copy(), turns[0], scale.astype(np.float32))
        rest = replace(self, transform=replace(self.transform, prefix=None))
        return above, rest.premultiplied(Transform(rotation=turns[1]))


class Timeline:
    """Everything that is animated, on the one timeline that the file has. The engine knows no frames before 0."""

    def __init__(self, scene: Scene, start: str = "KEEP") -> None:
        self.clip, self.ranges = animation.one_timeline(scene, 1, keep=0 if start == "KEEP" else -np.inf)
        self.fps = scene.fps or engine.DEFAULT_FPS
        self.shift = 0.0
        moved = animation.moved_clips(scene, self.ranges)
        scene.warnings += moved
        if start == "ONE":
            self.start_at_one(scene, 1.0 if moved else self.beginning(scene))
            return
        first = min([self.clip.first if self.clip else 0, *(clip.first for clip in self.ranges)])
        if first < 0:
            self.shift = 1 - first
            scene.warnings.append(f"The animation begins before frame 0; it was moved by {1 - first:g} frames.")

    def beginning(self, scene: Scene) -> float:
        """The frame that Luanti is to begin on. Its own files keep theirs; those of others may begin on 0, which it ignores."""
        if scene.first_frame is not None or self.clip is None or "b3d" in scene.settings or self.clip.first >= 1:
            return 1.0 if scene.first_frame is None else scene.first_frame
        scene.warnings.append(
            f"The animation begins on frame {self.clip.first:g}: it was moved by {1 - self.clip.first:g}, to 1."
        )
        return self.clip.first

    def start_at_one(self, scene: Scene, begin: float) -> None:
        """Puts the frame `begin` on frame 1 of the file, and cuts off what is before it: Luanti takes no such keys."""
        self.shift = 1 - begin
        if self.clip is None or self.clip.first >= begin:
            return
        scene.warnings.append(
            f"The animation begins on frame {self.clip.first:g}, before the scene's first, {begin:g}: that part was left out."
        )
        last = max(self.clip.last, begin)
        tracks = animation.cut(self.clip, begin, last, scene.interpolation)
        self.clip = replace(self.clip, first=begin, last=last, tracks=tracks)
        self.ranges = [replace(each, first=max(each.first, begin), last=max(each.last, begin)) for each in self.ranges]

    @property
    def first(self) -> float:
        return self.clip.first if self.clip else 1.0

    def track(self, node: int, bone: int) -> Track:
        """A copy of the track of a node or a bone; empty if there is none."""
        tracks = self.clip.tracks if self.clip else None
        return replace((tracks or {}).get((node, bone), Track()))

    def file_frames(self, frames: Floats | float) -> Ints:
        return np.clip(np.rint(np.asarray(frames, np.float64) + self.shift), -(2**31), 2**31 - 1).astype("<i4")

    def keys(self, track: Track) -> list[b3d.Keys]:
        """Channels with keys on the same frames share a chunk."""
        groups: dict[bytes, dict[str, Floats]] = {}
        frames: dict[bytes, Ints] = {}
        for name, field, convert in (
            ("location", "position", axes.vectors_to_file),
            ("scale", "scale", axes.scales_to_file),
            ("rotation", "rotation", axes.rotations_to_file),
        ):
            channel: Channel | None = getattr(track, name)
            if channel is None or not len(channel.frames):
                continue
            whole, first = np.unique(self.file_frames(channel.frames), return_index=True)
            groups.setdefault(whole.tobytes(), {})[field] = convert(channel.values[first])
            frames[whole.tobytes()] = whole
        return [_keys_chunk(frames[key], values) for key, values in groups.items()]

    def anim(self, root: b3d.Node) -> b3d.Anim | None:
        """The length and speed of all the animation below a node; None if there is none."""
        found = b3d.Document(chunks=[root])
        chunks = [chunk for node, _ in found.walk() for chunk in b3d.of_kind(node.chunks, b3d.Keys)]
        ends = [int(chunk.keys["frame"].max()) for chunk in chunks]
        if self.clip is not None:
            ends.append(int(self.file_frames(np.ceil(self.clip.last))))
        return b3d.Anim(0, max(ends), self.fps) if ends else None

    def sequences(self) -> list[b3d.Sequence]:
        return [self.sequence(clip) for clip in self.ranges]

    def sequence(self, clip: Clip) -> b3d.Sequence:
        first, last = int(self.file_frames(clip.first)), int(self.file_frames(clip.last))
        return b3d.Sequence(encode(clip.name).replace(b"\0", b""), first, last)


def _keys_chunk(frames: Ints, channels: dict[str, Floats]) -> b3d.Keys:
    flags = sum(FLAGS[name] for name in channels)
    keys = np.empty(len(frames), b3d.key_dtype(flags))
    keys["frame"] = frames
    for name, values in channels.items():
        keys[name] = values
    return b3d.Keys(flags, keys)

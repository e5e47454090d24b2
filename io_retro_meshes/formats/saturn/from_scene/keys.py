# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks -> bone keys; and into the keys of a file, where they differ from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Bone, Channel, Clip, Scene, Target, Track, Transform, maths
from ....scene.animation import CHANNELS, local_matrices, many_local_matrices
from ...errors import FormatError
from .. import axes
from .. import document as doc
from ..to_scene.animation import quaternions, track, vectors

Array = npt.NDArray[Any]

LAST_FRAME = 0xFFFF
TURN_TOLERANCE = 1e-4  # radians; the file's quaternions are good for about that
SHEAR = 1e-3

# Poses that differ by less are the same: radians, or a part of the model's size. Blender's floats and reduced keys are closer.
SAME_POSE = 2e-4


@dataclass
class BoneKeyExporter:
    """The keys of the bones of an armature."""

    scene: Scene
    node: int
    to_model: Array  # armature space to model space
    order: list[int]  # the bones in the order of the file
    size: float  # of the model
    warnings: list[str]
    tolerance: float = 0.0  # of the keys that the scene was reduced to

    def keys(self, clip: Clip | None) -> list[doc.BoneKeys]:
        """What the bones do in a clip; without one they rest."""
        armature = self.scene.nodes[self.node].armature
        assert armature is not None
        first, last = (clip.first, clip.last) if clip else (0.0, 0.0)
        if first < 0 or last > LAST_FRAME:
            raise FormatError(f"the animation runs from frame {first:g} to {last:g}: frames must be within 0 and {LAST_FRAME}")
        tracks = (clip.tracks if clip else None) or {}
        frames = np.arange(math.floor(first), math.ceil(last) + 1, dtype=np.float32)
        plain = bool(np.allclose(self.to_model, np.eye(4), atol=1e-6))
        sheared = 0
        found = []
        for index in self.order:
            bone = armature.bones[index]
            track = tracks.get((self.node, index))
            if plain and _moves_the_model(armature, bone):
                channels = _own_channels(bone.transform, track, frames, self.scene)
            else:
                channels, shear = _moved_channels(self.scene, armature, bone, track, frames, self.to_model, self.size)
                sheared += shear
            found.append(_file_keys(channels))
        if sheared:
            self.warnings.append(f"{sheared} bones are sheared, which the file cannot hold: the nearest pose was written.")
        return found

    # ------------------------------------------------------------------------------------------------- keys of a file

    def merged(self, original: list[doc.BoneKeys], clip: Clip, around: tuple[int, int], shift: int = 0) -> list[doc.BoneKeys]:
        """The keys of a file, with the poses of a clip on the frames where they differ, and no others `around` it changed.

        Bones and channels that nobody edited keep their keys: the very same list comes back for a clip that is as it was.
        """
        frames = self._frames(clip)
        armature = self.scene.nodes[self.node].armature
        assert armature is not None
        now = self._poses(armature, clip.tracks or {}, frames)
        still = [Transform()] * len(original)
        before = many_local_matrices(still, [track(bone) for bone in original], frames + np.float32(shift), "NLERP")
        if len(now) != len(before):
            return self.keys(replace(clip, first=clip.first + shift, last=clip.last + shift))
        hidden = self._hidden(armature, before)
        near = SAME_POSE + 3 * self.tolerance
        limit = np.full((4, 4), near)
        limit[:3, 3] *= self.size
        merged = []
        for old, matrices, others, unseen in zip(original, now, before, hidden, strict=True):
            changed = (np.abs(matrices - others) > limit).any((1, 2)) & ~unseen
            merged.append(
                self._spliced(old, matrices, frames + np.float32(shift), changed, near, around) if changed.any() else old
            )
        return original if all(new is old for new, old in zip(merged, original, strict=True)) else merged

    def _frames(self, clip: Clip) -> Array:
        if clip.first < 0 or clip.last > LAST_FRAME:
            raise FormatError(
                f'the animation "{clip.name}" runs from frame {clip.first:g} to {clip.last:g}: frames must be within 0 and '
                f"{LAST_FRAME}"
            )
        return np.arange(math.floor(clip.first), math.ceil(clip.last) + 1, dtype=np.float32)

    def _poses(self, armature: Armature, tracks: dict[Target, Track], frames: Array) -> Array:
        """What each bone does to the model: (n, f, 4, 4) in the order of the file."""
        bones = [armature.bones[index] for index in self.order]
        moves = [tracks.get((self.node, index)) for index in self.order]
        local = many_local_matrices([bone.transform for bone in bones], moves, frames, self.scene.interpolation)
        binds = np.array([bone.bind for bone in bones], np.float64).reshape(-1, 4, 4)
        parents = [armature.bones[bone.parent].bind if bone.parent >= 0 else np.eye(4) for bone in bones]
        above = self.to_model @ np.array(parents, np.float64).reshape(-1, 4, 4)
        found: Array = above[:, None] @ local.astype(np.float64) @ maths.inverse(self.to_model @ binds)[:, None]
        return found

    def _hidden(self, armature: Armature, before: Array) -> list[Array]:
        """On which frames each bone is on one that has shrunk to nothing: what it does there cannot be seen, or told."""
        shrunk = np.abs(maths.determinant(before[..., :3, :3])) < 1e-7
        flat: dict[int, Array] = {-1: np.zeros(before.shape[1], bool)}
        found = []
        for index, own in zip(self.order, shrunk, strict=True):
            above = flat[armature.bones[index].parent]
            found.append(above)
            flat[index] = above | own
        return found

    def _spliced(
        self, old: doc.BoneKeys, matrices: Array, frames: Array, changed: Array, near: float, around: tuple[int, int]
    ) -> doc.BoneKeys:
        """The keys of a bone with those for the frames between the first and the last that changed."""
        span = slice(int(np.flatnonzero(changed)[0]), int(np.flatnonzero(changed)[-1]) + 1)
        at = frames[span]
        location, rotation, scale = maths.decompose(matrices[span])
        moves, turns, scales = axes.vectors_to_file(location), axes.rotations_to_file(rotation), axes.scales_to_file(scale)
        turns = maths.continuous(turns)
        edges = np.array([edge for edge in (at[0] - 1, at[-1] + 1) if around[0] <= edge <= around[1]], np.float64)
        size = self.size
        return doc.BoneKeys(
            _with_run(old.translation, vectors(old.translation), at, moves, edges, (near * size, 1e-5 * size), NO_MOVE),
            _with_run(old.rotation, quaternions(old.rotation), at, turns, edges, (near, TURN_TOLERANCE), NO_TURN),
            _with_run(old.scale, vectors(old.scale), at, scales, edges, (near, 1e-4), NO_SCALE),
        )


# A channel without keys stands at these.
NO_MOVE, NO_TURN, NO_SCALE = np.zeros(3), np.array([0.0, 0, 0, 1]), np.ones(3)


def _with_run(
    old: doc.Keys,
    known: tuple[Array, Array],
    frames: Array,
    values: Array,
    edges: Array,
    tolerances: tuple[float, float],
    rest: Array,
) -> doc.Keys:
    """A channel with new values on a run of frames; those on its `edges` keep their poses. `tolerances`: to be the same, and
    of the keys that are made."""
    turns = values.shape[1] == 4
    kind = "NLERP" if turns else ""
    times, before = known if len(known[0]) else (np.zeros(1), rest[None])
    there = maths.sample(times, before, frames.astype(np.float64), kind)
    nearer = np.where((there * values).sum(1, keepdims=True) < 0, -values, values) if turns else values
    if np.abs(nearer - there).max() <= tolerances[0]:
        return old
    kept = np.union1d(maths.reduce_keys(frames, values, tolerances[1], kind), [len(frames) - 1]).astype(np.int64)
    outside = (times < frames[0]) | (times > frames[-1])
    all_times = np.concatenate([times[outside], edges, frames[kept]])
    all_values = np.concatenate([before[outside], maths.sample(times, before, edges, kind), values[kept]])
    all_times, order = np.unique(all_times, return_index=True)
    all_values = all_values[order]
    if turns:
        words = axes.to_quaternion_words(maths.continuous(maths.normalized(all_values, (0, 0, 0, 1))))
        return doc.Keys(all_times.astype(">u2"), words)
    return doc.Keys(all_times.astype(">u2"), axes.to_fixed(all_values))


def _moves_the_model(armature: Armature, bone: Bone) -> bool:
    """Is the bone's matrix already a movement of the model as it stands, as it is after an import?"""
    above = armature.bones[bone.parent].bind if bone.parent >= 0 else bone.bind
    return bool(np.allclose(bone.bind, np.eye(4), atol=1e-6) and np.allclose(above, np.eye(4), atol=1e-6)) and (
        bone.transform.prefix is None
    )


def _own_channels(transform: Transform, track: Track | None, frames: Array, scene: Scene) -> list[Channel]:
    channels = []
    for name in CHANNELS:
        channel: Channel | None = getattr(track, name) if track else None
        if channel is None or not len(channel.frames):
            channel = Channel(frames[:1], getattr(transform, name)[None])
        elif (channel.frames != np.rint(channel.frames)).any() or (name == "rotation" and scene.interpolation == "SLERP"):
            # Long turns go another way when the console interpolates them: give it more keys.
            kind = scene.interpolation if name == "rotation" else ""
            values = maths.sample(channel.frames, channel.values, frames, kind)
            channel = _reduced(frames, values, TURN_TOLERANCE if kind else 1e-5, "NLERP" if kind else "")
        channels.append(channel)
    return channels


def _moved_channels(
    scene: Scene, armature: Armature, bone: Bone, track: Track | None, frames: Array, to_model: Array, size: float
) -> tuple[list[Channel], bool]:
    """A bone that has a place of its own: what it does to the model, on every frame. And is there a shear in it?"""
    local = local_matrices(bone.transform, track, frames, scene.interpolation).astype(np.float64)
    above = to_model @ armature.bones[bone.parent].bind if bone.parent >= 0 else to_model
    moved = above @ local @ np.linalg.pinv(to_model @ bone.bind)
    location, rotation, scale = maths.decompose(moved)
    error = np.abs(maths.compose(location, rotation, scale) - moved)[:, :3, :3].max()
    rotation = maths.continuous(rotation)
    channels = [
        _reduced(frames, location, 1e-5 * size, ""),
        _reduced(frames, rotation, TURN_TOLERANCE, "NLERP"),
        _reduced(frames, scale, 1e-4, ""),
    ]
    return channels, bool(error > SHEAR)


def _reduced(frames: Array, values: Array, tolerance: float, kind: str) -> Channel:
    kept = maths.reduce_keys(frames, values, tolerance, kind)
    return Channel(frames[kept], values[kept])


def _file_keys(channels: list[Channel]) -> doc.BoneKeys:
    moves, turns, scales = channels
    rotation = maths.normalized(turns.values.astype(np.float64), (1, 0, 0, 0))

    def times(channel: Channel) -> Array:
        return np.rint(channel.frames).astype(">u2")

    return doc.BoneKeys(
        doc.Keys(times(moves), axes.to_fixed(axes.vectors_to_file(moves.values))),
        doc.Keys(times(turns), axes.to_quaternion_words(axes.rotations_to_file(maths.continuous(rotation)))),
        doc.Keys(times(scales), axes.to_fixed(axes.scales_to_file(scales.values))),
    )

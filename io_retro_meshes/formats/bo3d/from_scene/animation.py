# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene's animation, sampled on whole frames, and the keys of an entity that hold it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Floats, Scene, Target, Track, Transform, animation, maths
from .. import axes, engine
from ..document import KEY

Array = npt.NDArray[Any]
Matrices = npt.NDArray[np.float64]  # (1 + frames, 4, 4): at rest, then on each frame

MAX_SAMPLED_FRAMES = 20000  # of a longer animation only the frames with keys are sampled
BONE_SHARE = 0.25  # of the tolerance for each entity, as its errors add to those of its parents


class Timeline:
    """Where every node and bone is, at rest and on each frame."""

    def __init__(self, source: Scene) -> None:
        self.scene = source
        self.warnings: list[str] = []
        self.tracks: dict[Target, Track] = {}
        self.frames = np.ones(1, np.float32)
        self.last = 1
        self.take_clip()
        self.world: list[Matrices] = []  # of each node
        self.poses: list[list[Matrices]] = []  # of each node's bones, in its armature; at rest where the skin was bound
        for index in range(len(source.nodes)):
            self.world.append(self.node_matrices(index))
            self.poses.append(self.bone_matrices(index))

    def take_clip(self) -> None:
        clip, parts = animation.one_timeline(self.scene, first=1)
        if clip is None or not clip.tracks:
            return
        self.tracks = clip.tracks
        first, self.last = int(np.ceil(clip.first)), int(np.floor(clip.last))
        self.frames = _sampled_frames(clip.tracks, first, self.last)
        if first < 0:
            self.warnings.append(f"The file has no frames before 0: every frame was moved by {1 - first}.")
        if [(part.first, part.last) for part in parts] not in ([], [(clip.first, clip.last)]):
            places = ", ".join(f'"{part.name}" is frames {part.first:g} to {part.last:g}' for part in parts)
            self.warnings.append(f"The file cannot name parts of its animation: {places}.")

    @property
    def shift(self) -> int:
        """From the scene's frames to the file's, which cannot be less than 0: the rest pose is on -1."""
        first = int(self.frames[0])
        return 1 - first if first < 0 else 0

    def node_matrices(self, index: int) -> Matrices:
        node = self.scene.nodes[index]
        matrix = self.local_matrices(node.transform, node.transform.matrix, (index, -1))
        if node.parent >= 0:
            if node.parent_bone >= 0:
                matrix = self.poses[node.parent][node.parent_bone] @ matrix
            matrix = self.world[node.parent] @ matrix
        return matrix

    def bone_matrices(self, index: int) -> list[Matrices]:
        armature = self.scene.nodes[index].armature
        poses: list[Matrices] = []
        for number, bone in enumerate(armature.bones if armature else []):
            pose = self.local_matrices(bone.transform, np.eye(4), (index, number))
            pose = poses[bone.parent] @ pose if bone.parent >= 0 else pose
            pose[0] = bone.bind
            poses.append(pose)
        return poses

    def local_matrices(self, transform: Transform, rest: Array, target: Target) -> Matrices:
        moving = animation.local_matrices(transform, self.tracks.get(target), self.frames, self.scene.interpolation)
        return np.concatenate([np.asarray(rest)[None], moving]).astype(np.float64)

    def keys(self, location: Array, rotation: Array, scale: Array, tolerance: float, size: float) -> Array:
        """The keys that an entity needs, of values at rest and on each frame; `size`: that of the whole model."""
        frames = np.concatenate([[engine.REST_FRAME], self.frames.astype(np.int64) + self.shift])
        tolerance *= BONE_SHARE
        keep = np.zeros(len(frames), bool)
        for values, limit, kind in (
            (location, tolerance * size, ""),
            (rotation, tolerance, "NLERP"),
            (scale, tolerance, ""),
        ):
            keep[maths.reduce_keys(frames.astype(np.float64), values, limit, kind)] = True
        keep[0] = False  # the engine puts the rest pose there itself
        keys = np.zeros(int(keep.sum()), KEY)
        keys["frame"] = frames[keep]
        keys["position"] = axes.vectors_to_file(location[keep])
        keys["scale"] = axes.scales_to_file(scale[keep])
        keys["rotation"] = axes.rotations_to_file(rotation[keep])
        return keys


def _sampled_frames(tracks: dict[Target, Track], first: int, last: int) -> Floats:
    """The frames up to the last key; of a very long animation, only those that have keys."""
    channels = [channel for track in tracks.values() for channel in (track.location, track.rotation, track.scale)]
    keyed = np.concatenate([[first], *(channel.frames for channel in channels if channel is not None)])
    keyed = np.unique(np.clip(np.rint(keyed), first, max(first, last)))
    if keyed[-1] - first > MAX_SAMPLED_FRAMES:
        return keyed.astype(np.float32)
    return np.arange(first, int(keyed[-1]) + 1, dtype=np.float32)

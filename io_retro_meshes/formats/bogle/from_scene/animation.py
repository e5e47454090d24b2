# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips as animations of layout ANIM."""

from __future__ import annotations

import math

import numpy as np

from .... import scene as neutral
from ....scene import Track, Transform, maths
from ....scene import animation as clips
from ...binary import encode
from ..axes import wxyz, xyzw
from ..document import Animation, Array, keyframe


def clip_tracks(scene: neutral.Scene, clip: neutral.Clip) -> dict[neutral.Target, Track]:
    if clip.tracks is not None:
        return clip.tracks
    return clips.cut(scene.timeline, clip.first, clip.last, scene.interpolation) if scene.timeline is not None else {}


def in_order(found: list[neutral.Clip]) -> list[neutral.Clip]:
    """Animations as an imported file had them, then the others: Blender sorts its actions by name."""
    return sorted(found, key=lambda clip: clip.settings.get("bogle", {}).get("order", 0) or math.inf)


def from_clip(
    clip: neutral.Clip,
    tracks: list[Track],
    bound: list[Transform],
    shown: list[Transform],
    bones: Array,
    interpolation: neutral.Interpolation,
    fps: float,
) -> tuple[Animation, Array, Array]:
    """A clip on every frame that has a key of any bone, as the file has one list of times for all; how far off the engine will
    put each bone, which can move about in Blender but not in the engine; and how far it moves about. `shown` is where bones
    without keys are, `bound` where they were bound."""
    channels = [channel for track in tracks for channel in (track.location, track.rotation) if channel is not None]
    frames = np.unique(np.concatenate([[clip.first], *(channel.frames for channel in channels)])).astype(np.float32)
    keys = np.zeros(len(frames), keyframe(len(bones)))
    keys["time"] = (frames - frames[0]) / fps
    rest = wxyz(bones["rotation"])
    off, moved = np.zeros(len(bones)), np.zeros(len(bones))
    root = int(np.argmax(bones["parent"] == 0))
    for row, (track, still) in enumerate(zip(tracks, shown, strict=True)):
        location = clips.channel_values(still, track, "location", frames, interpolation)
        rotation = clips.channel_values(still, track, "rotation", frames, interpolation)
        turn = maths.continuous(maths.quaternion_multiply(maths.quaternion_conjugate(rest[row])[None], rotation))
        keys["rotations"][:, row] = xyzw(turn)
        # What the engine would have to add to the bone's position, in the bone's own turned axes.
        missing = np.einsum("kji,kj->ki", maths.quaternion_to_matrix(rotation), location) - bones["position"][row]
        if row == root:
            keys["root_offset"] = missing
        else:
            off[row] = np.linalg.norm(missing, axis=1).max()
            moved[row] = np.linalg.norm(location - bound[row].location, axis=1).max()
    return Animation(keys, encode(clip.name)), off, moved

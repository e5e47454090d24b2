# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame rates: the file counts frames and leaves the rate to the program that plays them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ....scene import Channel, Clip, Scene, Track, maths

USUAL = 30.0  # what an import takes the file for
TOLERANCE = 1e-5  # keys that the others give back this well are left out; of the scene's units and radians
MOST_FRAMES = 20_000  # of a longer animation keys are moved, not sampled


def at_rate(scene: Scene, fps: float, warnings: list[str]) -> Scene:
    """The scene with its animation at so many frames a second; 0 keeps it, and says what it was made for."""
    moves = scene.timeline is not None or bool(scene.clips)
    if not moves or not scene.fps:
        return scene
    if not fps:
        if abs(scene.fps - USUAL) > 1e-3:
            warnings.append(
                f"The file has no frame rate; frames kept their numbers, for {scene.fps:g} a second. See Frame Rate."
            )
        return scene
    ratio = fps / scene.fps
    if abs(ratio - 1) < 1e-6:
        return scene
    timeline = None if scene.timeline is None else _clip(scene.timeline, ratio, scene.interpolation)
    return replace(scene, timeline=timeline, clips=[_clip(clip, ratio, scene.interpolation) for clip in scene.clips], fps=fps)


def _clip(clip: Clip, ratio: float, interpolation: str) -> Clip:
    tracks = clip.tracks
    if tracks is not None:
        kinds = {"location": "", "rotation": interpolation, "scale": ""}
        tracks = {
            target: Track(**{name: _channel(getattr(track, name), ratio, kind) for name, kind in kinds.items()})
            for target, track in tracks.items()
        }
    markers = [(float(round(frame * ratio)), name) for frame, name in clip.markers]
    first, last = math.floor(clip.first * ratio), math.ceil(clip.last * ratio)
    return replace(clip, first=float(first), last=float(last), tracks=tracks, markers=markers)


def _channel(channel: Channel | None, ratio: float, kind: str) -> Channel | None:
    """Sampled on the whole frames of the new rate, and reduced to few keys."""
    if channel is None or not len(channel.frames):
        return channel
    first, last = np.floor(channel.frames[0] * ratio), np.ceil(channel.frames[-1] * ratio)
    if last - first > MOST_FRAMES:
        frames = np.unique(np.rint(channel.frames.astype(np.float64) * ratio))
    else:
        frames = np.arange(first, last + 1)
    values = maths.sample(channel.frames, channel.values, (frames / ratio).astype(np.float32), kind)
    values = maths.continuous(values) if kind else values
    keep = maths.reduce_keys(frames, values, TOLERANCE, kind)
    return Channel(frames[keep].astype(np.float32), values[keep].astype(np.float32))

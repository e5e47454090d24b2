# SPDX-License-Identifier: GPL-3.0-or-later
"""KEYS, ANIM and SEQS chunks to the scene's timeline and the named parts of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....scene import Channel, Clip, Scene, Target, Track, animation, maths
from ....scene.sanitize import finite, number
from .. import axes, engine
from .. import document as b3d


def add_animation(scene: Scene, nodes: list[b3d.Node], targets: list[Target], decode: Callable[[bytes], str]) -> None:
    """`targets`: the scene's node, or node and bone, of each node of the file."""
    anims = [anim for node in nodes for anim in b3d.of_kind(node.chunks, b3d.Anim)]
    if anims:
        fps = number(anims[0].fps)
        scene.fps = fps if fps > 0 else engine.DEFAULT_FPS
    if len({anim.fps for anim in anims}) > 1:
        message = f"The file has animations of different speeds; all are shown at {scene.fps:g} frames a second."
        scene.warnings.append(message)
    tracks = _tracks(nodes, targets)
    first, last = animation.frame_span(tracks) or (1.0, 1.0)
    last = max([last, *(float(anim.frames) for anim in anims)])
    if tracks or last > first:
        scene.timeline = Clip("", first, last, tracks)
    for sequence in [sequence for node in nodes for sequence in b3d.of_kind(node.chunks, b3d.Sequence)]:
        first, last = sorted((float(sequence.first), float(sequence.last)))
        scene.clips.append(Clip(decode(sequence.name), first, last))


def _tracks(nodes: list[b3d.Node], targets: list[Target]) -> dict[Target, Track]:
    tracks: dict[Target, Track] = {}
    for target, node in zip(targets, nodes, strict=True):
        chunks = b3d.of_kind(node.chunks, b3d.Keys)
        track = Track(*(_channel(chunks, name) for name in ("position", "rotation", "scale")))
        if track.location or track.rotation or track.scale:
            tracks[target] = track
    return tracks


def _channel(chunks: list[b3d.Keys], name: str) -> Channel | None:
    """The keys of all chunks that have this channel; of those on the same frame the last one counts."""
    chunks = [chunk for chunk in chunks if name in (chunk.keys.dtype.names or ()) and len(chunk.keys)]
    if not chunks:
        return None
    frames = np.concatenate([chunk.keys["frame"] for chunk in chunks]).astype(np.float32)
    values = finite(np.concatenate([chunk.keys[name] for chunk in chunks]))
    if not (np.diff(frames) > 0).all():
        frames, last = np.unique(frames[::-1], return_index=True)
        values = values[::-1][last]
    if name == "rotation":
        values = maths.continuous(maths.normalized(axes.rotations_to_scene(values), (1, 0, 0, 0)))
    elif name == "scale":
        values = axes.scales_to_scene(values)
    else:
        values = axes.vectors_to_scene(values)
    return Channel(frames, np.ascontiguousarray(values))

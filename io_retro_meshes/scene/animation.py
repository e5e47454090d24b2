# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of a Scene: evaluated, cut, and laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from . import maths
from .model import Armature, Channel, Clip, Floats, Interpolation, Scene, Target, Track, Transform

MOST_BETWEEN = 256  # frames that are sampled between two keys

CHANNELS = ("location", "rotation", "scale")


# ---------------------------------------------------------------------------------------------------------- evaluation


def channel_values(
    transform: Transform, track: Track | None, name: str, frames: Floats, interpolation: Interpolation
) -> Floats:
    """Location, rotation or scale at each frame; where no key says otherwise, the transform's."""
    channel: Channel | None = getattr(track, name) if track else None
    if channel is None or not len(channel.frames):
        return np.repeat(getattr(transform, name)[None], len(frames), 0)
    return maths.sample(channel.frames, channel.values, frames, interpolation if name == "rotation" else "")


def local_matrices(transform: Transform, track: Track | None, frames: Floats, interpolation: Interpolation) -> Floats:
    """The matrix relative to the parent at each frame: (f, 4, 4)."""
    found: Floats = many_local_matrices([transform], [track], frames, interpolation)[0]
    return found


def many_local_matrices(
    transforms: Sequence[Transform], tracks: Sequence[Track | None], frames: Floats, interpolation: Interpolation
) -> Floats:
    """Those of many nodes or bones at once, which takes little longer than of one: (n, f, 4, 4)."""
    values = []
    for name in CHANNELS:
        ends = np.empty((2, len(transforms), len(frames), 4 if name == "rotation" else 3), np.float32)
        t = np.zeros(ends.shape[1:3], np.float32)
        for number, (transform, track) in enumerate(zip(transforms, tracks, strict=True)):
            channel: Channel | None = getattr(track, name) if track else None
            if channel is None or not len(channel.frames):
                ends[:, number] = getattr(transform, name)
            else:
                left, right, t[number] = maths.around(channel.frames, frames)
                ends[0, number], ends[1, number] = channel.values[left], channel.values[right]
        values.append(maths.interpolated(ends[0], ends[1], t, interpolation if name == "rotation" else ""))
    matrices: Floats = maths.compose(*values)
    for number, transform in enumerate(transforms):
        if transform.prefix is not None:
            matrices[number] = transform.prefix @ matrices[number]
    return matrices


def bone_matrices(scene: Scene, node: int, tracks: dict[Target, Track], frames: Floats) -> list[Floats]:
    """Every bone of the node's armature at each frame, in the armature's space: a (f, 4, 4) a bone."""
    armature: Armature | None = scene.nodes[node].armature
    bones = armature.bones if armature else []
    moves = [tracks.get((node, index)) for index in range(len(bones))]
    local = many_local_matrices([bone.transform for bone in bones], moves, frames, scene.interpolation)
    found: list[Floats] = []
    for bone, matrix in zip(bones, local, strict=True):
        found.append(found[bone.parent] @ matrix if bone.parent >= 0 else matrix)
    return found


def node_matrices(scene: Scene, tracks: dict[Target, Track], frames: Floats) -> list[Floats]:
    """Every node at each frame, in the world: a (f, 4, 4) a node."""
    found: list[Floats] = []
    bones: dict[int, list[Floats]] = {}
    moves = [tracks.get((index, -1)) for index in range(len(scene.nodes))]
    local = many_local_matrices([node.transform for node in scene.nodes], moves, frames, scene.interpolation)
    for node, matrix in zip(scene.nodes, local, strict=True):
        if node.parent >= 0:
            if node.parent_bone >= 0:
                if node.parent not in bones:
                    bones[node.parent] = bone_matrices(scene, node.parent, tracks, frames)
                matrix = bones[node.parent][node.parent_bone] @ matrix
            matrix = found[node.parent] @ matrix
        found.append(matrix)
    return found


def frame_span(tracks: dict[Target, Track]) -> tuple[float, float] | None:
    """The first and the last frame that has a key."""
    ends = [
        (float(channel.frames[0]), float(channel.frames[-1]))
        for track in tracks.values()
        for channel in (track.location, track.rotation, track.scale)
        if channel is not None and len(channel.frames)
    ]
    return (min(end[0] for end in ends), max(end[1] for end in ends)) if ends else None


def whole_frames(keys: Floats) -> Floats:
    """The keyed frames and the whole frames between them, for what does not move in a line from one key to the next.

    Keys can be a million frames apart. Between two of them nothing turns further than half round, so that some of the
    frames say as much as all.
    """
    span = np.diff(keys.astype(np.float64))
    count = np.ceil(np.minimum(span, MOST_BETWEEN)).astype(np.int64)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    between = np.ceil(np.repeat(keys[:-1], count) + within * np.repeat(np.maximum(span / MOST_BETWEEN, 1), count))
    return np.union1d(keys, between[between < np.repeat(keys[1:], count)]).astype(np.float32)


# ------------------------------------------------------------------------------------------------------------- editing


def cut(clip: Clip, first: float, last: float, interpolation: Interpolation) -> dict[Target, Track]:
    """The tracks of a clip between two frames, with keys on both where the motion goes on beyond them."""

    def piece(channel: Channel | None, rotation: bool) -> Channel | None:
        if channel is None or not len(channel.frames):
            return None
        inside = (channel.frames > first) & (channel.frames < last)
        frames = np.concatenate([[first], channel.frames[inside], [last] if last > first else []]).astype(np.float32)
        values = maths.sample(channel.frames, channel.values, frames, interpolation if rotation else "")
        if len(values) == 2 and np.array_equal(values[0], values[1]):
            frames, values = frames[:1], values[:1]
        return Channel(frames, maths.continuous(values) if rotation else values)

    return {
        target: Track(piece(track.location, False), piece(track.rotation, True), piece(track.scale, False))
        for target, track in (clip.tracks or {}).items()
    }


def one_timeline(scene: Scene, first: float = 1, keep: float | None = None) -> tuple[Clip | None, list[Clip]]:
    """Everything that moves on one timeline, and the named parts of it, for a format that has only one.

    Clips with tracks of their own stay where they are if none begins before the frame `keep` and no two share a frame. Else,
    or with `keep` None, they follow the scene's timeline, or begin at `first`, laid end to end. What a clip does not move is
    at rest in it, whatever other clips do.
    """
    own = [clip for clip in scene.clips if clip.tracks is not None]
    if not own:
        return scene.timeline, list(scene.clips)
    cursor = first
    pieces: list[Clip] = []
    if scene.timeline is not None:
        pieces.append(scene.timeline)
        cursor = np.ceil(scene.timeline.last) + 1
    stay = keep is not None and min(clip.first for clip in own) >= keep and _are_apart([*pieces, *own])
    ranges = [clip for clip in scene.clips if clip.tracks is None]
    for clip in own:
        shift = 0.0 if stay else cursor - clip.first
        piece = _shifted(clip, shift, scene.interpolation)
        pieces.append(piece)
        ranges.append(replace(piece, tracks=None))
        cursor = np.ceil(piece.last) + 1
    pieces.sort(key=lambda piece: piece.first)
    tracks = {target: _joined(scene, target, pieces) for target in _targets(pieces)}
    return Clip("timeline", min(p.first for p in pieces), max(p.last for p in pieces), tracks), ranges


def _are_apart(clips: list[Clip]) -> bool:
    """Is no frame in two of them?"""
    ordered = sorted(clips, key=lambda clip: clip.first)
    return all(np.ceil(one.last) < np.floor(other.first) for one, other in pairwise(ordered))


def moved_clips(scene: Scene, ranges: list[Clip]) -> list[str]:
    """A line for each clip that `one_timeline` gave other frames, for people; `ranges` is what it returned."""
    own = [clip for clip in scene.clips if clip.tracks is not None]
    pairs = [
        (clip, piece) for clip, piece in zip(own, ranges[len(ranges) - len(own) :], strict=True) if clip.first != piece.first
    ]
    lines = [f'  "{a.name}": frames {a.first:g} to {a.last:g} are {b.first:g} to {b.last:g} in the file' for a, b in pairs]
    return [f"Animations share frames, so {len(lines)} of them have others in the file:", *lines] if lines else []


def _targets(clips: list[Clip]) -> list[Target]:
    return sorted({target for clip in clips for target in clip.tracks or {}})


def _shifted(clip: Clip, shift: float, interpolation: Interpolation) -> Clip:
    def moved(channel: Channel | None) -> Channel | None:
        return None if channel is None else Channel((channel.frames + shift).astype(np.float32), channel.values)

    tracks = {
        target: Track(moved(track.location), moved(track.rotation), moved(track.scale))
        for target, track in cut(clip, clip.first, clip.last, interpolation).items()
    }
    markers = [(frame + shift, name) for frame, name in clip.markers]
    return replace(clip, first=clip.first + shift, last=clip.last + shift, tracks=tracks, markers=markers)


def _joined(scene: Scene, target: Target, pieces: list[Clip]) -> Track:
    """One target's keys from all the pieces. A piece that has none, or one, holds its value from end to end."""
    node, bone = target
    armature = scene.nodes[node].armature
    rest = armature.bones[bone].transform if bone >= 0 and armature else scene.nodes[node].transform
    joined = Track()
    for name in CHANNELS:
        channels = [getattr(piece.tracks.get(target), name, None) if piece.tracks else None for piece in pieces]
        if not any(channel is not None and len(channel.frames) for channel in channels):
            continue
        frames: list[Floats] = []
        values: list[Floats] = []
        for piece, channel in zip(pieces, channels, strict=True):
            if channel is None or len(channel.frames) < 2:
                value = getattr(rest, name) if channel is None or not len(channel.frames) else channel.values[0]
                frames.append(np.unique(np.array([piece.first, piece.last], np.float32)))
                values.append(np.repeat(value[None], len(frames[-1]), 0))
            else:
                frames.append(channel.frames)
                values.append(channel.values)
        merged = np.concatenate(values)
        merged = maths.continuous(merged) if name == "rotation" else merged
        setattr(joined, name, Channel(np.concatenate(frames), merged))
    return joined

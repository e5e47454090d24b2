# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations of layout ANIM as clips.

At a key a bone's rotation is rest · key, and the first root's position has the key's offset added. Between keys rotations go
along the arc, offsets straight.
"""

from __future__ import annotations

import numpy as np

from .... import scene as neutral
from ....scene import Channel, Floats, Ints, Track, maths, sanitize
from ...binary import decode
from ..axes import wxyz
from ..bones import STILL, rotated
from ..document import Animation, Collection

FRAME_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0)
# Whole frames between keys are filled in up to this many for all the bones of an animation.
MOST_SAMPLES = 200_000


def frame_rate(collections: list[Collection]) -> float:
    """Times are in seconds: the usual rate that puts every key on a whole frame, else Blender's own."""
    times = [animation.keys["time"].astype(np.float64) for collection in collections for animation in collection.animations]
    every = np.concatenate([*times, np.zeros(1)])
    every = every[sanitize.usable(every, sanitize.LAST_FRAME)]
    fits = (rate for rate in FRAME_RATES if np.abs(every * rate - np.rint(every * rate)).max() < 1e-3)
    return next(fits, FRAME_RATES[0])


def to_clip(
    animation: Animation, collection: Collection, place: Ints, node: int, fps: float, warnings: list[str]
) -> neutral.Clip:
    name = decode(animation.name) or "Animation"
    keys = animation.keys
    exact = np.clip(keys["time"].astype(np.float64) * fps, -1e9, 1e9)
    whole = np.rint(exact)
    frames: Floats = np.where(np.abs(exact - whole) < 1e-3, whole, exact).astype(np.float32)
    usable = np.flatnonzero(sanitize.usable(frames, sanitize.LAST_FRAME))
    order = usable[np.unique(frames[usable], return_index=True)[1]]
    if len(order) < len(keys):
        warnings.append(f"{name}: {len(keys) - len(order)} keys have no time of their own; left out.")
    frames, keys = frames[order], keys[order]
    if not len(keys):
        return neutral.Clip(name, 0, 0, {})
    rest = wxyz(collection.bones["rotation"])
    turned = maths.quaternion_multiply(rest[None], wxyz(keys["rotations"]))  # (keys, bones, 4)
    offset = sanitize.finite(keys["root_offset"].astype(np.float32))
    positions = sanitize.finite(collection.bones["position"].astype(np.float32))
    roots = np.flatnonzero(collection.bones["parent"] == 0)
    tracks: dict[neutral.Target, Track] = {}
    between = frames[-1] - frames[0] <= MOST_SAMPLES / max(len(rest), 1)
    for bone in range(len(rest)):
        moved = offset if len(roots) and bone == roots[0] else np.zeros_like(offset)
        tracks[node, int(place[bone])] = _track(frames, turned[:, bone], positions[bone] + moved, between)
    return neutral.Clip(name, float(frames[0]), float(frames[-1]), tracks)


def _track(frames: Floats, rotations: Floats, positions: Floats, between: bool) -> Track:
    rotations = maths.continuous(rotations.astype(np.float32))
    rotation = Channel(frames, rotations)
    if maths.key_error(rotations[:1], rotations, "SLERP").max() < STILL:
        rotation = Channel(frames[:1], rotations[:1])
    at = frames
    if between and len(rotation.frames) > 1 and np.abs(positions).max() > STILL:
        # The place goes around with the rotation: between the keys, in a curve.
        at = np.union1d(frames, np.arange(np.ceil(frames[0]), frames[-1], dtype=np.float32)).astype(np.float32)
    places = rotated(maths.sample(frames, rotations, at, "SLERP"), maths.sample(frames, positions, at))
    kept = maths.reduce_keys(at, places, max(float(np.abs(places).max()) * 1e-5, STILL))
    kept = np.union1d(kept, np.flatnonzero(np.isin(at, frames))) if len(kept) > 1 else kept
    return Track(Channel(at[kept], places[kept]), rotation)


def add_clips(
    scene: neutral.Scene, collections: list[Collection], animated: dict[int, list[tuple[int, Ints]]], fps: float
) -> None:
    """A clip for each animation; the first of every skeleton plays when there are several.

    `animated` has, for each collection that is used, the nodes of its armatures and the places of its bones in them.
    """
    if not animated:
        return
    fps = fps or frame_rate(collections)
    first: dict[neutral.Target, Track] = {}
    for index, rigs in animated.items():
        collection = collections[index]
        for number, animation in enumerate(collection.animations):
            # All rigs of a collection have the same bones in the same order, and move alike.
            leader, place = rigs[0]
            clip = to_clip(animation, collection, place, leader, fps, scene.warnings)
            tracks = clip.tracks or {}
            clip.tracks = {(node, bone): track for node, _ in rigs for (_, bone), track in tracks.items()}
            if clip.tracks:
                scene.clips.append(clip)
                clip.settings["bogle"] = {"order": len(scene.clips)}
                first.update(clip.tracks if number == 0 else {})
    if scene.clips:
        scene.fps = fps
    if len(animated) > 1 and first:
        span = [(clip.first, clip.last) for clip in scene.clips]
        scene.timeline = neutral.Clip("All", min(a for a, _ in span), max(b for _, b in span), first)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons and animations of layout ANIM, both ways.

The engine places a bone by parent · rotation · translation(position): a bone turns about its parent's place, not its own. At a
key its rotation is rest · key, and the first root's position has the key's offset added. Between keys rotations go along the
arc, offsets straight.
"""

from __future__ import annotations

import numpy as np

from ... import animation as clips
from ... import maths
from ... import scene as neutral
from ...scene import Channel, Floats, Ints, Track, Transform
from ..binary import decode, encode
from .document import BONE, MOST_BONES, Animation, Array, Collection, keyframe

FRAME_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0)
# Whole frames between keys are filled in up to this many for all the bones of an animation.
MOST_SAMPLES = 200_000
STILL = 1e-6


def _wxyz(rotations: Array) -> Floats:
    """The file's x, y, z, w as unit quaternions w, x, y, z."""
    turned = np.roll(np.nan_to_num(rotations.astype(np.float32), posinf=0.0, neginf=0.0), 1, -1)
    return maths.normalized(turned, (1, 0, 0, 0))


def _rotated(rotations: Floats, vectors: Floats) -> Floats:
    return np.einsum("...ij,...j->...i", maths.quaternion_to_matrix(rotations), vectors).astype(np.float32)


# -------------------------------------------------------------------------------------------------------------- import


def frame_rate(collections: list[Collection]) -> float:
    """Times are in seconds: the usual rate that puts every key on a whole frame, else Blender's own."""
    times = [animation.keys["time"].astype(np.float64) for collection in collections for animation in collection.animations]
    every = np.concatenate([*times, np.zeros(1)])
    every = every[np.isfinite(every) & (np.abs(every) < 1e6)]
    fits = (rate for rate in FRAME_RATES if np.abs(every * rate - np.rint(every * rate)).max() < 1e-3)
    return next(fits, FRAME_RATES[0])


def to_armature(collection: Collection, name: str, warnings: list[str]) -> tuple[neutral.Armature, Ints]:
    """The armature, its bones with parents first, and the place in it of each bone of the file."""
    order, parents = _parents_first(collection.bones["parent"], name, warnings)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    rotations = _wxyz(collection.bones["rotation"])
    locations = _rotated(rotations, np.nan_to_num(collection.bones["position"].astype(np.float32), posinf=0.0, neginf=0.0))
    width = max(len(str(len(order))), 3)
    bones: list[neutral.Bone] = []
    for number in order:
        transform = Transform(locations[number], rotations[number])
        parent = int(place[parents[number]]) if parents[number] >= 0 else -1
        bind = bones[parent].bind @ transform.matrix if parent >= 0 else transform.matrix
        bones.append(neutral.Bone(f"Bone.{number + 1:0{width}}", parent, bind, transform))
    return neutral.Armature(name, bones), place


def _parents_first(parents: Array, name: str, warnings: list[str]) -> tuple[list[int], list[int]]:
    """An order of the bones, and their parents; a bone whose parent is not there, or that is its own ancestor, is a root."""
    count = len(parents)
    above = [int(parent) - 1 if parent <= count else -1 for parent in parents]
    children: list[list[int]] = [[] for _ in range(count)]
    for number, parent in enumerate(above):
        if parent >= 0:
            children[parent].append(number)
    seen = bytearray(count)
    order: list[int] = []
    lost = int(np.sum(parents > count))
    roots = [number for number in range(count) if above[number] < 0]
    for start in [*roots, *range(count)]:
        if seen[start]:
            continue
        if above[start] >= 0:  # only a ring of bones is left over by the roots
            above[start] = -1
            lost += 1
        queue = [start]
        seen[start] = 1
        for number in queue:
            fresh = [child for child in children[number] if not seen[child]]
            for child in fresh:
                seen[child] = 1
            queue += fresh
        order += queue
    if lost:
        warnings.append(f"{name}: {lost} bones have no parent that could be theirs; made roots.")
    return order, above


def to_clip(
    animation: Animation, collection: Collection, place: Ints, node: int, fps: float, warnings: list[str]
) -> neutral.Clip:
    name = decode(animation.name) or "Animation"
    keys = animation.keys
    exact = keys["time"].astype(np.float64) * fps
    whole = np.rint(exact)
    frames: Floats = np.where(np.abs(exact - whole) < 1e-3, whole, exact).astype(np.float32)
    usable = np.flatnonzero(np.isfinite(frames) & (np.abs(frames) < 1e6))
    order = usable[np.unique(frames[usable], return_index=True)[1]]
    if len(order) < len(keys):
        warnings.append(f"{name}: {len(keys) - len(order)} keys have no time of their own; left out.")
    frames, keys = frames[order], keys[order]
    if not len(keys):
        return neutral.Clip(name, 0, 0, {})
    rest = _wxyz(collection.bones["rotation"])
    turned = maths.quaternion_multiply(rest[None], _wxyz(keys["rotations"]))  # (keys, bones, 4)
    offset = np.nan_to_num(keys["root_offset"].astype(np.float32), posinf=0.0, neginf=0.0)
    positions = np.nan_to_num(collection.bones["position"].astype(np.float32), posinf=0.0, neginf=0.0)
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
    places = _rotated(maths.sample(frames, rotations, at, "SLERP"), maths.sample(frames, positions, at))
    kept = maths.reduce_keys(at, places, max(float(np.abs(places).max()) * 1e-5, STILL))
    kept = np.union1d(kept, np.flatnonzero(np.isin(at, frames))) if len(kept) > 1 else kept
    return Track(Channel(at[kept], places[kept]), rotation)


# -------------------------------------------------------------------------------------------------------------- export


def bone_order(armature: neutral.Armature) -> list[int]:
    """The bones in the order of the file: by name."""
    return sorted(range(len(armature.bones)), key=lambda number: armature.bones[number].name)


def from_armature(scene: neutral.Scene, node: int, fps: float, warnings: list[str]) -> tuple[Collection, Ints]:
    """The collection, and the place in it of each bone of the armature."""
    owner = scene.nodes[node]
    armature = owner.armature
    assert armature is not None
    if len(armature.bones) > MOST_BONES:
        warnings.append(f"{owner.name}: {len(armature.bones)} bones; the engine's shader takes {MOST_BONES}.")
    order = bone_order(armature)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    binds = [bone.bind.astype(np.float64) for bone in armature.bones]
    bones = np.zeros(len(order), BONE)
    for row, number in zip(bones, order, strict=True):
        parent = armature.bones[number].parent
        local = np.linalg.inv(binds[parent]) @ binds[number] if parent >= 0 else binds[number]
        location, rotation, _ = maths.decompose(local)
        row["position"] = maths.quaternion_to_matrix(rotation).T @ location
        row["rotation"] = np.roll(rotation, -1)
        row["parent"] = place[parent] + 1 if parent >= 0 else 0
    collection = Collection(np.eye(4, dtype="<f4").reshape(-1), bones, [], name=encode(armature.name))
    for clip in scene.clips or ([scene.timeline] if scene.timeline is not None else []):
        tracks = _tracks(scene, clip)
        if any(target == node and bone >= 0 for target, bone in tracks):
            collection.animations.append(_animation(scene, node, clip, tracks, collection, order, fps, warnings))
    return collection, place


def _tracks(scene: neutral.Scene, clip: neutral.Clip) -> dict[neutral.Target, Track]:
    if clip.tracks is not None:
        return clip.tracks
    return clips.cut(scene.timeline, clip.first, clip.last, scene.interpolation) if scene.timeline is not None else {}


def _animation(
    scene: neutral.Scene,
    node: int,
    clip: neutral.Clip,
    tracks: dict[neutral.Target, Track],
    collection: Collection,
    order: list[int],
    fps: float,
    warnings: list[str],
) -> Animation:
    """A clip on every frame that has a key of any bone: the file has one list of times for all of them."""
    armature = scene.nodes[node].armature
    assert armature is not None
    mine = [tracks[target] for target in tracks if target[0] == node and target[1] >= 0]
    channels = [channel for track in mine for channel in (track.location, track.rotation) if channel is not None]
    frames = np.unique(np.concatenate([[clip.first], *(channel.frames for channel in channels)])).astype(np.float32)
    keys = np.zeros(len(frames), keyframe(len(order)))
    keys["time"] = (frames - frames[0]) / fps
    rest = _wxyz(collection.bones["rotation"])
    off = 0.0
    for row, number in enumerate(order):
        local = clips.local_matrices(
            armature.bones[number].transform, tracks.get((node, number)), frames, scene.interpolation
        ).astype(np.float64)
        location, rotation, _ = maths.decompose(local)
        turn = maths.continuous(maths.quaternion_multiply(maths.quaternion_conjugate(rest[row])[None], rotation))
        keys["rotations"][:, row] = np.roll(turn, -1, 1)
        # What the engine will add the bone's position to, in the bone's own turned axes.
        own = np.einsum("kji,kj->ki", maths.quaternion_to_matrix(rotation), location) - collection.bones["position"][row]
        if collection.bones["parent"][row] == 0 and not (collection.bones["parent"][:row] == 0).any():
            keys["root_offset"] = own
        else:
            off = max(off, float(np.linalg.norm(own, axis=1).max()))
    size = float(np.abs(collection.bones["position"]).max(initial=0)) or 1.0
    if off > 1e-3 * size:
        warnings.append(
            f"{clip.name}: the engine turns bones about their parents' places; there they will be up to {off:.3g} units off."
        )
    return Animation(keys, encode(clip.name))

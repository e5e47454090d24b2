# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons and animations of layout ANIM, both ways.

The engine places a bone by parent · rotation · translation(position): a bone turns about its parent's place, not its own. At a
key its rotation is rest · key, and the first root's position has the key's offset added. Between keys rotations go along the
arc, offsets straight.
"""

from __future__ import annotations

from dataclasses import replace

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
# Bones that the engine puts no further off than this, as a part of the skeleton's longest step, are where they should be.
JOINT_TOLERANCE = 1e-3


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
    exact = np.clip(keys["time"].astype(np.float64) * fps, -1e9, 1e9)
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


def posed(mesh: neutral.Mesh, scene: neutral.Scene, matrix: Floats) -> neutral.Mesh:
    """A skinned mesh as its armature holds it now, for a layout without skeletons. `matrix`: the mesh's, in the armature."""
    skin = mesh.skin
    armature = scene.nodes[skin.node].armature if skin is not None else None
    if skin is None or armature is None or not len(skin.vertices):
        return mesh
    pose = neutral.rest_matrices(armature)
    moves = np.array([now @ np.linalg.inv(bone.bind) for now, bone in zip(pose, armature.bones, strict=True)], np.float32)
    if np.abs(moves - np.eye(4)).max() < STILL:
        return mesh
    count = len(mesh.positions)
    total = np.bincount(skin.vertices, skin.weights, count)
    weights = skin.weights / np.maximum(total[skin.vertices], 1e-9)
    blended = np.zeros((count, 16))
    np.add.at(blended, skin.vertices, weights[:, None] * moves[skin.bones].reshape(-1, 16))
    blended[total <= 0] = np.eye(4).reshape(-1)
    local = np.linalg.pinv(matrix) @ blended.reshape(-1, 4, 4) @ matrix
    positions = np.einsum("nij,nj->ni", local[:, :3, :3], mesh.positions) + local[:, :3, 3]
    normals = mesh.normals
    if normals is not None:
        turns = local[mesh.corners if normals.domain == "CORNER" else slice(None), :3, :3]
        turned = maths.normalized(np.einsum("nij,nj->ni", turns, normals.data)).astype(np.float32)
        normals = replace(normals, data=turned)
    return replace(mesh, positions=positions.astype(np.float32), normals=normals, skin=None)


def bone_order(armature: neutral.Armature) -> list[int]:
    """The bones in the order of the file: by name."""
    return sorted(range(len(armature.bones)), key=lambda number: armature.bones[number].name)


def from_armature(
    scene: neutral.Scene, node: int, fps: float, exact_joints: bool, warnings: list[str]
) -> tuple[Collection, Ints]:
    """The collection, and the place in it of each bone of the armature."""
    owner = scene.nodes[node]
    armature = owner.armature
    assert armature is not None
    order = bone_order(armature)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    bound = [_bound(armature, number) for number in order]
    bones = np.zeros(len(order), BONE)
    for row, number, rest in zip(bones, order, bound, strict=True):
        parent = armature.bones[number].parent
        row["position"] = maths.quaternion_to_matrix(rest.rotation).T @ rest.location
        row["rotation"] = np.roll(rest.rotation, -1)
        row["parent"] = place[parent] + 1 if parent >= 0 else 0
    collection = Collection(np.eye(4, dtype="<f4").reshape(-1), bones, [], name=encode(armature.name))
    strayed, moved = np.zeros(len(order)), np.zeros(len(order))
    for clip in scene.clips or ([scene.timeline] if scene.timeline is not None else []):
        tracks = _tracks(scene, clip)
        if any(target == node and bone >= 0 for target, bone in tracks):
            mine = [tracks.get((node, number), Track()) for number in order]
            animation, off, shift = _animation(clip, mine, bound, bones, scene.interpolation, fps)
            collection.animations.append(animation)
            strayed, moved = np.maximum(strayed, off), np.maximum(moved, shift)
            if any(track.scale is not None for track in mine):
                warnings.append(f"{clip.name}: bones change their size, which the engine's cannot; left out.")
    size = float(np.abs(bones["position"]).max(initial=0)) or 1.0
    if exact_joints:
        _add_joints(collection, np.flatnonzero(strayed > JOINT_TOLERANCE * size), bound)
        if moved.max(initial=0) > JOINT_TOLERANCE * size:
            warnings.append(f"{owner.name}: bones other than the root move along, which the engine's cannot; left out.")
    elif strayed.max(initial=0) > JOINT_TOLERANCE * size:
        warnings.append(
            f"{owner.name}: the engine turns bones about their parents' places; there they will be up to "
            f"{strayed.max():.3g} units off. Exact Joints puts them right."
        )
    if len(collection.bones) > MOST_BONES:
        warnings.append(f"{owner.name}: {len(collection.bones)} bones; the engine's shader takes {MOST_BONES}.")
    return collection, place


def _bound(armature: neutral.Armature, number: int) -> Transform:
    """Where a bone is in its parent when nothing moves it: as the skin was bound."""
    bone = armature.bones[number]
    bind = bone.bind.astype(np.float64)
    local = np.linalg.inv(armature.bones[bone.parent].bind.astype(np.float64)) @ bind if bone.parent >= 0 else bind
    location, rotation, _ = maths.decompose(local)
    return Transform(location.astype(np.float32), rotation.astype(np.float32))


def _tracks(scene: neutral.Scene, clip: neutral.Clip) -> dict[neutral.Target, Track]:
    if clip.tracks is not None:
        return clip.tracks
    return clips.cut(scene.timeline, clip.first, clip.last, scene.interpolation) if scene.timeline is not None else {}


def _animation(
    clip: neutral.Clip,
    tracks: list[Track],
    bound: list[Transform],
    bones: Array,
    interpolation: neutral.Interpolation,
    fps: float,
) -> tuple[Animation, Array, Array]:
    """A clip on every frame that has a key of any bone, as the file has one list of times for all; how far off the engine will
    put each bone, which can move about in Blender but not in the engine; and how far it moves about."""
    channels = [channel for track in tracks for channel in (track.location, track.rotation) if channel is not None]
    frames = np.unique(np.concatenate([[clip.first], *(channel.frames for channel in channels)])).astype(np.float32)
    keys = np.zeros(len(frames), keyframe(len(bones)))
    keys["time"] = (frames - frames[0]) / fps
    rest = _wxyz(bones["rotation"])
    off, moved = np.zeros(len(bones)), np.zeros(len(bones))
    root = int(np.argmax(bones["parent"] == 0))
    for row, (track, still) in enumerate(zip(tracks, bound, strict=True)):
        location = clips.channel_values(still, track, "location", frames, interpolation)
        rotation = clips.channel_values(still, track, "rotation", frames, interpolation)
        turn = maths.continuous(maths.quaternion_multiply(maths.quaternion_conjugate(rest[row])[None], rotation))
        keys["rotations"][:, row] = np.roll(turn, -1, 1)
        # What the engine would have to add to the bone's position, in the bone's own turned axes.
        missing = np.einsum("kji,kj->ki", maths.quaternion_to_matrix(rotation), location) - bones["position"][row]
        if row == root:
            keys["root_offset"] = missing
        else:
            off[row] = np.linalg.norm(missing, axis=1).max()
            moved[row] = np.linalg.norm(location - still.location, axis=1).max()
    return Animation(keys, encode(clip.name)), off, moved


def _add_joints(collection: Collection, chosen: Array, bound: list[Transform]) -> None:
    """Puts a bone that never turns before each of the chosen ones, at their place: they turn about its place then."""
    count = len(collection.bones)
    joints = np.zeros(len(chosen), BONE)
    joints["parent"] = collection.bones["parent"][chosen]
    joints["rotation"] = (0, 0, 0, 1)
    joints["position"] = [bound[number].location for number in chosen] if len(chosen) else 0
    collection.bones["parent"][chosen] = count + 1 + np.arange(len(chosen))
    collection.bones["position"][chosen] = 0
    collection.bones = np.concatenate([collection.bones, joints])
    for animation in collection.animations:
        keys = np.zeros(len(animation.keys), keyframe(len(collection.bones)))
        keys["time"], keys["root_offset"] = animation.keys["time"], animation.keys["root_offset"]
        keys["rotations"][:, :count] = animation.keys["rotations"]
        keys["rotations"][:, count:] = (0, 0, 0, 1)
        animation.keys = keys

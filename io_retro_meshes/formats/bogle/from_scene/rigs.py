# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures as skeletons of layout ANIM; for the other layouts, meshes as their armatures hold them."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from .... import scene as neutral
from ....scene import Floats, Ints, Track, Transform, maths
from ...binary import encode
from ..axes import xyzw
from ..bones import STILL
from ..document import BONE, MOST_BONES, Array, Collection, keyframe
from .animation import clip_tracks, from_clip, in_order

# Bones that the engine puts no further off than this, as a part of the skeleton's longest step, are where they should be.
JOINT_TOLERANCE = 1e-3


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
    """The bones in the order of the file: parents first, or the engine never computes some; else by name."""
    children: dict[int, list[int]] = {}
    for number, bone in enumerate(armature.bones):
        children.setdefault(bone.parent, []).append(number)
    ready = [(armature.bones[number].name, number) for number in children.get(-1, ())]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        order.append(heapq.heappop(ready)[1])
        for child in children.get(order[-1], ()):
            heapq.heappush(ready, (armature.bones[child].name, child))
    return order


@dataclass
class _Skeleton:
    """An armature's bones in the order of the file."""

    node: int
    order: list[int]
    bound: list[Transform]  # where each is in its parent when nothing moves it
    shown: list[Transform]  # ... and in the pose of the current frame
    bones: Array

    @property
    def size(self) -> float:
        return float(np.abs(self.bones["position"]).max(initial=0)) or 1.0

    @property
    def is_posed(self) -> bool:
        apart = np.array([now.matrix - rest.matrix for now, rest in zip(self.shown, self.bound, strict=True)])
        return bool(np.abs(apart).max(initial=0) > JOINT_TOLERANCE * self.size)


def _skeleton(node: int, armature: neutral.Armature) -> tuple[_Skeleton, Ints]:
    order = bone_order(armature)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    bound = [_bound(armature, number) for number in order]
    shown = [_plain(armature.bones[number].transform) for number in order]
    bones = _bones([armature.bones[number].parent for number in order], bound, place)
    return _Skeleton(node, order, bound, shown, bones), place


def from_armature(
    scene: neutral.Scene, node: int, fps: float, exact_joints: bool, warnings: list[str]
) -> tuple[Collection, Ints]:
    """The collection, and the place in it of each bone of the armature."""
    owner = scene.nodes[node]
    armature = owner.armature
    assert armature is not None
    skeleton, place = _skeleton(node, armature)
    collection = Collection(np.eye(4, dtype="<f4").reshape(-1), skeleton.bones, [], name=encode(armature.name))
    strayed, moved = _add_animations(collection, skeleton, scene, fps, warnings)
    limit = JOINT_TOLERANCE * skeleton.size
    if exact_joints:
        # A bone that goes about its parent's place, as an imported one does, is right without a joint.
        place = _add_joints(collection, np.flatnonzero((strayed > limit) & (moved < strayed)), skeleton.bound)[place]
        if np.minimum(strayed, moved).max(initial=0) > limit:
            warnings.append(f"{owner.name}: bones other than the root move along, which the engine's cannot; left out.")
    elif strayed.max(initial=0) > limit:
        warnings.append(
            f"{owner.name}: the engine turns bones about their parents' places; there they will be up to "
            f"{strayed.max():.3g} units off. Exact Joints puts them right."
        )
    if len(collection.bones) > MOST_BONES:
        warnings.append(f"{owner.name}: {len(collection.bones)} bones; the engine's shader takes {MOST_BONES}.")
    return collection, place


def _add_animations(
    collection: Collection, skeleton: _Skeleton, scene: neutral.Scene, fps: float, warnings: list[str]
) -> tuple[Array, Array]:
    """Every clip that moves the skeleton; or its pose, where none does. How far the engine puts each bone off, and how far
    each moves along."""
    strayed, moved = np.zeros(len(skeleton.order)), np.zeros(len(skeleton.order))
    found: list[tuple[neutral.Clip, dict[neutral.Target, Track]]] = []
    for clip in in_order(scene.clips) or ([scene.timeline] if scene.timeline is not None else []):
        tracks = clip_tracks(scene, clip)
        if any(target == skeleton.node and bone >= 0 for target, bone in tracks):
            found.append((clip, tracks))
    if not found and skeleton.is_posed:
        found.append((neutral.Clip("Pose", 0, 0), {}))
    for clip, tracks in found:
        mine = [tracks.get((skeleton.node, number), Track()) for number in skeleton.order]
        animation, off, shift = from_clip(clip, mine, skeleton.bound, skeleton.shown, skeleton.bones, scene.interpolation, fps)
        collection.animations.append(animation)
        strayed, moved = np.maximum(strayed, off), np.maximum(moved, shift)
        if any(track.scale is not None for track in mine):
            warnings.append(f"{clip.name}: bones change their size, which the engine's cannot; left out.")
    return strayed, moved


def _plain(transform: Transform) -> Transform:
    return transform if transform.prefix is None else Transform(*maths.decompose(transform.matrix))


def add_still_bone(collection: Collection) -> int:
    """Adds a root that nothing moves, for vertices that follow no bone: without weights the engine draws them at 0."""
    number = len(collection.bones)
    bone = np.zeros(1, BONE)
    bone["rotation"] = (0, 0, 0, 1)
    collection.bones = np.concatenate([collection.bones, bone])
    for animation in collection.animations:
        keys = np.zeros(len(animation.keys), keyframe(number + 1))
        keys["time"], keys["root_offset"] = animation.keys["time"], animation.keys["root_offset"]
        keys["rotations"] = (0, 0, 0, 1)
        keys["rotations"][:, :number] = animation.keys["rotations"]
        animation.keys = keys
    return number


def _bones(parents: list[int], bound: list[Transform], place: Ints) -> Array:
    """The table of bones, from their parents in the armature and where they are bound."""
    bones = np.zeros(len(bound), BONE)
    for row, parent, rest in zip(bones, parents, bound, strict=True):
        row["position"] = maths.quaternion_to_matrix(rest.rotation).T @ rest.location
        row["rotation"] = xyzw(rest.rotation)
        row["parent"] = place[parent] + 1 if parent >= 0 else 0
    return bones


def _bound(armature: neutral.Armature, number: int) -> Transform:
    """Where a bone is in its parent when nothing moves it: as the skin was bound."""
    bone = armature.bones[number]
    bind = bone.bind.astype(np.float64)
    local = np.linalg.inv(armature.bones[bone.parent].bind.astype(np.float64)) @ bind if bone.parent >= 0 else bind
    location, rotation, _ = maths.decompose(local)
    return Transform(location.astype(np.float32), rotation.astype(np.float32))


def _add_joints(collection: Collection, chosen: Array, bound: list[Transform]) -> Ints:
    """Puts a bone that never turns before each of the chosen ones, at their place: they turn about its place then.

    Returns where each of the bones is now.
    """
    count = len(collection.bones)
    helped = np.zeros(count, bool)
    helped[chosen] = True
    place = (np.arange(count) + np.cumsum(helped)).astype(np.int32)
    joints = place[chosen] - 1
    bones = np.zeros(count + len(chosen), BONE)
    bones["rotation"] = (0, 0, 0, 1)
    bones[place] = collection.bones
    has_parent = collection.bones["parent"] > 0
    bones["parent"][place[has_parent]] = place[collection.bones["parent"][has_parent].astype(np.int64) - 1] + 1
    bones["parent"][joints] = bones["parent"][joints + 1]
    bones["parent"][joints + 1] = joints + 1
    bones["position"][joints] = [bound[number].location for number in chosen] if len(chosen) else 0
    bones["position"][joints + 1] = 0
    collection.bones = bones
    for animation in collection.animations:
        keys = np.zeros(len(animation.keys), keyframe(len(bones)))
        keys["time"], keys["root_offset"] = animation.keys["time"], animation.keys["root_offset"]
        keys["rotations"] = (0, 0, 0, 1)
        keys["rotations"][:, place] = animation.keys["rotations"]
        animation.keys = keys
    return place

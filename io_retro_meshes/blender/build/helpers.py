# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper bones for rigs with shears: a bone that turns below one with an uneven scale moves its vertices by S·R·S^-1.

A pose bone is a location, a rotation and a scale; its rest has no scale at all. So in such a rig bones are posed with the
file's own scales, P(f) = G(f) · K, where K only exchanges axes, and what that lacks is held by two kinds of hidden bones
that never move:

- below a bone that was bound with a scale, one that moves its vertices: with G0 = U · Σ · V^T and the rest B = U, the pose
  G(f) · G0^-1 · B is P(f) · K^-1 · V · Σ^-1, a turn and a scale;
- above a bone whose transform begins with a shear, one that holds the first half of it: U · Σ · V^T · T(f) · R(f) · S(f).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector

from ... import scene as neutral
from ...scene import animation, maths
from .. import compat

if TYPE_CHECKING:
    from .armatures import BuiltArmature

COLLECTION = "Helpers"

# Of a pose's largest number: what is left when it is taken apart into location, rotation and scale.
SHEARED = 5e-5
SCALED = 1e-5


def needed(scene: neutral.Scene, index: int, binds: np.ndarray, rests: np.ndarray) -> bool:
    """Is there a bone that could not hold its poses by itself?"""
    clips = [clip.tracks for clip in [scene.timeline, *scene.clips] if clip is not None and clip.tracks]
    bones = scene.nodes[index].armature.bones
    parents = np.array([bone.parent for bone in bones])
    before = maths.inverse(rests) @ np.where((parents >= 0)[:, None, None], binds[parents], np.eye(4))
    after = maths.inverse(binds) @ rests
    found: list[np.ndarray] = []
    for number, bone in enumerate(bones):
        tracks = [track for tracks in clips if (track := tracks.get((index, number))) is not None]
        for track in [neutral.Track(), *tracks]:
            keys = [channel.frames for channel in (track.location, track.rotation, track.scale) if channel is not None]
            frames = np.unique(np.concatenate([*keys, np.zeros(1, np.float32)]))
            local = animation.local_matrices(bone.transform, track, frames, scene.interpolation).astype(np.float64)
            found.append(before[number] @ local @ after[number])
    return bool(found) and _is_sheared(np.concatenate(found))


def _is_sheared(matrices: np.ndarray) -> bool:
    left = np.abs(maths.compose(*maths.decompose(matrices)) - matrices)[:, :3, :3].max((1, 2))
    return bool((left > SHEARED * np.abs(matrices[:, :3, :3]).max((1, 2))).any())


def _halves(linear: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, Σ and V^T of a linear map, both turns proper."""
    u, sizes, vt = np.linalg.svd(linear)
    signs = np.sign([np.linalg.det(u), np.linalg.det(vt)])
    u[:, 2] *= signs[0]
    vt[2] *= signs[1]
    sizes[2] *= signs.prod()
    return u, sizes, vt


class Plan:
    """The helpers of an armature: which there are, and after they were made, what they do."""

    def __init__(self, bones: list[neutral.Bone], binds: np.ndarray) -> None:
        self.bones, self.binds = bones, binds
        self.above = {number: "" for number, bone in enumerate(bones) if bone.transform.prefix is not None}
        rigid = maths.orthonormal(binds[:, :3, :3])
        uneven = np.abs(rigid - binds[:, :3, :3]).max((1, 2)) > SCALED
        self.below = {int(number): "" for number in np.flatnonzero(uneven)}  # their names

    def add_above(self, data: bpy.types.Armature, number: int, edit: bpy.types.EditBone) -> None:
        if number in self.above:
            made = _copied(data, edit, f"{edit.name} shear")
            made.parent, edit.parent = edit.parent, made
            self.above[number] = made.name

    def add_below(self, data: bpy.types.Armature, number: int, edit: bpy.types.EditBone) -> None:
        if number in self.below:
            made = _copied(data, edit, f"{edit.name} shape")
            axes = _halves(self.binds[number][:3, :3])[0]
            made.tail = made.head + Vector((axes[:, 1] * edit.length).tolist())
            made.align_roll(Vector(axes[:, 2].tolist()))
            made.parent = edit
            self.below[number] = made.name

    def turn(self, number: int, rest: np.ndarray) -> np.ndarray:
        """K: the file's axes, exchanged."""
        found = np.eye(4)
        found[:3, :3] = np.rint(maths.orthonormal(self.binds[number][:3, :3]).T @ rest[:3, :3])
        return found

    def back(self, number: int) -> np.ndarray:
        """V^T: the half of its shear that a bone with a helper above it has itself."""
        found = np.eye(4)
        found[:3, :3] = _halves(self.bones[number].transform.prefix[:3, :3].astype(np.float64))[2]
        return found

    def finish(self, built: BuiltArmature) -> None:
        data: Any = built.object.data
        rests = {}
        for bone in built.bones:
            rests[bone.name] = np.array(data.bones[bone.name].matrix_local, np.float64)
        for number, name in self.above.items():
            u, sizes, _ = _halves(self.bones[number].transform.prefix[:3, :3].astype(np.float64))
            half = np.eye(4)
            half[:3, :3], half[:3, 3] = u * sizes, self.bones[number].transform.prefix[:3, 3]
            parent = self.bones[number].parent
            if parent >= 0:
                half = rests[built.bones[parent].name] @ np.linalg.inv(built.bones[parent].c) @ half
            _hold(built.object, name, half)
        for number, name in self.below.items():
            made = built.bones[number]
            rest = np.array(data.bones[name].matrix_local, np.float64)
            still = np.linalg.inv(self.binds[number]) @ rest
            _hold(built.object, name, rests[made.name] @ np.linalg.inv(made.c) @ still)
            data.bones[name].retro_meshes.axes = np.linalg.inv(still).astype(np.float32).reshape(-1)
            data.bones[made.name].use_deform = False
            made.deform = name
        _hide(data, [*self.above.values(), *self.below.values()])


def _copied(data: bpy.types.Armature, edit: bpy.types.EditBone, name: str) -> bpy.types.EditBone:
    made = data.edit_bones.new(compat.short_name(name, "Helper"))
    made.head, made.tail, made.roll = edit.head, edit.tail, edit.roll
    return made


def _hold(owner: bpy.types.Object, name: str, matrix: np.ndarray) -> None:
    """Poses a helper for good; `matrix` is where it is in the armature while its parent is at rest."""
    pose = owner.pose.bones[name]
    set_pose(pose, np.linalg.inv(np.array(pose.bone.matrix_local, np.float64)) @ matrix)
    pose.lock_location = pose.lock_rotation = pose.lock_scale = (True, True, True)
    pose.lock_rotation_w = True


def set_pose(pose: bpy.types.PoseBone, basis: np.ndarray) -> None:
    """Poses a bone, and says that this is where it is when nothing moves it."""
    location, rotation, scale = (part.tolist() for part in maths.decompose(basis))
    pose.location, pose.rotation_quaternion, pose.scale = location, rotation, scale
    pose.bone.retro_meshes.pose = [*location, *rotation, *scale]


def _hide(data: bpy.types.Armature, names: list[str]) -> None:
    hidden = data.collections.new(COLLECTION)
    hidden.is_visible = False
    for name in names:
        data.bones[name].retro_meshes.helper = True
        hidden.assign(data.bones[name])

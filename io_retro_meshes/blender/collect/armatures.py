# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures to bones in the file's own axes: the inverse of build/armatures.py, where the algebra stands."""

from __future__ import annotations

import bpy
import numpy as np

from ... import scene as neutral
from ...scene import maths
from .. import properties


def bone_order(rig: bpy.types.Object, deforming: bool = False) -> list[bpy.types.Bone]:
    """All bones, or those that move vertices, parents first, without the helpers of an import."""
    ordered: list[bpy.types.Bone] = []
    waiting = [bone for bone in reversed(rig.data.bones) if bone.parent is None]
    while waiting:
        bone = waiting.pop()
        if not bone.retro_meshes.helper:
            ordered.append(bone)
        waiting.extend(reversed(bone.children))
    kept = [bone for bone in ordered if bone.use_deform or shape_helper(bone)] if deforming else []
    return kept or ordered  # an armature without any that does is not there to deform


def kept_bone(bone: bpy.types.Bone | None, index: dict[str, int]) -> int:
    """The place of a bone among those that are exported; of another, that of the nearest above it, or -1."""
    while bone is not None and bone.name not in index:
        bone = bone.parent
    return -1 if bone is None else index[bone.name]


def shape_helper(bone: bpy.types.Bone) -> bpy.types.Bone | None:
    """The helper that moves the vertices of a bone, below it; one without children, which those above a bone have."""
    return next((each for each in bone.children if each.retro_meshes.helper and not each.children), None)


def bone_numbers(rig: bpy.types.Object, deforming: bool = False) -> dict[str, int]:
    """The file's bone for each name of Blender's, helpers included: of vertex groups, and of what hangs on bones."""
    found = {}
    for number, bone in enumerate(bone_order(rig, deforming)):
        found[bone.name] = number
        if (helper := shape_helper(bone)) is not None:
            found[helper.name] = number
    return found


def file_axes(bones: list[bpy.types.Bone]) -> np.ndarray:
    """C^-1 of each bone: the file's bone seen from Blender's. The identity for bones that were made here."""
    return maths.bounded(np.array([bone.retro_meshes.axes for bone in bones], np.float64).reshape(-1, 4, 4))


def pose_places(armature: bpy.types.Object, bones: list[bpy.types.Bone]) -> list[int]:
    """Where each bone is among the rows of `pose_matrices`."""
    return [armature.pose.bones.find(bone.name) for bone in bones]


def pose_matrices(evaluated: bpy.types.Object) -> np.ndarray:
    """Blender's pose matrices in the armature's space, as they are in memory."""
    flat = np.empty(len(evaluated.pose.bones) * 16, np.float32)
    evaluated.pose.bones.foreach_get("matrix", flat)
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1)


def collect_armature(source: bpy.types.Object, evaluated: bpy.types.Object, deforming: bool = False) -> neutral.Armature:
    bones = bone_order(source, deforming)
    index = {bone.name: number for number, bone in enumerate(bones)}
    axes = file_axes(bones)
    rest = np.array([bone.matrix_local for bone in bones], np.float64).reshape(-1, 4, 4)
    bound = [shape_helper(bone) or bone for bone in bones]
    binds = np.array([bone.matrix_local for bone in bound], np.float64).reshape(-1, 4, 4) @ file_axes(bound)
    posed = maths.bounded(pose_matrices(evaluated)[pose_places(evaluated, bones)].astype(np.float64)) @ axes
    found = []
    for number, bone in enumerate(bones):
        parent = kept_bone(bone.parent, index)
        local = np.linalg.pinv(posed[parent]) @ posed[number] if parent >= 0 else posed[number]
        made = neutral.Bone(
            properties.file_name(bone), parent, binds[number].astype(np.float32), neutral.Transform.from_matrix(local)
        )
        made.head = rest[number][:3, 3].astype(np.float32)
        made.settings = properties.collect(bone)
        made.drawn = not bone.retro_meshes.is_property_set("axes")
        found.append(made)
    return neutral.Armature(source.data.name, found)

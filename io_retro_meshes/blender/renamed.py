# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that a person has renamed. Blender tells the assigned action alone; an import has noted what every bone was called."""

from __future__ import annotations

import re
from collections.abc import Iterable

import bpy

from . import compat

BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')


def bone_of(path: str) -> str:
    """The bone that a curve moves; "" for the object itself."""
    match = BONE_PATH.match(path)
    return bpy.utils.unescape_identifier(match[1]) if match else ""


def with_bone(path: str, bone: str) -> str:
    """The path with another bone in it."""
    return BONE_PATH.sub(lambda _: f'pose.bones["{bpy.utils.escape_identifier(bone)}"]', path, count=1)


def new_names(armature: bpy.types.Armature) -> dict[str, str]:
    """What bones are called now, by what they were called when they were imported."""
    found = {bone.retro_meshes.first: bone.name for bone in armature.bones if bone.retro_meshes.first not in ("", bone.name)}
    return {first: name for first, name in found.items() if first not in armature.bones}


def first_names(model: str) -> dict[str, str]:
    """The other way round, of all armatures of a model."""
    renamed = {armature: names for armature in bpy.data.armatures if (names := new_names(armature))}
    if not model or not renamed:
        return {}
    own = {each.data for each in bpy.data.objects if each.type == "ARMATURE" and each.retro_meshes.model == model}
    return {name: first for armature, names in renamed.items() if armature in own for first, name in names.items()}


def follow(moved: Iterable[tuple[bpy.types.Object, bpy.types.Action]]) -> list[tuple[bpy.types.FCurve, str]]:
    """Gives curves of renamed bones the new names. Returns those curves with the paths that they had."""
    changed = []
    for source, action in dict.fromkeys(each for each in moved if each[1].library is None):
        names = new_names(source.data) if isinstance(source.data, bpy.types.Armature) else {}
        for curve in [curve for _, curves in compat.action_curves(action) for curve in curves] if names else ():
            name = names.get(bone_of(curve.data_path))
            if name is not None:
                changed.append((curve, curve.data_path))
                curve.data_path = with_bone(curve.data_path, name)
    return changed

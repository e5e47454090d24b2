# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons of layout ANIM as armatures."""

from __future__ import annotations

import numpy as np

from .... import scene as neutral
from ....scene import Ints, Transform, sanitize
from ..axes import wxyz
from ..bones import rotated
from ..document import Array, Collection


def to_armature(collection: Collection, index: int, name: str, warnings: list[str]) -> tuple[neutral.Armature, Ints]:
    """The armature, its bones with parents first, and the place in it of each bone of the file.

    The file has no names of bones. No two skeletons have the same: Blender tells by them which action is for which armature.
    """
    order, parents = _parents_first(collection.bones["parent"], name, warnings)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    rotations = wxyz(collection.bones["rotation"])
    locations = rotated(rotations, sanitize.finite(collection.bones["position"].astype(np.float32)))
    prefix = f"Bone{index + 1}" if index else "Bone"
    width = max(len(str(len(order))), 3)
    bones: list[neutral.Bone] = []
    for number in order:
        transform = Transform(locations[number], rotations[number])
        parent = int(place[parents[number]]) if parents[number] >= 0 else -1
        bind = bones[parent].bind @ transform.matrix if parent >= 0 else transform.matrix
        bones.append(neutral.Bone(f"{prefix}.{number + 1:0{width}}", parent, bind, transform))
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

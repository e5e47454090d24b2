# SPDX-License-Identifier: GPL-3.0-or-later
"""Which entities of a file make up armatures, and which vertices their bones move.

A mesh may be moved by any entities of the file, and several meshes by the same ones. Meshes that share bones make one rig.
Its root is the lowest entity that is above all of it: most often the mesh itself. Everything from the root down to a bone
becomes a bone of the armature.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Skin
from .. import document as bo3d
from ..document import Document

Array = npt.NDArray[Any]

MAX_STEPS = 10_000_000  # rigs times entities; in a file with more, which no tool writes, all is one rig


@dataclass(eq=False)
class Rig:
    meshes: set[int]
    bones: set[int]  # those that the meshes name; then all between them and the root too
    root: int = -1  # the entity whose space is the armature's, -1 for the world
    in_root_space: set[int] = field(default_factory=set)  # meshes besides the root that stay in the root's own space


def find_rigs(document: Document, parents: list[int]) -> list[Rig]:
    """A mesh is in one rig at most, and so is a bone; but a mesh may be a bone of another rig."""
    rigs: list[Rig] = []
    owner: dict[int, Rig] = {}  # by bone
    count = len(document.entities)
    for index, entity in enumerate(document.entities):
        if entity.mesh is None or not len(entity.mesh.bones):
            continue
        named = np.unique(entity.mesh.bones["entity"])
        rig = Rig({index}, set(named[(named >= 0) & (named < count)].tolist()))
        if not rig.bones:
            continue
        _merge(rigs, owner, rig)
    if len(rigs) * count > MAX_STEPS:
        rigs = [Rig(set().union(*(rig.meshes for rig in rigs)), set().union(*(rig.bones for rig in rigs)))]
    done: list[Rig] = []
    while rigs:
        rig = rigs.pop()
        _complete(document, parents, rig)
        others = [other for other in done if not other.bones.isdisjoint(rig.bones)]
        done = [other for other in done if other.bones.isdisjoint(rig.bones)]
        if others:  # what lies on the way to the bones of both belongs to both: they are one
            for other in others:
                rig.meshes |= other.meshes
                rig.bones |= other.bones
            rigs.append(rig)
        else:
            done.append(rig)
    return done


def _merge(rigs: list[Rig], owner: dict[int, Rig], rig: Rig) -> None:
    """Adds a rig, joined with those that share a bone with it."""
    shared = {id(owner[bone]): owner[bone] for bone in rig.bones if bone in owner}
    for other in shared.values():
        rig.meshes |= other.meshes
        rig.bones |= other.bones
        rigs.remove(other)
    rigs.append(rig)
    owner.update(dict.fromkeys(rig.bones, rig))


def _complete(document: Document, parents: list[int], rig: Rig) -> None:
    """Finds the root, and takes in all that is between it and the bones."""
    rig.root = _common_ancestor(parents, rig.meshes | rig.bones)
    if rig.root in rig.bones:
        rig.root = parents[rig.root]
    rig.in_root_space = set()
    still = rig.meshes - rig.bones - {rig.root}
    for index in sorted(still):
        entity = document.entities[index]
        plain = (
            not len(entity.keys) and not entity.position.any() and (entity.scale == 1).all() and not entity.rotation[1:].any()
        )
        if plain and (parents[index] == rig.root or parents[index] in rig.in_root_space):
            rig.in_root_space.add(index)
    for start in [*rig.bones, *(still - rig.in_root_space)]:
        index = start
        while index != rig.root and index not in rig.in_root_space:
            if index in rig.bones and parents[index] in rig.bones:
                break
            rig.bones.add(index)
            index = parents[index]


def _common_ancestor(parents: list[int], entities: set[int]) -> int:
    """The lowest common ancestor, one of the entities perhaps. Parents have smaller numbers than their children."""
    heap = [-index for index in entities]
    heapq.heapify(heap)
    while True:
        top = -heapq.heappop(heap)
        while heap and -heap[0] == top:
            heapq.heappop(heap)
        if not heap or top < 0:
            return top
        heapq.heappush(heap, -parents[top])


# --------------------------------------------------------------------------------------------------------------- skins


def skin(mesh: bo3d.Mesh, rig: Rig, own: int, armature: int) -> Skin:
    """The vertices that bones of the rig move. `own`: the entity of the mesh; `armature`: the node of the rig.

    Bones are numbered in the order of their entities: one may come later in the file than the mesh.
    """
    numbers = {entity: bone for bone, entity in enumerate(sorted(rig.bones))}
    bones = _vertex_bones(mesh.bones, len(mesh.vertices), numbers, numbers.get(own, -1))
    moved = np.flatnonzero(bones >= 0).astype(np.int32)
    return Skin(armature, moved, bones[moved], np.ones(len(moved), np.float32))


def _vertex_bones(ranges: Array, count: int, numbers: dict[int, int], own: int) -> npt.NDArray[np.int32]:
    """The bone of each vertex, `own` for those that stay with the mesh. Where ranges overlap, the last one counts."""
    bones = np.full(count, own, np.int32)
    for entity, first, last in ranges.tolist():
        if entity in numbers and last >= first:
            bones[max(first, 0) : max(last + 1, 0)] = numbers[entity]
    return bones

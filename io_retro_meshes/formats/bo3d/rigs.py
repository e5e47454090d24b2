# SPDX-License-Identifier: GPL-3.0-or-later
"""Which entities of a file make up armatures.

A mesh may be moved by any entities of the file, and several meshes by the same ones. Meshes that share bones make one rig.
Its root is the lowest entity that is above all of it: most often the mesh itself. Everything from the root down to a bone
becomes a bone of the armature.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from .document import Document

MOST_STEPS = 10_000_000  # rigs times entities: beyond, no file of this world, all is one rig


@dataclass(eq=False)
class Rig:
    meshes: set[int]
    bones: set[int]  # those that the meshes name; then all between them and the root too
    root: int = -1  # the entity whose space is the armature's, -1 for the world
    flat: set[int] = field(default_factory=set)  # meshes besides the root that are in the root's own space, and stay there


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
        _add(rigs, owner, rig)
    if len(rigs) * count > MOST_STEPS:
        rigs = [Rig(set().union(*(rig.meshes for rig in rigs)), set().union(*(rig.bones for rig in rigs)))]
    done: list[Rig] = []
    while rigs:
        rig = rigs.pop()
        _close(document, parents, rig)
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


def _add(rigs: list[Rig], owner: dict[int, Rig], rig: Rig) -> None:
    """Joins the rigs that share a bone with a new one."""
    shared = {id(owner[bone]): owner[bone] for bone in rig.bones if bone in owner}
    for other in shared.values():
        rig.meshes |= other.meshes
        rig.bones |= other.bones
        rigs.remove(other)
    rigs.append(rig)
    owner.update(dict.fromkeys(rig.bones, rig))


def _close(document: Document, parents: list[int], rig: Rig) -> None:
    """Finds the root, and takes in all that is between it and the bones."""
    rig.root = _lowest_above(parents, rig.meshes | rig.bones)
    if rig.root in rig.bones:
        rig.root = parents[rig.root]
    rig.flat = set()
    still = rig.meshes - rig.bones - {rig.root}
    for index in sorted(still):
        entity = document.entities[index]
        plain = (
            not len(entity.keys) and not entity.position.any() and (entity.scale == 1).all() and not entity.rotation[1:].any()
        )
        if plain and (parents[index] == rig.root or parents[index] in rig.flat):
            rig.flat.add(index)
    for start in [*rig.bones, *(still - rig.flat)]:
        index = start
        while index != rig.root and index not in rig.flat and (index not in rig.bones or parents[index] not in rig.bones):
            rig.bones.add(index)
            index = parents[index]


def _lowest_above(parents: list[int], entities: set[int]) -> int:
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

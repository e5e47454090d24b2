# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are bones of which armature. Skins that share joints are one armature."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_ROUNDS = 16  # of joining armatures that run through one another; after them all are one


@dataclass
class Group:
    """The bones of an armature."""

    skins: list[int]
    bones: list[int] = field(default_factory=list)  # nodes of the file, parents first
    host: int = -1  # the node of the file that they stand on
    node: int = -1  # the armature's in the scene, once it is there
    waiting: list[int] = field(default_factory=list)  # nodes of meshes that are to hang on it


def groups(joints: list[list[int]], parents: list[int], order: list[int]) -> list[Group]:
    """For the joints of each skin. Nodes between two bones are bones, too."""
    place = {node: number for number, node in enumerate(order)}
    skins = _Sets(len(joints))
    owners: dict[int, int] = {}
    for skin, members in enumerate(joints):
        for joint in members:
            skins.join(skin, owners.setdefault(joint, skin))
    for _ in range(MOST_ROUNDS):
        found = [_group(members, joints, parents, place) for members in skins.members() if any(joints[s] for s in members)]
        claimed: dict[int, int] = {}
        clashes = False
        for group in found:
            for bone in group.bones:
                other = claimed.setdefault(bone, group.skins[0])
                clashes |= skins.join(other, group.skins[0])
        if not clashes:
            return found
    every = [skin for skin, members in enumerate(joints) if members]
    return [_group(every, joints, parents, place)]


def _group(skins: list[int], joints: list[list[int]], parents: list[int], place: dict[int, int]) -> Group:
    """Marks all that is above the joints, and goes down from the top to where the first joint or the first fork is."""
    own = {joint for skin in skins for joint in joints[skin]}
    marked: set[int] = set()
    below: dict[int, list[int]] = {}
    for joint in own:
        node = joint
        while node >= 0 and node not in marked:
            marked.add(node)
            below.setdefault(parents[node], []).append(node)
            node = parents[node]
    host = -1
    above: set[int] = set()
    while len(below[host]) == 1 and below[host][0] not in own:
        host = below[host][0]
        above.add(host)
    return Group(list(skins), sorted(marked - above, key=place.__getitem__), host)


class _Sets:
    """Sets of numbers that can be joined."""

    def __init__(self, count: int) -> None:
        self.above = list(range(count))

    def find(self, number: int) -> int:
        while self.above[number] != number:
            self.above[number] = self.above[self.above[number]]
            number = self.above[number]
        return number

    def join(self, a: int, b: int) -> bool:
        """Were they apart?"""
        first, second = sorted((self.find(a), self.find(b)))
        self.above[second] = first
        return first != second

    def members(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for number in range(len(self.above)):
            found.setdefault(self.find(number), []).append(number)
        return list(found.values())

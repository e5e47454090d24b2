# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes and bones of the scene to nodes of the file, and skins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Floats, Scene, Skin, Target, Transform, maths
from .. import axes, extras
from ..document import Json
from .buffers import Buffer

Array = npt.NDArray[Any]

IDENTITY = np.eye(4)


def split_shear(prefix: Floats) -> tuple[Transform, Floats]:
    """A shear is one transform seen from another: what has to stand above, and the turn that is left for what is below."""
    left, scale, right = np.linalg.svd(maths.bounded(prefix[:3, :3].astype(np.float64)))
    flips = np.sign(np.linalg.det(left)), np.sign(np.linalg.det(right))
    left, scale, right = left * flips[0], scale * flips[0] * flips[1], right * flips[1]
    turns = [maths.matrix_to_quaternion(each).astype(np.float32) for each in (left, right)]
    return Transform(prefix[:3, 3].copy(), turns[0], scale.astype(np.float32)), turns[1]


def turned(turn: Floats, location: Array, rotation: Array) -> tuple[Array, Array]:
    """Locations and rotations seen from outside a rotation."""
    return location @ maths.quaternion_to_matrix(turn).T, maths.quaternion_multiply(turn, rotation)


class Tree:
    """The nodes of the file. Children are in the order of the scene, as far as a tree can have it."""

    def __init__(self, scene: Scene, buffer: Buffer) -> None:
        self.scene = scene
        self.buffer = buffer
        self.nodes: list[Json] = []
        self.parents: list[int] = []
        self.transforms: list[tuple[Array, Array, Array]] = []  # location, rotation, scale
        self.sources: list[int] = []  # the node of the scene that each is; -1 for bones and what was added
        self.places: list[int] = []  # the node of the file that each node of the scene is
        self.bones: dict[int, list[int]] = {}  # the same for the bones of each node with an armature
        self.turns: dict[Target, Floats] = {}  # rotations that come before the keys of what has a shear
        self.looking: dict[int, int] = {}  # nodes of cameras and lights: the node of the file that looks the right way
        self.looks: set[int] = set()  # those of them that do so themselves
        self.skins: list[Json] = []
        self.known_skins: dict[tuple[int, bytes, bool], int] = {}
        self.worlds: list[Floats] | None = None
        self.shown = self.shown_nodes()
        self.children: list[list[int]] = []
        used = {node.parent for node in scene.nodes}
        for index in range(len(scene.nodes)):
            self.add_node(index, index in used)
        self.set_transforms()
        self.order_children()

    # ----------------------------------------------------------------------------------------------------------- nodes

    def add_node(self, index: int, has_children: bool) -> None:
        node = self.scene.nodes[index]
        parent = -1
        if node.parent >= 0:
            parent = self.places[node.parent]
            if node.parent_bone >= 0:
                parent = self.bones[node.parent][node.parent_bone]
        plain = node.mesh < 0 and node.armature is None
        looks = (node.camera >= 0 or node.light >= 0) and plain and not has_children
        transform = node.transform
        if self.skin_of(index) is not None and not has_children:
            transform = Transform()  # nothing moves a skinned mesh but its joints
        number = self.add(node.name, parent, transform, (index, -1), looks)
        self.sources[number] = index
        self.places.append(number)
        extras.pack(self.nodes[number], node.settings, armature=node.armature.name if node.armature else None)
        if looks:
            self.looking[index] = number
            self.looks.add(index)
        elif node.camera >= 0 or node.light >= 0:
            self.looking[index] = self.add(node.name, number, Transform(), None, True)
        if node.armature is not None:
            self.add_bones(index, number)

    def shown_nodes(self) -> set[int]:
        """Nodes that are not hidden, and those above them."""
        found: set[int] = set()
        for index in range(len(self.scene.nodes) - 1, -1, -1):
            node = self.scene.nodes[index]
            if index in found or not node.hidden:
                found |= {index, node.parent}
        return found

    def add_bones(self, index: int, number: int) -> None:
        armature = self.scene.nodes[index].armature
        assert armature is not None
        made = self.bones[index] = []
        for bone_index, bone in enumerate(armature.bones):
            parent = made[bone.parent] if bone.parent >= 0 else number
            made.append(self.add(bone.name, parent, bone.transform, (index, bone_index)))
            head = None if bone.head is None else axes.vectors_to_file(bone.head)
            extras.pack(self.nodes[made[-1]], bone.settings, head=head)

    def add(self, name: str, parent: int, transform: Transform, target: Target | None, looks: bool = False) -> int:
        location, rotation, scale = transform.location, transform.rotation, transform.scale
        if transform.prefix is not None:
            above, turn = split_shear(transform.prefix)
            parent = self.add(f"{name}_shear", parent, above, None)
            extras.pack(self.nodes[parent], shear=True)
            location, rotation = turned(turn, location, rotation)
            if target is not None:
                self.turns[target] = turn
        if looks:
            rotation, scale = axes.look(rotation, axes.LOOK_TO_FILE), axes.swap_scale(scale)
        self.transforms.append((location, rotation, scale))
        self.nodes.append({"name": name})
        self.parents.append(parent)
        self.sources.append(-1)
        return len(self.nodes) - 1

    def set_transforms(self) -> None:
        """All of them at once, those that do nothing left out."""
        if not self.nodes:
            return
        parts = [np.stack(each).astype(np.float64) for each in zip(*self.transforms, strict=True)]
        rotations = axes.rotations_to_file(maths.normalized(parts[1], (1, 0, 0, 0)))
        columns = {"translation": axes.vectors_to_file(parts[0]), "rotation": rotations, "scale": axes.swap_scale(parts[2])}
        nothing = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
        for name, rows in columns.items():
            table = rows.tolist()
            for number in np.flatnonzero((rows != nothing[name]).any(1)).tolist():
                # Nine digits tell any float32 from the next.
                self.nodes[number][name] = [float(f"{value:.9g}") for value in table[number]]

    # ----------------------------------------------------------------------------------------------------------- order

    def order_children(self) -> None:
        """Those with the earlier nodes of the scene below them come first: surfaces are numbered as the source has them."""
        last = len(self.scene.nodes)
        first = [last if source < 0 else source for source in self.sources]
        self.children = [[] for _ in self.nodes]
        for number in range(len(self.nodes) - 1, -1, -1):
            parent = self.parents[number]
            if parent >= 0:
                first[parent] = min(first[parent], first[number])
                self.children[parent].append(number)
        for number, below in enumerate(self.children):
            below.sort(key=lambda child: (first[child], child))
            if below:
                self.nodes[number]["children"] = below

    def roots(self) -> list[int]:
        return [number for number, parent in enumerate(self.parents) if parent < 0]

    def walk(self) -> Iterator[tuple[int, int]]:
        """The nodes of the scene, parents first, all that is below one before the next: (node of the file, of the scene)."""
        waiting = self.roots()[::-1]
        while waiting:
            number = waiting.pop()
            if self.sources[number] >= 0:
                yield number, self.sources[number]
            waiting.extend(reversed(self.children[number]))

    # ----------------------------------------------------------------------------------------------------------- skins

    def skin_of(self, index: int) -> Skin | None:
        """The skin of a node's mesh, if it has one on an armature that is there."""
        node = self.scene.nodes[index]
        skin = self.scene.meshes[node.mesh].skin if 0 <= node.mesh < len(self.scene.meshes) else None
        if skin is None or not 0 <= skin.node < len(self.scene.nodes) or self.scene.nodes[skin.node].armature is None:
            return None
        return skin

    def add_skin(self, index: int, skin: Skin, loose: bool) -> int:
        """loose: some vertices have no bone, and stay with the armature: its node is one more joint, the last."""
        relative = self.relative(index, skin.node)
        key = (skin.node, relative.tobytes(), loose)
        if key in self.known_skins:
            return self.known_skins[key]
        armature = self.scene.nodes[skin.node].armature
        assert armature is not None
        joints = list(self.bones[skin.node])
        binds = [bone.bind.astype(np.float64) for bone in armature.bones]
        if loose or not joints:
            joints.append(self.places[skin.node])
            binds.append(IDENTITY)
        inverse = _inverses(np.stack(binds)) @ relative
        matrices = axes.matrices_to_file(inverse).transpose(0, 2, 1).astype("<f4")  # column by column
        matrices[:, :, 3] = (0, 0, 0, 1)
        made: Json = {"joints": joints, "inverseBindMatrices": self.buffer.own(matrices.reshape(-1, 16))}
        made["name"] = armature.name
        self.known_skins[key] = len(self.skins)
        self.skins.append(made)
        return len(self.skins) - 1

    def relative(self, index: int, armature: int) -> Array:
        """The mesh's space in the armature's, at rest."""
        node = self.scene.nodes[index]
        if node.parent == armature and node.parent_bone < 0 and np.array_equal(node.transform.matrix, IDENTITY):
            return IDENTITY
        if self.worlds is None:
            self.worlds = self.scene.global_matrices()
        world = [maths.bounded(self.worlds[each].astype(np.float64)) for each in (armature, index)]
        return _inverses(world[0]) @ world[1]


def _inverses(matrices: Array) -> Array:
    matrices = maths.bounded(matrices)
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrices)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes and skins of the file to nodes and bones of the scene.

Joints of a skin, and what lies between them, are bones of an armature, which stands on the node above them. The node of a mesh
with a skin counts for nothing in the file: the mesh hangs on the armature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....scene import Armature, Bone, Node, Scene, Target, Transform, maths
from .. import axes, extras
from ..document import LIGHTS, VISIBILITY, Part
from .accessors import Accessors
from .joints import Group, groups
from .meshes import Meshes
from .skins import Binder

LARGEST_SCALE = 1e9


@dataclass
class Place:
    """Where a node of the file went: a node or a bone of the scene."""

    target: Target
    looks: bool = False  # its keys are turned as a camera is
    moves: bool = True  # False: a mesh with a skin, which its joints move and nothing else


class Rigs:
    def __init__(self, root: Part, scene: Scene, accessors: Accessors, meshes: Meshes, roots: list[int] | None) -> None:
        self.scene = scene
        self.accessors = accessors
        self.meshes = meshes
        self.parts = root.parts("nodes")
        self.skins = root.parts("skins")
        self.joints = [part.indices("joints", len(self.parts)) for part in self.skins]
        self.children = [part.indices("children", len(self.parts)) for part in self.parts]
        self.parents = [-1] * len(self.parts)
        self.order = self.walk(roots)
        self.shears = self.fold_shears()
        self.groups = groups(self.real_joints(), self.parents, self.order)
        self.group_of = {bone: group for group in self.groups for bone in group.bones}
        self.group_of_skin = {skin: group for group in self.groups for skin in group.skins}
        self.hidden = self.hidden_nodes()
        self.places: dict[int, Place] = {}
        self.rigid: dict[int, int] = {}  # meshes of the scene without a skin, by those of the file
        self.skinned: dict[tuple[int, int], int] = {}  # ... and with one, by mesh and skin
        self.build()
        self.bind()

    # ------------------------------------------------------------------------------------------------------------ tree

    def walk(self, roots: list[int] | None) -> list[int]:
        """All nodes that are shown, parents first; a node that is met again is left out there."""
        below = {child for children in self.children for child in children}
        every = [index for index in range(len(self.parts)) if index not in below]
        order: list[int] = []
        seen = [False] * len(self.parts)
        twice = 0
        stack = [(index, -1) for index in reversed(every if roots is None else roots)]
        while stack:
            index, parent = stack.pop()
            if seen[index]:
                twice += 1
                continue
            seen[index] = True
            self.parents[index] = parent
            order.append(index)
            stack.extend((child, index) for child in reversed(self.children[index]))
        if twice:
            self.scene.warnings.append(f"{twice} nodes are in more than one place; each was left in the first.")
        if len(order) < len(self.parts):
            self.scene.warnings.append(f"{len(self.parts) - len(order)} nodes are not in the scene that is shown.")
        return order

    def fold_shears(self) -> dict[int, Transform]:
        """Nodes that this project added to hold a shear are taken out again: what they did, for the one below each."""
        used = {joint for joints in self.joints for joint in joints}
        found: dict[int, Transform] = {}
        gone: set[int] = set()
        for index in self.order:
            part, below = self.parts[index], self.children[index]
            plain = index not in used and not {"mesh", "camera", "extensions"} & part.values.keys()
            if (
                plain
                and len(below) == 1
                and self.parents[below[0]] == index
                and extras.unpack(part).values.get("shear") is True
            ):
                gone.add(index)
                above = found.pop(index, None)
                own = transform_of(part)
                found[below[0]] = own if above is None else Transform(prefix=above.matrix @ own.matrix)
                self.parents[below[0]] = self.parents[index]
        self.order = [index for index in self.order if index not in gone]
        return found

    def real_joints(self) -> list[list[int]]:
        """Of each skin, the joints that can be bones: the armature's own node is one for vertices that have no bone."""
        shown = set(self.order)
        own = {index for index in self.order if "armature" in extras.unpack(self.parts[index])}
        return [[joint for joint in joints if joint in shown and joint not in own] for joints in self.joints]

    # ----------------------------------------------------------------------------------------------------------- nodes

    def build(self) -> None:
        hosted: dict[int, list[Group]] = {}
        for group in self.groups:
            hosted.setdefault(group.host, []).append(group)
        for group in hosted.get(-1, []):
            self.add_armature(group, (-1, -1))
        for index in self.order:
            part = self.parts[index]
            transform = transform_of(part)
            if index in self.shears:
                inner = np.eye(4, dtype=np.float32) if transform.prefix is None else transform.prefix
                transform = replace(transform, prefix=(self.shears[index].matrix @ inner).astype(np.float32))
            if index in self.group_of:
                self.add_bone(index, self.group_of[index], transform)
            else:
                self.add_node(index, transform, hosted.get(index, []))
            for group in hosted.get(index, []):
                if group.node < 0:
                    self.add_armature(group, self.places[index].target)
            self.add_contents(index)
            for group in hosted.get(index, []):
                self.hang(group)

    def above(self, index: int) -> Target:
        return self.places[self.parents[index]].target if self.parents[index] >= 0 else (-1, -1)

    def add_bone(self, index: int, group: Group, transform: Transform) -> None:
        armature = self.scene.nodes[group.node].armature
        assert armature is not None
        node, parent = self.above(index)
        own = extras.unpack(self.parts[index])
        bone = Bone(self.name(index), parent if node == group.node else -1, np.eye(4, dtype=np.float32), transform)
        bone.settings = extras.settings(self.parts[index])
        if "head" in own:
            bone.head = axes.vectors_to_scene(np.array(own.numbers("head", 3, ()), np.float32))
        self.places[index] = Place((group.node, len(armature.bones)))
        armature.bones.append(bone)

    def add_node(self, index: int, transform: Transform, hosted: list[Group]) -> None:
        part = self.parts[index]
        if self.hangs(index) and not self.children[index] and not hosted:
            return  # only its mesh is seen, and that goes to the armature
        node = Node(self.name(index), *self.above(index), transform, settings=extras.settings(part))
        number = self.append(node)
        self.places[index] = Place((number, -1))
        free = next((group for group in hosted if group.node < 0), None)
        if free is not None and ("mesh" not in part or self.hangs(index)) and not _looks(part):
            name = extras.unpack(part).values.get("armature")
            node.armature = Armature(name if isinstance(name, str) else node.name, [])
            free.node = number

    def add_armature(self, group: Group, above: Target) -> None:
        """With a node of its own, where the one above the bones is something else, or is not there."""
        name = self.skins[group.skins[0]].text("name") or "Armature"
        group.node = self.append(Node(name, *above, armature=Armature(name, [])))

    def append(self, node: Node) -> int:
        self.scene.nodes.append(node)
        return len(self.scene.nodes) - 1

    def name(self, index: int) -> str:
        return self.parts[index].text("name") or f"Node {index}"

    # -------------------------------------------------------------------------------------------------------- contents

    def add_contents(self, index: int) -> None:
        """What a node of the file shows: on its node in the scene, where that is free, else on nodes below it."""
        part = self.parts[index]
        place = self.places.get(index)
        node = self.scene.nodes[place.target[0]] if place is not None and place.target[1] < 0 else None
        if node is not None:
            node.hidden = index in self.hidden
        mesh = part.index("mesh", len(self.meshes.parts))
        if mesh >= 0 and self.hangs(index):
            group = self.group_of_skin[part.integer("skin")]
            group.waiting.append(index)
            self.hang(group)
        elif mesh >= 0:
            owner = node if node is not None and node.armature is None else self.below(index)
            owner.mesh = self.rigid_number(mesh)
        light = part.extension(LIGHTS)
        looking = {
            "camera": part.index("camera", len(self.scene.cameras)),
            "light": light.index("light", len(self.scene.lights)) if light is not None else -1,
        }
        for kind, number in looking.items():
            if number >= 0:
                setattr(self.looking(index, node), kind, number)

    def looking(self, index: int, node: Node | None) -> Node:
        """The node for a camera or a light. They look along -Z in the scene as in the file, so theirs is turned once more."""
        free = node is not None and (node.mesh, node.camera, node.light) == (-1, -1, -1) and node.armature is None
        if node is not None and free and not self.children[index]:
            node.transform.rotation = axes.look(node.transform.rotation, axes.LOOK_TO_SCENE)
            node.transform.scale = axes.swap_scale(node.transform.scale)
            self.places[index].looks = True
            return node
        node = self.below(index)
        node.transform.rotation = axes.LOOK_TO_SCENE.copy()
        return node

    def below(self, index: int) -> Node:
        node = Node(self.name(index), *self.places[index].target, hidden=index in self.hidden)
        self.append(node)
        return node

    def hidden_nodes(self) -> set[int]:
        """What is below a hidden node is hidden, too."""
        found: set[int] = set()
        for index in self.order:
            visible = self.parts[index].extension(VISIBILITY)
            if self.parents[index] in found or (visible is not None and not visible.flag("visible", True)):
                found.add(index)
        return found | {index for index in self.order if extras.unpack(self.parts[index]).values.get("hidden") is True}

    # ---------------------------------------------------------------------------------------------------------- meshes

    def rigid_number(self, mesh: int) -> int:
        if mesh not in self.rigid:
            self.rigid[mesh] = len(self.scene.meshes)
            self.scene.meshes.append(self.meshes.get(mesh).mesh)
        return self.rigid[mesh]

    def hangs(self, index: int) -> bool:
        """Does the node show a mesh that bones move?"""
        part = self.parts[index]
        mesh, skin = part.index("mesh", len(self.meshes.parts)), part.index("skin", len(self.skins))
        return mesh >= 0 and skin in self.group_of_skin and self.meshes.get(mesh).has_weights

    def hang(self, group: Group) -> None:
        """Adds the meshes that wait for an armature, once that is there: in the order of the file, if it can be."""
        while group.waiting and group.node >= 0:
            index = group.waiting.pop(0)
            part = self.parts[index]
            node = Node(self.name(index), group.node, hidden=index in self.hidden)
            node.mesh = self.skinned_number(part.integer("mesh"), part.integer("skin"))
            number = self.append(node)
            if index not in self.places:
                node.settings = extras.settings(part)
                self.places[index] = Place((number, -1), moves=False)

    def skinned_number(self, mesh: int, skin: int) -> int:
        if (mesh, skin) not in self.skinned:
            made = self.meshes.get(mesh).mesh
            self.meshes.spend(len(made.positions) + len(made.corners))
            self.skinned[mesh, skin] = len(self.scene.meshes)
            self.scene.meshes.append(made)  # bound when all bones are there
        return self.skinned[mesh, skin]

    def bind(self) -> None:
        binders: dict[int, Binder] = {}
        for group in self.groups:
            bones = {node: self.places[node].target[1] for node in group.bones}
            binder = binders[group.node] = Binder(self.scene, group.node, bones, self.accessors)
            for skin in group.skins:
                if any(joint in bones for joint in self.joints[skin]):
                    binder.add_skin(skin, self.skins[skin], self.joints[skin])
            binder.set_binds()
        for (mesh, skin), number in self.skinned.items():
            binder = binders[self.group_of_skin[skin].node]
            self.scene.meshes[number] = binder.mesh(self.meshes.get(mesh), skin, self.joints[skin])


def _looks(part: Part) -> bool:
    return "camera" in part or part.extension(LIGHTS) is not None


def transform_of(part: Part) -> Transform:
    if "matrix" in part:
        matrix = np.array(part.numbers("matrix", 16, ())).reshape(4, 4).T
        matrix[3] = (0, 0, 0, 1)
        return Transform.from_matrix(maths.bounded(axes.matrices_to_scene(matrix)).astype(np.float32))
    location = np.array(part.numbers("translation", 3, (0, 0, 0)))
    rotation = np.array(part.numbers("rotation", 4, (0, 0, 0, 1)))
    scale = np.array(part.numbers("scale", 3, (1, 1, 1)))
    return Transform(
        np.clip(axes.vectors_to_scene(location), -maths.FARTHEST, maths.FARTHEST).astype(np.float32),
        maths.normalized(axes.rotations_to_scene(rotation), (1, 0, 0, 0)).astype(np.float32),
        np.clip(axes.swap_scale(scale), -LARGEST_SCALE, LARGEST_SCALE).astype(np.float32),
    )

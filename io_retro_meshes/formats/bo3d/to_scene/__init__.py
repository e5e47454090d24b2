# SPDX-License-Identifier: GPL-3.0-or-later
"""Document to Scene: what the engine would show. Entities become objects and bones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Bone, Clip, Floats, Node, Scene, Target, Track, Transform, maths
from ....scene.sanitize import finite
from ...binary import decoder
from .. import axes, engine
from ..document import Document, Entity
from ..options import ImportOptions
from .animation import track
from .materials import Materials
from .meshes import Meshes
from .rigs import Rig, find_rigs, skin

Array = npt.NDArray[Any]


def to_scene(document: Document, options: ImportOptions | None = None) -> Scene:
    with np.errstate(all="ignore"):  # numbers of a broken file may be anything
        return Importer(document, options or ImportOptions()).run()


class Importer:
    def __init__(self, document: Document, options: ImportOptions) -> None:
        self.document = document
        self.decode = decoder(options.encoding)
        self.scene = Scene(warnings=list(document.warnings), interpolation="NLERP")
        self.parents = engine.parents(document)
        self.rigs = find_rigs(document, self.parents)
        self.skinned_by = {index: rig for rig in self.rigs for index in rig.meshes}
        self.bone_of = {index: rig for rig in self.rigs for index in rig.bones}
        self.transforms = [_transform(entity) for entity in document.entities]
        self.world = _world_matrices([transform.matrix for transform in self.transforms], self.parents)
        self.meshes = Meshes(document, self.scene, Materials(self.scene, self.decode))
        self.tracks: dict[Target, Track] = {}
        self.armatures: dict[int, int] = {}  # id of a rig -> its node
        self.targets: dict[int, Target] = {}  # entity -> the node, or the bone, that is it

    def run(self) -> Scene:
        for rig in self.rigs:
            if rig.root < 0:
                self.add_armature(rig, "Armature", -1, Transform())
        rooted: dict[int, list[Rig]] = {}
        for rig in self.rigs:
            rooted.setdefault(rig.root, []).append(rig)
        for index, entity in enumerate(self.document.entities):
            node = self.add_entity(index, entity)
            for rig in rooted.get(index, []):
                if id(rig) not in self.armatures:
                    self.add_armature(rig, f"{self.name(index)}_armature", index, Transform())
            if index in self.skinned_by:
                self.add_skinned(self.skinned_by[index], index)
            elif entity.mesh is not None:
                if index in self.bone_of:
                    node = self.add_node(Node(self.name(index)), index)
                self.scene.nodes[node].mesh = self.meshes.add(index, self.name(index))
        if self.tracks:
            self.scene.timeline = Clip("", 0, engine.playback(self.document), self.tracks)
        if any((entity.scale != 1).any() for entity in self.document.entities):
            self.scene.warnings.append(
                "There are scales other than 1: the engine applies a parent's to its children's places twice, here it is once."
            )
        self.meshes.add_warnings()
        return self.scene

    # ------------------------------------------------------------------------------------------------------- entities

    def add_entity(self, index: int, entity: Entity) -> int:
        """The node that the entity becomes, or whose bone or part it is."""
        name, parent, transform = self.name(index), self.parents[index], self.transforms[index]
        rig = self.skinned_by.get(index)
        if index in self.bone_of:
            return self.add_bone(self.bone_of[index], index)
        if rig is not None and index in rig.in_root_space:
            self.targets[index] = (self.armatures[id(rig)], -1)
            return self.armatures[id(rig)]
        if rig is not None:
            node = self.add_armature(rig, f"{name}_armature", parent, transform)
        else:
            node = self.add_node(Node(name, transform=transform), parent)
        self.set_target(index, (node, -1))
        return node

    def name(self, index: int) -> str:
        return self.decode(self.document.entities[index].name) or f"Entity {index}"

    def add_node(self, node: Node, parent: int) -> int:
        """Below the node or the bone that the entity `parent` became."""
        if parent >= 0:
            node.parent, node.parent_bone = self.targets[parent]
        self.scene.nodes.append(node)
        return len(self.scene.nodes) - 1

    def set_target(self, index: int, target: Target) -> None:
        """Remembers which node or bone an entity became, and takes over its keys."""
        self.targets[index] = target
        found = track(self.document.entities[index], self.transforms[index])
        if found is not None:
            self.tracks[target] = found

    # --------------------------------------------------------------------------------------------------------- rigs

    def add_armature(self, rig: Rig, name: str, parent: int, transform: Transform) -> int:
        node = self.add_node(Node(name, transform=transform, armature=Armature(name, [])), parent)
        self.armatures[id(rig)] = node
        return node

    def add_bone(self, rig: Rig, index: int) -> int:
        node = self.armatures[id(rig)]
        armature = self.scene.nodes[node].armature
        assert armature is not None
        parent = self.parents[index]
        above = self.targets[parent][1] if parent in rig.bones else -1
        bind = self.relative(rig, index)
        armature.bones.append(Bone(self.name(index), above, bind, self.transforms[index]))
        self.set_target(index, (node, len(armature.bones) - 1))
        return node

    def relative(self, rig: Rig, index: int) -> Floats:
        """An entity's matrix in the rig's space, at rest."""
        space = self.world[rig.root] if rig.root >= 0 else np.eye(4)
        return (_inverse(space) @ self.world[index]).astype(np.float32)

    def add_skinned(self, rig: Rig, index: int) -> None:
        armature = self.armatures[id(rig)]
        node = Node(self.name(index), parent=armature)
        node.mesh = self.meshes.add(index, node.name)
        mesh = self.scene.meshes[node.mesh]
        if index != rig.root and index not in rig.in_root_space:
            matrix = self.relative(rig, index)
            mesh.positions = maths.transform_points(matrix, mesh.positions)
            if mesh.normals is not None:
                mesh.normals.data = maths.transform_normals(matrix, mesh.normals.data)
        source = self.document.entities[index].mesh
        assert source is not None
        mesh.skin = skin(source, rig, index, armature)
        self.scene.nodes.append(node)


# ---------------------------------------------------------------------------------------------------------- transforms


def _transform(entity: Entity) -> Transform:
    scale = finite(entity.scale, 1)
    rotation = maths.normalized(finite(entity.rotation, (1, 0, 0, 0)).astype(np.float64), (1, 0, 0, 0))
    return Transform(
        axes.vectors_to_scene(finite(entity.position)),
        axes.rotations_to_scene(rotation).astype(np.float32),
        # A size of nothing cannot be undone, as bones must be.
        axes.scales_to_scene(np.where(np.abs(scale) < 1e-6, np.float32(1e-6), scale)),
    )


def _world_matrices(local: list[Floats], parents: list[int]) -> list[npt.NDArray[np.float64]]:
    found: list[npt.NDArray[np.float64]] = []
    for matrix, parent in zip(local, parents, strict=True):
        whole = matrix.astype(np.float64)
        found.append(found[parent] @ whole if parent >= 0 else whole)
    return found


def _inverse(matrix: Array) -> Array:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.eye(4)

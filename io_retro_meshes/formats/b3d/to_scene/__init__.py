# SPDX-License-Identifier: GPL-3.0-or-later
"""Document to Scene: the nodes of the file become objects and bones."""

from __future__ import annotations

import numpy as np

from ....scene import Floats, Mesh, Node, Scene, Target, Transform, maths
from ....scene.sanitize import finite
from ...binary import decoder
from .. import axes
from .. import document as b3d
from ..options import ImportOptions
from .animation import add_animation
from .materials import Materials
from .meshes import Meshes
from .rigs import Rigs


def to_scene(document: b3d.Document, options: ImportOptions | None = None) -> Scene:
    options = options or ImportOptions()
    scene = Scene(warnings=list(document.warnings), settings={"b3d": {"version": document.version}})
    with np.errstate(all="ignore"):  # numbers of a broken file may be anything
        Importer(document, scene, options).run()
    return scene


TURNED = "has many normals that point into it, so that it looks lit from behind: Normals: Recalculate makes them anew."


class Importer:
    """Nodes are numbered as `Document.walk` gives them; -1 is none."""

    def __init__(self, document: b3d.Document, scene: Scene, options: ImportOptions) -> None:
        self.scene = scene
        self.decode = decode = decoder(options.encoding)
        walked = list(document.walk())
        self.nodes = [node for node, _ in walked]
        self.parents = [parent for _, parent in walked]
        self.chunks = [b3d.of_kind(node.chunks, b3d.Mesh) for node in self.nodes]
        self.locations, self.rotations, self.scales = self.transforms()
        self.mirrored = self.mirrored_nodes()
        self.rigs = Rigs(self.nodes, self.parents)
        self.materials = Materials(document, scene, decode)
        self.meshes = Meshes(self.materials, options)
        self.skinned: dict[int, list[Mesh]] = {}  # by node
        self.targets: list[Target] = []  # the scene's node, or node and bone, of each node

    def run(self) -> None:
        for index in range(len(self.nodes)):
            self.add_node(index)
        self.add_armatures()
        add_animation(self.scene, self.nodes, self.targets, self.decode)
        self.add_warnings()

    def transforms(self) -> tuple[Floats, Floats, Floats]:
        """Every node's location, rotation and scale in the scene's axes."""

        def table(name: str, width: int) -> Floats:
            rows = [getattr(node, name) for node in self.nodes]
            return finite(np.concatenate(rows) if rows else np.zeros(0, np.float32)).astype(np.float32).reshape(-1, width)

        rotations = maths.normalized(axes.rotations_to_scene(table("rotation", 4)), (1, 0, 0, 0))
        return axes.vectors_to_scene(table("position", 3)), rotations, axes.scales_to_scene(table("scale", 3))

    def transform(self, index: int) -> Transform:
        return Transform(self.locations[index], self.rotations[index], self.scales[index])

    def mirrored_nodes(self) -> list[bool]:
        """Which nodes are mirrored in the world, by their own scale and those above."""
        mirrored: list[bool] = []
        for parent, own in zip(self.parents, (np.sign(self.scales).prod(1) < 0).tolist(), strict=True):
            mirrored.append(own != (parent >= 0 and mirrored[parent]))
        return mirrored

    def name(self, index: int) -> str:
        return self.decode(self.nodes[index].name)

    def add_node(self, index: int) -> None:
        """Gives a node of the file its node, or its bone, in the scene."""
        bone = self.rigs.bone(index)
        if bone >= 0:
            self.targets.append((self.targets[self.rigs.owners[index]][0], bone))
            return
        parent, parent_bone = self.targets[self.parents[index]] if self.parents[index] >= 0 else (-1, -1)
        name, chunks, skinned = self.name(index), self.chunks[index], index in self.rigs.bones
        node = Node(name, parent, parent_bone, self.transform(index))
        number = self.append(node)
        self.targets.append((number, -1))
        if skinned:
            node.name = f"{name}_armature"
        elif chunks:
            node.mesh = self.add_mesh(chunks[0], index)
        for chunk in chunks if skinned else chunks[1:]:
            mesh = self.add_mesh(chunk, index)
            self.append(Node(name, number, mesh=mesh))
            self.skinned.setdefault(index, []).append(self.scene.meshes[mesh])

    def append(self, node: Node) -> int:
        self.scene.nodes.append(node)
        return len(self.scene.nodes) - 1

    def add_mesh(self, chunk: b3d.Mesh, index: int) -> int:
        self.scene.meshes.append(self.meshes.mesh(chunk, self.name(index), self.mirrored[index]))
        return len(self.scene.meshes) - 1

    def add_armatures(self) -> None:
        local = maths.compose(*(array.astype(np.float64) for array in (self.locations, self.rotations, self.scales)))
        names = {index: self.name(index) for bones in self.rigs.bones.values() for index in bones}
        transforms = {index: self.transform(index) for index in names}
        for owner in self.rigs.bones:
            number = self.targets[owner][0]
            node = self.scene.nodes[number]
            node.armature = self.rigs.armature(owner, node.name, names, transforms, local)
            self.rigs.add_skins(owner, number, self.skinned[owner])

    def add_warnings(self) -> None:
        warnings = self.scene.warnings + self.materials.warnings()
        loose = self.rigs.bones_without_mesh()
        if loose:
            warnings.append(f"{loose} bones are in no mesh; they were made empties.")
        if self.meshes.bad_triangles:
            warnings.append(f"{self.meshes.bad_triangles} triangles of vertices that do not exist were left out.")
        if self.rigs.dropped_weights:
            warnings.append(f"{self.rigs.dropped_weights} weights of vertices that do not exist were left out.")
        warnings += [f'"{each}" {TURNED}' for each in self.meshes.turned]
        self.scene.warnings = warnings

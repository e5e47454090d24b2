# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> Scene. The file has Blender's axes, units, winding and UVs: nothing is turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .... import scene as neutral
from ....scene import Floats, Ints, Transform, sanitize
from ...binary import decode
from ...errors import FormatError
from .. import tree
from ..document import MOST_LIGHTS, Array, Collection, Document, Geometry, Instance
from ..drafts import Draft
from ..options import ImportOptions
from . import animation, lights, materials, meshes, rigs
from .drafts import draft_to_scene

# What objects may share: a skeleton is made again for each of them, and a mesh for each skeleton. A bone costs as much as
# so many vertices; what is made may be so many times what the file has, and so much more.
A_BONE, OVER, SPARE = 100, 16, 2_000_000


def to_scene(document: Document | Draft, options: ImportOptions | None = None) -> neutral.Scene:
    options = options or ImportOptions()
    if isinstance(document, Draft):
        return draft_to_scene(document, options.draft_axes)
    return Importer(document, options).scene()


@dataclass
class Importer:
    document: Document
    options: ImportOptions
    made: neutral.Scene = field(default_factory=neutral.Scene)
    meshes: dict[tuple[int, int], int] = field(default_factory=dict)  # (geometry, armature's node) -> mesh
    animated: dict[int, list[tuple[int, Ints]]] = field(default_factory=dict)  # collection -> nodes, places of its bones
    collections: dict[int, int] = field(default_factory=dict)  # armature's node -> collection
    known: set[int] = field(default_factory=set)  # geometries that a mesh was made of
    placed: list[tuple[neutral.Node, Floats]] = field(default_factory=list)  # and the matrix of each
    left: int = 0  # of what objects may share

    def scene(self) -> neutral.Scene:
        document, scene = self.document, self.made
        scene.warnings = list(document.warnings)
        found = tree.parse(document.tree, len(document.instances))
        scene.warnings += found.warnings
        images: dict[str, int] = {}
        scene.materials = [
            materials.to_material(each, number, images, scene) for number, each in enumerate(document.materials, 1)
        ]
        scene.cameras = [lights.to_camera(each, n, scene.warnings) for n, each in enumerate(document.cameras, 1)]
        scene.lights = [
            lights.to_light(each, n, self.options.light_formula, scene.warnings) for n, each in enumerate(document.lights, 1)
        ]
        if len(document.lights) > MOST_LIGHTS:
            scene.warnings.append(f"{len(document.lights)} lights; the engine takes {MOST_LIGHTS}.")
        sizes = [*map(_size_of_rig, document.collections), *map(_size_of_mesh, document.geometries)]
        self.left = OVER * sum(sizes) + SPARE
        node_of: dict[int, int] = {tree.ROOT: -1}
        for number in found.order:
            node_of[number] = self.instance(number, document.instances[number], node_of[found.parents[number]])
        transforms = Transform.from_matrices(self.matrices())
        for (node, _), transform in zip(self.placed, transforms, strict=True):
            node.transform = transform
        self.one_main_camera()
        animation.add_clips(scene, document.collections, self.animated, self.options.fps)
        ambient = sanitize.finite(document.ambient.astype(np.float32))
        scene.world_color = ambient[:3]
        scene.settings["bogle"] = {"layout": document.layout}
        if ambient[3] != 1:
            scene.settings["bogle"]["ambient_alpha"] = float(ambient[3])
        return scene

    def instance(self, number: int, instance: Instance, parent: int) -> int:
        """The node of an object: a mesh, a camera or a light; what it is besides hangs on it."""
        scene = self.made
        values = instance.values[0]
        name = decode(instance.name)
        camera, shape, material, light, animation = self.parts(number, values, name)
        kind = "Mesh" if shape >= 0 else "Camera" if camera >= 0 else "Light" if light >= 0 else "Empty"
        name = name or f"{kind}.{number:03}"
        matrix = self.matrix(values["matrix"], name)
        rig = self.armature(animation, parent, matrix) if animation >= 0 else -1
        node = neutral.Node(name, parent)
        self.placed.append((node, matrix))
        index = len(scene.nodes)
        scene.nodes.append(node)
        if shape >= 0:
            if material < 0:
                scene.warnings.append(f"{name}: has a geometry but no material, which the engine cannot draw.")
            node.mesh = self.mesh(shape, rig, material)
            if scene.meshes[node.mesh].materials != [material]:
                node.materials = [material]
        for what, which in (("camera", camera), ("light", light)):
            if which < 0:
                continue
            owner = node
            if node.mesh >= 0 or node.camera >= 0:
                owner = neutral.Node(f"{name} {what}", index)
                scene.nodes.append(owner)
                scene.warnings.append(f"{name}: is several things at once; its {what} hangs on it as {owner.name}.")
            setattr(owner, what, which)
        return index

    def parts(self, number: int, values: Array, name: str) -> list[int]:
        """What the object refers to, counted from 0; -1 for nothing."""
        document = self.document
        kinds: dict[str, Sequence[Any]] = {
            "camera": document.cameras,
            "geometry": document.geometries,
            "material": document.materials,
            "light": document.lights,
            "animation": document.collections,
        }
        found = []
        for kind, known in kinds.items():
            index = int(values[kind]) if kind in (values.dtype.names or ()) else 0
            if index > len(known):
                self.made.warnings.append(f"{name or f'Object {number}'}: uses {kind} {index} of {len(known)}; taken for none.")
                index = 0
            found.append(index - 1)
        return found

    def matrix(self, columns: Array, name: str) -> Floats:
        matrix = columns.astype(np.float32).reshape(4, 4).T.copy()
        if not sanitize.within(matrix):
            self.made.warnings.append(f"{name}: its matrix has values that are not numbers; put at its parent's place.")
            return np.eye(4, dtype=np.float32)
        if np.abs(matrix[3] - (0, 0, 0, 1)).max() > 1e-4:
            self.made.warnings.append(f"{name}: the last row of its matrix is not 0 0 0 1; that row was ignored.")
        matrix[3] = (0, 0, 0, 1)
        return matrix

    def matrices(self) -> Floats:
        return np.stack([matrix for _, matrix in self.placed]) if self.placed else np.zeros((0, 4, 4), np.float32)

    def mesh(self, index: int, rig: int, material: int) -> int:
        """One mesh for all the objects that share a geometry; skins on different armatures cannot be shared."""
        if (index, rig) not in self.meshes:
            source = self.document.geometries[index]
            name = decode(source.name) or f"Geometry.{index + 1:03}"
            mesh = meshes.to_mesh(source, name, self.made.warnings if index not in self.known else [])
            self.known.add(index)
            self.spend(_size_of_mesh(source))
            mesh.materials = [material]
            armature = self.made.nodes[rig].armature if rig >= 0 else None
            if armature is not None:
                _, place = self.animated[self.collections[rig]][-1]
                vertices, bones, weights = meshes.skin_rows(source, len(place), name, self.made.warnings)
                mesh.skin = neutral.Skin(rig, vertices, place[bones], weights)
            self.meshes[index, rig] = len(self.made.meshes)
            self.made.meshes.append(mesh)
        return self.meshes[index, rig]

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise FormatError("its objects use the same skeletons and meshes so often that there would be too many of them")

    def armature(self, index: int, parent: int, matrix: Floats) -> int:
        """An armature beside the object that it moves."""
        collection = self.document.collections[index]
        name = decode(collection.name) or f"Armature.{index + 1:03}"
        self.spend(_size_of_rig(collection))
        armature, place = rigs.to_armature(collection, index, name, self.made.warnings)
        node = len(self.made.nodes)
        self.collections[node] = index
        self.animated.setdefault(index, []).append((node, place))
        self.made.nodes.append(neutral.Node(name, parent, armature=armature))
        self.placed.append((self.made.nodes[node], matrix @ self.matrix(collection.matrix, name)))
        return node

    def one_main_camera(self) -> None:
        """The engine looks through the last main camera in the tree."""
        used = [node.camera for node in self.made.nodes if node.camera >= 0 and self.made.cameras[node.camera].main]
        if len(set(used)) > 1:
            self.made.warnings.append(
                f"{len(set(used))} cameras are the main one; {self.made.cameras[used[-1]].name} was taken."
            )
            for index in used[:-1]:
                self.made.cameras[index].main = index == used[-1]


def _size_of_mesh(geometry: Geometry) -> int:
    return len(geometry.vertices) + len(geometry.indices)


def _size_of_rig(collection: Collection) -> int:
    return len(collection.bones) * (A_BONE + len(collection.animations))

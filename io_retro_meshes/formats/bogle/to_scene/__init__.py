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
from .. import tree
from ..document import MOST_LIGHTS, Array, Document, Instance
from ..drafts import Draft
from ..options import ImportOptions
from . import animation, lights, materials, meshes, rigs
from .drafts import draft_to_scene


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
        node_of: dict[int, int] = {tree.ROOT: -1}
        for number in found.order:
            node_of[number] = self.instance(number, document.instances[number], node_of[found.parents[number]])
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
        node = neutral.Node(name, parent, transform=Transform.from_matrix(matrix))
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

    def mesh(self, index: int, rig: int, material: int) -> int:
        """One mesh for all the objects that share a geometry; skins on different armatures cannot be shared."""
        if (index, rig) not in self.meshes:
            source = self.document.geometries[index]
            name = decode(source.name) or f"Geometry.{index + 1:03}"
            mesh = meshes.to_mesh(source, name, self.made.warnings if not self.known(index) else [])
            mesh.materials = [material]
            armature = self.made.nodes[rig].armature if rig >= 0 else None
            if armature is not None:
                _, place = self.animated[self.collection_of(rig)][-1]
                vertices, bones, weights = meshes.skin_rows(source, len(place), name, self.made.warnings)
                mesh.skin = neutral.Skin(rig, vertices, place[bones], weights)
            self.meshes[index, rig] = len(self.made.meshes)
            self.made.meshes.append(mesh)
        return self.meshes[index, rig]

    def known(self, index: int) -> bool:
        """Was this geometry made before, for another armature?"""
        return any(shape == index for shape, _ in self.meshes)

    def collection_of(self, rig: int) -> int:
        return next(number for number, rigs in self.animated.items() if any(node == rig for node, _ in rigs))

    def armature(self, index: int, parent: int, matrix: Floats) -> int:
        """An armature beside the object that it moves."""
        collection = self.document.collections[index]
        name = decode(collection.name) or f"Armature.{index + 1:03}"
        armature, place = rigs.to_armature(collection, index, name, self.made.warnings)
        transform = Transform.from_matrix(matrix @ self.matrix(collection.matrix, name))
        self.animated.setdefault(index, []).append((len(self.made.nodes), place))
        self.made.nodes.append(neutral.Node(name, parent, transform=transform, armature=armature))
        return len(self.made.nodes) - 1

    def one_main_camera(self) -> None:
        """The engine looks through the last main camera in the tree."""
        used = [node.camera for node in self.made.nodes if node.camera >= 0 and self.made.cameras[node.camera].main]
        if len(set(used)) > 1:
            self.made.warnings.append(
                f"{len(set(used))} cameras are the main one; {self.made.cameras[used[-1]].name} was taken."
            )
            for index in used[:-1]:
                self.made.cameras[index].main = index == used[-1]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene to document, such that Blitz3D and Luanti can both read it.

The engine binds bones to a mesh before the mesh has a parent, so the node of a skinned mesh must not move it: the armature's
transform goes into the vertices and the bones, or into a pivot above. It gives a mesh every bone it has met before the mesh
ends, so meshes that are not part of a rig come before the rig's bones. And it keeps only one root.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....scene import Node, Scene, Track, Transform
from ...binary import encode
from .. import axes
from .. import document as b3d
from ..options import ExportOptions
from .animation import AnimatedTransform, Timeline
from .bone_axes import with_luanti_bones
from .materials import BrushTable
from .meshes import Meshes
from .rigs import Rigs, weight_chunks


def from_scene(scene: Scene, options: ExportOptions | None = None) -> b3d.Document:
    with np.errstate(all="ignore"):
        options = options or ExportOptions()
        scene = replace(scene, warnings=list(scene.warnings))
        return Exporter(with_luanti_bones(scene) if options.bone_axes == "LUANTI" else scene, options).run()


class Exporter:
    """Makes the file's nodes. All its parts add their warnings to those of the scene."""

    def __init__(self, scene: Scene, options: ExportOptions) -> None:
        self.scene = scene
        self.options = options
        self.brushes = BrushTable(scene)
        self.meshes = Meshes(scene, options, self.brushes)
        self.timeline = Timeline(scene, options.start_frame)
        self.world = scene.global_matrices()
        self.rigs = Rigs(scene, self.timeline, self.meshes, self.world, options.join_on_bones)
        self.roots: list[b3d.Node] = []
        self.nodes: list[b3d.Node] = []  # the node of the file that children of each node of the scene hang on
        self.bones: dict[int, list[b3d.Node]] = {}  # of each armature
        self.baked: dict[int, Transform] = {}  # nodes whose own transform went into what hangs on them
        self.skinned: list[tuple[b3d.Node, set[int]]] = []  # nodes of skinned meshes, and the ids of the chunks that are bones
        self.animates_nodes = False  # other than the bones of skinned meshes

    def run(self) -> b3d.Document:
        for index in range(len(self.scene.nodes)):
            self.add_node(index)
        root = self.roots[0] if len(self.roots) == 1 else b3d.Node(b"ROOT", chunks=[*self.roots])
        for node, bones in self.skinned:
            node.chunks.sort(key=lambda chunk: id(chunk) in bones)
        self.add_animation(root)
        chunks = self.brushes.chunks() if self.options.materials else []
        version = int(self.scene.settings.get("b3d", {}).get("version", 1))
        document = b3d.Document(version=version, chunks=[*chunks, root] if self.roots else [*chunks])
        document.warnings = list(dict.fromkeys(self.scene.warnings))
        return document

    # ----------------------------------------------------------------------------------------------------------- nodes

    def add_node(self, index: int) -> None:
        node = self.scene.nodes[index]
        skin = self.scene.meshes[node.mesh].skin if node.mesh >= 0 else None
        if skin is not None and index in self.rigs.skinned.get(skin.node, ()):
            self.nodes.append(self.nodes[skin.node])  # part of the rig's one mesh
            if skin.node in self.baked:
                self.baked[index] = self.baked[skin.node]
            return
        animated = AnimatedTransform(node.transform, self.timeline.track(index, -1))
        if node.parent_bone < 0 and node.parent in self.baked:
            animated = animated.premultiplied(self.baked[node.parent])
        parent = self.parent(node)
        if index in self.rigs.skinned:
            self.add_rig(index, animated, parent)
            return
        made = self.append(node.name, animated, parent)
        self.nodes.append(made)
        if node.mesh >= 0 and index not in self.rigs.joined:
            mesh = self.meshes.triangulated(index)
            made.chunks.insert(0, self.meshes.chunk(mesh, self.mirrored(index))[0])
        if node.armature is not None:
            self.add_bones(index, made, None)

    def parent(self, node: Node) -> b3d.Node | None:
        if node.parent < 0:
            return None
        bones = self.bones.get(node.parent, [])
        return bones[node.parent_bone] if 0 <= node.parent_bone < len(bones) else self.nodes[node.parent]

    def append(self, name: str, animated: AnimatedTransform, parent: b3d.Node | None, bone: bool = False) -> b3d.Node:
        """A new node below another, or at the top. One with a shear becomes two."""
        above, animated = animated.split_shear()
        if above is not None:
            parent = self.append(f"{name}_shear", AnimatedTransform(above, Track()), parent, bone)
        transform = animated.transform
        made = b3d.Node(
            encode(name).replace(b"\0", b""),
            axes.vectors_to_file(transform.location).astype("<f4"),
            axes.scales_to_file(transform.scale).astype("<f4"),
            axes.rotations_to_file(transform.rotation).astype("<f4"),
        )
        made.chunks += self.timeline.keys(animated.track)
        self.animates_nodes |= bool(made.chunks) and not bone
        if parent is None:
            self.roots.append(made)
        else:
            parent.chunks.append(made)
        return made

    def mirrored(self, index: int) -> bool:
        return bool(np.linalg.det(self.world[index][:3, :3]) < 0)

    # ------------------------------------------------------------------------------------------------------------ rigs

    def add_rig(self, index: int, animated: AnimatedTransform, parent: b3d.Node | None) -> None:
        """An armature and its meshes as one skinned mesh, whose node has no transform."""
        node = self.scene.nodes[index]
        name = self.scene.nodes[self.rigs.skinned[index][0]].name
        baked = animated.transform if animated.can_be_baked else None
        if baked is None:
            pivot = f"{name}_root" if node.name == f"{name}_armature" else node.name
            parent = self.append(pivot, animated, parent)
        made = self.append(name, AnimatedTransform(Transform(), Track()), parent)
        self.nodes.append(made)
        if baked is not None:
            self.baked[index] = baked
        mesh = self.rigs.mesh(index, baked)
        chunk, sources = self.meshes.chunk(mesh, self.mirrored(index))
        made.chunks.insert(0, chunk)
        count = self.rigs.bone_count(index)
        if mesh.skin is not None and count:
            weights, lost = weight_chunks(mesh.skin, sources, count)
            if lost:
                self.scene.warnings.append(f'{lost} vertices of "{name}" have more than 4 weights; the greatest were kept.')
            self.skinned.append((made, self.add_bones(index, made, weights)))

    def add_bones(self, index: int, made: b3d.Node, weights: list[b3d.Bone] | None) -> set[int]:
        """The armature's bones below a node; returns the ids of those of its chunks that they are."""
        bones = self.bones.setdefault(index, [])
        before = {id(chunk) for chunk in made.chunks}
        for number, (bone, animated) in enumerate(self.rigs.bones(index)):
            if bone.parent < 0 and index in self.baked:
                animated = animated.premultiplied(self.baked[index])
            parent = bones[bone.parent] if bone.parent >= 0 else made
            bones.append(self.append(bone.name, animated, parent, weights is not None))
            if weights is not None:
                bones[-1].chunks.insert(0, weights[number])
        return {id(chunk) for chunk in made.chunks} - before

    # ------------------------------------------------------------------------------------------------------- animation

    def add_animation(self, root: b3d.Node) -> None:
        """The engine looks for an animation's length in the node of each rig, and above everything else that moves."""
        anim = self.timeline.anim(root)
        if anim is None:
            return
        rigs = [node for node, _ in self.skinned]
        holders = [root, *(node for node in rigs if node is not root)] if self.animates_nodes or not rigs else rigs
        for holder in holders:
            _insert_before_children(holder, [replace(anim)])
        if self.options.sequences:
            _insert_before_children(holders[0], self.timeline.sequences())


def _insert_before_children(node: b3d.Node, chunks: list[b3d.Anim] | list[b3d.Sequence]) -> None:
    place = next((i for i, chunk in enumerate(node.chunks) if isinstance(chunk, b3d.Node)), len(node.chunks))
    node.chunks[place:place] = chunks

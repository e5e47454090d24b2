# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> Scene, by the engine's rules: frames become nodes, frames that move a skin become bones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....scene import Node, Scene, Target, Transform
from .. import axes
from ..document import Document, chain
from ..matrices import decompose
from ..options import ImportOptions
from . import animation, meshes, rigs
from .materials import Materials
from .rigs import Frames, Rig


def to_scene(document: Document, options: ImportOptions | None = None) -> Scene:
    return Importer(document, options or ImportOptions()).run()


class Importer:
    def __init__(self, document: Document, options: ImportOptions) -> None:
        self.document = document
        self.scene = Scene(fps=options.fps, warnings=list(document.warnings))
        self.materials = Materials(self.scene)
        self.frames: Frames = rigs.gather_frames(document)
        moved = {animation.name for entry in document.animation_sets() for animation in chain(entry.animation)}
        keyed = {self.frames.by_name[name] for name in moved if name in self.frames.by_name}
        self.rigs: list[Rig] = rigs.find_rigs(self.frames, keyed, self.scene.warnings)
        self.rest = _transforms(self.frames)
        self.show_levels = options.levels
        self.places: dict[int, tuple[int, int]] = {}  # frame -> node and bone that its children hang on

    def run(self) -> Scene:
        self._add_armatures()
        skins = {frame: rig for rig in self.rigs for frame in rig.meshes}
        parents = set(self.frames.parents)
        for index in range(self.frames.skipped, len(self.frames.frames)):
            mesh = made = self._mesh(index, skins)
            if index in skins:
                self.scene.nodes.append(self._node(index, self._skin_node(index, skins[index], mesh)))
                mesh = -1
            if index in self.places:
                if mesh >= 0:
                    node, bone = self.places[index]
                    self.scene.nodes.append(self._node(index, Node(self.frames.name(index), node, bone, mesh=mesh)))
            elif index not in skins or index in parents:
                self._add_frame(index, mesh)
            if made >= 0 and self.show_levels:
                self._add_levels(index, made)
        animation.add_clips(self.document, self.frames, self.rest, self._targets, self.scene)
        self._settings()
        self.scene.warnings = list(dict.fromkeys(self.scene.warnings))
        return self.scene

    def _add_armatures(self) -> None:
        """The armatures are the first nodes of the scene, after the frames that some of them are below."""
        for rig in self.rigs:
            for frame in rig.base:
                if frame not in self.places:
                    self._add_frame(frame, -1)
            name = self.frames.name(rig.meshes[0]) + "_armature"
            rig.node = len(self.scene.nodes)
            above = self.places[rig.base[-1]][0] if rig.base else -1
            self.scene.nodes.append(Node(name, above, armature=rigs.armature(rig, name, self.frames, self.rest)))
        for rig in reversed(self.rigs):
            self.places |= {frame: (rig.node, bone) for frame, bone in rig.bones.items()}

    def _add_frame(self, index: int, mesh: int) -> None:
        parent, bone = self.places.get(self.frames.parents[index], (-1, -1))
        self.places[index] = (len(self.scene.nodes), -1)
        self.scene.nodes.append(
            self._node(index, Node(self.frames.name(index), parent, bone, transform=self.rest[index], mesh=mesh))
        )

    def _skin_node(self, index: int, rig: Rig, mesh: int) -> Node:
        """Below the armature, but in the world: the engine takes nothing from a skin's own frame."""
        node = Node(self.frames.name(index), rig.node, mesh=mesh)
        if rig.base:
            node.transform = Transform.from_matrix(rigs.base_inverse(rig, self.frames))
        return node

    def _node(self, index: int, node: Node) -> Node:
        mesh = self.frames.frames[index].mesh
        node.hidden = node.mesh >= 0 and mesh is not None and not mesh.visible
        return node

    def _mesh(self, index: int, skins: dict[int, Rig]) -> int:
        source = self.frames.frames[index].mesh
        if source is None:
            return -1
        made = meshes.scene_mesh(source, self.frames.name(index), self.materials, self.scene.warnings)
        if index not in skins and source.cull and np.linalg.det(self.frames.world[index][:3, :3].astype(np.float64)) < 0:
            made.corners = axes.winding(made.corners.reshape(-1, 3)).reshape(-1)  # as the engine draws what is mirrored
        if index in skins:
            made.skin = rigs.skin(source, len(made.positions), skins[index], self.frames, self.scene.warnings)
        self.scene.meshes.append(made)
        return len(self.scene.meshes) - 1

    def _add_levels(self, index: int, mesh: int) -> None:
        """Hidden objects below the one that has just been added; those of a skin beside it, since both are below the rig."""
        above = len(self.scene.nodes) - 1
        node, made = self.scene.nodes[above], self.scene.meshes[mesh]
        for coarser in meshes.coarser_meshes(self.frames.frames[index].mesh, made, self.scene.warnings):
            child = Node(coarser.name, above, mesh=len(self.scene.meshes), hidden=True)
            if made.skin is not None:
                child = replace(node, name=coarser.name, mesh=len(self.scene.meshes), hidden=True)
            self.scene.nodes.append(child)
            self.scene.meshes.append(coarser)

    def _targets(self, frame: int) -> list[Target]:
        """What an animation of the frame moves: a bone in each armature that has it, or a node."""
        bones = [(rig.node, rig.bones[frame]) for rig in self.rigs if frame in rig.bones]
        if bones or frame not in self.places:
            return bones
        return [self.places[frame]]

    def _settings(self) -> None:
        settings: dict[str, object] = {"version": self.document.version}
        if self.document.custom_data:
            settings["custom_data"] = self.document.custom_data.hex()
        self.scene.settings["dbo"] = settings


def _transforms(frames: Frames) -> list[Transform]:
    """The local transforms of all frames, decomposed in one call."""
    location, rotation, scale, sheared = decompose(frames.local)
    return [
        Transform(prefix=frames.local[index]) if sheared[index] else Transform(location[index], rotation[index], scale[index])
        for index in np.arange(len(frames.local))
    ]

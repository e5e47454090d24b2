# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> Scene, by the engine's rules: frames become objects, frames that move a skin become bones."""

from __future__ import annotations

import numpy as np

from ...scene import Node, Scene, Target, Transform
from . import meshes, motion, skeleton, space
from .document import Document
from .materials import Materials
from .options import ImportOptions
from .skeleton import Frames, Group


def to_scene(document: Document, options: ImportOptions | None = None) -> Scene:
    return _Importer(document, options or ImportOptions()).run()


class _Importer:
    def __init__(self, document: Document, options: ImportOptions) -> None:
        self.document = document
        self.scene = Scene(fps=options.fps, warnings=list(document.warnings))
        self.materials = Materials(self.scene)
        self.frames: Frames = skeleton.gather(document)
        self.groups: list[Group] = skeleton.groups(self.frames, self.scene.warnings)
        self.rest = _transforms(self.frames)
        self.places: dict[int, tuple[int, int]] = {}  # frame -> node and bone that its children hang on

    def run(self) -> Scene:
        for group in self.groups:
            name = self.frames.name(group.meshes[0]) + "_armature"
            armature = skeleton.armature(group, name, self.frames, self.rest)
            self.scene.nodes.append(Node(name, armature=armature))
        for node, group in reversed(list(enumerate(self.groups))):
            self.places |= {frame: (node, bone) for frame, bone in group.bones.items()}
        skins = {frame: node for node, group in enumerate(self.groups) for frame in group.meshes}
        parents = set(self.frames.parents)
        for index in range(self.frames.skipped, len(self.frames.frames)):
            mesh = self._mesh(index, skins)
            if index in skins:
                self.scene.nodes.append(self._node(index, Node(self.frames.name(index), skins[index], mesh=mesh)))
                mesh = -1
            if index in self.places:
                if mesh >= 0:
                    node, bone = self.places[index]
                    self.scene.nodes.append(self._node(index, Node(self.frames.name(index), node, bone, mesh=mesh)))
            elif index not in skins or index in parents:
                self._add_frame(index, mesh)
        motion.add_clips(self.document, self.frames, self.rest, self._targets, self.scene)
        self._settings()
        self.scene.warnings = list(dict.fromkeys(self.scene.warnings))
        return self.scene

    def _add_frame(self, index: int, mesh: int) -> None:
        parent, bone = self.places.get(self.frames.parents[index], (-1, -1))
        self.places[index] = (len(self.scene.nodes), -1)
        self.scene.nodes.append(
            self._node(index, Node(self.frames.name(index), parent, bone, transform=self.rest[index], mesh=mesh))
        )

    def _node(self, index: int, node: Node) -> Node:
        mesh = self.frames.frames[index].mesh
        node.hidden = node.mesh >= 0 and mesh is not None and not mesh.visible
        return node

    def _mesh(self, index: int, skins: dict[int, int]) -> int:
        source = self.frames.frames[index].mesh
        if source is None:
            return -1
        made = meshes.to_mesh(source, self.frames.name(index), self.materials, self.scene.warnings)
        if index in skins:
            node = skins[index]
            count = len(made.positions)
            made.skin = skeleton.skin(source, count, node, self.groups[node], self.frames, self.scene.warnings)
        self.scene.meshes.append(made)
        return len(self.scene.meshes) - 1

    def _targets(self, frame: int) -> list[Target]:
        """What an animation of the frame moves: a bone in each armature that has it, or a node."""
        bones = [(node, group.bones[frame]) for node, group in enumerate(self.groups) if frame in group.bones]
        if bones or frame not in self.places:
            return bones
        return [self.places[frame]]

    def _settings(self) -> None:
        settings: dict[str, object] = {"version": self.document.version}
        if self.document.custom_data:
            settings["custom_data"] = self.document.custom_data.hex()
        self.scene.settings["dbo"] = settings


def _transforms(frames: Frames) -> list[Transform]:
    """The local transforms, split all at once."""
    location, rotation, scale, sheared = space.split(frames.local)
    return [
        Transform(prefix=frames.local[index]) if sheared[index] else Transform(location[index], rotation[index], scale[index])
        for index in np.arange(len(frames.local))
    ]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene -> Document: version 1062, blocks in the engine's order, every container even where it is empty."""

from __future__ import annotations

import numpy as np

from ....scene import Scene, Transform
from ....scene.animation import one_timeline
from ..document import IDENTITY, VERSION, AnimationSet, Document, Root
from ..options import ExportOptions
from .animation import animation_sets
from .materials import forget_paths, settled
from .meshes import MeshBuilder
from .rates import at_rate
from .rigs import FrameTree


def from_scene(scene: Scene, options: ExportOptions | None = None) -> Document:
    return Exporter(scene, options or ExportOptions()).run()


class Exporter:
    def __init__(self, scene: Scene, options: ExportOptions) -> None:
        scene = forget_paths(settled(scene))
        self.options = options
        self.warnings: list[str] = []
        self.scene = scene = at_rate(scene, options.fps, self.warnings)
        self.timeline, self.clips = one_timeline(scene, first=0)
        self.tracks = dict(self.timeline.tracks or {}) if self.timeline else {}
        self.tree = FrameTree(scene, self.tracks, options.deforming_only, self.warnings)

    def run(self) -> Document:
        for index, node in enumerate(self.scene.nodes):
            if node.armature is not None:
                self.tree.add_armature(index, node.armature)
            else:
                self.tree.add_node(index)
            if node.camera >= 0 or node.light >= 0:
                self.warnings.append("Cameras and lights became frames without a mesh: the format has neither.")
        self.tree.make_names_unique()
        self._add_meshes()
        document = Document(Root(), version=int(self.scene.settings.get("dbo", {}).get("version", VERSION)))
        document.root.frame = self.tree.root_record()
        document.root.animation_set = self._animation_sets()
        document.custom_data = _custom_data(self.scene)
        document.warnings = list(dict.fromkeys(self.warnings))
        return document

    def _add_meshes(self) -> None:
        """Each node's mesh goes on its frame; where it has to be cut, the further pieces go on frames of their own."""
        builder = MeshBuilder(self.scene, self.options, self.warnings)
        frames = self.tree.frames
        for index, node in enumerate(self.scene.nodes):
            if node.mesh < 0:
                continue
            frame = self.tree.frame_of(index)
            binding = self.tree.skin_binding(index)
            mirrored = binding is None and np.linalg.det(self.tree.worlds[index][:3, :3].astype(np.float64)) < 0
            pieces = builder.build(node, binding, frames[frame].name, bool(mirrored))
            for number, mesh in enumerate(pieces):
                if number:
                    part = self.tree.add(f"{frames[frame].name}_{number + 1}", frame, IDENTITY, Transform(), None)
                    frames[part].mesh = mesh
                else:
                    frames[frame].mesh = mesh
            if len(pieces) > 1:
                self.warnings.append(f'"{node.name}" was cut into {len(pieces)} meshes, as the engine needs it.')

    def _animation_sets(self) -> AnimationSet | None:
        if self.timeline is None:
            return None
        interpolation = self.scene.interpolation
        return animation_sets(self.timeline, self.clips, self.tree.frames, self.tracks, interpolation, self.warnings)


def _custom_data(scene: Scene) -> bytes:
    try:
        return bytes.fromhex(scene.settings.get("dbo", {}).get("custom_data", ""))
    except ValueError:
        return b""

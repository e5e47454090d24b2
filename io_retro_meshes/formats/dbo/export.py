# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene -> Document: version 1062, blocks in the engine's order, every container even where it is empty."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import animation, maths
from ...scene import Clip, Node, Scene, Target, Transform
from . import keys, space
from .document import ALL, CLIP, VERSION, Animation, AnimationSet, Document, Frame, Mesh, Root
from .options import ExportOptions
from .surfaces import Binding, MeshWriter

Array = npt.NDArray[Any]

MOST_NAME = 255  # bytes that the engine reads
SPACE = np.eye(4, dtype=np.float32)


@dataclass
class _Out:
    """A frame to be written."""

    name: str
    parent: int
    before: Array  # a matrix that comes before the transform, seen from the world: a still armature's
    transform: Transform
    mesh: Mesh | None = None
    target: Target | None = None  # what moves it
    children: list[int] = field(default_factory=list)


def from_scene(scene: Scene, options: ExportOptions | None = None) -> Document:
    return _Exporter(scene, options or ExportOptions()).run()


class _Exporter:
    def __init__(self, scene: Scene, options: ExportOptions) -> None:
        self.scene = scene
        self.options = options
        self.warnings: list[str] = []
        self.timeline, self.clips = animation.one_timeline(scene, first=0)
        self.tracks = dict(self.timeline.tracks or {}) if self.timeline else {}
        self.out: list[_Out] = []
        self.places: dict[Target, tuple[int, Array]] = {}  # where children of a node or a bone go

    @cached_property
    def worlds(self) -> list[Array]:
        return list(self.scene.global_matrices())

    def run(self) -> Document:
        for index, node in enumerate(self.scene.nodes):
            if node.armature is not None:
                self._armature(index)
            else:
                self._node(index)
            if node.camera >= 0 or node.light >= 0:
                self.warnings.append("Cameras and lights became frames without a mesh: the format has neither.")
        self._name()
        self._meshes()
        document = Document(Root(), version=VERSION)
        document.root.frame = self._frame_tree()
        document.root.animation_set = self._animation_sets()
        document.custom_data = _custom_data(self.scene)
        document.warnings = list(dict.fromkeys(self.warnings))
        return document

    # --------------------------------------------------------------------------------------------------------- frames

    def _add(self, name: str, parent: int, before: Array, transform: Transform, target: Target | None) -> int:
        self.out.append(_Out(name, parent, before, transform, target=target if target in self.tracks else None))
        return len(self.out) - 1

    def _place(self, index: int) -> tuple[int, Array]:
        node = self.scene.nodes[index]
        return self.places[(node.parent, node.parent_bone)] if node.parent >= 0 else (-1, SPACE)

    def _node(self, index: int) -> None:
        parent, before = self._place(index)
        node = self.scene.nodes[index]
        frame = self._add(node.name, parent, before, node.transform, (index, -1))
        self.places[(index, -1)] = (frame, SPACE)

    def _armature(self, index: int) -> None:
        """An armature that stands still needs no frame of its own: its bones take its matrix along."""
        node = self.scene.nodes[index]
        parent, before = self._place(index)
        if (index, -1) in self.tracks:
            parent, before = self._add(node.name, parent, before, node.transform, (index, -1)), SPACE
        else:
            before = before @ node.transform.matrix
        self.places[(index, -1)] = (parent, before)
        for number, bone in enumerate(node.armature.bones if node.armature else []):
            above, matrix = self.places[(index, bone.parent)]
            frame = self._add(bone.name, above, matrix, bone.transform, (index, number))
            self.places[(index, number)] = (frame, SPACE)

    def _name(self) -> None:
        """Names that bones and animations refer to must be the only ones of their kind; others may repeat."""
        referred = {frame for (_, bone), (frame, _) in self.places.items() if bone >= 0}
        referred |= {index for index, out in enumerate(self.out) if out.target is not None}
        # Vertices without weights follow the frame of their own mesh, by its name.
        referred |= {self.places[(i, -1)][0] for i, node in enumerate(self.scene.nodes) if self._skinned(node)}
        used: set[str] = set()
        for index in sorted(range(len(self.out)), key=lambda index: index not in referred):
            out = self.out[index]
            wanted = out.name.encode()[:MOST_NAME].decode("utf-8", "ignore")
            name, number = wanted, 1
            while name in used:
                name = f"{wanted}_{number}"
                number += 1
            if index in referred:
                used.add(name)
                if name != out.name:
                    self.warnings.append(f'"{out.name}" is called "{name}" in the file: two frames would have the same name.')
            out.name = name

    def _skinned(self, node: Node) -> bool:
        return node.mesh >= 0 and self.scene.meshes[node.mesh].skin is not None

    def _meshes(self) -> None:
        writer = MeshWriter(self.scene, self.options, self.warnings)
        for index, node in enumerate(self.scene.nodes):
            if node.mesh < 0:
                continue
            frame = self.places[(index, -1)][0]
            pieces = writer.pieces(node, self._binding(index), self.out[frame].name)
            for number, mesh in enumerate(pieces):
                if number:
                    part = self._add(f"{self.out[frame].name}_{number + 1}", frame, SPACE, Transform(), None)
                    self.out[part].mesh = mesh
                else:
                    self.out[frame].mesh = mesh
            if len(pieces) > 1:
                self.warnings.append(f'"{node.name}" was cut into {len(pieces)} meshes, as the engine needs it.')

    def _binding(self, index: int) -> Binding | None:
        skin = self.scene.meshes[self.scene.nodes[index].mesh].skin
        armature = self.scene.nodes[skin.node].armature if skin else None
        if skin is None or armature is None:
            return None
        place = self.worlds[skin.node]
        binds = place.astype(np.float64) @ np.array([bone.bind for bone in armature.bones]).reshape(-1, 4, 4)
        names = [self.out[self.places[(skin.node, number)][0]].name for number in range(len(armature.bones))]
        own = space.matrices(np.linalg.pinv(self.worlds[index].astype(np.float64)))
        return Binding(names, space.matrices(np.linalg.pinv(binds)), place, own)

    def _frame_tree(self) -> Frame:
        """Children hang on the first child, and each further one on the sibling before it."""
        tops = [index for index, out in enumerate(self.out) if out.parent < 0]
        if len(tops) != 1:
            # The engine has one root: where the scene has several, a frame without a name holds them.
            self.out.append(_Out("", -1, SPACE, Transform(), children=tops))
            tops = [len(self.out) - 1]
        for index, out in enumerate(self.out):
            if out.parent >= 0:
                self.out[out.parent].children.append(index)
        records = [Frame() for _ in self.out]
        siblings: list[Frame | None] = [None] * len(self.out)
        for out in self.out:
            for first, second in zip(out.children, out.children[1:], strict=False):
                siblings[first] = records[second]
        for record, out, sibling, matrix in zip(records, self.out, siblings, _matrices(self.out), strict=True):
            record.name, record.matrix, record.mesh = out.name, matrix, out.mesh
            record.child = records[out.children[0]] if out.children else None
            record.sibling = sibling
            record.offset, record.rotation, record.scale = np.zeros(3), np.zeros(3), np.ones(3)
        return records[tops[0]]

    # ------------------------------------------------------------------------------------------------------ animation

    def _animation_sets(self) -> AnimationSet | None:
        if self.timeline is None:
            return None
        shift = -min(0, round(self.timeline.first))
        if shift:
            self.warnings.append(f"The animation begins {shift} frames before 0, which the format cannot: it was moved there.")
        last: AnimationSet | None = None
        for clip in reversed(self.clips):
            last = _clip_set(clip, shift, last)
        name = self.timeline.name
        made = AnimationSet(name=name, length=_frame(self.timeline.last, shift))
        first = self._animations(shift)
        if first is not None:
            made.animation = first
        if last is not None:
            made.type, made.next = ALL, last
        return made

    def _animations(self, shift: int) -> Animation | None:
        following: Animation | None = None
        for out in reversed(self.out):
            if out.target is None:
                continue
            made = keys.animation(out.name, out.before, out.transform, self.tracks[out.target], self.scene.interpolation, shift)
            if following is not None:
                made.next = following
            following = made
        return following


def _matrices(frames: list[_Out]) -> Array:
    """The frames' own matrices as the file has them, all at once."""
    parts = (np.array([getattr(out.transform, name) for out in frames], np.float32) for name in animation.CHANNELS)
    found = maths.compose(*parts)
    for index, out in enumerate(frames):
        if out.transform.prefix is not None:
            found[index] = out.transform.prefix @ found[index]
        if out.before is not SPACE:
            found[index] = out.before @ found[index]
    return space.matrices(found)


def _clip_set(clip: Clip, shift: int, following: AnimationSet | None) -> AnimationSet:
    start, finish = _frame(clip.first, shift), _frame(clip.last, shift)
    made = AnimationSet(name=clip.name, length=finish - start, type=CLIP)
    made.start, made.finish = float(start), float(finish)
    for name, value in clip.settings.get("dbo", {}).items():
        setattr(made, name, value)
    if following is not None:
        made.next = following
    return made


def _frame(frame: float, shift: int) -> int:
    return max(round(frame) + shift, 0)


def _custom_data(scene: Scene) -> bytes:
    try:
        return bytes.fromhex(scene.settings.get("dbo", {}).get("custom_data", ""))
    except ValueError:
        return b""

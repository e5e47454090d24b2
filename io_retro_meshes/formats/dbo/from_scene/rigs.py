# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes and armatures -> the tree of frames; skins -> the bones of mesh blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Ints, Node, Scene, Target, Track, Transform, maths
from ....scene import Mesh as SceneMesh
from ....scene.animation import CHANNELS
from ....scene.surfaces import Vertices, strongest
from .. import axes
from ..document import IDENTITY, Bone, Frame, Mesh

Array = npt.NDArray[Any]

MOST_NAME = 255  # bytes that the engine reads


@dataclass
class SceneFrame:
    """A frame to be written, in the scene's axes."""

    name: str
    parent: int
    before: Array  # the matrix of an armature without a frame of its own, which its bones take over; else IDENTITY
    transform: Transform
    mesh: Mesh | None = None
    target: Target | None = None  # the track that moves it
    children: list[int] = field(default_factory=list)


@dataclass
class SkinBinding:
    """What a skinned mesh needs of its armature."""

    names: list[str]  # of the frames, by bone
    inverses: Array  # (b, 4, 4) row matrices: block 305
    place: Array  # (4, 4) the armature in the world at rest
    own: Array  # (4, 4) row matrix: 305 for vertices that stay with the mesh's own frame


class FrameTree:
    """The frames of a scene: one for each node and bone, except for armatures that do not move."""

    def __init__(self, scene: Scene, tracks: dict[Target, Track], deforming_only: bool, warnings: list[str]) -> None:
        self.scene = scene
        self.deforming_only = deforming_only
        self.tracks = tracks
        self.warnings = warnings
        self.frames: list[SceneFrame] = []
        self.places: dict[Target, tuple[int, Array]] = {}  # node or bone -> frame of its children, and their `before`

    @cached_property
    def worlds(self) -> list[Array]:
        return list(self.scene.global_matrices())

    def add(self, name: str, parent: int, before: Array, transform: Transform, target: Target | None) -> int:
        self.frames.append(SceneFrame(name, parent, before, transform, target=target if target in self.tracks else None))
        return len(self.frames) - 1

    def add_node(self, index: int) -> None:
        parent, before = self._place(index)
        node = self.scene.nodes[index]
        frame = self.add(node.name, parent, before, node.transform, (index, -1))
        self.places[(index, -1)] = (frame, IDENTITY)

    def add_armature(self, index: int, armature: Armature) -> None:
        """An armature without keys needs no frame of its own: its bones take its matrix along."""
        node = self.scene.nodes[index]
        parent, before = self._place(index)
        if (index, -1) in self.tracks:
            parent, before = self.add(node.name, parent, before, node.transform, (index, -1)), IDENTITY
        else:
            before = before @ node.transform.matrix
        self.places[(index, -1)] = (parent, before)
        kept = self._useful_bones(index, armature) if self.deforming_only else set(range(len(armature.bones)))
        for number, bone in enumerate(armature.bones):
            if number not in kept:
                continue
            above, matrix = self.places[(index, bone.parent)]
            frame = self.add(bone.name, above, matrix, bone.transform, (index, number))
            self.places[(index, number)] = (frame, IDENTITY)

    def _useful_bones(self, index: int, armature: Armature) -> set[int]:
        """Bones that move vertices or carry objects, and those above them."""
        skins = [mesh.skin for mesh in self.scene.meshes if mesh.skin is not None and mesh.skin.node == index]
        moving = {int(bone) for skin in skins for bone in np.unique(skin.bones[skin.weights > 0])}
        found = moving | {node.parent_bone for node in self.scene.nodes if node.parent == index and node.parent_bone >= 0}
        for number in range(len(armature.bones) - 1, -1, -1):
            if number in found and armature.bones[number].parent >= 0:
                found.add(armature.bones[number].parent)
        return found

    def _place(self, index: int) -> tuple[int, Array]:
        node = self.scene.nodes[index]
        return self.places[(node.parent, node.parent_bone)] if node.parent >= 0 else (-1, IDENTITY)

    def frame_of(self, node: int) -> int:
        return self.places[(node, -1)][0]

    def make_names_unique(self) -> None:
        """Names that bones and animations refer to must be the only ones of their kind; others may repeat."""
        referred = {frame for (_, bone), (frame, _) in self.places.items() if bone >= 0}
        referred |= {index for index, frame in enumerate(self.frames) if frame.target is not None}
        # Vertices without weights follow the frame of their own mesh, by its name.
        referred |= {self.frame_of(index) for index, node in enumerate(self.scene.nodes) if self._skinned(node)}
        used: set[str] = set()
        for index in sorted(range(len(self.frames)), key=lambda index: index not in referred):
            frame = self.frames[index]
            wanted = frame.name.encode()[:MOST_NAME].decode("utf-8", "ignore")
            name, number = wanted, 1
            while name in used:
                name = f"{wanted}_{number}"
                number += 1
            if index in referred:
                used.add(name)
                if name != frame.name:
                    self.warnings.append(f'"{frame.name}" is called "{name}" in the file: two frames would have the same name.')
            frame.name = name

    def _skinned(self, node: Node) -> bool:
        return node.mesh >= 0 and self.scene.meshes[node.mesh].skin is not None

    def skin_binding(self, index: int) -> SkinBinding | None:
        """How the mesh of a node is bound to its armature, if it is skinned."""
        skin = self.scene.meshes[self.scene.nodes[index].mesh].skin
        armature = self.scene.nodes[skin.node].armature if skin else None
        if skin is None or armature is None:
            return None
        place = self.worlds[skin.node]
        binds = place.astype(np.float64) @ np.array([bone.bind for bone in armature.bones]).reshape(-1, 4, 4)
        places = [self.places.get((skin.node, number)) for number in range(len(armature.bones))]
        names = [self.frames[place[0]].name if place is not None else "" for place in places]
        own = axes.matrices_to_file(np.linalg.pinv(self.worlds[index].astype(np.float64)))
        return SkinBinding(names, axes.matrices_to_file(np.linalg.pinv(binds)), place, own)

    def root_record(self) -> Frame:
        """All frames as records: children hang on the first child, and each further one on the sibling before it."""
        tops = [index for index, frame in enumerate(self.frames) if frame.parent < 0]
        if len(tops) != 1:
            # The engine has one root: where the scene has several, a frame without a name holds them.
            self.frames.append(SceneFrame("", -1, IDENTITY, Transform(), children=tops))
            tops = [len(self.frames) - 1]
        for index, frame in enumerate(self.frames):
            if frame.parent >= 0:
                self.frames[frame.parent].children.append(index)
        records = [Frame() for _ in self.frames]
        siblings: list[Frame | None] = [None] * len(self.frames)
        for frame in self.frames:
            for first, second in zip(frame.children, frame.children[1:], strict=False):
                siblings[first] = records[second]
        for record, frame, sibling, matrix in zip(records, self.frames, siblings, _matrices(self.frames), strict=True):
            record.name, record.matrix, record.mesh = frame.name, matrix, frame.mesh
            record.child = records[frame.children[0]] if frame.children else None
            record.sibling = sibling
            record.offset, record.rotation, record.scale = np.zeros(3), np.zeros(3), np.ones(3)
        return records[tops[0]]


def _matrices(frames: list[SceneFrame]) -> Array:
    """(n, 4, 4): the frames' own matrices as the file has them."""
    parts = (np.array([getattr(frame.transform, name) for frame in frames], np.float32) for name in CHANNELS)
    found = maths.compose(*parts)
    for index, frame in enumerate(frames):
        if frame.transform.prefix is not None:
            found[index] = frame.transform.prefix @ found[index]
        if frame.before is not IDENTITY:
            found[index] = frame.before @ found[index]
    return axes.matrices_to_file(found)


# --------------------------------------------------------------------------------------------------------------- skins


@dataclass
class Influences:
    """Weights, sorted by vertex of the engine. Bone -1: the vertex stays with the mesh's own frame."""

    vertices: Ints
    bones: Ints
    weights: Array


def vertex_influences(source: SceneMesh, engine: Vertices, most: int, warnings: list[str]) -> Influences:
    """The `most` strongest weights of every vertex of the engine; those without a weight follow the mesh's own frame."""
    skin = source.skin
    if skin is None:
        return Influences(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    of_vertex, bones, weights, lost = strongest(skin.vertices, skin.bones, skin.weights, most)
    if lost:
        warnings.append(f'"{source.name}": {lost} vertices have more than {most} weights; the least were left out.')
    loose = np.setdiff1d(np.arange(len(source.positions), dtype=np.int32), of_vertex)
    if len(loose):
        of_vertex = np.concatenate([of_vertex, loose])
        order = np.argsort(of_vertex, kind="stable")
        of_vertex = of_vertex[order]
        bones = np.concatenate([bones, np.full(len(loose), -1, np.int32)])[order]
        weights = np.concatenate([weights, np.ones(len(loose), np.float32)])[order]
    first, last = (np.searchsorted(of_vertex, engine.source, side) for side in ("left", "right"))
    count = last - first
    rows = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    return Influences(np.repeat(np.arange(len(count), dtype=np.int32), count), bones[rows], weights[rows])


def bone_records(vertices: Ints, influences: Influences, binding: SkinBinding, own_frame: str, used_only: bool) -> list[Bone]:
    """The bones of a mesh block that has these vertices of the engine, the mesh's own frame first where it is needed."""
    local = np.full(int(max(vertices.max(initial=-1), influences.vertices.max(initial=-1))) + 1, -1, np.int64)
    local[vertices] = np.arange(len(vertices))
    inside = local[influences.vertices] >= 0
    order = np.argsort(influences.bones[inside], kind="stable")
    bones, weights = influences.bones[inside][order], influences.weights[inside][order]
    rows = local[influences.vertices[inside]][order]
    loose = [-1] if len(bones) and bones[0] < 0 else []
    found = []
    for bone in [*loose, *range(len(binding.names))]:
        first, last = np.searchsorted(bones, bone, "left"), np.searchsorted(bones, bone, "right")
        if last > first or not used_only:
            found.append(_bone(bone, binding, own_frame, rows[first:last], weights[first:last]))
    return found


def _bone(bone: int, binding: SkinBinding, own_frame: str, rows: Array, weights: Array) -> Bone:
    made = Bone(name=own_frame if bone < 0 else binding.names[bone], influences=len(rows))
    if len(rows):
        made.vertices, made.weights = rows, weights
    made.matrix = binding.own if bone < 0 else binding.inverses[bone]
    return made

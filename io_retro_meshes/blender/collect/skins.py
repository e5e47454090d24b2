# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves the vertices of a rigged mesh: armature modifiers, their masks and envelopes, as weights of bones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ... import scene as neutral


@dataclass
class Rig:
    """An armature with the places of its bones in the exported one; and how its own space is reached from the mesh's."""

    source: bpy.types.Object
    node: int
    bones: dict[str, int]
    from_mesh: np.ndarray
    modifiers: list[bpy.types.Modifier]  # those for this armature that are on, in their order


@dataclass
class Groups:
    """The vertex groups of a mesh, an entry for each vertex in each of its groups."""

    names: list[str]
    vertices: np.ndarray
    groups: np.ndarray
    weights: np.ndarray
    count: int  # of vertices

    @classmethod
    def of(cls, source: bpy.types.Object, data: bpy.types.Mesh) -> Groups:
        """Blender has no array of them: this is the one loop over vertices there is."""
        counts = np.array([len(vertex.groups) for vertex in data.vertices], np.int32)
        entries = [(entry.group, entry.weight) for vertex in data.vertices for entry in vertex.groups]
        table = np.array(entries, np.float32).reshape(-1, 2)
        vertices = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        names = [group.name for group in source.vertex_groups]
        groups = table[:, 0].astype(np.int32)
        known = groups < len(names)
        return cls(names, vertices[known], groups[known], table[known, 1], len(counts))

    def weight(self, name: str) -> np.ndarray:
        """Of every vertex in one group: 0 where it is not in it."""
        found = np.zeros(self.count, np.float32)
        if name in self.names:
            chosen = self.groups == self.names.index(name)
            found[self.vertices[chosen]] = self.weights[chosen]
        return found


def collect_skin(source: bpy.types.Object, data: bpy.types.Mesh, rig: Rig) -> neutral.Skin:
    """The weights of all armature modifiers that are about this armature. What several of them move, the first one does."""
    groups = Groups.of(source, data)
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    free = np.ones(groups.count, bool)
    for modifier in rig.modifiers or [None]:
        made = _rows(modifier, groups, data, rig)
        if modifier is not None and modifier.vertex_group in groups.names:
            mask = groups.weight(modifier.vertex_group)
            mask = 1 - mask if modifier.invert_vertex_group else mask
            made = _kept(made, mask[made[0]] > 0)
        made = _kept(made, free[made[0]])
        free[made[0]] = False
        rows.append(made)
    vertices, bones, weights = (np.concatenate(each) for each in zip(*rows, strict=True))
    order = np.argsort(vertices, kind="stable")
    return neutral.Skin(
        rig.node, vertices[order].astype(np.int32), bones[order].astype(np.int32), weights[order].astype(np.float32)
    )


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def _kept(rows: Rows, chosen: np.ndarray) -> Rows:
    return rows[0][chosen], rows[1][chosen], rows[2][chosen]


def _rows(modifier: bpy.types.Modifier | None, groups: Groups, data: bpy.types.Mesh, rig: Rig) -> Rows:
    """Vertices, bones and weights as one modifier has them; None: the armature is the parent that deforms."""
    deforming = {bone.name: bone for bone in rig.source.data.bones if bone.use_deform and bone.name in rig.bones}
    rows: Rows = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    with_groups = modifier is None or modifier.use_vertex_groups
    reach = _Reach(data, rig)
    if with_groups:
        bone_of = np.array([rig.bones[name] if name in deforming else -1 for name in groups.names] or [-1], np.int32)
        bones = bone_of[groups.groups] if len(groups.groups) else np.zeros(0, np.int32)
        rows = _kept((groups.vertices, bones, groups.weights), bones >= 0)
        for bone in (bone for bone in deforming.values() if bone.use_envelope_multiply):
            mine = rows[1] == rig.bones[bone.name]
            rows[2][mine] *= reach.of(bone)[rows[0][mine]]
    if modifier is not None and modifier.use_bone_envelopes:
        loose = np.ones(groups.count, bool)
        loose[rows[0]] = False  # a vertex in the group of a bone has no use for envelopes
        rows = _joined(rows, _enveloped(list(deforming.values()), rig, reach, np.flatnonzero(loose)))
    return _kept(rows, rows[2] > 0)


def _joined(one: Rows, other: Rows) -> Rows:
    return np.append(one[0], other[0]), np.append(one[1], other[1]), np.append(one[2], other[2])


def _enveloped(bones: Sequence[bpy.types.Bone], rig: Rig, reach: _Reach, vertices: np.ndarray) -> Rows:
    parts = [reach.of(bone)[vertices] * bone.envelope_weight for bone in bones]
    if not parts:
        return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
    numbers = [np.full(len(vertices), rig.bones[bone.name], np.int32) for bone in bones]
    return np.tile(vertices, len(bones)), np.concatenate(numbers), np.concatenate(parts).astype(np.float32)


class _Reach:
    """How much the envelopes of bones hold of each vertex, as Blender works it out."""

    def __init__(self, data: bpy.types.Mesh, rig: Rig) -> None:
        points = np.empty(len(data.vertices) * 3, np.float32)
        data.vertices.foreach_get("co", points)
        matrix = np.asarray(rig.from_mesh, np.float64)
        self.points = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]

    def of(self, bone: bpy.types.Bone) -> np.ndarray:
        """All within its radius; beyond it less and less, up to the envelope's distance."""
        head, tail = np.array(bone.head_local), np.array(bone.tail_local)
        length = float(np.linalg.norm(tail - head))
        along = (self.points - head) @ ((tail - head) / length if length else np.zeros(3))
        part = np.clip(along / length, 0, 1) if length else np.zeros(len(self.points))
        nearest = head + part[:, None] * (tail - head)
        apart = np.linalg.norm(self.points - nearest, axis=1)
        radius = bone.head_radius + part * (bone.tail_radius - bone.head_radius)
        beyond = apart - radius
        distance = bone.envelope_distance
        fading = 1 - (beyond / distance) ** 2 if distance else np.zeros(len(beyond))
        return np.where(beyond < 0, 1.0, np.where(beyond < distance, fading, 0.0)).astype(np.float32)

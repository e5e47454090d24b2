# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with BONE chunks to armatures and skins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Bone, Mesh, Skin, Transform, sanitize, surfaces
from .. import document as b3d
from .. import engine

Matrices = npt.NDArray[np.float64]


class Rigs:
    """Which nodes are bones, of which mesh. Nodes are numbered as `Document.walk` gives them."""

    def __init__(self, nodes: list[b3d.Node], parents: list[int]) -> None:
        self.parents = parents
        self.has_mesh = [bool(b3d.of_kind(node.chunks, b3d.Mesh)) for node in nodes]
        self.weights = [b3d.of_kind(node.chunks, b3d.Bone) for node in nodes]
        self.owners = self.owning_meshes()
        self.bones = self.bones_of_meshes()
        self.dropped_weights = 0

    def owning_meshes(self) -> list[int]:
        """The nearest node above each that has a mesh."""
        owners: list[int] = []
        for parent in self.parents:
            owners.append(-1 if parent < 0 else parent if self.has_mesh[parent] else owners[parent])
        return owners

    def bones_of_meshes(self) -> dict[int, dict[int, int]]:
        """For each node with a skinned mesh: its bones, and the number each has in the armature, parents first.

        What lies between two bones, or between a mesh and its bones, must be a bone too.
        """
        marked = [False] * len(self.parents)
        for index, weights in enumerate(self.weights):
            if not weights or self.has_mesh[index] or self.owners[index] < 0:
                continue
            above = index
            while above != self.owners[index] and not marked[above]:
                marked[above] = True
                above = self.parents[above]
        found: dict[int, dict[int, int]] = {}
        for index in np.flatnonzero(marked).tolist():
            bones = found.setdefault(self.owners[index], {})
            bones[index] = len(bones)
        return found

    def bone(self, index: int) -> int:
        """The number of the node among the bones of the mesh above it; -1 if it is no bone."""
        return self.bones.get(self.owners[index], {}).get(index, -1)

    def bones_without_mesh(self) -> int:
        return sum(1 for index, weights in enumerate(self.weights) if weights and self.owners[index] < 0)

    def armature(
        self, owner: int, name: str, names: dict[int, str], transforms: dict[int, Transform], local: Matrices
    ) -> Armature:
        """The bones of a mesh, bound where their nodes are."""
        armature = Armature(name, [])
        bones = self.bones[owner]
        binds: list[Matrices] = []
        for index in bones:
            parent = bones.get(self.parents[index], -1)
            binds.append(local[index] if parent < 0 else binds[parent] @ local[index])
            armature.bones.append(Bone(names[index], parent, binds[-1].astype(np.float32), transforms[index]))
        return armature

    def add_skins(self, owner: int, armature: int, meshes: list[Mesh]) -> None:
        """The engine keeps the four greatest weights of a vertex and lets them sum to one."""
        bones = self.bones[owner]
        chunks = [(bone, chunk.weights) for index, bone in bones.items() for chunk in self.weights[index]]
        rows = np.concatenate([weights for _, weights in chunks])
        bone = np.repeat(np.array([bone for bone, _ in chunks], np.int64), [len(weights) for _, weights in chunks])
        for mesh in meshes:
            known = (rows["vertex"] >= 0) & (rows["vertex"] < len(mesh.positions)) & sanitize.usable(rows["weight"])
            self.dropped_weights += int(np.count_nonzero(~known))
            pairs, place = np.unique(rows["vertex"][known] * np.int64(len(bones)) + bone[known], return_inverse=True)
            weights = np.bincount(place.reshape(-1), rows["weight"][known], len(pairs)).astype(np.float32)
            vertices, joints = np.divmod(pairs, len(bones))
            strongest = surfaces.strongest(vertices.astype(np.int32), joints.astype(np.int32), weights, engine.MAX_WEIGHTS)
            mesh.skin = Skin(armature, *strongest[:3])

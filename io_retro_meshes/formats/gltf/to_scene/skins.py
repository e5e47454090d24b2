# SPDX-License-Identifier: GPL-3.0-or-later
"""Inverse bind matrices to the binds of bones, and meshes to their armature's space.

In the file a joint moves a vertex by J · B, where B is its inverse bind matrix. In the scene it is A · pose · bind⁻¹, with J =
A · pose. Any D will do that takes all vertices to the armature's space, bind = D · B⁻¹: it is chosen so that the first bone
rests where it is bound. Where bones rest as they are bound all of them do then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Mesh, Scene, Skin, maths, matrices, surfaces
from .. import axes
from ..document import Part
from .accessors import Accessors
from .meshes import Made

Array = npt.NDArray[Any]

IDENTITY = np.eye(4)
NEAR = 1e-4  # matrices that differ by no more, as parts of their largest number, are the same


class Binder:
    """The binds of one armature, and the meshes on it."""

    def __init__(self, scene: Scene, node: int, bones: dict[int, int], accessors: Accessors) -> None:
        armature = scene.nodes[node].armature
        assert armature is not None
        self.scene = scene
        self.node = node
        self.armature: Armature = armature
        self.bones = bones  # node of the file -> bone
        self.accessors = accessors
        self.local = matrices([bone.transform for bone in armature.bones]).astype(np.float64)
        self.binds: dict[int, Array] = {}
        self.moves: dict[int, tuple[Array, Array]] = {}  # of each skin: D, and bind · B for each joint

    def add_skin(self, number: int, part: Part, joints: list[int]) -> None:
        inverse = self.inverse_binds(part, len(joints))
        places = [(joint, self.bones[node]) for joint, node in enumerate(joints) if node in self.bones]
        known = [(joint, bone) for joint, bone in places if bone in self.binds]
        if known:
            space = self.binds[known[0][1]] @ inverse[known[0][0]]
        else:
            first = min(places, key=lambda pair: pair[1])
            space = self.rest(first[1]) @ inverse[first[0]]
        if not np.isfinite(space).all() or abs(np.linalg.det(space)) < 1e-30 or _near(space, IDENTITY):
            space = IDENTITY
        each = np.tile(space, (len(joints), 1, 1))
        for joint, bone in places:
            if bone not in self.binds:
                self.binds[bone] = space @ _inverse(inverse[joint])
            each[joint] = self.binds[bone] @ inverse[joint]
        self.moves[number] = space, each
        if not all(_near(matrix, space) for matrix in each):
            self.scene.warnings.append(
                f'The skin "{part.text("name") or number}" was bound in another pose than one before it; its mesh comes near.'
            )

    def inverse_binds(self, part: Part, count: int) -> Array:
        index = part.index("inverseBindMatrices", len(self.accessors.parts))
        if index < 0:
            return np.tile(IDENTITY, (count, 1, 1))
        rows = self.accessors.floats(index, 16)
        if len(rows) < count:
            raise part.bad("inverseBindMatrices", f"{len(rows)} matrices for {count} joints")
        found = rows[:count].reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
        found[:, 3] = (0, 0, 0, 1)
        return axes.matrices_to_scene(maths.bounded(found))

    def rest(self, bone: int) -> Array:
        found = IDENTITY
        while bone >= 0:
            found = self.local[bone] @ found
            bone = self.armature.bones[bone].parent
        return found

    def set_binds(self) -> None:
        """Bones of no skin rest on their parents."""
        for index, bone in enumerate(self.armature.bones):
            if index not in self.binds:
                above = self.binds[bone.parent] if bone.parent >= 0 else IDENTITY
                self.binds[index] = above @ self.local[index]
            bone.bind = maths.bounded(self.binds[index]).astype(np.float32)

    def mesh(self, made: Made, number: int, joints: list[int]) -> Mesh:
        """The mesh in the armature's space, with its weights."""
        space, each = self.moves[number]
        table = np.array([self.bones.get(node, -1) for node in joints], np.int32)
        inside = (made.joints >= 0) & (made.joints < len(joints))
        if not inside.all():
            self.scene.warnings.append(f'"{made.mesh.name}" has weights for joints that are not there; they were left out.')
        owners = table[np.where(inside, made.joints, 0)]
        used = inside & (owners >= 0)
        mesh = replace(made.mesh)
        if space is not IDENTITY:
            mesh = replace(surfaces.moved(mesh, space.astype(np.float32)), attributes=[])
        if not all(_near(matrix, space) for matrix in each):
            points = np.c_[made.mesh.positions, np.ones(len(made.mesh.positions))].astype(np.float64)
            rows = np.einsum("nij,nj->ni", each[made.joints[used], :3], points[made.vertices[used]]) * made.weights[used, None]
            total = np.bincount(made.vertices[used], made.weights[used], len(points))
            sums = np.stack([np.bincount(made.vertices[used], column, len(points)) for column in rows.T], 1)
            near = sums / np.where(total > 0, total, 1)[:, None]
            mesh.positions = np.where((total > 0)[:, None], near, mesh.positions).astype(np.float32)
        mesh.skin = Skin(self.node, made.vertices[used], owners[used], made.weights[used])
        return mesh


def _near(a: Array, b: Array) -> bool:
    return bool(np.abs(a - b).max() <= NEAR * max(np.abs(b).max(), 1e-6))


def _inverse(matrix: Array) -> Array:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrix)

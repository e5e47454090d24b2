# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures and the meshes they move: which belong together, their one mesh, its weights, and the bones' transforms."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....scene import Bone, Channel, Floats, Ints, Mesh, Scene, Skin, Track, Transform, animation, maths, matrices, surfaces
from .. import document as b3d
from .. import engine
from .animation import AnimatedTransform, Timeline
from .meshes import Meshes


class BoneParent(NamedTuple):
    """The bone that a mesh hangs on, and the matrix of the mesh in the bone's space."""

    rig: int
    bone: int
    matrix: Floats


class Rigs:
    def __init__(self, scene: Scene, timeline: Timeline, meshes: Meshes, world: list[Floats], join_on_bones: bool) -> None:
        self.scene = scene
        self.timeline = timeline
        self.meshes = meshes
        self.world = world
        self.skinned = self.skinned_meshes()
        self.joined = self.meshes_on_bones(join_on_bones)

    def skinned_meshes(self) -> dict[int, list[int]]:
        """The nodes of the meshes of each armature."""
        found: dict[int, list[int]] = {}
        for index, node in enumerate(self.scene.nodes):
            skin = self.scene.meshes[node.mesh].skin if node.mesh >= 0 else None
            if skin is not None and 0 <= skin.node < index and self.scene.nodes[skin.node].armature is not None:
                found.setdefault(skin.node, []).append(index)
        return found

    def meshes_on_bones(self, join: bool) -> dict[int, BoneParent]:
        """Nodes with meshes that are not animated and hang on a rig's bone, to be joined with the rig's mesh."""
        places: dict[int, BoneParent] = {}
        for index, node in enumerate(self.scene.nodes):
            if self.timeline.track(index, -1) != Track() or index in self.skinned:
                continue
            if node.parent_bone >= 0 and node.parent in self.skinned:
                places[index] = BoneParent(node.parent, node.parent_bone, node.transform.matrix)
            elif node.parent in places and node.parent_bone < 0:
                rig, bone, above = places[node.parent]
                places[index] = BoneParent(rig, bone, above @ node.transform.matrix)
        nodes = self.scene.nodes
        found = {index: place for index, place in places.items() if nodes[index].mesh >= 0}
        if found and not join:
            names = ", ".join(f'"{nodes[index].name}"' for index in found)
            self.scene.warnings.append(
                f"Blitz3D itself cannot read meshes that hang on bones, other engines can: {names}. "
                "Join on Bones makes them part of the rig's mesh."
            )
        return found if join else {}

    def bone_count(self, index: int) -> int:
        """How many bones the rig has; warns where the engine takes fewer."""
        node = self.scene.nodes[index]
        count = len(node.armature.bones) if node.armature else 0
        if count > engine.MAX_BONES:
            message = f'"{node.name}" has {count} bones, more than the {engine.MAX_BONES} that Blitz3D takes.'
            self.scene.warnings.append(message)
        return count

    # ---------------------------------------------------------------------------------------------------------- meshes

    def mesh(self, index: int, baked: Transform | None) -> Mesh:
        """All meshes of a rig as one, in the space of the rig's node in the file; `baked`: what that node leaves out."""
        parts = [
            surfaces.moved(self.meshes.triangulated(part), self.matrix_in_rig(part, index, baked))
            for part in self.skinned[index]
        ]
        parts += [self.mesh_on_bone(part, baked) for part, place in self.joined.items() if place.rig == index]
        return surfaces.joined(parts)

    def matrix_in_rig(self, part: int, rig: int, baked: Transform | None) -> Floats:
        """From a mesh's own space to that of the rig's node in the file."""
        matrix = np.linalg.pinv(self.world[rig].astype(np.float64)) @ self.world[part]
        if np.abs(matrix - np.eye(4)).max() < 1e-6:
            matrix = np.eye(4)
        return np.asarray(matrix if baked is None else baked.matrix @ matrix, np.float32)

    def mesh_on_bone(self, part: int, baked: Transform | None) -> Mesh:
        """A mesh that hangs on a bone as a piece of the rig's mesh that only this bone moves."""
        rig, number, matrix = self.joined[part]
        armature, mesh = self.scene.nodes[rig].armature, self.meshes.triangulated(part)
        matrix = armature.bones[number].bind @ matrix if armature else matrix
        count = len(mesh.positions)
        skin = Skin(rig, np.arange(count, dtype=np.int32), np.full(count, number, np.int32), np.ones(count, np.float32))
        return surfaces.moved(replace(mesh, skin=skin), matrix if baked is None else baked.matrix @ matrix)

    # ----------------------------------------------------------------------------------------------------------- bones

    def bones(self, index: int) -> list[tuple[Bone, AnimatedTransform]]:
        armature = self.scene.nodes[index].armature
        bones = armature.bones if armature else []
        return [
            (bone, self.bone_transform(bone, bind, self.timeline.track(index, number)))
            for number, (bone, bind) in enumerate(zip(bones, _local_binds(bones), strict=True))
        ]

    def bone_transform(self, bone: Bone, bind: Floats | None, track: Track) -> AnimatedTransform:
        """The file's own transform of a bone is the one it was bound in; where it rests elsewhere, a key says so."""
        if bind is None:
            return AnimatedTransform(bone.transform, track)
        bound = Transform.from_matrix(bind)
        if bound.prefix is not None:
            bound = Transform(*maths.decompose(bind))
            self.scene.warnings.append(f'The bone "{bone.name}" was bound with a shear, which was left out.')
        frame = np.array([self.timeline.first], np.float32)
        for name in animation.CHANNELS:
            if getattr(track, name) is None:
                setattr(track, name, Channel(frame, getattr(bone.transform, name)[None]))
        return AnimatedTransform(bound, track)


def _local_binds(bones: list[Bone]) -> list[Floats | None]:
    """The matrix each bone was bound in, relative to its parent's; None where that is the one it rests in."""
    if not bones:
        return []
    binds = np.stack([bone.bind for bone in bones]).astype(np.float64)
    parents = np.array([bone.parent for bone in bones])
    above = np.where((parents >= 0)[:, None, None], binds[parents], np.eye(4))
    local = np.linalg.pinv(above) @ binds
    size = np.maximum(np.abs(local).max((1, 2)), 1e-6)
    differs = np.abs(local - matrices([bone.transform for bone in bones])).max((1, 2)) > 1e-4 * size
    return [bind if differ else None for bind, differ in zip(local.astype(np.float32), differs, strict=True)]


def weight_chunks(skin: Skin, sources: Ints, bones: int) -> tuple[list[b3d.Bone], int]:
    """The weights of each bone, and how many vertices had more of them than the engine takes."""
    vertices, joints, weights, lost = surfaces.strongest(skin.vertices, skin.bones, skin.weights, engine.MAX_WEIGHTS)
    count = np.bincount(vertices, minlength=int(sources.max()) + 1 if len(sources) else 0)
    start = np.cumsum(count) - count
    repeats = count[sources]
    within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    pick = np.repeat(start[sources], repeats) + within
    table = np.empty(len(pick), b3d.WEIGHT)
    table["vertex"] = np.repeat(np.arange(len(sources)), repeats)
    table["weight"] = weights[pick]
    owner = joints[pick]
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.arange(1, bones))
    return [b3d.Bone(rows) for rows in np.split(table[order], cuts)], lost

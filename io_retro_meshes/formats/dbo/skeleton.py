# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames, the bones among them, and the armatures these make.

The engine moves a vertex by 305 x the combined matrix of the frame that the bone names: the inverse of 305 is where the
frame was when the skin was made, which need not be where it is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import Armature, Ints, Skin, Transform
from ...scene import Bone as SceneBone
from . import space
from .document import IDENTITY, Bone, Document, Frame, Mesh, chain

Array = npt.NDArray[Any]


@dataclass
class Frames:
    """All frames of a document as arrays, in Blender's space."""

    frames: list[Frame]
    parents: list[int]
    user: Array  # (n, 4, 4)
    local: Array  # (n, 4, 4) at rest: the frame's matrix after the user's
    world: Array
    by_name: dict[str, int]  # the first of each name
    skipped: int  # 1: the first frame is nothing but a place for the others to hang on

    def name(self, index: int) -> str:
        return self.frames[index].name or "Frame"


def gather(document: Document) -> Frames:
    pairs = document.frames()
    frames = [frame for frame, _ in pairs]
    parents = [parent for _, parent in pairs]
    user = space.user_matrices(*(_stack(frames, name, 3) for name in ("offset", "rotation", "scale")))
    own = space.sound(_stack(frames, "matrix", 4, 4))
    user = space.matrices(space.sound(user))
    local = space.matrices(own) @ user
    world = local.copy()
    for index, parent in enumerate(parents):
        if parent >= 0:
            with np.errstate(over="ignore", invalid="ignore"):
                world[index] = space.sound(world[parent] @ local[index])
    by_name: dict[str, int] = {}
    for index, frame in enumerate(frames):
        by_name.setdefault(frame.name, index)
    skipped = bool(frames) and _is_hook(document, frames[0], local[0])
    return Frames(frames, parents, user, local, world, by_name, int(skipped))


def _stack(frames: list[Frame], name: str, *shape: int) -> Array:
    return np.array([getattr(frame, name) for frame in frames], np.float32).reshape(-1, *shape)


def _is_hook(document: Document, frame: Frame, local: Array) -> bool:
    """A root without a name that does nothing: the engine needs it, nobody else does."""
    if frame.name or frame.mesh is not None or frame.child is None or not np.array_equal(local, IDENTITY):
        return False
    moved = (animation.name for entry in document.animation_sets() for animation in chain(entry.animation))
    return "" not in moved


@dataclass
class Group:
    """An armature in the making: meshes that agree on where their bones are bound."""

    binds: dict[int, Array] = field(default_factory=dict)  # frame -> bind matrix, or None for an ancestor
    meshes: list[int] = field(default_factory=list)  # frames
    bones: dict[int, int] = field(default_factory=dict)  # frame -> bone


def skinned(mesh: Mesh | None) -> bool:
    return mesh is not None and any(bone.blocks for bone in mesh.bones)


def groups(frames: Frames, warnings: list[str]) -> list[Group]:
    found: list[Group] = []
    for index, frame in enumerate(frames.frames):
        if not skinned(frame.mesh):
            continue
        binds = _binds(frame.mesh, frames, warnings)
        if not binds:
            continue
        group = next((group for group in found if _agree(group.binds, binds)), None)
        if group is None:
            group = Group()
            found.append(group)
        group.binds |= binds
        group.meshes.append(index)
    for group in found:
        _number_bones(group, frames)
    return found


def _binds(mesh: Mesh, frames: Frames, warnings: list[str]) -> dict[int, Array]:
    """Where each frame that moves the mesh was when the skin was made."""
    found: dict[int, Array] = {}
    for bone in mesh.bones:
        index = frames.by_name.get(bone.name)
        if index is None:
            warnings.append(f'No frame is called "{bone.name}": the bone of this name was left out.')
            continue
        inverse = space.sound(bone.matrix).astype(np.float64)
        if abs(np.linalg.det(inverse)) < 1e-20:
            warnings.append(f'The matrix of the bone "{bone.name}" is flat; its frame\'s own was taken.')
            found[index] = frames.world[index]
        else:
            found[index] = space.matrices(np.linalg.inv(inverse))
    return found


def _agree(a: dict[int, Array], b: dict[int, Array]) -> bool:
    return all(np.allclose(a[frame], b[frame], rtol=1e-4, atol=1e-5) for frame in a.keys() & b.keys())


def _number_bones(group: Group, frames: Frames) -> None:
    """The frames above a bone's are bones too: what moves them moves the skin."""
    wanted = set(group.binds)
    for index in group.binds:
        while (index := frames.parents[index]) >= frames.skipped and index not in wanted:
            wanted.add(index)
    wanted -= set(range(frames.skipped))
    group.bones = {frame: bone for bone, frame in enumerate(sorted(wanted))}


def armature(group: Group, name: str, frames: Frames, rest: list[Transform]) -> Armature:
    bones = [
        SceneBone(
            frames.name(frame),
            group.bones.get(frames.parents[frame], -1),
            group.binds.get(frame, frames.world[frame]),
            rest[frame],
        )
        for frame in group.bones
    ]
    return Armature(name, bones)


def skin(mesh: Mesh, count: int, node: int, group: Group, frames: Frames, warnings: list[str]) -> Skin:
    vertices: list[Ints] = []
    bones: list[Ints] = []
    weights: list[Array] = []
    lost = 0
    for bone in mesh.bones:
        frame = frames.by_name.get(bone.name, -1)
        if frame not in group.bones:
            continue
        rows, values = _influences(bone)
        good = (rows < count) & np.isfinite(values)
        lost += int((~good).sum())
        vertices.append(rows[good].astype(np.int32))
        weights.append(values[good].astype(np.float32))
        bones.append(np.full(len(vertices[-1]), group.bones[frame], np.int32))
    if lost:
        warnings.append(f"{lost} weights are of vertices that are not there, or are not numbers; they were left out.")
    return Skin(node, np.concatenate(vertices), np.concatenate(bones), np.concatenate(weights))


def _influences(bone: Bone) -> tuple[Array, Array]:
    count = min(len(bone.vertices), len(bone.weights))
    return bone.vertices[:count], bone.weights[:count]

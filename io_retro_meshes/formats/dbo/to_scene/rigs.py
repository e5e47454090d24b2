# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames and skins -> armatures: which frames are bones, where they are bound, and which vertices they move.

The engine moves a vertex by the matrix of block 305 and then by the combined matrix of the frame that the bone names: the
inverse of 305 is where the frame was when the skin was made, which need not be where it is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Ints, Skin, Transform, sanitize
from ....scene import Bone as SceneBone
from .. import axes
from ..document import IDENTITY, Bone, Document, Frame, Mesh, chain
from ..matrices import sanitize_matrices

Array = npt.NDArray[Any]

UNEVEN = 1e-3  # scales that differ by less of the largest are one


@dataclass
class Frames:
    """All frames of a document, with their matrices as arrays in the scene's axes."""

    frames: list[Frame]
    parents: list[int]
    user: Array  # (n, 4, 4)
    local: Array  # (n, 4, 4) at rest: the frame's matrix after the user's
    world: Array
    by_name: dict[str, int]  # the first of each name
    skipped: int  # 1: the first frame is an empty root that the scene does not need

    def name(self, index: int) -> str:
        return self.frames[index].name or "Frame"


def gather_frames(document: Document) -> Frames:
    pairs = document.frames()
    frames = [frame for frame, _ in pairs]
    parents = [parent for _, parent in pairs]
    user = axes.user_matrices(*(_stack(frames, name, 3) for name in ("offset", "rotation", "scale")))
    own = sanitize_matrices(_stack(frames, "matrix", 4, 4))
    user = axes.matrices_to_scene(sanitize_matrices(user))
    local = axes.matrices_to_scene(own) @ user
    world = local.copy()
    for index, parent in enumerate(parents):
        if parent >= 0:
            with np.errstate(over="ignore", invalid="ignore"):
                world[index] = sanitize_matrices(world[parent] @ local[index])
    by_name: dict[str, int] = {}
    for index, frame in enumerate(frames):
        by_name.setdefault(frame.name, index)
    skipped = bool(frames) and _is_empty_root(document, frames[0], local[0])
    return Frames(frames, parents, user, local, world, by_name, int(skipped))


def _stack(frames: list[Frame], name: str, *shape: int) -> Array:
    return np.array([getattr(frame, name) for frame in frames], np.float32).reshape(-1, *shape)


def _is_empty_root(document: Document, frame: Frame, local: Array) -> bool:
    """A root without name, mesh, transform and animation: the engine needs one root, the scene does not."""
    if frame.name or frame.mesh is not None or frame.child is None or not np.array_equal(local, IDENTITY):
        return False
    moved = (animation.name for entry in document.animation_sets() for animation in chain(entry.animation))
    return "" not in moved


@dataclass
class Rig:
    """What becomes one armature: the skinned meshes that agree on where their bones are bound."""

    binds: dict[int, Array] = field(default_factory=dict)  # frame -> bind matrix
    meshes: list[int] = field(default_factory=list)  # frames
    bones: dict[int, int] = field(default_factory=dict)  # frame -> bone
    node: int = -1  # of the armature
    base: list[int] = field(default_factory=list)  # frames that the armature is below, the last one right above it


def skinned(mesh: Mesh | None) -> bool:
    return mesh is not None and any(bone.blocks for bone in mesh.bones)


def find_rigs(frames: Frames, moved: set[int], warnings: list[str]) -> list[Rig]:
    """`moved` are the frames that have keys."""
    found: list[Rig] = []
    for index, frame in enumerate(frames.frames):
        if not skinned(frame.mesh):
            continue
        binds = _binds(frame.mesh, frames, warnings)
        if not binds:
            continue
        rig = next((rig for rig in found if _agree(rig.binds, binds)), None)
        if rig is None:
            rig = Rig()
            found.append(rig)
        rig.binds |= binds
        rig.meshes.append(index)
    for rig in found:
        _number_bones(rig, frames, _uneven_base(rig, frames, moved))
    return found


def _uneven_base(rig: Rig, frames: Frames, moved: set[int]) -> list[int]:
    """The frames above all bones, down to the last with an uneven scale, where none of them moves.

    Bones that turn below such a scale shear, which Blender's cannot; an object with that scale can hold their armature.
    """
    lines = [_line(index, frames) for index in rig.binds]
    shared = []
    for level in zip(*lines, strict=False):
        if len(set(level)) > 1 or level[0] in rig.binds or level[0] in moved:
            break
        shared.append(level[0])
    while shared and not _is_uneven(frames.local[shared[-1]]):
        shared.pop()
    if not shared:
        return []
    inverse = np.linalg.pinv(frames.world[shared[-1]].astype(np.float64))
    return [] if any(_is_uneven(inverse @ bind) for bind in rig.binds.values()) else shared


def _line(index: int, frames: Frames) -> list[int]:
    """The frames from the first that the scene has down to this one."""
    found = []
    while index >= frames.skipped:
        found.append(index)
        index = frames.parents[index]
    return found[::-1]


def _is_uneven(matrix: Array) -> bool:
    sizes = np.linalg.svd(matrix[:3, :3].astype(np.float64), compute_uv=False)
    return bool(sizes[0] - sizes[-1] > UNEVEN * sizes[0])


def _binds(mesh: Mesh, frames: Frames, warnings: list[str]) -> dict[int, Array]:
    """Where each frame that moves the mesh was when the skin was made."""
    found: dict[int, Array] = {}
    for bone in mesh.bones:
        index = frames.by_name.get(bone.name)
        if index is None:
            warnings.append(f'No frame is called "{bone.name}": the bone of this name was left out.')
            continue
        inverse = sanitize_matrices(bone.matrix).astype(np.float64)
        if abs(np.linalg.det(inverse)) < 1e-20:
            warnings.append(f'The matrix of the bone "{bone.name}" is flat; its frame\'s own was taken.')
            found[index] = frames.world[index]
        else:
            found[index] = axes.matrices_to_scene(np.linalg.inv(inverse))
    return found


def _agree(a: dict[int, Array], b: dict[int, Array]) -> bool:
    return all(np.allclose(a[frame], b[frame], rtol=1e-4, atol=1e-5) for frame in a.keys() & b.keys())


def _number_bones(rig: Rig, frames: Frames, base: list[int]) -> None:
    """The frames above a bone's are bones too: what moves them moves the skin. Those of `base` are not: the armature is in the
    last of them."""
    wanted = set(rig.binds)
    for index in rig.binds:
        while (index := frames.parents[index]) >= frames.skipped and index not in wanted:
            wanted.add(index)
    wanted -= {*range(frames.skipped), *base}
    rig.base = base
    rig.bones = {frame: bone for bone, frame in enumerate(sorted(wanted))}


def base_inverse(rig: Rig, frames: Frames) -> Array:
    return np.linalg.pinv(frames.world[rig.base[-1]].astype(np.float64)) if rig.base else IDENTITY


def armature(rig: Rig, name: str, frames: Frames, rest: list[Transform]) -> Armature:
    inverse = base_inverse(rig, frames)
    bones = []
    for frame in rig.bones:
        bind = rig.binds.get(frame, frames.world[frame])
        if rig.base:
            bind = (inverse @ bind).astype(np.float32)
        bones.append(SceneBone(frames.name(frame), rig.bones.get(frames.parents[frame], -1), bind, rest[frame]))
    return Armature(name, bones)


def skin(mesh: Mesh, count: int, rig: Rig, frames: Frames, warnings: list[str]) -> Skin:
    # One without rows first: a skin may have bones that are all without weights, or unknown.
    vertices: list[Ints] = [np.zeros(0, np.int32)]
    bones: list[Ints] = [np.zeros(0, np.int32)]
    weights: list[Array] = [np.zeros(0, np.float32)]
    lost = 0
    for bone in mesh.bones:
        frame = frames.by_name.get(bone.name, -1)
        if frame not in rig.bones:
            continue
        rows, values = _influences(bone)
        good = (rows < count) & sanitize.usable(values)
        lost += int((~good).sum())
        vertices.append(rows[good].astype(np.int32))
        weights.append(values[good].astype(np.float32))
        bones.append(np.full(len(vertices[-1]), rig.bones[frame], np.int32))
    if lost:
        warnings.append(f"{lost} weights are of vertices that are not there, or are not numbers; they were left out.")
    return Skin(rig.node, np.concatenate(vertices), np.concatenate(bones), np.concatenate(weights))


def _influences(bone: Bone) -> tuple[Array, Array]:
    count = min(len(bone.vertices), len(bone.weights))
    return bone.vertices[:count], bone.weights[:count]

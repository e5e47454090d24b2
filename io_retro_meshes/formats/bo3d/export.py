# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene to document, so that the engine draws it right.

The engine handles scale and the normals of turned bones badly. So every entity is rigid, its scale gone into vertices and
offsets, and every bone rests without rotation; its keys hold the turn from the rest pose instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import animation, maths, scene
from ...scene import Bone, Floats, Scene, Target, Track
from ..binary import encode
from . import axes, engine, halves
from .document import KEY, Document, Entity
from .options import ExportOptions
from .parts import Cutter, Losses, Part

Array = npt.NDArray[Any]
Matrices = npt.NDArray[np.float64]  # (1 + frames, 4, 4): at rest, then on each frame

LONGEST = 20000  # frames that are all looked at
SHARE = 0.25  # of the tolerance for each bone, as the errors of one add to those of its parents
STILL = 1e-4  # a scale that changes less than this does not


@dataclass
class Item:
    """An entity to be. Its world matrices are rigid."""

    name: str
    parent: int
    world: Matrices
    scale: Matrices | None = None  # (1 + frames, 3) relative to rest, where it changes
    part: Part | None = None
    bones: list[int] = field(default_factory=list)  # the items that are the bones of the part


def from_scene(source: Scene, options: ExportOptions | None = None) -> Document:
    return _Export(source, options or ExportOptions()).run()


class _Export:
    def __init__(self, source: Scene, options: ExportOptions) -> None:
        self.scene = source
        self.options = options
        self.warnings: list[str] = []
        self.losses = Losses()
        self.cutter = Cutter(source, options, self.losses)
        self.tracks: dict[Target, Track] = {}
        self.frames = np.ones(1, np.float32)
        self.last = 1
        self.take_timeline()
        self.items: list[Item] = []
        self.node_items: dict[int, int] = {}
        self.bone_items: dict[Target, int] = {}
        self.skinned: dict[int, list[int]] = {}
        self.poses: dict[int, list[Matrices]] = {}
        self.world: list[Matrices] = []
        self.scaled_parents: list[str] = []
        self.sheared: list[str] = []

    def take_timeline(self) -> None:
        clip, parts = animation.one_timeline(self.scene, first=1)
        if clip is None or not clip.tracks:
            return
        self.tracks = clip.tracks
        first, self.last = int(np.ceil(clip.first)), int(np.floor(clip.last))
        self.frames = _whole_frames(clip.tracks, first, self.last)
        if first < 0:
            self.warnings.append(f"The file has no frames before 0: every frame was moved by {1 - first}.")
        if parts:
            places = ", ".join(f'"{part.name}" is frames {part.first:g} to {part.last:g}' for part in parts)
            self.warnings.append(f"The file cannot name parts of its animation: {places}.")

    def run(self) -> Document:
        self.evaluate()
        wanted = self.wanted()
        for index, node in enumerate(self.scene.nodes):
            if index in self.node_items:
                continue
            if node.armature is not None:
                self.add_rig(index, node)
            elif index in wanted:
                self.add_node(index, node)
        document = Document(self.entities(), vfloat=16 if self.options.half_floats else 32)
        self.warnings += self.losses.warnings()
        for names, message in (
            (
                self.scaled_parents,
                "the scale changes over time, and something hangs on it; the scale has got an entity of its own",
            ),
            (self.sheared, "it is sheared over time, which the file cannot hold; its turn and its scale were written"),
        ):
            if names:
                self.warnings.append(f'"{names[0]}"{f" and {len(names) - 1} others" if names[1:] else ""}: {message}.')
        if self.options.half_floats:
            self.warnings.append(halves.narrow(document))
        document.warnings = self.warnings
        return document

    # ------------------------------------------------------------------------------------------------- where things are

    def evaluate(self) -> None:
        """Every node in the world, and every bone in its armature: in slot 0 at rest, the bones where the skin was bound."""
        for index, node in enumerate(self.scene.nodes):
            matrix = self.locals(node.transform, node.transform.matrix, (index, -1))
            if node.parent >= 0:
                if node.parent_bone >= 0:
                    matrix = self.poses[node.parent][node.parent_bone] @ matrix
                matrix = self.world[node.parent] @ matrix
            self.world.append(matrix)
            poses: list[Matrices] = []
            for number, bone in enumerate(node.armature.bones if node.armature else []):
                pose = self.locals(bone.transform, np.eye(4), (index, number))
                pose = poses[bone.parent] @ pose if bone.parent >= 0 else pose
                pose[0] = bone.bind
                poses.append(pose)
            self.poses[index] = poses
            skin = self.scene.meshes[node.mesh].skin if node.mesh >= 0 else None
            if skin is not None and self.scene.nodes[skin.node].armature is not None:
                self.skinned.setdefault(skin.node, []).append(index)

    def locals(self, transform: scene.Transform, rest: Array, target: Target) -> Matrices:
        moving = animation.local_matrices(transform, self.tracks.get(target), self.frames, self.scene.interpolation)
        return np.concatenate([np.asarray(rest)[None], moving]).astype(np.float64)

    def wanted(self) -> set[int]:
        """All but cameras and lights; these too, as pivots, when something hangs on them."""
        found: set[int] = set()
        for index in reversed(range(len(self.scene.nodes))):
            node = self.scene.nodes[index]
            if (node.camera < 0 and node.light < 0) or index in found:
                found.add(index)
                found.add(node.parent)
        return found

    # ------------------------------------------------------------------------------------------------------------ items

    def add(self, item: Item) -> int:
        self.items.append(item)
        return len(self.items) - 1

    def parent_item(self, node: scene.Node) -> int:
        if node.parent_bone >= 0:
            return self.bone_items[node.parent, node.parent_bone]
        return self.node_items[node.parent] if node.parent >= 0 else -1

    def add_node(self, index: int, node: scene.Node) -> None:
        world, scale, baked = self.rigid(self.world[index], node.name)
        parts = self.cutter.parts(node, baked) if node.mesh >= 0 else []
        item = self.add(Item(node.name, self.parent_item(node), world, scale, parts[0] if parts else None))
        self.node_items[index] = item
        for part in parts[1:]:
            self.add(Item(node.name, item, world, scale, part))

    def add_rig(self, index: int, node: scene.Node) -> None:
        """The meshes one below the other, then the bones: so that these are descendants of every mesh they move."""
        assert node.armature is not None
        world, _, baked = self.rigid(self.world[index], node.name)
        below, made = self.parent_item(node), []
        for skinned in self.skinned.get(index, []):
            mesh = self.scene.nodes[skinned]
            place = np.linalg.pinv(self.world[index][0]) @ self.world[skinned][0]
            for part in self.cutter.parts(mesh, baked @ place):
                below = self.add(Item(mesh.name, below, world, None, part))
                made.append(below)
        if not made:
            below = self.add(Item(node.name, below, world))
        self.node_items[index] = below
        for skinned in self.skinned.get(index, []):
            self.node_items[skinned] = below
        for number, bone in enumerate(node.armature.bones):
            above = self.bone_items[index, bone.parent] if bone.parent >= 0 else below
            place, scale = self.bone(bone, self.world[index] @ self.poses[index][number], world[0], baked)
            self.bone_items[index, number] = self.add(Item(bone.name, above, place, scale))
        bones = [self.bone_items[index, number] for number in range(len(node.armature.bones))]
        for item in made:
            self.items[item].bones = bones

    def bone(self, bone: Bone, pose: Matrices, rest: Array, baked: Array) -> tuple[Matrices, Matrices | None]:
        """Where the bone is in the world: at its head, turned by as much as it is turned from where the skin was bound."""
        moved = pose @ np.linalg.pinv(bone.bind.astype(np.float64)) @ np.linalg.pinv(baked)  # a scale may be 0
        head = (baked @ [*(bone.bind[:3, 3] if bone.head is None else bone.head), 1])[:3]
        rigid, scale, _ = self.rigid(moved, bone.name)
        rigid[0] = rest
        rigid[:, :3, 3] = moved[:, :3, :3] @ head + moved[:, :3, 3]
        return rigid, scale

    def rigid(self, matrices: Matrices, name: str) -> tuple[Matrices, Matrices | None, Array]:
        """Without scale; the scale, where it changes; and what of the matrix at rest is to be baked into vertices."""
        linear = matrices[:, :3, :3]
        rigid = matrices.copy()
        gram = np.swapaxes(linear, 1, 2) @ linear
        if np.abs(gram - np.eye(3)).max() < 1e-5 and np.linalg.det(linear).min() > 0:
            return rigid, None, np.eye(4)
        _, rotation, scale = maths.decompose(matrices)
        rigid[:, :3, :3] = maths.quaternion_to_matrix(rotation)
        baked = np.eye(4)
        baked[:3, :3] = rigid[0, :3, :3].T @ linear[0]
        some = np.abs(scale[:1]) > 1e-12
        ratio = np.where(some, scale / np.where(some, scale[:1], 1), 1)
        expected = rigid[:, :3, :3] * ratio[:, None, :] @ baked[:3, :3]
        if np.abs(expected - linear).max() > 1e-3 * np.abs(linear).max():
            self.sheared.append(name)
        return rigid, ratio if np.abs(ratio - 1).max() > STILL else None, baked

    # --------------------------------------------------------------------------------------------------------- entities

    def entities(self) -> list[Entity]:
        size = self.size()
        self.part_scales()
        names = _unique([item.name for item in self.items])
        made = []
        for index, item in enumerate(self.items):
            above = self.items[item.parent].world if item.parent >= 0 else np.eye(4)
            local = np.linalg.pinv(above) @ item.world  # a scale may be 0
            made.append(self.entity(names[index], item, local, size))
        tops = [index for index, item in enumerate(self.items) if item.parent < 0]
        # The engine cannot animate the first entity, and all others hang on it.
        if len(tops) != 1 or len(made[0].keys):
            for entity in made:
                entity.parent += 1
                if entity.mesh is not None:
                    entity.mesh.bones["entity"] += 1
            made.insert(0, Entity(_unique(["ROOT"], set(names))[0]))
        if any(len(entity.keys) for entity in made):
            # As many frames as keys and the rest pose, or the engine misreads the length.
            made[0].length = max([self.last + self.shift() + 1, *(len(entity.keys) + 1 for entity in made)])
            if not self.tracks:
                self.warnings.append("The file's rest pose is the one the skin was bound in; the pose of the bones is frame 1.")
        return made

    def part_scales(self) -> None:
        """The engine hands scale to children in a way of its own: what has both gets an entity more, for the scale."""
        parents = {item.parent for item in self.items}
        leaves: dict[int, int] = {}
        for index, item in list(enumerate(self.items)):
            if item.scale is not None and index in parents:
                self.scaled_parents.append(item.name)
                leaves[index] = self.add(Item(item.name, index, item.world, item.scale, item.part))
                item.scale = item.part = None
        for item in self.items:
            item.bones = [leaves.get(bone, bone) for bone in item.bones]

    def entity(self, name: bytes, item: Item, local: Matrices, size: float) -> Entity:
        location = local[:, :3, 3]
        scale = np.ones((len(local), 3)) if item.scale is None else item.scale
        rotation = maths.continuous(maths.matrix_to_quaternion(local[:, :3, :3]))
        rotation[np.abs(rotation) < 1e-9] = 0  # what is left of turning there and back
        entity = Entity(
            name,
            item.parent,
            axes.vectors_to_file(location[0]).astype("<f4"),
            rotation=axes.rotations_to_file(rotation[0]).astype("<f4"),
        )
        if item.part is not None:
            entity.mesh = item.part.mesh
            entity.mesh.bones = item.part.ranges(len(item.bones))
            entity.mesh.bones["entity"] = item.bones
        frames = np.concatenate([[engine.REST_FRAME], self.frames.astype(np.int64) + self.shift()])
        tolerance = self.options.key_tolerance * SHARE
        keep = np.zeros(len(frames), bool)
        for values, limit, kind in (
            (location, tolerance * size, ""),
            (rotation, tolerance, "NLERP"),
            (scale, tolerance, ""),
        ):
            keep[maths.reduce_keys(frames.astype(np.float64), values, limit, kind)] = True
        keep[0] = False  # the engine puts the rest pose there itself
        entity.keys = np.zeros(int(keep.sum()), KEY)
        entity.keys["frame"] = frames[keep]
        entity.keys["position"] = axes.vectors_to_file(location[keep])
        entity.keys["scale"] = axes.swap_scale(scale[keep])
        entity.keys["rotation"] = axes.rotations_to_file(rotation[keep])
        return entity

    def shift(self) -> int:
        """From the scene's frames to the file's, which cannot be less than 0: the rest pose is on -1."""
        first = int(self.frames[0])
        return 1 - first if first < 0 else 0

    def size(self) -> float:
        parts = [item.part.mesh.vertices["position"] for item in self.items if item.part is not None]
        points = [rows for rows in parts if len(rows)]
        if not points:
            return 1.0
        low, high = np.min([rows.min(0) for rows in points], 0), np.max([rows.max(0) for rows in points], 0)
        return max(float((high - low).max()), 1e-6)


def _whole_frames(tracks: dict[Target, Track], first: int, last: int) -> Floats:
    """The frames that something may move on; of a very long animation, only those that have keys."""
    channels = [channel for track in tracks.values() for channel in (track.location, track.rotation, track.scale)]
    keyed = np.concatenate([[first], *(channel.frames for channel in channels if channel is not None)])
    keyed = np.unique(np.clip(np.rint(keyed), first, max(first, last)))
    if keyed[-1] - first > LONGEST:
        return keyed.astype(np.float32)
    return np.arange(first, int(keyed[-1]) + 1, dtype=np.float32)


def _unique(names: list[str], taken: set[bytes] | None = None) -> list[bytes]:
    """Names by which the engine can tell entities apart: none empty, none twice."""
    used = taken or set()
    wanted = {encode(name) for name in names}
    found = []
    for name in names:
        unique, number = encode(name or "entity"), 1
        while unique in used or (number > 1 and unique in wanted):
            number += 1
            unique = encode(f"{name or 'entity'}_{number}")
        used.add(unique)
        found.append(unique)
    return found

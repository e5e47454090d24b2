# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene to document, so that the engine draws it right.

The engine handles scale and the normals of turned bones badly. So every entity is rigid, its scale gone into vertices and
offsets, and every bone rests without rotation; its keys hold the turn from the rest pose instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....scene import Node, Scene, Target, maths
from ...binary import encode
from .. import axes
from ..document import Document, Entity
from ..options import ExportOptions
from .animation import Matrices, Timeline
from .meshes import Meshes, MeshPart, round_to_halves
from .rigs import RigidMotion, bone_motion, rigid_motion, skinned_meshes


@dataclass
class PlannedEntity:
    """An entity that is still in the scene's axes and in world space. Its world matrices are rigid."""

    name: str
    parent: int
    world: Matrices
    scale: Matrices | None = None  # (1 + frames, 3) relative to rest, where it changes
    part: MeshPart | None = None
    bones: list[int] = field(default_factory=list)  # the planned entities that are the bones of the part


def from_scene(source: Scene, options: ExportOptions | None = None) -> Document:
    return Exporter(source, options or ExportOptions()).run()


class Exporter:
    def __init__(self, source: Scene, options: ExportOptions) -> None:
        self.scene = source
        self.options = options
        self.timeline = Timeline(source)
        self.warnings = self.timeline.warnings
        self.meshes = Meshes(source, options)
        self.skinned = skinned_meshes(source)
        self.plan: list[PlannedEntity] = []
        self.of_node: dict[int, int] = {}  # places in the plan
        self.of_bone: dict[Target, int] = {}
        self.scaled_parents: list[str] = []
        self.sheared: list[str] = []

    def run(self) -> Document:
        wanted = self.wanted()
        for index, node in enumerate(self.scene.nodes):
            if index in self.of_node:
                continue
            if node.armature is not None:
                self.add_rig(index, node)
            elif index in wanted:
                self.add_node(index, node)
        document = Document(self.entities(), vfloat=16 if self.options.half_floats else 32)
        self.warnings += self.meshes.warnings()
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
            self.warnings.append(round_to_halves(document))
        document.warnings = self.warnings
        return document

    def wanted(self) -> set[int]:
        """All nodes but cameras and lights; these too, as pivots, when something hangs on them."""
        found: set[int] = set()
        for index in reversed(range(len(self.scene.nodes))):
            node = self.scene.nodes[index]
            if (node.camera < 0 and node.light < 0) or index in found:
                found.add(index)
                found.add(node.parent)
        return found

    # ------------------------------------------------------------------------------------------------- planned entities

    def append(self, entity: PlannedEntity) -> int:
        self.plan.append(entity)
        return len(self.plan) - 1

    def parent(self, node: Node) -> int:
        if node.parent_bone >= 0:
            return self.of_bone[node.parent, node.parent_bone]
        return self.of_node[node.parent] if node.parent >= 0 else -1

    def noted(self, motion: RigidMotion, name: str) -> RigidMotion:
        """The same motion; if it is sheared, its name goes into a warning."""
        if motion.sheared:
            self.sheared.append(name)
        return motion

    def add_node(self, index: int, node: Node) -> None:
        motion = self.noted(rigid_motion(self.timeline.world[index]), node.name)
        parts = self.meshes.parts(node, motion.baked) if node.mesh >= 0 else []
        first = parts[0] if parts else None
        place = self.append(PlannedEntity(node.name, self.parent(node), motion.world, motion.scale, first))
        self.of_node[index] = place
        for part in parts[1:]:
            self.append(PlannedEntity(node.name, place, motion.world, motion.scale, part))

    def add_rig(self, index: int, node: Node) -> None:
        """The meshes one below the other, then the bones: so that these are descendants of every mesh they move."""
        assert node.armature is not None
        world = self.timeline.world
        motion = self.noted(rigid_motion(world[index]), node.name)
        below, meshes = self.parent(node), []
        for skinned in self.skinned.get(index, []):
            mesh = self.scene.nodes[skinned]
            matrix = np.linalg.pinv(world[index][0]) @ world[skinned][0]
            for part in self.meshes.parts(mesh, motion.baked @ matrix):
                below = self.append(PlannedEntity(mesh.name, below, motion.world, None, part))
                meshes.append(below)
        if not meshes:
            below = self.append(PlannedEntity(node.name, below, motion.world))
        for each in (index, *self.skinned.get(index, [])):
            self.of_node[each] = below
        for number, bone in enumerate(node.armature.bones):
            above = self.of_bone[index, bone.parent] if bone.parent >= 0 else below
            pose = world[index] @ self.timeline.poses[index][number]
            moved = self.noted(bone_motion(bone, pose, motion), bone.name)
            self.of_bone[index, number] = self.append(PlannedEntity(bone.name, above, moved.world, moved.scale))
        bones = [self.of_bone[index, number] for number in range(len(node.armature.bones))]
        for place in meshes:
            self.plan[place].bones = bones

    # --------------------------------------------------------------------------------------------------------- entities

    def entities(self) -> list[Entity]:
        size = self.size()
        self.separate_scales()
        names = _unique([planned.name for planned in self.plan])
        made = []
        for index, planned in enumerate(self.plan):
            above = self.plan[planned.parent].world if planned.parent >= 0 else np.eye(4)
            local = np.linalg.pinv(above) @ planned.world  # a scale may be 0
            made.append(self.entity(names[index], planned, local, size))
        tops = [index for index, planned in enumerate(self.plan) if planned.parent < 0]
        # The engine cannot animate the first entity, and all others hang on it.
        if len(tops) != 1 or len(made[0].keys):
            for entity in made:
                entity.parent += 1
                if entity.mesh is not None:
                    entity.mesh.bones["entity"] += 1
            made.insert(0, Entity(_unique(["ROOT"], set(names))[0]))
        if any(len(entity.keys) for entity in made):
            # As many frames as keys and the rest pose, or the engine misreads the length.
            length = self.timeline.last + self.timeline.shift + 1
            made[0].length = max([length, *(len(entity.keys) + 1 for entity in made)])
            if not self.timeline.tracks:
                self.warnings.append("The file's rest pose is the one the skin was bound in; the pose of the bones is frame 1.")
        return made

    def separate_scales(self) -> None:
        """The engine hands scale to children in a way of its own: what has both gets an entity more, for the scale."""
        parents = {planned.parent for planned in self.plan}
        leaves: dict[int, int] = {}
        for index, planned in list(enumerate(self.plan)):
            if planned.scale is not None and index in parents:
                self.scaled_parents.append(planned.name)
                leaves[index] = self.append(PlannedEntity(planned.name, index, planned.world, planned.scale, planned.part))
                planned.scale = planned.part = None
        for planned in self.plan:
            planned.bones = [leaves.get(bone, bone) for bone in planned.bones]

    def entity(self, name: bytes, planned: PlannedEntity, local: Matrices, size: float) -> Entity:
        """`local`: the matrices relative to the parent, at rest and on each frame."""
        location = local[:, :3, 3]
        scale = np.ones((len(local), 3)) if planned.scale is None else planned.scale
        rotation = maths.continuous(maths.matrix_to_quaternion(local[:, :3, :3]))
        rotation[np.abs(rotation) < 1e-9] = 0  # rounding errors of turning there and back
        entity = Entity(
            name,
            planned.parent,
            axes.vectors_to_file(location[0]).astype("<f4"),
            rotation=axes.rotations_to_file(rotation[0]).astype("<f4"),
        )
        if planned.scale is not None:
            entity.scale = axes.scales_to_file(scale[0]).astype("<f4")
        if planned.part is not None:
            entity.mesh = planned.part.mesh
            entity.mesh.bones = planned.part.ranges(len(planned.bones))
            entity.mesh.bones["entity"] = planned.bones
        entity.keys = self.timeline.keys(location, rotation, scale, self.options.key_tolerance, size)
        return entity

    def size(self) -> float:
        parts = [planned.part.mesh.vertices["position"] for planned in self.plan if planned.part is not None]
        points = [rows for rows in parts if len(rows)]
        if not points:
            return 1.0
        low, high = np.min([rows.min(0) for rows in points], 0), np.max([rows.max(0) for rows in points], 0)
        return max(float((high - low).max()), 1e-6)


def _unique(names: list[str], taken: set[bytes] | None = None) -> list[bytes]:
    """Names by which the engine can tell entities apart: none empty, none twice."""
    used = taken or set()
    wanted = {encode(name) for name in names}
    numbers: dict[str, int] = {}  # the last that was tried with each name
    found = []
    for name in names:
        unique, number = encode(name or "entity"), numbers.get(name, 1)
        while unique in used or (number > 1 and unique in wanted):
            number += 1
            unique = encode(f"{name or 'entity'}_{number}")
        numbers[name] = number
        used.add(unique)
        found.append(unique)
    return found

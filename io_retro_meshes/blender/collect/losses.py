# SPDX-License-Identifier: GPL-3.0-or-later
"""How far meshes are from where Blender shows them: measured, for those that something other than weights of bones deforms."""

from __future__ import annotations

import bpy
import numpy as np

from ... import scene as neutral
from ...scene import surfaces
from .objects import SURFACES, ObjectCollector

# Frames of a take on which vertices are compared, and the part of the mesh's size that is worth a word.
LOOKS = 9
SEEN = 1e-3

KINDS = {
    "LATTICE": "a lattice",
    "HOOK": "a hook",
    "WAVE": "a wave",
    "CLOTH": "cloth",
    "SOFT_BODY": "a soft body",
    "MESH_DEFORM": "a mesh deform modifier",
    "SURFACE_DEFORM": "a surface deform modifier",
    "MESH_CACHE": "a mesh cache",
    "MESH_SEQUENCE_CACHE": "a mesh cache",
    "CORRECTIVE_SMOOTH": "a corrective smooth modifier",
    "SHRINKWRAP": "a shrinkwrap modifier",
    "NODES": "geometry nodes",
}


def causes(source: bpy.types.Object, rig: bpy.types.Object | None) -> list[str]:
    """What may deform an object in a way that weights of bones do not."""
    found: dict[str, None] = {}
    armatures = [each for each in source.modifiers if each.type == "ARMATURE" and each.show_viewport and each.object]
    if any(each.use_deform_preserve_volume for each in armatures):
        found["preserve volume"] = None
    if rig is not None and any(bone.bbone_segments > 1 and bone.use_deform for bone in rig.data.bones):
        found["bendy bones"] = None
    if len(armatures) > 1:
        found["several armature modifiers"] = None
    if any(each.vertex_group for each in armatures):
        found["an armature modifier with a vertex group"] = None
    behind = False
    for each in (each for each in source.modifiers if each.show_viewport):
        if each.type in KINDS:
            found[KINDS[each.type]] = None
        elif each.type != "ARMATURE" and (behind or _is_animated(source, each)):
            found[f'the modifier "{each.name}"'] = None
        behind |= each.type == "ARMATURE"
    keys = source.data.shape_keys if source.type in ("MESH", "CURVE", "SURFACE") else None
    if keys is not None and keys.animation_data is not None:
        found["shape keys that move"] = None
    return list(found)


def _is_animated(source: bpy.types.Object, modifier: bpy.types.Modifier) -> bool:
    """Perhaps: something in the object or its data has keys or drivers, or the modifier looks at another object."""
    return bool(source.animation_data or (source.data and source.data.animation_data)) or any(
        isinstance(getattr(modifier, each.identifier, None), bpy.types.Object)
        for each in modifier.bl_rna.properties
        if each.type == "POINTER"
    )


class Losses:
    """Watches suspicious objects while they are played, and says afterwards how far off they will be."""

    def __init__(self, collector: ObjectCollector) -> None:
        self.collector = collector
        self.scene = collector.scene
        self.causes: dict[int, list[str]] = {}
        self.worst: dict[int, tuple[float, float, float]] = {}  # by node: how far, on which frame, of what size
        for index, source in enumerate(collector.objects):
            node = self.scene.nodes[index]
            if source is not None and source.type in SURFACES and node.mesh >= 0 and not node.hidden:
                found = causes(source, collector.rigs.get(source))
                if found:
                    self.causes[index] = found
        self.wanted: set[int] = set()  # numbers of the frames to look at
        self.seen: dict[int, list[tuple[int, np.ndarray]]] = {}

    def start(self, frames: np.ndarray) -> None:
        step = max(len(frames) // LOOKS, 1)
        self.wanted = set(range(0, len(frames), step)) | {len(frames) - 1}
        self.seen = {index: [] for index in self.causes}

    def look(self, number: int, depsgraph: bpy.types.Depsgraph) -> None:
        """On the frame with this number of those that are played."""
        if number not in self.wanted:
            return
        for index in self.causes:
            evaluated = self.collector.objects[index].evaluated_get(depsgraph)
            data = evaluated.data if isinstance(evaluated.data, bpy.types.Mesh) else None
            if data is None:
                continue
            points = np.empty(len(data.vertices) * 3, np.float32)
            data.vertices.foreach_get("co", points)
            matrix = np.array(evaluated.matrix_world)
            self.seen[index].append((number, points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]))

    def measure(self, frames: np.ndarray, worlds: dict[int, np.ndarray], poses: dict[int, np.ndarray]) -> None:
        """Against what the exported nodes and bones make of the exported mesh."""
        for index, seen in self.seen.items():
            mesh = self.scene.meshes[self.scene.nodes[index].mesh]
            for number, points in seen:
                told = self._told(index, mesh, number, worlds, poses)
                apart, size = _apart(points, told)
                if apart > max(SEEN * size, self.worst.get(index, (0.0,))[0]):
                    self.worst[index] = apart, float(frames[number]), size

    def _told(
        self, index: int, mesh: neutral.Mesh, number: int, worlds: dict[int, np.ndarray], poses: dict[int, np.ndarray]
    ) -> np.ndarray:
        points = np.c_[mesh.positions, np.ones(len(mesh.positions))].astype(np.float64)
        if mesh.skin is None:
            return points @ worlds[index][number][:3].T
        node, skin = self.scene.nodes[index], mesh.skin
        points = points @ node.transform.matrix.T  # the identity, unless meshes keep their own space
        binds = np.array([bone.bind for bone in self.scene.nodes[skin.node].armature.bones], np.float64)
        deltas = poses[skin.node][number] @ np.linalg.pinv(binds)
        each = np.einsum("nij,nj->ni", deltas[skin.bones], points[skin.vertices])[:, :3] * skin.weights[:, None]
        total = np.bincount(skin.vertices, skin.weights, len(points))
        sums = np.stack([np.bincount(skin.vertices, each[:, axis], len(points)) for axis in range(3)], 1)
        moved = np.where(total[:, None] > 0, sums / np.maximum(total, 1e-20)[:, None], points[:, :3])
        return np.c_[moved, np.ones(len(moved))] @ worlds[skin.node][number][:3].T

    def warnings(self) -> list[str]:
        made = []
        for index, (apart, frame, size) in self.worst.items():
            name = self.collector.objects[index].name
            shape = (
                "its shape changes"
                if np.isinf(apart)
                else f"it is up to {apart:.3g} units off ({apart / size:.1%} of its size)"
            )
            made.append(
                f'"{name}" is deformed by {" and ".join(self.causes[index])}, which the format does not have: '
                f"{shape}, most on frame {frame:g}. It was exported as bones alone move it"
            )
        return made


def _apart(points: np.ndarray, told: np.ndarray) -> tuple[float, float]:
    """The largest distance, and the size of the mesh; infinite where it has other vertices by then."""
    size = surfaces.extent(points)
    if len(points) != len(told):
        return float("inf"), size
    return float(np.linalg.norm(points - told, axis=1).max(initial=0)), size or 1.0

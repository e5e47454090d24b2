# SPDX-License-Identifier: GPL-3.0-or-later
"""Where vertices are: as Blender shows them, and as a collected scene says."""

from __future__ import annotations

from typing import Any

import numpy as np

from io_retro_meshes.scene import Clip, Scene, animation


def shown(bpy: Any, frame: float) -> dict[str, np.ndarray]:
    """The vertices of every mesh object of the scene in the world, from the evaluated depsgraph."""
    bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = {}
    for source in bpy.context.scene.objects:
        if source.type == "MESH":
            evaluated = source.evaluated_get(depsgraph)
            points = np.empty(len(evaluated.data.vertices) * 3, np.float32)
            evaluated.data.vertices.foreach_get("co", points)
            matrix = np.array(evaluated.matrix_world)
            found[source.name] = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    return found


def told(scene: Scene, clip: Clip | None, frame: float) -> dict[str, np.ndarray]:
    """The same from a neutral scene: skinned by its bind matrices and weights."""
    frames = np.array([frame], np.float32)
    tracks = (clip.tracks if clip else None) or {}
    worlds = animation.node_matrices(scene, tracks, frames)
    found = {}
    for node, world in zip(scene.nodes, worlds, strict=True):
        if node.mesh < 0:
            continue
        mesh = scene.meshes[node.mesh]
        points = np.c_[mesh.positions, np.ones(len(mesh.positions))]
        moved = points.copy()
        if mesh.skin is not None:
            bones = scene.nodes[mesh.skin.node].armature.bones
            poses = animation.bone_matrices(scene, mesh.skin.node, tracks, frames)
            deltas = np.array([pose[0] @ np.linalg.inv(bone.bind) for pose, bone in zip(poses, bones, strict=True)])
            weights = np.bincount(mesh.skin.vertices, mesh.skin.weights, len(points))
            each = np.einsum("nij,nj->ni", deltas[mesh.skin.bones], points[mesh.skin.vertices]) * mesh.skin.weights[:, None]
            for axis in range(4):
                total = np.bincount(mesh.skin.vertices, each[:, axis], len(points))
                moved[:, axis] = np.where(weights > 0, total / np.where(weights > 0, weights, 1), points[:, axis])
        found[node.name] = moved @ world[0, :3].T
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene to document."""

from __future__ import annotations

import numpy as np

from ...scene import Scene, maths
from .document import Document
from .options import ExportOptions


def from_scene(scene: Scene, options: ExportOptions) -> Document:
    pieces = [np.zeros((0, 3, 3), np.float32)]
    for node, matrix in zip(scene.nodes, scene.global_matrices(), strict=True):
        if node.mesh >= 0:
            mesh = scene.meshes[node.mesh]
            placed = maths.transform_points(matrix, mesh.positions)
            pieces.append(placed[mesh.corners].reshape(-1, 3, 3).astype(np.float32))
    triangles = np.concatenate(pieces)
    return Document(triangles[:, ::-1] if options.flip else triangles, warnings=list(scene.warnings))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours of vertices and polygons, which the file has no place for: each becomes a material."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .... import scene as neutral
from ....scene import Floats, Ints
from ....scene.surfaces import corner_values
from ..document import Array

MOST_COLORS = 64  # of a mesh and a material: a material each is an object each in the engine
FLAT = 2 / 255  # colours of a polygon's corners that differ less are one


def painted(scene: neutral.Scene, warnings: list[str]) -> neutral.Scene:
    """The scene with a material for each colour that polygons have where their material shows colours of vertices."""
    painter = _Painter(scene, list(scene.materials), warnings)
    meshes = [painter.mesh(mesh) for mesh in scene.meshes]
    nodes = [_node(node, meshes) for node in scene.nodes]
    return replace(scene, meshes=meshes, materials=painter.materials, nodes=nodes)


def _node(node: neutral.Node, meshes: list[neutral.Mesh]) -> neutral.Node:
    """Materials of an instance are those of its mesh where it has more now."""
    if node.materials is None or node.mesh < 0:
        return node
    return replace(node, materials=[*node.materials, *meshes[node.mesh].materials[len(node.materials) :]])


class _Painter:
    def __init__(self, scene: neutral.Scene, materials: list[neutral.Material], warnings: list[str]) -> None:
        self.scene, self.materials, self.warnings = scene, materials, warnings
        self.made: dict[tuple[int, bytes], int] = {}  # (material, colour) -> material

    def mesh(self, mesh: neutral.Mesh) -> neutral.Mesh:
        if not mesh.colors or not len(mesh.corners):
            return mesh
        slots = mesh.face_materials if mesh.face_materials is not None else np.zeros(mesh.face_count, np.int32)
        corners = corner_values(mesh, mesh.colors[0])[:, :3].astype(np.float64).reshape(-1, 3, 3)
        faces, materials = slots.copy(), list(mesh.materials)
        for slot in np.unique(slots):
            material = materials[slot] if slot < len(materials) else -1
            if material < 0 or not self.materials[material].vertex_colors:
                continue
            if any(layer.use == "COLOR" for layer in self.materials[material].layers):
                self.warnings.append(f"{mesh.name}: has colours of vertices beside a texture, which the file cannot; left out.")
                continue
            mine = np.flatnonzero(slots == slot)
            colors, which = self.colors(mesh.name, corners[mine])
            faces[mine] = len(materials) + which
            materials += [self.material(material, color) for color in colors]
        return replace(mesh, face_materials=faces, materials=materials)

    def colors(self, name: str, corners: Array) -> tuple[Floats, Ints]:
        """The colours of these triangles, and which each has."""
        if np.ptp(corners, 1).max(initial=0) > FLAT:
            self.warnings.append(f"{name}: colours go over from one to another within polygons; each got the mean of its own.")
        wanted = np.clip(corners.mean(1), 0, 1)
        colors, which = np.unique(np.round(wanted * 255), axis=0, return_inverse=True)
        steps = 128
        while len(colors) > MOST_COLORS:
            colors, which = np.unique(np.round(wanted * steps) * (255 / steps), axis=0, return_inverse=True)
            steps = steps * 3 // 4
        if steps < 128:
            self.warnings.append(f"{name}: has more colours than {MOST_COLORS}; they were rounded to {len(colors)}.")
        return (colors / 255).astype(np.float32), which.reshape(-1).astype(np.int32)

    def material(self, source: int, color: Floats) -> int:
        key = source, color.tobytes()
        if key not in self.made:
            base = self.materials[source]
            shown = np.append(base.color[:3] * color, base.color[3]).astype(np.float32)
            code = "".join(f"{round(float(part) * 255):02x}" for part in color)
            self.made[key] = len(self.materials)
            self.materials.append(replace(base, name=f"{base.name} {code}", color=shown, vertex_colors=False))
        return self.made[key]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes of entities to meshes of the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .... import scene
from ....scene import Floats, Ints, Layer, Scene, sanitize, surfaces
from .. import axes, document, engine
from ..document import Document
from .materials import Materials

Array = npt.NDArray[Any]

SAMPLED_FACES = 2000  # that are compared with their normals


class Meshes:
    def __init__(self, source: Document, target: Scene, materials: Materials) -> None:
        self.source = source
        self.scene = target
        self.materials = materials
        self.without_normals: list[str] = []
        self.inside_out: list[str] = []
        self.infinite: list[str] = []
        self.colored_twice: list[str] = []

    def add_warnings(self) -> None:
        warnings = self.scene.warnings
        for names, message in (
            (self.without_normals, "no normals; Blender makes them. Early converters wrote such files, some of them mirrored."),
            (self.inside_out, "the faces look the other way than their normals; both were kept."),
            (self.infinite, "there are numbers that are not finite; they became 0."),
            (self.colored_twice, "the engine shows the vertex colours instead of the entity's; here they are multiplied."),
        ):
            if names:
                warnings.append(f"Mesh {', '.join(names[:4])}{' and others' if len(names) > 4 else ''}: {message}")

    def add(self, index: int, name: str) -> int:
        """The mesh of an entity in the entity's own space, one more in the scene."""
        source = self.source.entities[index].mesh
        assert source is not None
        quoted = f'"{name}"'
        uv, normals, positions = (self.floats(source.vertices[key], quoted) for key in ("uv", "normal", "position"))
        mesh = scene.Mesh(name, axes.vectors_to_scene(positions), self.corners(source))
        mesh.normals = self.normals(mesh, axes.vectors_to_scene(normals), quoted)
        if uv.any():
            mesh.uvs.append(Layer(scene.uv_name(0), axes.flip_v(uv)))
        if source.has_own_colors:
            data = np.full((len(source.colors), 4), 255, np.uint8)
            data[:, :3] = source.colors
            mesh.colors.append(Layer(scene.COLOR_NAME, data))
            if source.color[:3] != (255, 255, 255):
                self.colored_twice.append(quoted)
        mesh.materials = [self.materials.number(source, name)]
        self.scene.meshes.append(mesh)
        return len(self.scene.meshes) - 1

    def floats(self, values: Array, name: str) -> Floats:
        rows = values.astype(np.float32)
        if values.dtype.itemsize == 2:
            rows[np.abs(rows) < engine.SMALLEST_HALF] = 0
        bad = ~sanitize.usable(rows)
        if bad.any():
            rows[bad] = 0
            if name not in self.infinite:
                self.infinite.append(name)
        return rows

    def corners(self, source: document.Mesh) -> Ints:
        usable = (source.triangles < len(source.vertices)).all(1)
        return axes.winding(source.triangles[usable]).astype(np.int32).reshape(-1)

    def normals(self, mesh: scene.Mesh, given: Floats, name: str) -> Layer | None:
        length = np.sqrt(np.einsum("ij,ij->i", given, given))
        lost = length < 1e-6
        if lost.all():
            self.without_normals.append(name)
            return None
        unit = given / np.where(lost, 1, length)[:, None]
        if lost.any():
            unit[lost] = surfaces.smooth_normals(mesh.positions, mesh.corners)[lost]
        some = mesh.corners.reshape(-1, 3)[:: 1 + mesh.face_count // SAMPLED_FACES]
        points = mesh.positions[some]
        faces = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        agreement = np.sum(faces * unit[some].sum(1), 1)
        if (agreement < 0).sum() > (agreement > 0).sum():
            self.inside_out.append(name)
        return Layer("normals", unit)

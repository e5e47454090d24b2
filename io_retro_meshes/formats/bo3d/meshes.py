# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes and materials of a document, as those of a Scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import scene, surfaces
from ...scene import Floats, Image, Ints, Layer, Material, Scene, TextureLayer
from ...textures import base_name
from . import axes, document
from .document import Document

Array = npt.NDArray[Any]

ENOUGH_FACES = 2000  # to tell whether normals agree with them
SMALLEST_HALF = 2.0**-14  # the loader makes nothing of smaller ones


class Meshes:
    def __init__(self, source: Document, target: Scene, decode: Callable[[bytes], str]) -> None:
        self.decode = decode
        self.source = source
        self.scene = target
        self.materials: dict[tuple[Any, ...], int] = {}
        self.images: dict[str, int] = {}
        self.without_normals: list[str] = []
        self.inside_out: list[str] = []
        self.infinite: list[str] = []
        self.painted_twice: list[str] = []

    def warn(self) -> None:
        warnings = self.scene.warnings
        for names, message in (
            (self.without_normals, "no normals; Blender makes them. Early converters wrote such files, some of them mirrored."),
            (self.inside_out, "the faces look the other way than their normals; both were kept."),
            (self.infinite, "there are numbers that are not finite; they became 0."),
            (self.painted_twice, "the engine shows the vertex colours instead of the entity's; here they are multiplied."),
        ):
            if names:
                warnings.append(f"Mesh {', '.join(names[:4])}{' and others' if len(names) > 4 else ''}: {message}")

    def add(self, index: int, name: str) -> int:
        """The mesh of an entity in the entity's own space, one more in the scene."""
        source = self.source.entities[index].mesh
        assert source is not None
        quoted = f'"{name}"'
        uv, normals, positions = (self.floats(source.vertices[key], quoted) for key in ("uv", "normal", "position"))
        mesh = scene.Mesh(name, axes.vectors_from_file(positions), self.corners(source))
        mesh.normals = self.normals(mesh, axes.vectors_from_file(normals), quoted)
        if uv.any():
            mesh.uvs.append(Layer(scene.uv_name(0), axes.flip_v(uv)))
        if source.has_colors:
            data = np.full((len(source.colors), 4), 255, np.uint8)
            data[:, :3] = source.colors
            mesh.colors.append(Layer(scene.COLOR_NAME, data))
            if source.color[:3] != (255, 255, 255):
                self.painted_twice.append(quoted)
        mesh.materials = [self.material(source, name)]
        self.scene.meshes.append(mesh)
        return len(self.scene.meshes) - 1

    def floats(self, values: Array, name: str) -> Floats:
        rows = values.astype(np.float32)
        if values.dtype.itemsize == 2:
            rows[np.abs(rows) < SMALLEST_HALF] = 0
        bad = ~np.isfinite(rows)
        if bad.any():
            rows[bad] = 0
            if name not in self.infinite:
                self.infinite.append(name)
        return rows

    def corners(self, source: document.Mesh) -> Ints:
        return source.triangles[(source.triangles < len(source.vertices)).all(1)].astype(np.int32).reshape(-1)

    def normals(self, mesh: scene.Mesh, given: Floats, name: str) -> Layer | None:
        length = np.sqrt(np.einsum("ij,ij->i", given, given))
        lost = length < 1e-6
        if lost.all():
            self.without_normals.append(name)
            return None
        unit = given / np.where(lost, 1, length)[:, None]
        if lost.any():
            unit[lost] = surfaces.smooth_normals(mesh.positions, mesh.corners)[lost]
        some = mesh.corners.reshape(-1, 3)[:: 1 + mesh.face_count // ENOUGH_FACES]
        points = mesh.positions[some]
        faces = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        agreement = np.sum(faces * unit[some].sum(1), 1)
        if (agreement < 0).sum() > (agreement > 0).sum():
            self.inside_out.append(name)
        return Layer("normals", unit)

    # ----------------------------------------------------------------------------------------------------- materials

    def material(self, source: document.Mesh, name: str) -> int:
        """Entities that look the same share one."""
        key = (source.texture, source.color[:3], float(source.alpha), source.fx, source.has_colors)
        if key not in self.materials:
            texture = self.decode(source.texture)
            self.materials[key] = len(self.scene.materials)
            self.scene.materials.append(self.new_material(source, texture, name))
        return self.materials[key]

    def new_material(self, source: document.Mesh, texture: str, name: str) -> Material:
        blue, green, red, _ = source.color
        alpha = float(np.clip(source.alpha, 0, 1)) if np.isfinite(source.alpha) else 1.0
        fx = source.fx
        material = Material(base_name(texture).rsplit(".", 1)[0] or name if texture else name)
        material.color = scene.floats(red / 255, green / 255, blue / 255, alpha)
        material.vertex_colors = source.has_colors
        material.full_bright = bool(fx & document.FX_FULL_BRIGHT)
        material.flat = bool(fx & document.FX_FLAT)
        material.double_sided = bool(fx & document.FX_NO_CULL)
        if fx & document.FX_ADD:
            material.blend = "ADD"
        elif fx & document.FX_MULTIPLY:
            material.blend = "MULTIPLY"
        elif alpha < 1:
            material.blend = "ALPHA"
        if texture:
            material.layers.append(TextureLayer(self.image(texture)))
        if fx:
            material.settings = {"bo3d": {"fx": fx}}
        return material

    def image(self, texture: str) -> int:
        if texture not in self.images:
            self.images[texture] = len(self.scene.images)
            self.scene.images.append(Image(texture))
        return self.images[texture]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A small picture of a model, for reports and assets: triangles with their textures through a depth buffer, in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..scene import Image, Material, Mesh, Scene
from .decode import FilePicture, PictureError
from .search import Finder

SIZE = 128  # pixels of a side
SAMPLES = 2  # rendered this many times as large, and averaged
MARGIN = 0.05  # part of the picture that stays free on every side
TEXTURE = 256  # pixels of a side that a texture is reduced to
CANDIDATES = 1 << 20  # pixels that may be in triangles, looked at in one go
LIGHT = np.array([-0.4, 0.5, 0.77], np.float32)  # right, up, towards the eye
AMBIENT = 0.35

Array = npt.NDArray[Any]


def render(scene: Scene, folder: Path, texture_folders: Sequence[Path] = (), side: int = SIZE) -> npt.NDArray[np.uint8] | None:
    """RGBA bytes, bottom row first; None where there is nothing to see."""
    triangles = _triangles(scene)
    if triangles is None:
        return None
    size = side * SAMPLES
    points, normals = _view(triangles.points, size)
    light = AMBIENT + (1 - AMBIENT) * np.abs(normals @ LIGHT / np.linalg.norm(LIGHT))
    painter = _Painter(scene, triangles, light, _textures(scene, folder, texture_folders))
    picture = np.zeros((size * size, 4), np.float32)
    depth = np.full(size * size, -np.inf, np.float32)
    for first, last in _chunks(points, size):
        _draw(points[first:last], first, size, painter, picture, depth)
    picture = picture.reshape(side, SAMPLES, side, SAMPLES, 4)
    weight = picture[..., 3].sum((1, 3))
    color = (picture[..., :3] * picture[..., 3:]).sum((1, 3)) / np.maximum(weight, 1e-6)[..., None]
    rgba = np.concatenate([color, weight[..., None] / SAMPLES**2], axis=-1)
    return np.asarray(np.clip(rgba, 0, 1) * 255 + 0.5, np.uint8)


# ----------------------------------------------------------------------------------------------------------- triangles


@dataclass
class Triangles:
    points: Array  # (t, 3, 3) in the scene
    uvs: Array  # (t, 3, 2)
    colors: Array  # (t, 3, 4)
    materials: Array  # (t,) index in the scene, or -1


def _triangles(scene: Scene) -> Triangles | None:
    """Everything that is shown, as triangles in the space of the scene."""
    parts = []
    for node, matrix in zip(scene.nodes, scene.global_matrices(), strict=True):
        if node.mesh >= 0 and not node.hidden:
            part = _of_mesh(scene.meshes[node.mesh], node.materials)
            part.points = part.points @ matrix[:3, :3].T + matrix[:3, 3]
            keep = np.isfinite(part.points).all((1, 2)) & np.isfinite(part.uvs).all((1, 2))
            parts.append(Triangles(part.points[keep], part.uvs[keep], part.colors[keep], part.materials[keep]))
    if not sum(len(part.points) for part in parts):
        return None
    return Triangles(*(np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])))


def _of_mesh(mesh: Mesh, materials: list[int] | None) -> Triangles:
    starts = np.asarray(mesh.starts)
    counts = np.diff(np.append(starts, len(mesh.corners))) - 2  # triangles of each face, as a fan
    counts = np.maximum(counts, 0)
    faces = np.repeat(np.arange(len(starts)), counts)
    number = np.arange(len(faces)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = starts[faces]
    corners = np.stack([first, first + number + 1, first + number + 2], axis=1)
    vertices = mesh.corners[corners]
    slots = np.append(np.asarray(mesh.materials if materials is None else materials, np.int32), -1)
    slot = np.zeros(len(starts), np.int32) if mesh.face_materials is None else mesh.face_materials
    chosen = slots[np.clip(slot, 0, len(slots) - 1)][faces]
    uvs = _layer(mesh.uvs, corners, vertices, faces, np.zeros((*corners.shape, 2), np.float32))
    colors = _layer(mesh.colors, corners, vertices, faces, np.ones((*corners.shape, 4), np.float32))
    return Triangles(mesh.positions[vertices].astype(np.float32), uvs, colors, chosen)


def _layer(layers: Sequence[Any], corners: Array, vertices: Array, faces: Array, default: Array) -> Array:
    if not layers:
        return default
    layer = layers[0]
    data = layer.data.astype(np.float32) / (255 if layer.data.dtype == np.uint8 else 1)
    if layer.domain == "FACE":
        return np.repeat(data[faces][:, None], 3, axis=1)
    return np.asarray(data[corners if layer.domain == "CORNER" else vertices])


def _view(points: Array, size: int) -> tuple[Array, Array]:
    """Points in pixels, with their depth, and the normals of the triangles, as seen from the front, right and above."""
    yaw, pitch = np.radians(35), np.radians(20)
    right = np.array([np.cos(yaw), np.sin(yaw), 0])
    eye = np.array([np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), np.sin(pitch)])
    seen = points @ np.stack([right, np.cross(eye, right), eye], axis=1).astype(np.float32)
    low, high = seen[..., :2].min((0, 1)), seen[..., :2].max((0, 1))
    factor = size * (1 - 2 * MARGIN) / max(float((high - low).max()), 1e-12)
    seen[..., :2] = (seen[..., :2] - (low + high) / 2) * factor + size / 2
    seen[..., 2] *= factor
    normals = np.cross(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0])
    return seen, normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)


# -------------------------------------------------------------------------------------------------------------- pixels


def _box(points: Array, size: int) -> tuple[Array, Array]:
    """The first pixel and the number of pixels, across and up, that each triangle can touch."""
    low = np.clip(np.floor(points[..., :2].min(1) + 0.5), 0, size).astype(np.int64)
    high = np.clip(np.ceil(points[..., :2].max(1) + 0.5), 0, size).astype(np.int64)
    return low, np.maximum(high - low, 0)


def _chunks(points: Array, size: int) -> list[tuple[int, int]]:
    """Ranges of triangles whose boxes have about as many pixels as may be looked at in one go."""
    total = np.cumsum(_box(points, size)[1].prod(1))
    edges = np.searchsorted(total, np.arange(CANDIDATES, total[-1] + CANDIDATES, CANDIDATES))
    ends = np.unique(np.append(np.minimum(edges + 1, len(points)), len(points)))
    return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))


def _draw(points: Array, first: int, size: int, painter: _Painter, picture: Array, depth: Array) -> None:
    low, extent = _box(points, size)
    counts = extent.prod(1)
    which = np.repeat(np.arange(len(points)), counts)
    number = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    x = low[which, 0] + number % extent[which, 0]
    y = low[which, 1] + number // extent[which, 0]
    weights = _weights(points, which, x + 0.5, y + 0.5)
    inside = (weights >= 0).all(1)
    which, weights, pixel = which[inside], weights[inside], (y * size + x)[inside]
    z = (points[which, :, 2] * weights).sum(1)
    near = z > depth[pixel]
    which, weights, pixel, z = which[near], weights[near], pixel[near], z[near]
    color, solid = painter.paint(which + first, weights)
    color, pixel, z = color[solid], pixel[solid], z[solid]
    order = np.lexsort((z, pixel))  # the nearest of each pixel comes last, and stays
    picture[pixel[order]] = color[order]
    depth[pixel[order]] = z[order]


def _weights(points: Array, which: Array, x: Array, y: Array) -> Array:
    """Barycentric weights of pixels in triangles; negative ones outside, and NaN in triangles without an area."""
    a, b, c = points[:, 0, :2], points[:, 1, :2], points[:, 2, :2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    second = ((x - a[which, 0]) * (c - a)[which, 1] - (y - a[which, 1]) * (c - a)[which, 0]) / area[which]
    third = ((b - a)[which, 0] * (y - a[which, 1]) - (b - a)[which, 1] * (x - a[which, 0])) / area[which]
    return np.stack([1 - second - third, second, third], axis=1)


class _Painter:
    """The colour of points in triangles."""

    def __init__(self, scene: Scene, triangles: Triangles, light: Array, textures: list[Array | None]) -> None:
        self._triangles = triangles
        self._light = light
        self._textures = textures
        self._materials = [*scene.materials, Material("")]  # the last one is for -1

    def paint(self, which: Array, weights: Array) -> tuple[Array, Array]:
        """RGBA with an alpha of one, and which of the points can be seen at all."""
        color = np.ones((len(which), 4), np.float32)
        solid = np.ones(len(which), np.bool_)
        light = self._light[which].copy()
        of = self._triangles.materials[which]
        for index in np.unique(of):
            here = np.flatnonzero(of == index)
            material = self._materials[index]
            rgba = self._color(material, which[here], weights[here])
            if material.blend in ("MASK", "ALPHA"):
                solid[here] = rgba[:, 3] >= (material.threshold if material.blend == "MASK" else 0.1)
            if material.full_bright:
                light[here] = 1
            color[here, :3] = rgba[:, :3]
        color[:, :3] *= light[:, None]
        return color, solid

    def _color(self, material: Material, which: Array, weights: Array) -> Array:
        rgba = np.repeat(np.asarray(material.color, np.float32)[None], len(which), axis=0)
        if material.vertex_colors:
            rgba *= (self._triangles.colors[which] * weights[..., None]).sum(1)
        layer = next((each for each in material.layers if each.use == "COLOR" and each.mapping == "UV"), None)
        texture = None if layer is None else self._textures[layer.image]
        if layer is None or texture is None:
            return rgba
        uv = (self._triangles.uvs[which] * weights[..., None]).sum(1) * layer.scale + layer.offset
        height, width = texture.shape[:2]
        x = np.nan_to_num(uv[:, 0] % 1 * width).astype(np.int64) % width
        y = np.nan_to_num(uv[:, 1] % 1 * height).astype(np.int64) % height
        return np.asarray(rgba * texture[y, x])


# ------------------------------------------------------------------------------------------------------------ textures


def _textures(scene: Scene, folder: Path, extra: Sequence[Path]) -> list[Array | None]:
    """The scene's images, bottom row first, values 0..1; None where there is none, or nothing to decode it with."""
    finder = Finder(folder, extra) if scene.images else None
    return [None if finder is None else _texture(image, finder) for image in scene.images]


def _texture(image: Image, finder: Finder) -> Array | None:
    path = None if image.pixels is not None or image.data else finder.find(image.names or (image.name,))
    try:
        pixels = FilePicture(image, path).pixels()
    except (OSError, PictureError):
        return None
    if pixels is None or not pixels.size:
        return None
    step = max(1, max(pixels.shape[:2]) // TEXTURE)
    return pixels[::step, ::step].astype(np.float32) / 255

# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the scene to meshes of the file: a primitive for each material slot, with vertices of its own.

COLOR_0 is linear in the file, and the scene's colours are sRGB values: they are made linear, as Blender's exporter does. An
engine that multiplies sRGB values looks the same as a viewer that multiplies linear ones: sRGB is nearly a power, and a product
of powers is the power of the product. Viewers show COLOR_0 whatever the material says, so colours that the engine does not show
are kept as _COLOR_n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ....pictures.baking import Baked, light_of
from ....pictures.stages import layer_uvs
from ....scene import Floats, Ints, Layer, Material, Mesh, Scene, Skin, maths, surfaces
from .. import axes, extras
from ..document import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, LINES, POINTS, Json
from .buffers import Buffer
from .materials import Materials, Surface

Array = npt.NDArray[Any]

MOST_WEIGHTS = 4  # of a vertex, in nearly all viewers
TANGENT, SIGN = ".tangent", ".bitangent_sign"


class Meshes:
    def __init__(self, scene: Scene, buffer: Buffer, materials: Materials) -> None:
        self.scene = scene
        self.buffer = buffer
        self.materials = materials
        self.made: list[Json] = []
        self.known: dict[tuple[int, tuple[int, ...], bool], tuple[int, bool]] = {}
        self.lost_attributes: set[str] = set()

    def number(self, index: int, slots: tuple[int, ...], skinned: bool) -> tuple[int, bool]:
        """The number of a mesh with these materials, -1 where there is nothing in it; and whether some of its vertices have
        no bone."""
        key = (index, slots, skinned)
        if key not in self.known:
            mesh = self.scene.meshes[index]
            primitives = _Primitives(self, replace(mesh, materials=list(slots)), skinned)
            made: Json = {"name": mesh.name, "primitives": primitives.all()}
            extras.pack(made, mesh.settings)
            self.known[key] = (len(self.made) if made["primitives"] else -1, primitives.loose)
            if made["primitives"]:
                self.made.append(made)
        return self.known[key]


class _Primitives:
    """The primitives of one mesh."""

    def __init__(self, owner: Meshes, mesh: Mesh, skinned: bool) -> None:
        self.scene, self.buffer, self.materials = owner.scene, owner.buffer, owner.materials
        warnings = self.scene.warnings
        attributes = {layer.name for layer in mesh.attributes} - {TANGENT, SIGN}
        if attributes - owner.lost_attributes:
            owner.lost_attributes |= attributes
            warnings.append(f"Attributes have no place in glTF and were left out: {', '.join(sorted(attributes))}.")
        self.mesh = mesh = surfaces.triangulated(mesh)
        self.normals = _shading(mesh, self.scene) if len(mesh.corners) else None
        found = {layer.name: layer for layer in mesh.attributes}
        self.tangents = (found[TANGENT], found[SIGN]) if TANGENT in found and SIGN in found else None
        layers = [layer for layer in (self.normals, *(self.tangents or ())) if layer is not None]
        self.vertices = surfaces.engine_vertices(mesh, [*layers, *mesh.uvs, *mesh.colors])
        self.colors_of: dict[tuple[int, Any], Array] = {}  # by layer, and by what of them is shown
        self.weights: tuple[Array, Array] | None = None
        self.loose = False
        if skinned and mesh.skin is not None:
            self.set_weights(mesh.skin)

    def set_weights(self, skin: Skin) -> None:
        armature = self.scene.nodes[skin.node].armature
        bones = len(armature.bones) if armature else 0
        joints, weights, lost = joint_table(skin, len(self.mesh.positions), bones)
        self.loose = bool((joints == bones).any())
        self.weights = joints, weights
        if lost:
            self.scene.warnings.append(
                f'"{self.mesh.name}": {lost} vertices have more than {MOST_WEIGHTS} bones; the weakest were left out.'
            )

    def all(self) -> list[Json]:
        """Surfaces in the order of their slots. Vertices of no face are kept: a script may ask for them."""
        mesh, vertices = self.mesh, self.vertices
        slots = list(_slots(mesh, vertices.corners))
        surfaces_ = [slot for slot in slots if len(slot[1])]
        edges = np.zeros((0, 2), np.int32) if mesh.edges is None else mesh.edges
        free = np.ones(len(vertices.source), bool)
        free[vertices.corners] = False
        free[edges.reshape(-1)] = False
        made: list[Json] = []
        for material, corners in slots:
            if not len(corners):
                self.materials.skip()
                continue
            last = len(made) == len(surfaces_) - 1
            whole = len(surfaces_) == 1 and not len(edges)
            rows, local = (None, corners) if whole else _used(corners, len(free), free if last else None)
            made.append(self.primitive(material, rows, local))
        if len(edges):
            rows, local = _used(edges.reshape(-1), len(free), None if surfaces_ else free)
            made.append(self.primitive(-1, rows, local) | {"mode": LINES})
        elif not surfaces_ and len(mesh.positions):
            made.append(self.primitive(-1, None, None) | {"mode": POINTS})
        return made

    def primitive(self, material: int, rows: Ints | None, indices: Ints | None) -> Json:
        """rows None: all vertices."""
        surface = self.materials.surface(material, len(self.mesh.uvs))
        attributes = self.attributes(rows, surface)
        look = surface.look
        if look is not None and look.light and indices is not None:
            attributes |= lit(attributes, look, indices)
        made: Json = {"attributes": {name: self.add(name, values) for name, values in attributes.items()}}
        extras.pack(made, lit=look is not None and bool(look.light))
        if indices is not None:
            count = len(attributes["POSITION"])
            kind = "<u2" if count < 65535 else "<u4"  # the greatest number of a kind has a meaning of its own
            made["indices"] = self.buffer.own(indices.astype(kind).reshape(-1, 1), ELEMENT_ARRAY_BUFFER)
        if surface.number >= 0:
            made["material"] = surface.number
        return made

    def add(self, name: str, values: Array) -> int:
        normalized = values.dtype == "<u2" and not name.startswith("JOINTS")
        return self.buffer.own(values, ARRAY_BUFFER, bounds=name == "POSITION", normalized=normalized)

    def attributes(self, rows: Ints | None, surface: Surface) -> dict[str, Array]:
        found = dict(self.common)
        uvs = [*self.uvs]
        uvs += [np.zeros((len(self.vertices.source), 2), np.float32)] * (surface.uv_sets - len(uvs))
        uvs += [layer_uvs(layer, uvs[layer.uv]) for layer in surface.baked]
        for number, each in enumerate(uvs[len(self.uvs) :], len(self.uvs)):
            found[f"TEXCOORD_{number}"] = np.ascontiguousarray(axes.flip_v(each), "<f4")
        for number in range(len(self.mesh.colors)):
            shown = surface.material if number == 0 else None
            name = "COLOR_0" if shown is not None and (shown.vertex_colors or shown.vertex_alpha) else f"_COLOR_{number}"
            found[name] = self.colors(number, shown if name == "COLOR_0" else None)
        return found if rows is None else {name: values[rows] for name, values in found.items()}

    @cached_property
    def uvs(self) -> list[Floats]:
        return [np.ascontiguousarray(self.values(layer), "<f4") for layer in self.mesh.uvs]

    @cached_property
    def common(self) -> dict[str, Array]:
        """Of all vertices, what does not depend on the material. There may be thousands of surfaces: it is made once."""
        source = self.vertices.source
        found: dict[str, Array] = {"POSITION": np.ascontiguousarray(axes.vectors_to_file(self.mesh.positions[source]), "<f4")}
        if self.normals is not None:
            found["NORMAL"] = axes.vectors_to_file(_units(self.values(self.normals)))
        if self.tangents is not None:
            found["TANGENT"] = _tangents(*(self.values(layer) for layer in self.tangents))
        found |= {f"TEXCOORD_{number}": np.ascontiguousarray(axes.flip_v(each), "<f4") for number, each in enumerate(self.uvs)}
        if self.weights is not None:
            joints, weights = self.weights
            found |= {"JOINTS_0": joints[source], "WEIGHTS_0": weights[source]}
        return found

    def colors(self, number: int, material: Material | None) -> Array:
        look = material and (material.vertex_colors, material.vertex_alpha, material.blend == "OPAQUE")
        if (number, look) not in self.colors_of:
            self.colors_of[number, look] = colors_to_file(self.values(self.mesh.colors[number]), material)
        return self.colors_of[number, look]

    def values(self, layer: Layer) -> Array:
        """A vertex of no corner has no value of a layer that is by corner: it gets zero."""
        values = self.vertices.values(layer)
        if layer.domain == "CORNER":
            nowhere = self.vertices.corner < 0
            if nowhere.any():
                values = np.where(nowhere.reshape(-1, *[1] * (values.ndim - 1)), np.zeros((), values.dtype), values)
        return values


def _slots(mesh: Mesh, corners: Ints) -> Iterator[tuple[int, Ints]]:
    """The corners of the triangles of each material slot, in the order of the slots; there may be none."""
    slots = mesh.materials or [-1]
    if not len(corners):
        return
    if mesh.face_materials is None or len(slots) == 1:
        yield slots[0], corners
        return
    used = np.clip(mesh.face_materials, 0, len(slots) - 1)
    for slot, material in enumerate(slots):
        yield material, corners.reshape(-1, 3)[used == slot].reshape(-1)


def _used(corners: Ints, count: int, also: npt.NDArray[np.bool_] | None) -> tuple[Ints, Ints]:
    """The vertices that are used, and the corners among them."""
    used = np.zeros(count, bool) if also is None else also.copy()
    used[corners] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    return np.flatnonzero(used).astype(np.int32), number[corners]


# --------------------------------------------------------------------------------------------------------------- values


def _units(values: Array) -> Floats:
    return maths.normalized(np.ascontiguousarray(values, "<f4"), (0, 0, 1))


def _tangents(tangents: Array, signs: Array) -> Floats:
    sign = np.where(signs.reshape(-1, 1) < 0, -1, 1)
    unit = maths.normalized(np.ascontiguousarray(tangents, "<f4"), (1, 0, 0))
    return np.ascontiguousarray(np.concatenate([axes.vectors_to_file(unit), sign], 1), "<f4")


def _shading(mesh: Mesh, scene: Scene) -> Layer:
    """The normals that are shown: those of the faces themselves where faces are flat."""
    flat = np.zeros(mesh.face_count, bool) if mesh.smooth is None else ~mesh.smooth
    faceted = [0 <= index < len(scene.materials) and scene.materials[index].flat for index in mesh.materials or [-1]]
    if any(faceted):
        slots = np.zeros(mesh.face_count, np.int32) if mesh.face_materials is None else mesh.face_materials
        flat = flat | np.array(faceted)[np.clip(slots, 0, len(faceted) - 1)]
    normals = mesh.normals
    if normals is None:
        normals = Layer("normal", surfaces.smooth_normals(mesh.positions, mesh.corners))
    if not flat.any():
        return normals
    points = mesh.positions[mesh.corners].reshape(-1, 3, 3).astype(np.float64)
    faces = maths.normalized(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]))
    shown = np.where(np.repeat(flat, 3)[:, None], np.repeat(faces, 3, 0), surfaces.corner_values(mesh, normals))
    return Layer("normal", shown.astype(np.float32), "CORNER")


def colors_to_file(values: Array, material: Material | None) -> Array:
    """Linear, with as much precision as gives the same sRGB values back. Without a material, all of them."""
    exact = values.dtype != np.uint8
    rgba = np.clip(values.astype(np.float32) / (1 if exact else 255), 0, 1)
    rgba[:, :3] = maths.srgb_to_linear(rgba[:, :3])
    if material is not None and not material.vertex_colors:
        rgba[:, :3] = 1
    if material is not None and not material.vertex_alpha and material.blend != "OPAQUE":
        rgba[:, 3] = 1
    return np.ascontiguousarray(rgba, "<f4") if exact else np.rint(rgba * 65535).astype("<u2")


def lit(attributes: dict[str, Array], look: Baked, indices: Ints) -> dict[str, Array]:
    """COLOR_0 with the light in it. The colours themselves, where there are any, are kept for the way back."""
    uvs = [axes.flip_v(values) for name, values in attributes.items() if name.startswith("TEXCOORD_")]
    light = maths.srgb_to_linear(light_of(look, uvs, indices))
    colors = attributes.get("COLOR_0")
    if colors is None:
        return {"COLOR_0": np.ascontiguousarray(np.c_[light, np.ones(len(light))], "<f4")}
    shown = colors.astype(np.float64) / (65535 if colors.dtype == "<u2" else 1)
    shown[:, :3] *= light
    return {"COLOR_0": np.ascontiguousarray(shown, "<f4"), "_COLOR_0": colors}


def joint_table(skin: Skin, count: int, bones: int) -> tuple[Array, Array, int]:
    """Joints and weights of each vertex, and how many vertices lost some. Vertices without any get the joint `bones`."""
    usable = (skin.vertices >= 0) & (skin.vertices < count) & (skin.bones >= 0) & (skin.bones < bones) & (skin.weights > 0)
    pairs = skin.vertices[usable].astype(np.int64) * max(bones, 1) + skin.bones[usable]
    keys, place = np.unique(pairs, return_inverse=True)
    summed = np.bincount(place.reshape(-1), skin.weights[usable], len(keys))
    vertices, owners = np.divmod(keys, max(bones, 1))
    vertices, owners, strong, lost = surfaces.strongest(
        vertices.astype(np.int32), owners.astype(np.int32), summed.astype(np.float64), MOST_WEIGHTS
    )
    starts = np.flatnonzero(np.diff(vertices, prepend=-1))
    rank = np.arange(len(vertices)) - np.repeat(starts, np.diff(np.append(starts, len(vertices))))
    joints = np.zeros((count, MOST_WEIGHTS), "<u1" if bones < 256 else "<u2")
    weights = np.zeros((count, MOST_WEIGHTS), "<f4")
    joints[vertices, rank] = owners
    weights[vertices, rank] = strong
    joints[weights == 0] = 0
    # Viewers do not sum them up: they are one to the last digit.
    weights[:, 0] = 1 - weights[:, 1:].sum(1, dtype=np.float64)
    without = np.ones(count, bool)
    without[vertices] = False
    joints[without, 0] = bones
    return joints, weights, lost

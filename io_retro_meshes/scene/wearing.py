# SPDX-License-Identifier: GPL-3.0-or-later
"""What materials ask of the meshes that wear them: which UV map, which colours, and where on the picture.

A format may have room for one UV map, or shows the first colours only. What a material shows then goes to where the format
looks for it: on the faces that wear this material, and on no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .model import Layer, Material, Mesh, Scene, TextureLayer
from .surfaces import corner_values

Array = npt.NDArray[Any]
Matrix = tuple[tuple[float, float, float], ...]
WHITE = np.ones(4, np.float32)


class Format(Protocol):
    """The traits that are asked for, as formats/format.py declares them."""

    @property
    def uv_maps(self) -> int: ...
    @property
    def colors_only(self) -> bool: ...
    @property
    def moves_textures(self) -> bool: ...
    @property
    def always_colored(self) -> bool: ...
    @property
    def colors_replace(self) -> bool: ...


@dataclass(frozen=True)
class Wanted:
    """A UV map, by its name or else its number, and where it is moved to."""

    name: str
    number: int
    matrix: Matrix | None = None

    def source(self, mesh: Mesh) -> int:
        names = [layer.name for layer in mesh.uvs]
        return names.index(self.name) if self.name in names else self.number


@dataclass
class Plan:
    """What the faces of one material get."""

    maps: list[Wanted] = field(default_factory=list)  # by their new numbers; none: as they are
    colors: str = "KEEP"  # or PAINT, WHITE
    tint: tuple[float, ...] = ()  # to multiply the colours with
    opaque: bool = False  # whatever their alpha says


def dress(scene: Scene, format: Format) -> None:
    """Brings UV maps and colours of all meshes to where the format has them; the materials then say so."""
    wearers = _wearers(scene)
    plans = {number: _plan(scene, number, meshes, format) for number, meshes in wearers.items()}
    bare = Plan(colors="WHITE" if format.always_colored else "KEEP")
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    taken: set[int] = set()
    for node, slots in _worn(scene):
        key = (node.mesh, slots)
        if key not in known:
            made = _dressed(scene.meshes[node.mesh], [plans.get(number, bare) for number in slots], scene.materials, slots)
            if node.mesh in taken and made is not scene.meshes[node.mesh]:
                scene.meshes.append(replace(made, materials=list(slots)))
                known[key] = len(scene.meshes) - 1
            else:
                known[key] = node.mesh
                if node.mesh not in taken:
                    scene.meshes[node.mesh] = made
            taken.add(node.mesh)
        node.mesh = known[key]
    for number, plan in plans.items():
        _settle(scene.materials[number], plan)


def _worn(scene: Scene) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Nodes with meshes, and the materials of their slots."""
    for node in scene.nodes:
        if node.mesh >= 0:
            yield node, tuple(scene.meshes[node.mesh].materials if node.materials is None else node.materials)


def _wearers(scene: Scene) -> dict[int, list[Mesh]]:
    found: dict[int, dict[int, Mesh]] = {}
    for node, slots in _worn(scene):
        for number in slots:
            if 0 <= number < len(scene.materials):
                found.setdefault(number, {})[node.mesh] = scene.meshes[node.mesh]
    return {number: list(meshes.values()) for number, meshes in found.items()}


# ---------------------------------------------------------------------------------------------------------------- plans


def _plan(scene: Scene, number: int, meshes: list[Mesh], format: Format) -> Plan:
    material = scene.materials[number]
    plan = Plan(_maps(scene, material, meshes, format))
    colored = material.vertex_colors or material.vertex_alpha
    if colored:
        missing = [mesh.name for mesh in meshes if mesh.colors and not _has(mesh.colors, material.color_name)]
        if missing:
            scene.warnings.append(
                f'The material "{material.name}" shows the colors "{material.color_name}", which "{missing[0]}" does not have: '
                "its first colors were exported"
            )
        moved = any(mesh.colors and mesh.colors[0].name != material.color_name for mesh in meshes) and material.color_name
        tinted = format.colors_replace and bool((material.color[:3] != 1).any()) and any(mesh.colors for mesh in meshes)
        plan.tint = tuple(material.color[:3].tolist()) if tinted else ()
        plan.opaque = not material.vertex_alpha and material.blend != "OPAQUE"
        if moved or tinted or plan.opaque or not material.vertex_colors:
            plan.colors = "PAINT"
    elif format.always_colored and not material.lacks_colors:
        plan.colors = "WHITE"
    return plan


def _has(layers: list[Layer], name: str) -> bool:
    return not name or any(layer.name == name for layer in layers)


def _maps(scene: Scene, material: Material, meshes: list[Mesh], format: Format) -> list[Wanted]:
    """The maps of its textures in the order of the colours first; none where the format finds them as they are."""
    layers = [layer for layer in material.layers if layer.mapping == "UV" and layer.image >= 0]
    layers = [layer for layer in layers if layer.use == "COLOR" or not format.colors_only]
    wanted = {id(layer): _wanted(layer, format) for layer in layers}
    natural = all(each.matrix is None and each.number < format.uv_maps for each in wanted.values())
    if natural and all(each.source(mesh) == each.number for mesh in meshes for each in wanted.values()):
        return []
    ordered = sorted(layers, key=lambda layer: layer.use != "COLOR")
    found = list(dict.fromkeys(wanted[id(layer)] for layer in ordered))
    kept = found[: format.uv_maps]
    for layer in layers:
        place = found.index(wanted[id(layer)])
        if place >= len(kept):
            scene.warnings.append(
                f'The material "{material.name}": the texture "{scene.images[layer.image].name}" lies on a UV map, or a part '
                f"of one, of its own. The format has {format.uv_maps} for a material: it was laid on the first"
            )
        layer.uv = place if place < len(kept) else 0
        if wanted[id(layer)].matrix is not None:
            layer.offset, layer.scale, layer.rotation, layer.matrix = (0.0, 0.0), (1.0, 1.0), 0.0, None
    return kept


def _wanted(layer: TextureLayer, format: Format) -> Wanted:
    moved = (layer.offset, layer.scale, layer.rotation) != ((0.0, 0.0), (1.0, 1.0), 0.0)
    if layer.matrix is None and (format.moves_textures or not moved):
        return Wanted(layer.map_name, layer.uv)
    return Wanted(layer.map_name, layer.uv, layer.matrix or matrix_of(layer))


def matrix_of(layer: TextureLayer) -> Matrix:
    """Its offset, scale and rotation as one matrix: it turns, and then scales."""
    cosine, sine = float(np.cos(layer.rotation)), float(np.sin(layer.rotation))
    (across, up), (x, y) = layer.scale, layer.offset
    return (across * cosine, -across * sine, x), (up * sine, up * cosine, y)


def _settle(material: Material, plan: Plan) -> None:
    """What went into the meshes is no longer the material's to say."""
    if plan.tint:
        material.color = np.append(np.ones(3), material.color[3:]).astype(np.float32)
    if plan.colors == "PAINT":
        material.vertex_colors = True
    material.color_name = ""
    for layer in material.layers:
        layer.map_name = ""


# --------------------------------------------------------------------------------------------------------------- meshes


def _dressed(mesh: Mesh, plans: list[Plan], materials: list[Material], slots: tuple[int, ...]) -> Mesh:
    """The mesh itself, where all is as it has to be."""
    if not len(mesh.corners) or not plans:
        return mesh
    faces = np.zeros(mesh.face_count, np.int32) if mesh.face_materials is None else np.clip(mesh.face_materials, 0, None)
    corner_slots = np.repeat(faces, np.diff(np.append(mesh.starts, len(mesh.corners))))
    used = [slot for slot in np.unique(faces).tolist() if slot < len(plans)]
    made = _with_maps(mesh, {slot: plans[slot].maps for slot in used if plans[slot].maps}, corner_slots)
    if made.colors and any(plans[slot].colors != "KEEP" for slot in used):
        if all(plans[slot].colors == "WHITE" for slot in used):
            return replace(made, colors=[])
        made = _with_colors(made, {slot: plans[slot] for slot in used}, corner_slots, materials, slots)
    return made


def _with_maps(mesh: Mesh, wanted: dict[int, list[Wanted]], corner_slots: Array) -> Mesh:
    if not wanted or not mesh.uvs:
        return mesh
    every = [np.asarray(corner_values(mesh, layer), np.float32) for layer in mesh.uvs]
    made = [values.copy() for values in every]
    names = [layer.name for layer in mesh.uvs]
    for slot, maps in wanted.items():
        corners = corner_slots == slot
        for place, each in enumerate(maps):
            values = every[min(each.source(mesh), len(every) - 1)][corners]
            if each.matrix is not None:
                matrix = np.array(each.matrix)
                values = values @ matrix[:, :2].T + matrix[:, 2]
            while place >= len(made):
                made.append(np.zeros_like(every[0]))
                names.append(f"{names[0]}.{len(made) - 1:03}")
            made[place][corners] = values
    return replace(mesh, uvs=[Layer(name, values, "CORNER") for name, values in zip(names, made, strict=True)])


def _with_colors(
    mesh: Mesh, plans: dict[int, Plan], corner_slots: Array, materials: list[Material], slots: tuple[int, ...]
) -> Mesh:
    every = {layer.name: np.asarray(corner_values(mesh, layer), np.float32) for layer in mesh.colors}
    first = mesh.colors[0]
    made = every[first.name].copy()
    for slot, plan in plans.items():
        corners = corner_slots == slot
        if plan.colors == "WHITE":
            made[corners] = WHITE
        elif plan.colors == "PAINT":
            material = materials[slots[slot]]
            values = every.get(material.color_name, every[first.name])[corners]
            if not material.vertex_colors:
                values[:, :3] = 1
            if plan.opaque:
                values[:, 3] = 1
            made[corners] = values * np.append(plan.tint, 1) if plan.tint else values
    return replace(mesh, colors=[Layer(first.name, made, "CORNER"), *mesh.colors[1:]])

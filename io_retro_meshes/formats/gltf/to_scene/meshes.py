# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the file to meshes of the scene. Primitives that share all their attributes share their vertices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import COLOR_NAME, Floats, Ints, Layer, Mesh, Scene, maths, uv_name
from ...errors import FormatError
from .. import axes, extras
from ..document import (
    DRACO,
    LINE_LOOP,
    LINE_STRIP,
    LINES,
    POINTS,
    TRIANGLE_FAN,
    TRIANGLES,
    Part,
)
from .accessors import Accessors
from .materials import Materials

Array = npt.NDArray[Any]

TANGENT, SIGN = ".tangent", ".bitangent_sign"
UP = np.array([0, 0, 1], np.float32)
MOST_SETS = 8  # of UVs, colours, or weights
# Vertices and corners that a file may make of each of its bytes, and of none: one mesh may be shown many times.
A_BYTE, ANY = 16, 4_000_000


@dataclass
class Block:
    """Vertices with the same attributes."""

    count: int
    positions: Floats
    normals: Floats | None
    tangents: Floats | None
    uvs: list[Floats]
    colors: list[Floats]
    shows_colors: bool  # COLOR_0, and not one that is only kept
    sees_through: bool  # ... and it has alpha
    joints: list[npt.NDArray[np.int64]]
    weights: list[Floats]


@dataclass
class Made:
    """A mesh of the scene, and the weights of its vertices by the joints of a skin that is yet to be chosen."""

    mesh: Mesh
    vertices: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    joints: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: Floats = field(default_factory=lambda: np.zeros(0, np.float32))

    @property
    def has_weights(self) -> bool:
        return len(self.weights) > 0


class Meshes:
    def __init__(self, root: Part, scene: Scene, accessors: Accessors, materials: Materials) -> None:
        self.scene = scene
        self.accessors = accessors
        self.materials = materials
        self.parts = root.parts("meshes")
        self.left = ANY + A_BYTE * accessors.most_rows
        self.bad_faces = 0
        self.made: dict[int, Made] = {}

    def get(self, index: int) -> Made:
        if index not in self.made:
            self.made[index] = self.make(self.parts[index])
        return self.made[index]

    def spend(self, amount: int) -> None:
        """A small file can ask for the same vertices again and again."""
        self.left -= amount
        if self.left < 0:
            raise FormatError("the file uses its vertices so often that there would be too many of them", field="meshes")

    # ------------------------------------------------------------------------------------------------------------ mesh

    def make(self, part: Part) -> Made:
        blocks: dict[str, tuple[int, Block]] = {}
        corners: list[Ints] = []
        edges: list[Ints] = []
        uses: list[tuple[int, Block, int]] = []  # material, block, faces
        total = 0
        for primitive in part.parts("primitives"):
            key = repr(sorted(primitive.part("attributes").values.items(), key=str))
            if key not in blocks:
                block = self.block(primitive)
                if block is None:
                    continue
                blocks[key] = (total, block)
                total += block.count
                self.spend(block.count)
            first, block = blocks[key]
            faces, lines = self.faces(primitive, block.count)
            edges.append(lines + np.int32(first))
            if len(faces):
                corners.append((faces + np.int32(first)).reshape(-1))
                material = primitive.index("material", len(self.materials.parts))
                uses.append((material, block, len(faces)))
        found = [block for _, block in blocks.values()]
        mesh = Mesh(part.text("name") or "Mesh", _joined([block.positions for block in found], (0, 3)), _joined(corners, (0,)))
        lines = _joined(edges, (0, 2))
        mesh.edges = lines if len(lines) else None
        mesh.settings = extras.settings(part)
        _set_layers(mesh, found, uses)
        self.set_materials(mesh, uses)
        return _with_weights(mesh, found)

    def block(self, primitive: Part) -> Block | None:
        """The vertices of a primitive; None where it has none."""
        if "targets" in primitive and primitive.values["targets"]:
            self.scene.warnings.append(f"{primitive.place} has shapes to morph into, which were left out.")
        attributes = primitive.part("attributes")
        count = len(self.accessors.parts)
        places = attributes.index("POSITION", count)
        if primitive.extension(DRACO) is not None and places >= 0 and "bufferView" not in self.accessors.parts[places]:
            raise primitive.bad("extensions", "meshes that Draco has compressed cannot be read; save it without compression")

        def values(name: str, *widths: int) -> Floats | None:
            number = attributes.index(name, count)
            return None if number < 0 else self.accessors.floats(number, *widths)

        positions = values("POSITION", 3)
        if positions is None:
            self.scene.warnings.append(f"{primitive.place} has no positions; it was left out.")
            return None
        lit = extras.unpack(primitive).values.get("lit") is True  # COLOR_0 has a light map in it
        shown = None if lit else values("COLOR_0", 3, 4)
        kept = [shown if shown is not None else values("_COLOR_0", 3, 4)]
        kept += [values(f"{name}_{number}", 3, 4) for number in range(1, MOST_SETS) for name in ("COLOR", "_COLOR")]
        made = Block(
            len(positions),
            axes.vectors_to_scene(positions),
            _in_scene(values("NORMAL", 3)),
            values("TANGENT", 4),
            [axes.flip_v(uv) for uv in (values(f"TEXCOORD_{number}", 2) for number in range(MOST_SETS)) if uv is not None],
            [_rgba(color) for color in kept if color is not None],
            shown is not None,
            shown is not None and shown.shape[1] == 4,
            [],
            [],
        )
        for number in range(MOST_SETS):
            weights, joints = values(f"WEIGHTS_{number}", 4), attributes.index(f"JOINTS_{number}", count)
            if weights is not None and joints >= 0:
                made.joints.append(self.accessors.integers(joints, 4))
                made.weights.append(weights)
        rows = [made.normals, made.tangents, *made.uvs, *made.colors, *made.joints, *made.weights]
        if any(each is not None and len(each) != made.count for each in rows):
            raise primitive.bad("attributes", "not all of them have the same number of rows")
        return made

    def faces(self, primitive: Part, count: int) -> tuple[Ints, Ints]:
        """Triangles and lines, by the number of their vertices in the block."""
        mode = primitive.integer("mode", TRIANGLES)
        if mode > TRIANGLE_FAN:
            raise primitive.bad("mode", f"{mode} is none")
        number = primitive.index("indices", len(self.accessors.parts))
        indices = self.accessors.indices(number) if number >= 0 else np.arange(count)
        self.spend(len(indices))
        lines, triangles = np.zeros((0, 2), np.int64), np.zeros((0, 3), np.int64)
        if mode in (LINES, LINE_STRIP, LINE_LOOP):
            lines = _lines(indices, mode)
        elif mode != POINTS:
            triangles = _triangles(indices, mode)
        found = []
        for rows in (triangles, lines):
            good = (rows < count).all(1)
            self.bad_faces += int(np.count_nonzero(~good))
            found.append((rows if good.all() else rows[good]).astype(np.int32))
        if not (triangles < count).all() or not (lines < count).all():
            self.scene.warnings.append(f"{primitive.place} has faces of vertices that are not there; they were left out.")
        return found[0], found[1]

    def set_materials(self, mesh: Mesh, uses: list[tuple[int, Block, int]]) -> None:
        """A slot for each material, in the order of the primitives."""
        numbers = [self.materials.number(material, block.shows_colors, block.sees_through) for material, block, _ in uses]
        slots = {number: slot for slot, number in enumerate(dict.fromkeys(numbers))}
        if list(slots) in ([], [-1]):
            return
        mesh.materials = list(slots)
        mesh.face_materials = np.repeat(
            np.array([slots[number] for number in numbers], np.int32), [count for _, _, count in uses]
        )


# --------------------------------------------------------------------------------------------------------------- faces


def _triangles(indices: Array, mode: int) -> Array:
    if mode == TRIANGLES:
        return indices[: len(indices) // 3 * 3].reshape(-1, 3)
    if len(indices) < 3:
        return np.zeros((0, 3), np.int64)
    if mode == TRIANGLE_FAN:
        return np.stack([np.broadcast_to(indices[0], len(indices) - 2), indices[1:-1], indices[2:]], 1)
    rows = np.stack([indices[:-2], indices[1:-1], indices[2:]], 1)
    rows[1::2] = rows[1::2][:, [1, 0, 2]]  # every other one of a strip is turned round
    flat = (rows[:, 0] == rows[:, 1]) | (rows[:, 1] == rows[:, 2]) | (rows[:, 0] == rows[:, 2])
    return rows[~flat]


def _lines(indices: Array, mode: int) -> Array:
    if mode == LINES:
        return indices[: len(indices) // 2 * 2].reshape(-1, 2)
    if len(indices) < 2:
        return np.zeros((0, 2), np.int64)
    rows = np.stack([indices[:-1], indices[1:]], 1)
    return np.concatenate([rows, [[indices[-1], indices[0]]]]) if mode == LINE_LOOP else rows


# --------------------------------------------------------------------------------------------------------------- layers


def _in_scene(vectors: Floats | None) -> Floats | None:
    return None if vectors is None else maths.normalized(axes.vectors_to_scene(vectors), (0, 0, 1))


def _rgba(linear: Floats) -> Floats:
    """sRGB values, with an alpha."""
    found = np.ones((len(linear), 4), np.float32)
    found[:, : linear.shape[1]] = np.clip(linear, 0, 1)
    found[:, :3] = maths.linear_to_srgb(found[:, :3])
    return found


def _joined(parts: list[Any], empty: tuple[int, ...]) -> Any:
    kind = np.float32 if empty == (0, 3) else np.int32
    return np.ascontiguousarray(np.concatenate([np.zeros(empty, kind), *parts]).astype(kind, copy=False))


def _column(blocks: list[Block], name: str, number: int, width: int, fill: float) -> Floats:
    """One layer over all blocks; what one lacks is filled."""
    parts = []
    for block in blocks:
        layers = getattr(block, name)
        parts.append(layers[number] if number < len(layers) else np.full((block.count, width), fill, np.float32))
    return np.ascontiguousarray(np.concatenate(parts))


def _set_layers(mesh: Mesh, blocks: list[Block], uses: list[tuple[int, Block, int]]) -> None:
    if not blocks:
        return
    smooth = [block.normals is not None for _, block, _ in uses]
    if any(block.normals is not None for block in blocks):
        parts = [np.tile(UP, (b.count, 1)) if b.normals is None else b.normals for b in blocks]
        mesh.normals = Layer("normal", np.ascontiguousarray(np.concatenate(parts)))
    if not all(smooth):  # without normals every face is flat
        mesh.smooth = np.repeat(np.array(smooth), [count for _, _, count in uses])
    sets = max(len(block.uvs) for block in blocks)
    mesh.uvs = [Layer(uv_name(number), _column(blocks, "uvs", number, 2, 0)) for number in range(sets)]
    for number in range(max(len(block.colors) for block in blocks)):
        name = COLOR_NAME if number == 0 else f"{COLOR_NAME}.{number:03}"
        mesh.colors.append(Layer(name, _column(blocks, "colors", number, 4, 1)))
    if all(block.tangents is not None for block in blocks):
        tangents = np.concatenate([block.tangents for block in blocks if block.tangents is not None])[mesh.corners]
        turned = maths.normalized(axes.vectors_to_scene(tangents[:, :3]))
        mesh.attributes = [Layer(TANGENT, turned, "CORNER"), Layer(SIGN, np.sign(tangents[:, 3]), "CORNER")]


def _with_weights(mesh: Mesh, blocks: list[Block]) -> Made:
    made = Made(mesh)
    vertices: list[Array] = []
    joints: list[Array] = []
    weights: list[Array] = []
    first = 0
    for block in blocks:
        for owners, values in zip(block.joints, block.weights, strict=True):
            row, column = np.nonzero(values > 0)
            vertices.append(row + first)
            joints.append(owners[row, column])
            weights.append(values[row, column])
        first += block.count
    if vertices:
        made.vertices = np.concatenate(vertices).astype(np.int32)
        made.joints = np.concatenate(joints)
        made.weights = np.concatenate(weights)
    return made

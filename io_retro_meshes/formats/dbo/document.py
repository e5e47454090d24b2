# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .dbo file holds: records of coded blocks.

A record is a run of blocks that a terminator (code 0, size 0) ends; a block holds a value, a record, or a table of
records. Records keep their blocks in the file's order with the sizes that the file declares, true or not; the classes
below give the known codes their names and types. A name without a block reads as the engine's default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .fields import Data, Elements, Flag, Floats, Inline, Number, Raw, Record, Sub, Table, Text, VertexData

MAGIC = b"MAGICDBO"
VERSION = 1062  # what the engine writes; 1 comes from older tools, 2000 from its successor

IDENTITY = np.eye(4, dtype=np.float32)

# Diffuse, ambient, specular and emissive RGBA, and the specular power.
MATERIAL = np.dtype(
    [("diffuse", "<f4", 4), ("ambient", "<f4", 4), ("specular", "<f4", 4), ("emissive", "<f4", 4), ("power", "<f4")]
)

# One element of a vertex declaration; a stream of 0xFF ends the list.
ELEMENT = np.dtype([("stream", "<u2"), ("offset", "<u2"), ("type", "u1"), ("method", "u1"), ("usage", "u1"), ("index", "u1")])
ELEMENT_COUNT = 65  # always written in full

VECTOR_KEY = np.dtype([("time", "<u4"), ("value", "<f4", 3), ("interpolation", "<f4", 3)])
ROTATION_KEY = np.dtype([("time", "<u4"), ("value", "<f4", 4)])  # x, y, z, w
MATRIX_KEY = np.dtype([("time", "<u4"), ("value", "<f4", (4, 4)), ("interpolation", "<f4", (4, 4))])

# Primitive types (117).
POINTS, LINES, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN = range(1, 7)

# Animation-set types (204).
ALL, CLIP = 123, 124


class Bone(Record):
    name = Text(301)  # of the frame that moves it
    influences = Number(302)
    vertices = Data(303, "<u4", "influences")
    weights = Data(304, "<f4", "influences")
    matrix = Floats(305, (4, 4), IDENTITY)  # inverse bind matrix


class Texture(Record):
    name = Text(141)
    stage = Number(142)
    blend_mode = Number(143, default=4)
    argument_1 = Number(144, default=2)
    argument_2 = Number(145)
    address_u = Number(146, default=1)
    address_v = Number(147, default=1)
    mag = Number(148, default=2)
    min = Number(149, default=2)
    mip = Number(150, default=2)
    tc_mode = Number(151)  # 0: UVs of the stage, 1 sphere, 2 cube, 3 the first UVs, 10 and up: UVs of that number
    primitive_start = Number(152)
    primitive_count = Number(153)
    channel_mask = Flag(154)


class MultiMaterial(Record):
    name = Text(161)  # of the texture that the part wears in stage 0
    material = Raw(162, MATERIAL.itemsize)
    start = Number(163)  # counts indices
    count = Number(164)  # counts indices
    polygons = Number(165)


class Mesh(Record):
    fvf = Number(111)
    stride = Number(112)
    vertex_count = Number(113)
    index_count = Number(114)
    declaration = Elements(120, ELEMENT, ELEMENT_COUNT)
    sub_frames = Inline(138, lambda: Frame)
    vertices = VertexData(115)
    indices = Data(116, "<u2", "index_count")
    primitive_type = Number(117, default=TRIANGLES)
    draw_vertices = Number(118)
    draw_primitives = Number(119)
    bone_count = Number(121)
    bones = Table(122, lambda: Bone, "bone_count")
    use_material = Flag(125)
    material = Raw(126, MATERIAL.itemsize)
    texture_count = Number(127)
    textures = Table(128, lambda: Texture, "texture_count")
    use_multi_material = Flag(123)
    multi_material_count = Number(124)
    multi_materials = Table(139, lambda: MultiMaterial, "multi_material_count")
    wireframe = Flag(129)
    light = Flag(130, default=True)
    cull = Flag(131, default=True)
    fog = Flag(132, default=True)
    ambient = Flag(133, default=True)
    transparency = Flag(134)
    ghost = Flag(135)
    ghost_mode = Number(136, default=2)
    visible = Flag(140, default=True)
    linked = Flag(137)
    effect = Text(154)
    arbitrary_value = Number(155)
    z_bias = Flag(156)
    z_bias_slope = Number(157, "<f")
    z_bias_depth = Number(158, "<f")
    z_read = Flag(159, default=True)
    z_write = Flag(160, default=True)
    alpha_test = Number(166)
    specular_override = Number(167, "<f", default=1)
    # Levels of detail: counts and indices of coarser meshes over the same vertices.
    lod_500 = Raw(500)
    lod_501 = Raw(501)
    lod_502 = Raw(502)
    lod_503 = Raw(503)
    lod_504 = Raw(504)
    lod_505 = Raw(505)


class Frame(Record):
    name = Text(101)
    matrix = Floats(102, (4, 4), IDENTITY)
    mesh = Sub(103, lambda: Mesh)
    child = Sub(104, lambda: Frame)
    sibling = Sub(105, lambda: Frame)
    offset = Floats(106, (3,), np.zeros(3, np.float32))
    rotation = Floats(107, (3,), np.zeros(3, np.float32))  # degrees
    scale = Floats(108, (3,), np.ones(3, np.float32))


class Animation(Record):
    name = Text(211)  # of the frame it moves
    position_count = Number(212)
    positions = Data(213, VECTOR_KEY, "position_count")
    rotation_count = Number(214)
    rotations = Data(215, ROTATION_KEY, "rotation_count")
    scale_count = Number(216)
    scales = Data(217, VECTOR_KEY, "scale_count")
    matrix_count = Number(218)
    matrices = Data(219, MATRIX_KEY, "matrix_count")
    next = Sub(220, lambda: Animation)
    # Bones of .mdl files, by size.
    bone_type = Raw(400)
    bone_offset_count = Raw(401)
    bone_offsets = Raw(402)
    bone_frames_a = Raw(403)
    bone_frames_b = Raw(404)
    bone_matrices = Raw(405)


class AnimationSet(Record):
    name = Text(201)
    length = Number(202)
    animation = Sub(203, lambda: Animation)
    type = Number(204, default=ALL)
    next = Sub(205, lambda: AnimationSet)
    start = Number(206, "<f")
    finish = Number(207, "<f")
    footfall_1 = Number(208)
    footfall_2 = Number(209)
    footfall_3 = Number(210)


class Root(Record):
    frame = Sub(1, lambda: Frame)
    animation_set = Sub(2, lambda: AnimationSet)
    custom_data = Raw(406)


@dataclass(eq=False)
class Document:
    root: Root
    magic: bytes = MAGIC  # in whatever case
    version: int = VERSION
    reserved: tuple[int, int] = (0, 0)
    tail: bytes = b""  # what follows the last terminator
    warnings: list[str] = field(default_factory=list)
    entity: dict[str, str] | None = None  # of an .fpe: its values by name. It has no frames
    text: bytes = b""  # ... and the whole of it

    @property
    def custom_data(self) -> bytes:
        """The program's own data; since version 2 it has a count before it, within the block."""
        data = self.root.custom_data
        return data if self.version <= 1 else data[4:]

    @custom_data.setter
    def custom_data(self, data: bytes) -> None:
        self.root.custom_data = data if self.version <= 1 else len(data).to_bytes(4, "little") + data

    def frames(self) -> list[tuple[Frame, int]]:
        """Every frame and the number of its parent (or -1), in the engine's order: a frame, its children, its siblings.

        The sub-frames of meshes come last: the engine does not look for names among them.
        """
        found: list[tuple[Frame, int]] = []
        stack: list[tuple[Frame | None, int]] = [(self.root.frame, -1)]
        later: list[tuple[Frame | None, int]] = []
        while stack or later:
            frame, parent = stack.pop() if stack else later.pop()
            if frame is None:
                continue
            number = len(found)
            found.append((frame, parent))
            stack.append((frame.sibling, parent))
            stack.append((frame.child, number))
            if frame.mesh is not None:
                later.extend((sub_frame, number) for sub_frame in reversed(frame.mesh.sub_frames))
        return found

    def animation_sets(self) -> list[AnimationSet]:
        return chain(self.root.animation_set)


def chain(first: Any) -> list[Any]:
    """A linked list of records that has a `next`."""
    found = []
    while first is not None:
        found.append(first)
        first = first.next
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""What battle character files hold, as the files hold it: big-endian, fixed point, offsets resolved.

x8pc files have `characters`, x8an files have `segments`: more animations for the characters of an x8pc file.

A part that was read from a file remembers its bytes in `source`. Writing compares: a part that still says what its
source says is written back as those very bytes, whatever gaps and tables of its own they have; any other is laid out anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .names import TYPE_NAMES

Array = npt.NDArray[Any]

SECTOR = 0x800  # chunks, characters and segments start at multiples of this

CHUNK_ENTRY = np.dtype([("offset", ">u4"), ("data_size", ">u4"), ("chunk_size", ">u4"), ("padding", ">u4")])
TEXTURE = np.dtype([("width", ">u2"), ("height", ">u2"), ("cgadr", ">u2"), ("hvsize", ">u2")])
XPDATA = np.dtype(
    [(name, ">u4") for name in ("points", "point_count", "polygons", "polygon_count", "attributes", "vertex_normals")]
)
FIXED = np.dtype(">i4")  # 16.16
POLYGON = np.dtype([("normal", FIXED, 3), ("vertices", ">u2", 4)])
ATTR = np.dtype(
    [("flag", "u1"), ("sort", "u1"), ("texno", ">u2"), ("atrb", ">u2"), ("colno", ">u2"), ("gstb", ">u2"), ("dir", ">u2")]
)
NORMAL = np.dtype(">i2")  # 4.12, three a vertex
DEFINITION = np.dtype([("start", ">u2"), ("count", ">u2"), ("type", ">u2"), ("distance", ">u2"), ("events", ">u4")])
EVENT = np.dtype([("frame", ">u2"), ("code", ">u2")])
BONE_TABLE = np.dtype(
    [("counts", ">u4", 3), ("times", ">u4", 3), ("translation", ">u4", 3), ("rotation", ">u4", 4), ("scale", ">u4", 3)]
)

FIXED_ONE = 65536.0
NORMAL_ONE = 4096.0
QUATERNION_ONE = 16384.0

# Mesh lists by their place in the table.
BODY, WEAPON, UNARMED = 0, 1, 2
LIST_NAMES = ("body", "weapon", "unarmed")

# ATTR
DOUBLE_SIDED = 1  # flag
SORT_TEXTURE = 4
DRAW_MODE = 0x7  # atrb
SHADOW, HALF_LUMINANCE, TRANSLUCENT, GOURAUD = 1, 2, 3, 4
TRANSPARENT_PIXEL_OFF = 0x40
END_CODE_OFF = 0x80
STIPPLE = 0x100
DIR_KIND, DIR_TEXTURED, DIR_POLYGON = 0xF, 2, 4
FLIP_H, FLIP_V = 0x10, 0x20

# Skeleton byte-code
PUSH, POP = 0xFD, 0xFE
DRAW = (0x00, 0x80)
FULL_TAGS = (0x30, 0x81)  # with rotation and scale
CHEST_TAG, WEAPON_TAG, UNARMED_TAG = 0x09, 0x30, 0x81
TAG_NAMES = {0x09: "tag_chest", 0x10: "tag_weapon_base", 0x11: "tag_weapon_tip", 0x20: "tag_hand", 0x30: "tag_weapon"}
PLAIN_TAGS = (0x01, 0x09, 0x10, 0x11, 0x12, 0x20, 0x21, 0x22)

# Definitions
EXTERNAL = 0x1000  # of start: the keys are in the x8an file


# ------------------------------------------------------------------------------------------------------------ textures


@dataclass
class Textures:
    """Pictures in one piece of video memory; they may leave gaps, and share words."""

    definitions: Array = field(default_factory=partial(np.zeros, 0, TEXTURE))
    memory: Array = field(default_factory=partial(np.zeros, 0, ">u2"))  # the unpacked words
    definitions_source: bytes | None = None
    source: bytes | None = None  # the packed words


# --------------------------------------------------------------------------------------------------------------- model


@dataclass
class Mesh:
    points: Array = field(default_factory=partial(np.zeros, (0, 3), FIXED))
    polygons: Array = field(default_factory=partial(np.zeros, 0, POLYGON))
    attributes: Array = field(default_factory=partial(np.zeros, 0, ATTR))
    normals: Array | None = None  # (points, 3) NORMAL


@dataclass
class Command:
    """One step of the skeleton's byte-code. Tags have numbers: translation, or translation, quaternion x y z w and scale."""

    code: int
    numbers: tuple[int, ...] = ()  # FIXED


@dataclass
class Model:
    lists: list[list[Mesh]] = field(default_factory=list)
    skeleton: list[Command] = field(default_factory=list)
    source: bytes | None = None


# ----------------------------------------------------------------------------------------------------------- animation


@dataclass
class Keys:
    frames: Array  # (k,) u2
    values: Array  # (k, 3) FIXED, or (k, 4) 2.14 x y z w


@dataclass
class BoneKeys:
    translation: Keys = field(default_factory=lambda: Keys(np.zeros(0, ">u2"), np.zeros((0, 3), FIXED)))
    rotation: Keys = field(default_factory=lambda: Keys(np.zeros(0, ">u2"), np.zeros((0, 4), ">i2")))
    scale: Keys = field(default_factory=lambda: Keys(np.zeros(0, ">u2"), np.zeros((0, 3), FIXED)))

    @property
    def channels(self) -> tuple[Keys, Keys, Keys]:
        return self.translation, self.rotation, self.scale


@dataclass
class Definition:
    start: int  # with the bit EXTERNAL
    count: int
    type: int
    distance: int = 0
    events: Array = field(default_factory=partial(np.zeros, 0, EVENT))

    @property
    def external(self) -> bool:
        return bool(self.start & EXTERNAL)

    @property
    def first(self) -> int:
        return self.start & ~EXTERNAL

    @property
    def last(self) -> int:
        return self.first + max(self.count, 1) - 1

    @property
    def name(self) -> str:
        return TYPE_NAMES.get(self.type, f"type_{self.type:02X}")


@dataclass
class Animation:
    bounds: Array = field(default_factory=partial(np.zeros, 6, FIXED))  # centre, half extents
    definitions: list[Definition] = field(default_factory=list)
    bones: list[BoneKeys] = field(default_factory=list)
    source: bytes | None = None


@dataclass
class Segment:
    """One animation of an x8an file."""

    bones: list[BoneKeys] = field(default_factory=list)
    source: bytes | None = None

    @property
    def frame_range(self) -> tuple[int, int]:
        frames = [keys.frames for bone in self.bones for keys in bone.channels if len(keys.frames)]
        if not frames:
            return 0, 0
        return min(int(f.min()) for f in frames), max(int(f.max()) for f in frames)


@dataclass
class PackedSegment(Segment):
    """One animation in a chunk of its own, packed; the source is the packed one. One that is damaged is its source alone."""

    damaged: bool = False


# ---------------------------------------------------------------------------------------------------------------- file


@dataclass
class Character:
    textures: Textures = field(default_factory=Textures)
    model: Model = field(default_factory=Model)
    animation: Animation = field(default_factory=Animation)
    extra: list[PackedSegment] = field(default_factory=list)  # later games: of the definitions with the bit EXTERNAL, in order
    source: bytes | None = None  # the whole slot: header, chunks and the fill between them
    listed: int = 0  # how many chunks the source's header lists that could be read


@dataclass
class Document:
    characters: list[Character] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    tail: bytes = b""  # what follows the last character or segment
    equal_slots: bool = False  # the characters come from several files: they get slots of one size
    keep_room: bool = False  # writing refuses to move anything from where its source had it
    replaced: list[int] | None = None  # with characters: which segments differ from the x8an file; None: it was not read
    warnings: list[str] = field(default_factory=list)


def same(a: Any, b: Any) -> bool:
    """Do two parts say the same, wherever their bytes came from?"""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a) and type(a) is type(b):
        names = [f.name for f in fields(a) if not f.name.endswith("source") and f.name != "listed"]
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)

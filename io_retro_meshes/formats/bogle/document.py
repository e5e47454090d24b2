# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .bgl file holds: the tables of the format's own document.

Every layout calls itself version 0. SEED is the one that was published; NAMES puts a name after each type byte; ANIM adds
skeletons; GEOMETRIES puts each geometry into a file of its own. The drafts before them are in drafts.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Layout = Literal["SEED", "NAMES", "ANIM", "GEOMETRIES"]
LAYOUTS: tuple[Layout, ...] = ("SEED", "NAMES", "ANIM", "GEOMETRIES")
SKELETAL: tuple[Layout, ...] = ("ANIM", "GEOMETRIES")  # layouts with skeletons, animations and weights

SIGNATURE = b"BOGLE"
VERSION = 0
MOST_LEVELS = 256  # of the scene tree, in the engine
MOST_LIGHTS = 20
MOST_BONES = 64  # in the engine's newer shader
INFLUENCES = 3  # bones a vertex can have

SPOT, SUN, POINT = 0, 1, 2  # types of light
# The type of camera that the engine of each layout asserts: its own changed on 2021-11-25.
CAMERA_TYPES: dict[Layout, int] = {"SEED": 1, "NAMES": 1, "ANIM": 0, "GEOMETRIES": 0}

CAMERA = np.dtype(
    [("width", "<u4"), ("height", "<u4"), ("near", "<f4"), ("far", "<f4"), ("fov", "<f4"), ("main", "u1")],
)
_VERTEX = [("position", "<f4", 3), ("uv", "<f4", 2), ("normal", "<f4", 3), ("tangent", "<f4", 3), ("binormal", "<f4", 3)]
VERTEX = np.dtype(_VERTEX)
# Bone indices are floats, whatever the text of layout ANIM says: the engine's files and its shader have them so.
SKINNED_VERTEX = np.dtype([*_VERTEX, ("bones", "<f4", INFLUENCES), ("weights", "<f4", INFLUENCES)])
MATERIAL = np.dtype(
    [
        ("ambient", "<f4", 4),
        ("emissive", "<f4", 4),
        ("diffuse", "<f4", 4),
        ("specular", "<f4", 4),
        ("opacity", "<f4"),
        ("specular_power", "<f4"),
        ("reflectance", "<f4"),
        ("refraction", "<f4"),
        ("index_of_refraction", "<f4"),
        ("bump_intensity", "<f4"),
        ("specular_scale", "<f4"),
        ("alpha_threshold", "<f4"),
        ("alpha_blending_mode", "u1"),
    ]
)
# The textures of a material, in the order of the file.
TEXTURES = ("Ambient", "Emissive", "Diffuse", "Specular", "Specular Power", "Normal", "Bump", "Opacity")
LIGHT = np.dtype(
    [
        ("color", "<f4", 4),
        ("constant", "<f4"),
        ("linear", "<f4"),
        ("quadratic", "<f4"),
        ("intensity", "<f4"),
        ("angle", "<f4"),
    ]
)
# matrix(bone) = matrix(parent) · rotation · translation(position): the place is counted in the bone's own, turned axes.
BONE = np.dtype([("position", "<f4", 3), ("rotation", "<f4", 4), ("parent", "<u4")])
# Indices count from 1; 0 is none. The matrix is relative to the parent in the tree, column after column.
_PARTS = [("camera", "<u4"), ("geometry", "<u4"), ("material", "<u4"), ("light", "<u4")]
INSTANCE = np.dtype([*_PARTS, ("matrix", "<f4", 16)])
ANIMATED_INSTANCE = np.dtype([*_PARTS, ("animation", "<u4"), ("matrix", "<f4", 16)])


def keyframe(bones: int) -> np.dtype[Any]:
    """Quaternions are x, y, z, w everywhere, and turn on top of the bone's own rotation; the offset moves the first root."""
    return np.dtype([("time", "<f4"), ("root_offset", "<f4", 3), ("rotations", "<f4", (bones, 4))])


def record(dtype: np.dtype[Any], **values: Any) -> Array:
    """One record of a table, as an array of one; what is not given is zero."""
    made = np.zeros(1, dtype)
    for name, value in values.items():
        made[name] = value
    return made


@dataclass(slots=True)
class Camera:
    values: Array  # CAMERA, one
    type: int = 1
    name: bytes = b""


@dataclass(slots=True)
class Geometry:
    vertices: Array  # VERTEX, or SKINNED_VERTEX in layouts with skeletons
    indices: Array  # three a triangle, counter-clockwise
    name: bytes = b""
    file: bytes = b""  # layout GEOMETRIES: what the file with vertices and indices is called, without folder and extension


@dataclass(slots=True)
class Material:
    values: Array  # MATERIAL, one
    textures: list[bytes]  # in the order of TEXTURES; empty: none
    shader: int = 0
    name: bytes = b""


@dataclass(slots=True)
class Light:
    values: Array  # LIGHT, one
    type: int = POINT
    name: bytes = b""


@dataclass(slots=True)
class Animation:
    keys: Array  # keyframe(number of bones)
    name: bytes = b""


@dataclass
class Collection:
    """A skeleton and everything it can play. `matrix` is the skeleton's, relative to the object that it moves."""

    matrix: Array  # 16 floats, column after column
    bones: Array  # BONE
    animations: list[Animation]
    type: int = 0
    name: bytes = b""


@dataclass(slots=True)
class Instance:
    values: Array  # INSTANCE, or ANIMATED_INSTANCE in layouts with skeletons; one
    name: bytes = b""


@dataclass
class Document:
    layout: Layout = "SEED"
    ambient: Array = field(default_factory=lambda: np.array([0, 0, 0, 1], "<f4"))
    cameras: list[Camera] = field(default_factory=list)
    geometries: list[Geometry] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    lights: list[Light] = field(default_factory=list)
    collections: list[Collection] = field(default_factory=list)  # in layouts with skeletons only
    instances: list[Instance] = field(default_factory=list)
    tree: bytes = b""  # without its NUL
    ending: bytes = b"\0"  # the NUL and what follows: nothing should
    warnings: list[str] = field(default_factory=list)

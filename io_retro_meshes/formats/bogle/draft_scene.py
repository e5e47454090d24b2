# SPDX-License-Identifier: GPL-3.0-or-later
"""Draft -> Scene."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ... import maths
from ... import scene as neutral
from ...scene import Floats, Transform
from ..binary import decode
from . import drafts, geometry, tree
from .document import VERTEX, Geometry

# (x, y, z) -> (-x, z, y): a half turn, its own inverse.
OPENGL = np.array([[-1, 0, 0], [0, 0, 1], [0, 1, 0]], np.float32)
POWER = 5  # the engine's exporter wrote this times the light's power


def to_scene(draft: drafts.Draft, axes: Literal["BLENDER", "OPENGL"]) -> neutral.Scene:
    turn = OPENGL if axes == "OPENGL" else np.eye(3, dtype=np.float32)
    scene = neutral.Scene(warnings=list(draft.warnings))
    found = tree.parse(draft.tree, len(draft.objects))
    scene.warnings += found.warnings if draft.layout == "D" else []
    node_of = {tree.ROOT: -1}
    for number in found.order:
        each = draft.objects[number]
        name = decode(each.name.split(b"\0")[0]) or f"Object.{number:03}"
        node = neutral.Node(name, node_of[found.parents[number]], transform=_transform(each, turn, name, scene.warnings))
        if draft.layout != "D" or len(each.vertices) or len(each.indices):
            node.mesh = len(scene.meshes)
            scene.meshes.append(_mesh(each, turn, name, scene.warnings))
        node_of[number] = len(scene.nodes)
        scene.nodes.append(node)
    for number, camera in enumerate(draft.cameras, 1):
        rotation = _euler(math.pi / 2 + _number(camera["pitch"]), _number(camera["yaw"]) - math.pi / 2)
        place = Transform(_vector(camera["position"]) @ turn, rotation)
        scene.nodes.append(neutral.Node(f"Camera.{number:03}", transform=place, camera=len(scene.cameras)))
        scene.cameras.append(neutral.Camera(f"Camera.{number:03}", main=number == 1))
    for number, light in enumerate(draft.lights, 1):
        place = Transform(_vector(light["position"]) @ turn)
        scene.nodes.append(neutral.Node(f"Light.{number:03}", transform=place, light=len(scene.lights)))
        power = _number(light["diffuse_power"]) / POWER
        scene.lights.append(neutral.Light(f"Light.{number:03}", color=_vector(light["diffuse"][:3]), energy=power))
    return scene


def _number(value: float) -> float:
    return float(value) if math.isfinite(value) else 0.0


def _vector(values: Floats) -> Floats:
    return np.nan_to_num(values.astype(np.float32), posinf=0.0, neginf=0.0)


def _turned(vectors: Floats, turn: Floats) -> Floats:
    """Turned vectors; one with a value that is no number has none that is."""
    with np.errstate(invalid="ignore", over="ignore"):
        return vectors @ turn


def _euler(x: float, z: float) -> Floats:
    """A rotation about X, then about Z."""
    about_x = np.array([math.cos(x / 2), math.sin(x / 2), 0, 0], np.float32)
    about_z = np.array([math.cos(z / 2), 0, 0, math.sin(z / 2)], np.float32)
    return maths.quaternion_multiply(about_z, about_x)


def _transform(each: drafts.Object, turn: Floats, name: str, warnings: list[str]) -> Transform:
    if not len(each.transform):
        return Transform()
    values = each.transform[0]
    if not all(np.isfinite(values[field]).all() for field in values.dtype.names):
        warnings.append(f"{name}: its transform has values that are not numbers; put at the origin.")
        return Transform()
    axis = maths.normalized(values["axis"].astype(np.float32)) @ turn
    half = float(values["angle"]) / 2
    rotation = np.append(np.float32(math.cos(half)), axis * np.float32(math.sin(half))).astype(np.float32)
    scale = values["scale"].astype(np.float32) @ np.abs(turn)
    return Transform(values["translation"].astype(np.float32) @ turn, maths.normalized(rotation, (1, 0, 0, 0)), scale)


def _mesh(each: drafts.Object, turn: Floats, name: str, warnings: list[str]) -> neutral.Mesh:
    vertices = np.zeros(len(each.vertices), VERTEX)
    vertices["uv"] = each.vertices["uv"]
    vertices["position"] = _turned(each.vertices["position"], turn)
    ignored: list[str] = []
    if "normal" in (each.vertices.dtype.names or ()):
        vertices["normal"] = _turned(each.vertices["normal"], turn)
        ignored = warnings
    mesh = geometry.to_mesh(Geometry(vertices, each.indices), name, warnings if ignored is warnings else ignored)
    if ignored is not warnings:
        mesh.normals = None  # the drafts without normals leave them to the one who draws
        warnings += [warning for warning in ignored if "have no normal" not in warning]
    return mesh

# SPDX-License-Identifier: GPL-3.0-or-later
"""Draft -> Scene."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from .... import scene as neutral
from ....scene import Floats, Transform, maths, sanitize
from ...binary import decode
from .. import drafts, tree
from ..axes import draft_turn, turned, turned_scale
from ..document import VERTEX, Geometry
from .meshes import to_mesh

POWER = 5  # the engine's exporter wrote this times the light's power


def draft_to_scene(draft: drafts.Draft, axes: Literal["BLENDER", "OPENGL"]) -> neutral.Scene:
    turn = draft_turn(axes)
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
        place = Transform(turned(_vector(camera["position"]), turn), rotation)
        scene.nodes.append(neutral.Node(f"Camera.{number:03}", transform=place, camera=len(scene.cameras)))
        scene.cameras.append(neutral.Camera(f"Camera.{number:03}", main=number == 1))
    for number, light in enumerate(draft.lights, 1):
        place = Transform(turned(_vector(light["position"]), turn))
        scene.nodes.append(neutral.Node(f"Light.{number:03}", transform=place, light=len(scene.lights)))
        power = _number(light["diffuse_power"]) / POWER
        scene.lights.append(neutral.Light(f"Light.{number:03}", color=_vector(light["diffuse"][:3]), energy=power))
    return scene


def _number(value: float) -> float:
    return sanitize.number(value)


def _vector(values: Floats) -> Floats:
    return sanitize.finite(values.astype(np.float32))


def _euler(x: float, z: float) -> Floats:
    """A rotation about X, then about Z."""
    about_x = np.array([math.cos(x / 2), math.sin(x / 2), 0, 0], np.float32)
    about_z = np.array([math.cos(z / 2), 0, 0, math.sin(z / 2)], np.float32)
    return maths.quaternion_multiply(about_z, about_x)


def _transform(each: drafts.Object, turn: Floats, name: str, warnings: list[str]) -> Transform:
    if not len(each.transform):
        return Transform()
    values = each.transform[0]
    if not all(sanitize.within(values[field]) for field in values.dtype.names):
        warnings.append(f"{name}: its transform has values that are not numbers; put at the origin.")
        return Transform()
    axis = turned(maths.normalized(values["axis"].astype(np.float32)), turn)
    half = float(values["angle"]) / 2
    rotation = np.append(np.float32(math.cos(half)), axis * np.float32(math.sin(half))).astype(np.float32)
    scale = turned_scale(values["scale"].astype(np.float32), turn)
    return Transform(turned(values["translation"].astype(np.float32), turn), maths.normalized(rotation, (1, 0, 0, 0)), scale)


def _mesh(each: drafts.Object, turn: Floats, name: str, warnings: list[str]) -> neutral.Mesh:
    vertices = np.zeros(len(each.vertices), VERTEX)
    vertices["uv"] = each.vertices["uv"]
    vertices["position"] = turned(each.vertices["position"], turn)
    normals = "normal" in (each.vertices.dtype.names or ())
    if normals:
        vertices["normal"] = turned(each.vertices["normal"], turn)
    return to_mesh(Geometry(vertices, each.indices), name, warnings, normals)

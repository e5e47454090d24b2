# SPDX-License-Identifier: GPL-3.0-or-later
"""Lights and cameras for the file, and the camera that a scene without one gets."""

from __future__ import annotations

import math

import numpy as np

from .... import scene as neutral
from ....scene import Floats, maths
from ...binary import encode
from ..document import CAMERA, CAMERA_TYPES, LIGHT, Camera, Layout, Light, record
from ..lights import KINDS, intensity, linear_attenuation
from ..options import LightFormula

CUTOFF = 40.0  # a new light's in Blender


def from_light(light: neutral.Light, formula: LightFormula) -> Light:
    distance = light.cutoff_distance if light.cutoff_distance and light.cutoff_distance > 0 else CUTOFF
    own = light.settings.get("bogle", {})
    values = record(
        LIGHT,
        color=[*light.color[:3], 1],
        constant=own.get("constant", 0.0),
        linear=linear_attenuation(distance),
        quadratic=own.get("quadratic", 1.0),
        intensity=intensity(light.energy, light.kind, formula),
        angle=light.spot_angle if light.kind == "SPOT" else 0,
    )
    kinds = {kind: number for number, kind in KINDS.items()}
    return Light(values, kinds[light.kind], encode(light.name))


def from_camera(camera: neutral.Camera, resolution: tuple[int, int], layout: Layout) -> Camera:
    """The type is the one that the layout's engine asserts; only a type that no engine has comes from the settings."""
    width, height = camera.resolution or resolution
    values = record(CAMERA, width=width, height=height, fov=camera.angle, main=camera.main)
    values["near"], values["far"] = camera.clip_start, camera.clip_end
    kind = int(camera.settings.get("bogle", {}).get("type", 0)) & 0xFF
    return Camera(values, kind if kind > 1 else CAMERA_TYPES[layout], encode(camera.name))


def overview(scene: neutral.Scene, camera: neutral.Camera) -> Floats:
    """Where a camera sees all meshes: in front of them and somewhat above."""
    globals_ = scene.global_matrices()
    boxes = [
        maths.transform_points(globals_[index], scene.meshes[node.mesh].positions)
        for index, node in enumerate(scene.nodes)
        if node.mesh >= 0 and len(scene.meshes[node.mesh].positions)
    ]
    corners = np.array([[points.min(0), points.max(0)] for points in boxes] or [[[-1] * 3, [1] * 3]], np.float32).reshape(-1, 3)
    low, high = corners.min(0), corners.max(0)
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    distance = radius / math.sin(camera.angle / 2)
    camera.clip_start, camera.clip_end = distance / 1000, distance * 10
    tilt = math.radians(70)
    matrix = np.eye(4, dtype=np.float32)
    matrix[1:3, 1:3] = [[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]]
    matrix[:3, 3] = (low + high) / 2 + matrix[:3, 2] * distance
    return matrix

# SPDX-License-Identifier: GPL-3.0-or-later
"""The file's lights and cameras as Blender knows them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import scene as neutral
from ...binary import decode
from ..document import Camera, Light
from ..lights import KINDS, cutoff_distance, energy
from ..options import LightFormula
from .materials import finite


def to_light(light: Light, number: int, formula: LightFormula, warnings: list[str]) -> neutral.Light:
    name = decode(light.name) or f"Light.{number:03}"
    values = finite(light.values[0], name, warnings)
    kind = KINDS.get(light.type)
    if kind is None:
        warnings.append(f"{name}: lights of type {light.type} are not known; made a point light.")
        kind = "POINT"
    given = float(values["intensity"])
    power = energy(given, kind, formula)
    if power is None:
        warnings.append(f"{name}: no power gives the intensity {given:g} in the original exporter's curve; taken as the power.")
        power = given
    angle = float(values["angle"])
    if kind == "SPOT" and not 0 < angle <= math.pi:
        warnings.append(f"{name}: the angle {angle:g} is no cone; brought between 1 and 180 degrees.")
    made = neutral.Light(name, kind, values["color"][:3].astype(np.float32), power)
    made.spot_angle = min(max(angle, math.radians(1)), math.pi)
    made.cutoff_distance = min(max(cutoff_distance(float(values["linear"])), 1e-3), 1e6)
    other: dict[str, Any] = {"constant": float(values["constant"]), "quadratic": float(values["quadratic"])}
    if other != {"constant": 0.0, "quadratic": 1.0}:
        made.settings["bogle"] = other
    return made


def to_camera(camera: Camera, number: int, warnings: list[str]) -> neutral.Camera:
    name = decode(camera.name) or f"Camera.{number:03}"
    values = finite(camera.values[0], name, warnings)
    if camera.type > 1:
        warnings.append(f"{name}: cameras of type {camera.type} are not known; taken for a plain one.")
    near, far, fov = float(values["near"]), float(values["far"]), float(values["fov"])
    width, height = int(values["width"]), int(values["height"])
    made = neutral.Camera(name, main=bool(values["main"]), settings={"bogle": {"type": camera.type}})
    if 0 < fov < math.pi:
        made.angle = fov
    if near > 0:
        made.clip_start = near
    if far > made.clip_start:
        made.clip_end = far
    else:
        made.clip_end = max(made.clip_end, made.clip_start * 1000)
    if 0 < width <= 65536 and 0 < height <= 65536:
        made.resolution = (width, height)
    if (made.angle, made.clip_start, made.clip_end, made.resolution) != (fov, near, far, (width, height)):
        warnings.append(f"{name}: some of its values make no picture; usual ones were taken for them.")
    return made

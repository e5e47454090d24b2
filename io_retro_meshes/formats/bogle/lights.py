# SPDX-License-Identifier: GPL-3.0-or-later
"""Lights and cameras both ways: the formulas between the engine's numbers and Blender's."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ... import scene as neutral
from ..binary import decode, encode
from .document import CAMERA, LIGHT, POINT, SPOT, SUN, Camera, Light, record
from .materials import finite

# SPEC: the intensity is the light's power, as the format's text says. ORIGINAL: the curve that the engine's own exporter
# puts the power of spots and points through, which levels off at 250.
Formula = Literal["SPEC", "ORIGINAL"]

KINDS: dict[int, Literal["POINT", "SUN", "SPOT"]] = {SPOT: "SPOT", SUN: "SUN", POINT: "POINT"}
CUTOFF = 40.0  # a new light's in Blender
LEVEL, START, HALF_WAY, BEND = 250.0, 0.5, 15.0, 0.7


def intensity(energy: float, kind: str, formula: Formula) -> float:
    if formula == "SPEC" or kind == "SUN":
        return energy
    return LEVEL - (LEVEL + START) / (1 + (max(energy, 0) / HALF_WAY) ** BEND)


def energy(value: float, kind: str, formula: Formula) -> float | None:
    """The inverse; None where the curve never comes to that intensity."""
    if formula == "SPEC" or kind == "SUN":
        return value
    if not -START <= value < LEVEL:
        return None
    return HALF_WAY * ((LEVEL + START) / (LEVEL - value) - 1) ** (1 / BEND)


def linear_attenuation(distance: float) -> float:
    return 1000 / distance - distance


def cutoff_distance(linear: float) -> float:
    """The inverse of the above, in the form that loses no digits for either sign."""
    root = math.sqrt(linear * linear + 4000)
    return 2000 / (linear + root) if linear > 0 else (root - linear) / 2


# -------------------------------------------------------------------------------------------------------------- import


def light_to_scene(light: Light, number: int, formula: Formula, warnings: list[str]) -> neutral.Light:
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


def camera_to_scene(camera: Camera, number: int, warnings: list[str]) -> neutral.Camera:
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


# -------------------------------------------------------------------------------------------------------------- export


def light_from_scene(light: neutral.Light, formula: Formula) -> Light:
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


def camera_from_scene(camera: neutral.Camera, resolution: tuple[int, int]) -> Camera:
    width, height = camera.resolution or resolution
    values = record(CAMERA, width=width, height=height, fov=camera.angle, main=camera.main)
    values["near"], values["far"] = camera.clip_start, camera.clip_end
    return Camera(values, int(camera.settings.get("bogle", {}).get("type", 1)) & 0xFF, encode(camera.name))

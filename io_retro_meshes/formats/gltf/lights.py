# SPDX-License-Identifier: GPL-3.0-or-later
"""Cameras and lights, both ways. Blender counts radiant power, glTF candela and lux: as Blender's own exporter has it."""

from __future__ import annotations

import math

import numpy as np

from ...scene import Camera, Light
from . import extras
from .document import Json, Part

LUMENS_A_WATT = 683.0
SOFT_EDGE = 0.85  # of a spot's cone, the part that is fully lit: Blender's default
WIDEST = math.pi / 2  # of the angle from a spot's axis to its edge

KINDS = {"POINT": "point", "SUN": "directional", "SPOT": "spot"}


def camera_to_file(camera: Camera) -> Json:
    near = camera.clip_start if camera.clip_start > 0 else 0.01
    lens: Json = {"yfov": min(max(camera.angle, 1e-3), math.pi - 1e-3), "znear": near}
    if camera.clip_end > near:
        lens["zfar"] = camera.clip_end
    if camera.resolution and min(camera.resolution) > 0:
        lens["aspectRatio"] = camera.resolution[0] / camera.resolution[1]
    made: Json = {"name": camera.name, "type": "perspective", "perspective": lens}
    extras.pack(made, camera.settings, main=camera.main, resolution=camera.resolution)
    return made


def camera_to_scene(part: Part, warnings: list[str]) -> Camera:
    made = Camera(part.text("name") or "Camera", settings=extras.settings(part))
    lens = part.part("perspective")
    if part.text("type", "perspective") == "perspective":
        made.angle = min(max(lens.number("yfov", made.angle), 1e-3), math.pi - 1e-3)
    else:
        warnings.append(f'The camera "{made.name}" is orthographic; it was made one with perspective.')
        lens = part.part("orthographic")
    made.clip_start = max(lens.number("znear", made.clip_start), 1e-6)
    made.clip_end = max(lens.number("zfar", made.clip_end), made.clip_start * 2)
    own = extras.unpack(part).values
    made.main = own.get("main") is True
    size = own.get("resolution")
    if isinstance(size, list) and len(size) == 2 and all(isinstance(each, int) and 0 < each <= 65536 for each in size):
        made.resolution = (size[0], size[1])
    return made


def _factor(kind: str) -> float:
    """Candela of a watt that goes in all directions; lux of a watt on a square metre."""
    return LUMENS_A_WATT if kind == "SUN" else LUMENS_A_WATT / (4 * math.pi)


def light_to_file(light: Light) -> Json:
    color = np.clip(light.color[:3].astype(np.float64), 0, None)
    strength = max(float(color.max()), 1.0)  # a colour is at most 1; what is more is power
    made: Json = {
        "name": light.name,
        "type": KINDS[light.kind],
        "color": (color / strength).tolist(),
        "intensity": max(light.energy, 0.0) * _factor(light.kind) * strength,
    }
    if light.kind == "SPOT":
        outer = min(max(light.spot_angle / 2, 1e-3), WIDEST)
        made["spot"] = {"innerConeAngle": outer * SOFT_EDGE, "outerConeAngle": outer}
    if light.kind != "SUN" and light.cutoff_distance and light.cutoff_distance > 0:
        made["range"] = light.cutoff_distance
    extras.pack(made, light.settings, cutoff=light.cutoff_distance if light.kind == "SUN" else None)
    return made


def light_to_scene(part: Part, warnings: list[str]) -> Light:
    made = Light(part.text("name") or "Light", settings=extras.settings(part))
    found = part.text("type", "point")
    for kind, name in KINDS.items():
        if name == found:
            made.kind = kind  # type: ignore[assignment]
    if found not in KINDS.values():
        warnings.append(f'The light "{made.name}" is of the unknown type "{found}"; it was made a point light.')
    made.color = np.array(part.numbers("color", 3, (1, 1, 1)), np.float32)
    made.energy = part.number("intensity", 1.0) / _factor(made.kind)
    if made.kind == "SPOT":
        made.spot_angle = 2 * min(max(part.part("spot").number("outerConeAngle", math.pi / 4), 1e-3), WIDEST)
    distance = part.number("range", 0.0) or extras.unpack(part).number("cutoff", 0.0)
    made.cutoff_distance = distance if distance > 0 else None
    return made

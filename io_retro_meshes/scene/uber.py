# SPDX-License-Identifier: GPL-3.0-or-later
"""The "Uber" material of the BOGLE engine: the 35 inputs of its node group, under the names the engine's own exporter looks
for, and what they mean to those who know only the common material.

In a Scene they travel as `material.settings[ID]`, by these names; textures are the material's layers, each with the name of
its socket in `settings[ID]["texture"]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import maths
from .model import Floats, Material

ID = "bogle"  # `Material.graph` of these materials, and the key of their settings
GROUP = "Uber"  # what the node group is called
ON = 0.001  # the engine's exporter takes a blending mode above this for on


@dataclass(frozen=True)
class Socket:
    name: str
    kind: Literal["COLOR", "FLOAT", "FACTOR"]
    default: float | tuple[float, float, float]
    hint: str = ""


def _base(name: str, color: tuple[float, float, float], alpha: float, hint: str) -> tuple[Socket, ...]:
    return Socket(f"Base {name}", "COLOR", color, hint), Socket(f"Base {name} Alpha", "FACTOR", alpha)


def _texture(name: str, color: tuple[float, float, float], hint: str) -> tuple[Socket, ...]:
    return Socket(f"Texture {name}", "COLOR", color, hint), Socket(f"Texture {name} Alpha", "FACTOR", 1.0)


SOCKETS: tuple[Socket, ...] = (
    *_base("Diffuse", (0.8, 0.8, 0.8), 1.0, "Colour under light"),
    *_texture("Diffuse", (1.0, 1.0, 1.0), "Multiplied with the base"),
    *_base("Ambient", (0.02, 0.02, 0.02), 1.0, "How much of the world's light it takes"),
    *_texture("Ambient", (1.0, 1.0, 1.0), "Multiplied with the base"),
    *_base("Emissive", (0.0, 0.0, 0.0), 1.0, "Light of its own"),
    *_texture("Emissive", (0.0, 0.0, 0.0), "Added to the base"),
    *_base("Specular", (0.2, 0.2, 0.2), 0.2, "Colour of highlights"),
    *_texture("Specular", (0.0, 0.0, 0.0), "Added to the base"),
    Socket("Opacity", "FACTOR", 1.0, "Alpha of the whole object"),
    *_texture("Opacity", (1.0, 1.0, 1.0), "Multiplied with Opacity"),
    Socket("Specular Power", "FLOAT", 50.0, "Shininess: the higher, the smaller the highlight"),
    *_texture("Specular Power", (1.0, 1.0, 1.0), "Times Specular Scale, instead of Specular Power"),
    Socket("Specular Scale", "FLOAT", 1.0, "Scales the specular power texture"),
    *_texture("Normal", (0.5, 0.5, 1.0), "Normal map, in tangent space"),
    Socket("Bump Intensity", "FLOAT", 0.0, "Scales the bump texture"),
    *_texture("Bump", (0.0, 0.0, 0.0), "Height map; the normal map is not used beside it"),
    Socket("Alpha Threshold", "FACTOR", 0.0, "Pixels below this alpha are not drawn"),
    Socket("Use Geometry Normals", "FACTOR", 1.0, "1: neither normal nor bump map"),
    Socket("Use BumpMap Normals", "FACTOR", 0.0, "1: the bump map, 0: the normal map"),
    Socket("Reflectance", "FACTOR", 0.0, "How much of a mirror it is"),
    Socket("Refraction", "FACTOR", 0.0, "How much of what is behind shows, bent"),
    Socket("Index of Refraction", "FLOAT", 1.0, "Outside divided by inside: 1 / 1.52 for glass"),
    Socket("Alpha Blending Mode", "FACTOR", 0.0, "1: blended with what is behind"),
)
BY_NAME = {socket.name: socket for socket in SOCKETS}
# The textures, and what each is for in the terms of a Scene.
USES: dict[str, Any] = {
    "Ambient": "OTHER",
    "Emissive": "EMISSION",
    "Diffuse": "COLOR",
    "Specular": "SPECULAR",
    "Specular Power": "OTHER",
    "Normal": "NORMAL",
    "Bump": "OTHER",
    "Opacity": "ALPHA",
}


def describe(material: Material) -> None:
    """What formats without an Uber material can know of it."""
    values = material.settings[ID]
    diffuse = _srgb(values["Base Diffuse"])
    material.color = np.append(diffuse, np.float32(np.clip(values["Opacity"], 0, 1)))
    material.emission = _srgb(values["Base Emissive"])
    material.specular = float(np.clip(max(values["Base Specular"]), 0, 1))
    material.roughness = float((2 / (max(values["Specular Power"], 0) + 2)) ** 0.25)
    material.threshold = values["Alpha Threshold"]
    if values["Alpha Blending Mode"] > ON:
        material.blend = "ALPHA"
    elif material.threshold > 0:
        material.blend = "MASK"


def _srgb(color: Any) -> Floats:
    """The sockets have colours as Blender computes with them; a Scene has them as people pick them."""
    return maths.linear_to_srgb(np.clip(np.asarray(color, np.float64), 0, 1e6)).astype(np.float32)

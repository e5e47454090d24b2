# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials for the file: the Uber group's as they are, others by the nearest values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import scene as neutral
from ....scene import maths
from ....scene.uber import BY_NAME, ID, ON, USES
from ...binary import encode
from ..document import MATERIAL, TEXTURES, Material, record
from ..materials import COLORS, NUMBERS, stem


def from_material(material: neutral.Material, images: list[neutral.Image], warnings: list[str]) -> Material:
    values = dict(material.settings.get(ID, {})) if material.graph == ID else _nearest(material)
    get = {name: values.get(name, socket.default) for name, socket in BY_NAME.items()}
    made = record(MATERIAL)
    for name in COLORS:
        made[name.lower()] = [*get[f"Base {name}"][:3], get[f"Base {name} Alpha"]]
    for field, name in NUMBERS.items():
        made[field] = get[name]
    made["alpha_blending_mode"] = get["Alpha Blending Mode"] > ON
    textures = _texture_layers(material, warnings)
    if get["Use Geometry Normals"] > 0.5:
        dropped = {"Normal", "Bump"}
    else:
        dropped = {"Normal"} if get["Use BumpMap Normals"] > 0.5 else {"Bump"}
    names = [
        encode(stem(images[textures[name]].name)) if name in textures and name not in dropped else b"" for name in TEXTURES
    ]
    return Material(made, names, name=encode(material.name))


def _texture_layers(material: neutral.Material, warnings: list[str]) -> dict[str, int]:
    """The image of each texture socket."""
    found: dict[str, int] = {}
    left = 0
    for layer in material.layers:
        socket = layer.settings.get(ID, {}).get("texture", "") if material.graph == ID else ""
        if not socket:
            socket = next((name for name, use in USES.items() if use == layer.use and use != "OTHER"), "")
        if material.full_bright and socket == "Diffuse":
            socket = "Emissive"
        if not socket or socket in found:
            left += 1
        else:
            found[socket] = layer.image
    if left:
        warnings.append(f"{material.name}: {left} textures have no place in a BOGLE material and were left out.")
    return found


def _nearest(material: neutral.Material) -> dict[str, Any]:
    """The Uber values that look most like a material that is not one."""
    color = maths.linear_color(np.clip(material.color, 0, None))
    uses = {layer.use for layer in material.layers}
    roughness = float(np.clip(material.roughness, 0.05, 1))
    shine = float(np.clip(material.specular, 0, 1)) * (1 - 0.8 * roughness)
    found: dict[str, Any] = {
        "Base Diffuse": (0.0, 0.0, 0.0) if material.full_bright else color,
        "Base Ambient": (0.0, 0.0, 0.0) if material.full_bright else color,
        # The engine adds an emissive texture to the base colour.
        "Base Emissive": _emission(material, color, uses),
        "Base Specular": (shine, shine, shine),
        "Base Specular Alpha": 1.0,
        "Specular Power": float(np.clip(2 / roughness**4 - 2, 1, 1000)),
        "Reflectance": float(np.clip(material.metallic, 0, 1)) * (1 - roughness),
        "Opacity": 1.0 if material.blend in ("OPAQUE", "MASK") else float(material.color[3]),
        "Alpha Threshold": float(material.threshold) if material.blend == "MASK" else 0.0,
        "Alpha Blending Mode": float(material.blend in ("ALPHA", "ADD", "MULTIPLY")),
        "Use Geometry Normals": float("NORMAL" not in uses),
    }
    return found


def _emission(material: neutral.Material, color: tuple[float, ...], uses: set[Any]) -> tuple[float, ...]:
    if material.full_bright:
        return (0.0, 0.0, 0.0) if "COLOR" in uses else color
    return maths.linear_color(np.clip(material.emission, 0, None))


def default() -> Material:
    """For what has none: the engine cannot draw a geometry without a material."""
    return from_material(neutral.Material("default", graph=ID), [], [])

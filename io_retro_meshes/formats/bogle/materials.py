# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials both ways: the file's values, the sockets of the Uber group, and what other formats understand of them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ... import maths
from ... import scene as neutral
from ...scene import Floats
from ...textures import PICTURES, base_name
from ..binary import decode, encode
from .document import MATERIAL, TEXTURES, Material, record
from .sockets import BY_NAME, COLORS, NUMBERS

Use = dict[str, Any]
# What a texture is for in the terms of a Scene.
USES: Use = {
    "Ambient": "OTHER",
    "Emissive": "EMISSION",
    "Diffuse": "COLOR",
    "Specular": "SPECULAR",
    "Specular Power": "OTHER",
    "Normal": "NORMAL",
    "Bump": "OTHER",
    "Opacity": "ALPHA",
}
ON = 0.001  # the engine's exporter takes a blending mode above this for on


def srgb(color: Any) -> Floats:
    """Colours of the file are as Blender computes with them; a Scene has them as people pick them."""
    return maths.linear_to_srgb(np.clip(np.asarray(color, np.float64), 0, 1e6)).astype(np.float32)


def linear(color: Floats) -> tuple[float, ...]:
    return tuple(maths.srgb_to_linear(np.clip(color[:3].astype(np.float64), 0, None)).tolist())


# -------------------------------------------------------------------------------------------------------------- import


def to_scene(material: Material, number: int, images: dict[str, int], scene: neutral.Scene) -> neutral.Material:
    name = decode(material.name) or f"Material.{number:03}"
    if material.shader:
        scene.warnings.append(f"{name}: shader {material.shader} is not known; taken for shader 0.")
    values = finite(material.values[0], name, scene.warnings)
    made = neutral.Material(name, graph="bogle")
    for place, raw in enumerate(material.textures):
        if raw:
            made.layers.append(_layer(TEXTURES[place], _texture_name(raw, name, scene.warnings), images, scene))
    linked = {layer.settings["bogle"]["texture"] for layer in made.layers}
    if {"Normal", "Bump"} <= linked:
        scene.warnings.append(f"{name}: has a normal and a bump texture, which exclude each other; the normal texture is used.")
    made.settings["bogle"] = _sockets(values, linked)
    describe(made)
    return made


def finite(values: Any, name: str, warnings: list[str]) -> dict[str, Any]:
    """The fields of a record as numbers that can be computed with."""
    with np.errstate(invalid="ignore"):  # some bits that are no number complain even when they are copied
        fields = {field: np.asarray(values[field], np.float64) for field in values.dtype.names}
    bad = [field for field, value in fields.items() if not np.isfinite(value).all()]
    if bad:
        warnings.append(f"{name}: {', '.join(bad)} is not a number; 0 was taken.")
    return {field: np.nan_to_num(value, nan=0.0, posinf=0.0, neginf=0.0) for field, value in fields.items()}


def _sockets(values: dict[str, Any], linked: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in COLORS:
        color = values[name.lower()]
        found[f"Base {name}"] = tuple(map(float, color[:3]))
        found[f"Base {name} Alpha"] = float(color[3])
    for field, name in NUMBERS.items():
        found[name] = float(values[field])
    found["Alpha Blending Mode"] = float(values["alpha_blending_mode"] != 0)
    found["Use Geometry Normals"] = float(not linked & {"Normal", "Bump"})
    found["Use BumpMap Normals"] = float("Bump" in linked and "Normal" not in linked)
    return found


def _texture_name(raw: bytes, material: str, warnings: list[str]) -> str:
    text = decode(raw.split(b"\0")[0])
    if b"\0" in raw:
        warnings.append(f"{material}: the texture name {text!r} goes on after a NUL; the rest was left out.")
    name = stem(text)
    if base_name(text) != text:
        warnings.append(f"{material}: the texture name {text!r} has folders in it; looked for as {name!r}.")
    return name


def stem(name: str) -> str:
    """A picture's name without folders and extension: what the file says."""
    name = base_name(name)
    start, extension = os.path.splitext(name)
    return start if extension.lower() in PICTURES and start else name


def _layer(socket: str, name: str, images: dict[str, int], scene: neutral.Scene) -> neutral.TextureLayer:
    if name not in images:
        images[name] = len(scene.images)
        scene.images.append(neutral.Image(f"{name}.png", (f"textures/{name}.png", f"{name}.png")))
    return neutral.TextureLayer(images[name], use=USES[socket], settings={"bogle": {"texture": socket}})


def describe(material: neutral.Material) -> None:
    """What formats without an Uber material can know of it."""
    values = material.settings["bogle"]
    diffuse = srgb(values["Base Diffuse"])
    material.color = np.append(diffuse, np.float32(np.clip(values["Opacity"], 0, 1)))
    material.emission = srgb(values["Base Emissive"])
    material.specular = float(np.clip(max(values["Base Specular"]), 0, 1))
    material.roughness = float((2 / (max(values["Specular Power"], 0) + 2)) ** 0.25)
    material.threshold = values["Alpha Threshold"]
    if values["Alpha Blending Mode"] > ON:
        material.blend = "ALPHA"
    elif material.threshold > 0:
        material.blend = "MASK"


# -------------------------------------------------------------------------------------------------------------- export


def from_scene(material: neutral.Material, images: list[neutral.Image], warnings: list[str]) -> Material:
    values = dict(material.settings.get("bogle", {})) if material.graph == "bogle" else _nearest(material)
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
        socket = layer.settings.get("bogle", {}).get("texture", "") if material.graph == "bogle" else ""
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
    color = linear(material.color)
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
    return linear(material.emission)


def default() -> Material:
    """For what has none: the engine cannot draw a geometry without a material."""
    return from_scene(neutral.Material("default", graph="bogle"), [], [])

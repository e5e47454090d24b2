# SPDX-License-Identifier: GPL-3.0-or-later
"""The file's materials as the values of the Uber group's sockets, and what other formats understand of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import scene as neutral
from ....pictures.search import base_name
from ....scene import sanitize
from ....scene.uber import ID, USES, describe
from ...binary import decode
from ..document import TEXTURES, Material
from ..materials import COLORS, NUMBERS, stem


def to_material(material: Material, number: int, images: dict[str, int], scene: neutral.Scene) -> neutral.Material:
    name = decode(material.name) or f"Material.{number:03}"
    if material.shader:
        scene.warnings.append(f"{name}: shader {material.shader} is not known; taken for shader 0.")
    values = finite(material.values[0], name, scene.warnings)
    made = neutral.Material(name, graph=ID)
    for place, raw in enumerate(material.textures):
        if raw:
            made.layers.append(_layer(TEXTURES[place], _texture_name(raw, name, scene.warnings), images, scene))
    linked = {layer.settings[ID]["texture"] for layer in made.layers}
    if {"Normal", "Bump"} <= linked:
        scene.warnings.append(f"{name}: has a normal and a bump texture, which exclude each other; the normal texture is used.")
    made.settings[ID] = _sockets(values, linked)
    describe(made)
    return made


def finite(values: Any, name: str, warnings: list[str]) -> dict[str, Any]:
    """The fields of a record as numbers that can be computed with."""
    with np.errstate(invalid="ignore"):  # some bits that are no number complain even when they are copied
        fields = {field: np.asarray(values[field], np.float64) for field in values.dtype.names}
    bad = [field for field, value in fields.items() if not sanitize.within(value)]
    if bad:
        warnings.append(f"{name}: {', '.join(bad)} is not a number; 0 was taken.")
    return {field: sanitize.finite(value) for field, value in fields.items()}


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


def _layer(socket: str, name: str, images: dict[str, int], scene: neutral.Scene) -> neutral.TextureLayer:
    if name not in images:
        images[name] = len(scene.images)
        scene.images.append(neutral.Image(f"{name}.png", (f"textures/{name}.png", f"{name}.png")))
    return neutral.TextureLayer(images[name], use=USES[socket], settings={ID: {"texture": socket}})

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the flags of a surface look like, both ways.

`restyle` makes a material look as its settings say: for imports, and when a setting is changed in Blender's panel. `settle`
brings the settings up to what the material looks like: for exports and for the panel, after the node graph was changed.
"""

from __future__ import annotations

from typing import Any

from ...scene import Image, Material, set_alpha
from .document import FX_ADD, FX_FLAT, FX_FULL_BRIGHT, FX_MULTIPLY, FX_NO_CULL

ID = "bo3d"


def restyle(material: Material, images: list[Image]) -> None:
    fx = int(material.settings.get(ID, {}).get("fx", 0))
    material.full_bright = bool(fx & FX_FULL_BRIGHT)
    material.flat = bool(fx & FX_FLAT)
    material.double_sided = bool(fx & FX_NO_CULL)
    material.blend = _blend(fx, material)
    for layer in material.layers:
        if layer.use == "COLOR" and layer.image >= 0:
            set_alpha(layer, images, alpha=True)


def _blend(fx: int, material: Material) -> Any:
    if fx & FX_ADD:
        return "ADD"
    if fx & FX_MULTIPLY:
        return "MULTIPLY"
    return "ALPHA" if material.color[3] < 1 else "OPAQUE"


def settle(material: Material, images: list[Image]) -> None:
    values = material.settings.setdefault(ID, {})
    fx = int(values.get("fx", 0))
    wanted = {
        FX_FULL_BRIGHT: material.full_bright,
        FX_FLAT: material.flat,
        FX_NO_CULL: material.double_sided,
    }
    if not (fx & FX_ADD and material.blend == "ADD"):  # adding wins over multiplying: then both may be on
        wanted |= {FX_ADD: material.blend == "ADD", FX_MULTIPLY: material.blend == "MULTIPLY"}
    for bit, on in wanted.items():
        fx = fx | bit if on else fx & ~bit
    values["fx"] = fx

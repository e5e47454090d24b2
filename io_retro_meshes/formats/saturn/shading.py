# SPDX-License-Identifier: GPL-3.0-or-later
"""What the attributes of polygons look like, both ways.

`restyle` makes a material look as its settings say: for imports, and when a setting is changed in Blender's panel. `settle`
brings the settings up to what the material looks like: for exports and for the panel, after the node graph was changed.
Settings without a property say how the polygons were in the file: `imported` has flag, sort and atrb of one of them, `textured`
whether they showed a texture, `holes` whether there are holes in that image, and `cut_out` whether the polygons showed them: in
an atlas the holes may be in other pictures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import Image, Material, floats, set_alpha
from .document import DOUBLE_SIDED, DRAW_MODE, HALF_LUMINANCE, SHADOW, SORT_TEXTURE, STIPPLE, TRANSLUCENT, TRANSPARENT_PIXEL_OFF

Array = npt.NDArray[Any]

ID = "saturn"
# Of polygons without attributes from an import: sorted by their centre, RGB, end codes off, gouraud.
SORT = 0xC3
TEXTURED_ATRB = 0x04AC
FLAT_ATRB = 0x04C4

# What a draw mode makes of the colour; other modes leave it as it is.
TINTS = {SHADOW: 0.0, HALF_LUMINANCE: 0.5}


def is_textured(material: Material) -> bool:
    return any(layer.use == "COLOR" and layer.image >= 0 for layer in material.layers)


def restyle(material: Material, images: list[Image]) -> None:
    values = material.settings.get(ID, {})
    textured = is_textured(material)
    atrb = int(values.get("atrb", TEXTURED_ATRB if textured else FLAT_ATRB))
    mode = atrb & DRAW_MODE
    material.double_sided = bool(int(values.get("flag", 0)) & DOUBLE_SIDED)
    material.stipple = bool(atrb & STIPPLE)
    shade = TINTS.get(mode, 1.0)
    material.color[:3] = floats(shade, shade, shade) if textured or mode in TINTS else material.color[:3]
    material.blend, material.color[3] = "OPAQUE", 1
    if _is_clear(atrb):
        material.blend, material.color[3] = "ALPHA", 0.5
    elif textured and _has_holes(material, images) and not atrb & TRANSPARENT_PIXEL_OFF:
        material.blend = "MASK"
    for layer in material.layers:
        if layer.use == "COLOR" and layer.image >= 0:
            set_alpha(layer, images, alpha=True)


def mixed(atrb: Array) -> Array:
    """How polygons are mixed with what is behind them: SHADOW, HALF_LUMINANCE, TRANSLUCENT, or 0 for not at all."""
    mode = atrb & DRAW_MODE
    return np.where((mode & TRANSLUCENT == SHADOW) & (mode != SHADOW), 0, mode & TRANSLUCENT)


def _is_clear(atrb: int) -> bool:
    """Half of what is behind shows: translucent polygons, and shadows, which are black ones."""
    return atrb & DRAW_MODE == SHADOW or atrb & TRANSLUCENT == TRANSLUCENT


def _has_holes(material: Material, images: list[Image]) -> bool:
    shown = [images[layer.image].pixels for layer in material.layers if layer.use == "COLOR" and layer.image >= 0]
    return any(pixels is not None and bool((pixels[..., 3] == 0).any()) for pixels in shown)


def settle(material: Material, images: list[Image]) -> None:
    values: dict[str, Any] = material.settings.setdefault(ID, {})
    textured = is_textured(material)
    flag = int(values.get("flag", 0))
    values["flag"] = flag | DOUBLE_SIDED if material.double_sided else flag & ~DOUBLE_SIDED
    sort = int(values.get("sort", SORT))
    values["sort"] = sort | SORT_TEXTURE if textured else sort
    atrb = int(values.get("atrb", TEXTURED_ATRB if textured else FLAT_ATRB))
    atrb = atrb | STIPPLE if material.stipple else atrb & ~STIPPLE
    if _is_clear(atrb) != (material.blend == "ALPHA"):
        atrb = atrb | TRANSLUCENT if material.blend == "ALPHA" else atrb & ~TRANSLUCENT
    if atrb & DRAW_MODE in TINTS and textured and not np.allclose(material.color[:3], TINTS[atrb & DRAW_MODE], atol=0.01):
        atrb &= ~(SHADOW | HALF_LUMINANCE)
    if material.blend == "MASK":
        atrb &= ~TRANSPARENT_PIXEL_OFF
    elif material.blend == "OPAQUE" and textured and values.get("cut_out", True) and _has_holes(material, images):
        atrb |= TRANSPARENT_PIXEL_OFF
    values["atrb"] = atrb

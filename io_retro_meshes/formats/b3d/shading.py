# SPDX-License-Identifier: GPL-3.0-or-later
"""What the numbers of brushes and textures look like, both ways.

`restyle` makes a material look as its settings say: for imports, and when a setting is changed in Blender's panel. `settle`
brings the settings up to what the material looks like: for exports and for the panel, after the node graph was changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...scene import Image, Material, TextureLayer, set_alpha
from ...scene.names import kept_name
from .document import (
    FX_DOUBLE_SIDED,
    FX_FLAT,
    FX_FORCE_ALPHA,
    FX_FULL_BRIGHT,
    FX_VERTEX_COLORS,
    TEXTURE_ALPHA,
    TEXTURE_CLAMP_U,
    TEXTURE_CLAMP_V,
    TEXTURE_COLOR,
    TEXTURE_CUBE,
    TEXTURE_MASKED,
    TEXTURE_MIPMAP,
    TEXTURE_SECOND_UV,
    TEXTURE_SPHERE,
)
from .engine import TEXTURE_BLENDS

ID = "b3d"
BLENDED, MULTIPLIED, ADDED = 1, 2, 3  # a brush's blend; 0: whatever the engine finds best
ALPHA_KINDS = TEXTURE_ALPHA | TEXTURE_MASKED
# Looks in which the alpha of textures counts.
WITH_ALPHA = ("MASK", "ALPHA", "ADD")

Values = dict[str, Any]


def textures_of(material: Material) -> list[TextureLayer]:
    """The layers that a brush can have."""
    return [layer for layer in material.layers if layer.use == "COLOR" and layer.image >= 0]


# --------------------------------------------------------------------------------------------------- settings to looks


def restyle(material: Material, images: list[Image]) -> None:
    """Takes the look from the settings; textures that need another alpha get an image of their own, added to `images`."""
    values = material.settings.setdefault(ID, {})
    fx = int(values.get("fx", 0))
    material.name = values.get("brush", material.name)
    shininess = float(values.get("shininess", 0.0))
    material.specular = min(max(shininess, 0.0), 1.0)
    # The width of a highlight of the engine's exponent, 128 at full shininess.
    material.roughness = (2 / (128 * material.specular + 2)) ** 0.25
    material.full_bright = bool(fx & FX_FULL_BRIGHT)
    material.vertex_colors, material.lacks_colors = bool(fx & FX_VERTEX_COLORS), False
    material.flat = bool(fx & FX_FLAT)
    material.double_sided = bool(fx & FX_DOUBLE_SIDED)
    # The engine takes the vertices' colours instead of the brush's, not with it.
    material.color[:3] = (1, 1, 1) if material.vertex_colors else values.get("color", material.color[:3])
    for layer in textures_of(material):
        _restyle_layer(layer, images)
    material.blend = _drawn_blend(values, material)
    material.vertex_alpha = material.vertex_colors and material.blend != "OPAQUE"


def _restyle_layer(layer: TextureLayer, images: list[Image]) -> None:
    values = layer.settings.setdefault(ID, {})
    flags, blend = int(values.get("flags", TEXTURE_COLOR)), int(values.get("blend", 2))
    layer.uv = 1 if flags & TEXTURE_SECOND_UV else 0
    layer.blend = TEXTURE_BLENDS[blend] if 0 <= blend < len(TEXTURE_BLENDS) else "MULTIPLY"
    layer.mapping = "CUBE" if flags & TEXTURE_CUBE else "SPHERE" if flags & TEXTURE_SPHERE else "UV"
    layer.clamp = (bool(flags & TEXTURE_CLAMP_U), bool(flags & TEXTURE_CLAMP_V))
    masked, see_through = bool(flags & TEXTURE_MASKED), flags & ALPHA_KINDS == TEXTURE_ALPHA
    set_alpha(layer, images, alpha=see_through, mask_black=masked, mean_alpha=see_through)


def _drawn_blend(values: Values, material: Material) -> Any:
    """Alpha blending takes a reason: a texture with alpha and no mask, a brush that is not opaque, or fx that says so.

    Without a blend of its own a brush looks at a single texture only; a mask counts in the first place only.
    """
    kinds = {}
    for place, layer in enumerate(textures_of(material)):
        settings = layer.settings.get(ID, {})
        kinds[int(settings.get("slot", place))] = int(settings.get("flags", 0)) & ALPHA_KINDS
    blend, fx = int(values.get("blend", BLENDED)), int(values.get("fx", 0))
    looked_at = list(kinds.values()) if blend == BLENDED else [kinds[0]] if set(kinds) == {0} else []
    if blend == ADDED:
        return "ADD"
    if blend == MULTIPLIED:
        return "MULTIPLY"
    if TEXTURE_ALPHA in looked_at or fx & FX_FORCE_ALPHA or material.color[3] < 1:
        return "ALPHA"
    return "MASK" if kinds.get(0, 0) & TEXTURE_MASKED else "OPAQUE"


# --------------------------------------------------------------------------------------------------- looks to settings


def settle(material: Material, images: list[Image]) -> None:
    """Brings all settings of the material and its textures up to its look; what has no look stays as it is."""
    given = material.settings.get(ID, {})
    layers = textures_of(material)
    kept = _alpha_is_known(material, images, layers)
    slot = -1
    for layer in layers:
        _settle_layer(material, images[layer.image], layer, kept)
        slot = max(int(layer.settings[ID].get("slot", 0)), slot + 1)
        layer.settings[ID]["slot"] = slot
    see_through = any(layer.settings[ID]["flags"] & ALPHA_KINDS == TEXTURE_ALPHA for layer in layers) or material.color[3] < 1
    blend = int(given.get("blend", BLENDED))
    color = np.clip(material.color[:3], 0, 1)
    if (material.vertex_colors or material.lacks_colors) and (color == 1).all():
        color = np.array(given.get("color", (1, 1, 1)))
    material.settings[ID] = {
        **given,
        "brush": kept_name(given.get("brush", ""), material.name),
        "fx": _fx(material, int(given.get("fx", 0)), see_through, kept),
        "blend": blend if kept else {"ADD": ADDED, "MULTIPLY": MULTIPLIED}.get(material.blend, BLENDED),
        "color": tuple(float(value) for value in color),
        "shininess": _shininess(material, given.get("shininess")),
    }


def _alpha_is_known(material: Material, images: list[Image], layers: list[TextureLayer]) -> bool:
    """Do the settings, as they are, give the very blending and use of alpha that the material shows?"""
    if ID not in material.settings or not {"fx", "blend"} & material.settings[ID].keys():
        return False
    for layer in layers:
        if "flags" not in layer.settings.get(ID, {}):
            return False
        kind, image = layer.settings[ID]["flags"] & ALPHA_KINDS, images[layer.image]
        if bool(kind & TEXTURE_MASKED) != image.mask_black:
            return False
        if material.blend in WITH_ALPHA and layer.blend != "OFF" and bool(kind) != (image.alpha or image.mask_black):
            return False
    return bool(_drawn_blend(material.settings[ID], material) == material.blend)


def _settle_layer(material: Material, image: Image, layer: TextureLayer, kept: bool) -> None:
    given = layer.settings.get(ID, {})
    flags = int(given.get("flags", TEXTURE_COLOR | (0 if layer.nearest else TEXTURE_MIPMAP)))
    masked = image.mask_black and material.blend == "MASK"
    wanted = {
        TEXTURE_MASKED: image.mask_black,
        TEXTURE_CLAMP_U: layer.clamp[0],
        TEXTURE_CLAMP_V: layer.clamp[1],
        TEXTURE_SPHERE: layer.mapping == "SPHERE",
        TEXTURE_CUBE: layer.mapping == "CUBE",
        TEXTURE_SECOND_UV: layer.uv == 1,
    }
    if layer.mapping == "CUBE":
        wanted.pop(TEXTURE_SPHERE)  # says nothing beside a cube: as the file had it
    if not kept and not (masked and flags & TEXTURE_ALPHA):
        wanted[TEXTURE_ALPHA] = not masked and image.alpha and material.blend != "OPAQUE"
    blend = int(given.get("blend", -1))
    known = TEXTURE_BLENDS[blend] if 0 <= blend < len(TEXTURE_BLENDS) else "MULTIPLY" if "blend" in given else ""
    blend = blend if known == layer.blend else TEXTURE_BLENDS.index(layer.blend)
    layer.settings[ID] = {**given, "flags": _with_bits(flags, wanted), "blend": blend}


def _fx(material: Material, fx: int, see_through: bool, kept: bool) -> int:
    wanted = {
        FX_FULL_BRIGHT: material.full_bright,
        FX_VERTEX_COLORS: material.vertex_colors or material.lacks_colors,
        FX_FLAT: material.flat,
        FX_DOUBLE_SIDED: material.double_sided,
    }
    if not kept and not (material.blend == "ALPHA" and fx & FX_FORCE_ALPHA):
        # Nothing else would make it transparent: its vertices' alpha has to.
        wanted[FX_FORCE_ALPHA] = material.blend == "ALPHA" and not see_through
    return _with_bits(fx, wanted)


def _shininess(material: Material, given: float | None) -> float:
    """Highlights stronger than the engine draws stay so while the material shows the strongest, or can show none."""
    if given is None or not (_is_unlit(material) or abs(min(max(given, 0.0), 1.0) - material.specular) < 1e-5):
        return float(material.specular)
    return float(given)


def _is_unlit(material: Material) -> bool:
    return material.full_bright or material.blend == "MULTIPLY"


def _with_bits(value: int, wanted: dict[int, bool]) -> int:
    for bit, on in wanted.items():
        value = value | bit if on else value & ~bit
    return value

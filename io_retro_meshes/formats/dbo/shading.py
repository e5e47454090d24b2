# SPDX-License-Identifier: GPL-3.0-or-later
"""What the codes of textures and render states mean, and Phong highlights as strength and roughness; for both directions.

`restyle` makes a material look as its settings say: for imports, and when a setting is changed in Blender's panel. `settle`
brings the settings up to what the material looks like: for exports and for the panel, after the node graph was changed.
Settings without a property of their own: `transparency`, `diffuse` (of a material that is not used), `part` (of a mesh with
several materials, which are always used) and `shown_uv` (of a texture whose UV map the mesh does not have).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...scene import Image, Material, TextureLayer, floats, set_alpha

ID = "dbo"

# Texture blend modes (143) that a layer can have; the others are drawn as a product.
BLENDS: dict[int, Any] = {1: "OFF", 4: "MULTIPLY", 5: "MULTIPLY_2X", 6: "MULTIPLY_2X", 7: "ADD", 8: "ADD", 11: "ADD"}
BLENDS |= {12: "ALPHA", 13: "ALPHA", 15: "ALPHA", 16: "ALPHA", 24: "DOT3", 26: "ALPHA"}

# What textures are for, where an effect draws them: by stage, and in newer files by their place in the list.
STAGE_USES: tuple[Any, ...] = ("COLOR", "OCCLUSION", "NORMAL", "METALLIC", "ROUGHNESS")
SLOT_USES: tuple[Any, ...] = ("COLOR", "NORMAL", "METALLIC", "ROUGHNESS", "OCCLUSION", "EMISSION", "OTHER")

# What the ghost modes come nearest to.
GHOST_BLENDS: dict[int, Any] = {0: "ADD", 1: "MULTIPLY", 2: "ADD", 3: "ALPHA", 4: "ADD", 5: "MULTIPLY"}

# The codes that are written; an imported code that means the same is kept.
WRITTEN_BLENDS = {"OFF": 1, "MULTIPLY": 4, "MULTIPLY_2X": 5, "ADD": 7, "ALPHA": 13, "DOT3": 24}
WRITTEN_GHOSTS = {"ADD": 2, "MULTIPLY": 1}


def uv_of(mode: int, stage: int) -> int:
    """The number of the UV map that a texture uses, by its block 151 and its stage."""
    return mode - 10 if 10 <= mode <= 17 else 0 if mode == 3 else stage


def highlight(color: Any, power: float) -> tuple[float, float]:
    """Strength and roughness. Phong's highlight is as wide as a roughness's when its power is 2 / roughness^4 - 2."""
    if not power > 0:
        return 0.0, 1.0
    return float(np.clip(max(color[:3]), 0, 1)), float((2 / (power + 2)) ** 0.25)


# --------------------------------------------------------------------------------------------------- settings to looks


def restyle(material: Material, images: list[Image]) -> None:
    values = material.settings.setdefault(ID, {})
    if values.get("use_material", True) or values.get("part"):
        material.emission = floats(*values.get("emissive_color", (0, 0, 0))[:3]).clip(0, 1)
        material.specular, material.roughness = highlight(values.get("specular_color", (0, 0, 0)), values.get("power", 0))
        material.color = floats(*values.pop("diffuse", material.color))
    else:  # lit as if it were plain white
        values.setdefault("diffuse", tuple(material.color.tolist()))
        material.color, material.emission = floats(1, 1, 1, 1), floats(0, 0, 0)
        material.specular, material.roughness = 0.0, 1.0
    test = int(values.get("alpha_test", 0))
    if values.get("ghost", False):
        material.blend = GHOST_BLENDS.get(values.get("ghost_mode", 2), "ADD")
    elif values.get("transparency", material.blend in ("ALPHA", "MASK")):
        material.blend = "MASK" if test else "ALPHA"
        material.threshold = min(test, 255) / 255 if test else 0.5
    else:
        material.blend = "OPAQUE"
    for place, layer in enumerate(material.layers):
        _restyle_layer(layer, place)
        if layer.use == "COLOR" and layer.image >= 0:
            set_alpha(layer, images, alpha=True)


def _restyle_layer(layer: TextureLayer, place: int) -> None:
    values = layer.settings.setdefault(ID, {})
    if layer.use == "COLOR":
        # The first stage has nothing to be laid over.
        layer.blend = BLENDS.get(values.get("blend_mode", 4), "MULTIPLY") if place else "MULTIPLY"
    mode = values.get("tc_mode", 0)
    layer.mapping = "SPHERE" if mode == 1 else "CUBE" if mode == 2 else "UV"
    if layer.use == "COLOR" and layer.mapping == "UV":
        layer.uv = values.get("shown_uv", uv_of(mode, values.get("stage", place)))
    layer.nearest = values.get("mag", 2) == 1


# --------------------------------------------------------------------------------------------------- looks to settings


def settle(material: Material, images: list[Image]) -> None:
    values = material.settings.setdefault(ID, {})
    if not values.setdefault("use_material", True) and not values.get("part") and not _is_plain_white(material):
        values["use_material"] = True  # it has colours by now
    if values["use_material"] or values.get("part"):
        values.pop("diffuse", None)
        _settle_colors(material, values)
    _settle_blend(material, values)
    for place, layer in enumerate(material.layers):
        _settle_layer(layer, place)


def _is_plain_white(material: Material) -> bool:
    return bool((material.color[:3] == 1).all() and not material.emission.any() and material.specular == 0)


def _settle_colors(material: Material, values: dict[str, Any]) -> None:
    values.setdefault("ambient_color", tuple(material.color.tolist()))
    emissive = values.get("emissive_color", (0, 0, 0, 1))
    unlit = material.full_bright or material.blend == "MULTIPLY"  # shows neither glow nor highlights
    if not unlit and not np.allclose(np.clip(emissive[:3], 0, 1), material.emission, atol=1e-5):
        emissive = (*material.emission.tolist(), emissive[3])
    specular, power = values.get("specular_color", (0, 0, 0, 1)), values.get("power", 0.0)
    if not unlit and not np.allclose(highlight(specular, power), (material.specular, material.roughness), atol=1e-3):
        specular = (material.specular, material.specular, material.specular, 1.0)
        power = 2 / max(material.roughness, 0.05) ** 4 - 2 if material.specular else 0.0
    values |= {"emissive_color": tuple(emissive), "specular_color": tuple(specular), "power": power}


def _settle_blend(material: Material, values: dict[str, Any]) -> None:
    ghost, mode = values.get("ghost", False), values.get("ghost_mode", 2)
    shown = GHOST_BLENDS.get(mode, "ADD")
    if material.blend in ("ADD", "MULTIPLY") and not (ghost and shown == material.blend):
        ghost, mode = True, WRITTEN_GHOSTS[material.blend] if shown != material.blend else mode
    elif ghost and shown != material.blend:
        ghost = False
    test = values.get("alpha_test", 0)
    values["transparency"] = material.blend in ("ALPHA", "MASK") and not ghost
    if values["transparency"]:
        test = max(round(material.threshold * 255), 1) if material.blend == "MASK" else 0
    values |= {"ghost": ghost, "ghost_mode": mode, "alpha_test": test}


def _settle_layer(layer: TextureLayer, place: int) -> None:
    values = layer.settings.setdefault(ID, {})
    stage = values.setdefault("stage", place)
    blend = values.get("blend_mode", 4)
    if place and BLENDS.get(blend, "MULTIPLY") != layer.blend:
        blend = WRITTEN_BLENDS[layer.blend]
    mode = values.get("tc_mode", 0)
    if layer.mapping != "UV":
        mode = 1 if layer.mapping == "SPHERE" else 2
    elif layer.use == "COLOR" and (mode in (1, 2) or values.get("shown_uv", uv_of(mode, stage)) != layer.uv):
        values.pop("shown_uv", None)
        mode = 10 + layer.uv
    mag = values.get("mag", 2)
    mag = 1 if layer.nearest else 2 if mag == 1 else mag
    values |= {"blend_mode": blend, "tc_mode": mode, "mag": mag}
    for name, value in {"argument_1": 2, "argument_2": 1 if place else 0, "min": mag, "mip": 2}.items():
        values.setdefault(name, value)

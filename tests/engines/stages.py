# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blitz3D and Dark Basic Pro make of a surface's colours, stage by stage, in numbers from 0 to 1 as they are displayed.

Written down from what the engines do, sharing nothing with the project. Surfaces are not lit here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass
class Texture:
    """A picture of one colour."""

    rgba: tuple[float, float, float, float]
    flags: int = 1
    blend: int = 2
    has_alpha: bool = True  # the file has four channels
    there: bool = True


@dataclass
class Surface:
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    alpha: float = 1.0
    fx: int = 1
    blend: int = 1
    textures: list[Texture] = field(default_factory=list)
    vertex: tuple[float, float, float, float] | None = None


def clamp(value: Any) -> Array:
    return np.clip(value, 0, 1)


def dot3(below: Array, above: Array) -> Array:
    return clamp(np.full(3, 4 * ((below - 0.5) * (above - 0.5)).sum()))


def blitz_stage(blend: int, below: Array, above: Array, alpha: float) -> Array:
    """TextureBlend: 1 alpha, 2 multiply, 3 add, 4 dot3, 5 multiply 2x; others multiply."""
    if blend == 1:
        return below * (1 - alpha) + above * alpha
    if blend == 3:
        return clamp(below + above)
    if blend == 4:
        return dot3(below, above)
    return clamp(below * above * (2 if blend == 5 else 1))


def blitz_alpha(texture: Texture) -> float:
    """Masked: black is clear. Alpha: the picture's, or the mean of its colours where it has none."""
    rgb = texture.rgba[:3]
    if texture.flags & 4:
        return float(any(rgb))
    if texture.flags & 2:
        return texture.rgba[3] if texture.has_alpha else sum(rgb) / 3
    return 1.0


def blitz(surface: Surface, over: Callable[[str, Array, float], Array]) -> Array:
    """The colour of a surface; `over` lays it over what is behind, by "ALPHA", "MULTIPLY" or "ADD"."""
    color, alpha = np.array(surface.color), surface.alpha
    if surface.fx & 2:  # a mesh without colours counts as white
        vertex = surface.vertex or (1.0, 1.0, 1.0, 1.0)
        color, alpha = np.array(vertex[:3]), surface.alpha * vertex[3]
    shown = [texture for texture in surface.textures if texture.there and texture.blend]
    for texture in shown:
        # Without a way to keep them apart, the alpha that stages blend with is the one that is laid over what is behind.
        above = blitz_alpha(texture) if texture.flags & 6 else texture.rgba[3] if texture.has_alpha else 1.0
        color = blitz_stage(texture.blend, color, np.array(texture.rgba[:3]), above)
        alpha *= blitz_alpha(texture)
    kinds = [texture.flags & 6 for texture in surface.textures]
    looked_at = kinds if surface.blend == 1 else kinds if len(kinds) == 1 else []
    if surface.blend == 3:
        return over("ADD", color, alpha)
    if surface.blend == 2:
        return over("MULTIPLY", color, 1.0)
    if 2 in looked_at or surface.fx & 32 or surface.alpha < 1:
        return over("ALPHA", color, alpha)
    if kinds and kinds[0] & 4:
        return over("ALPHA", color, float(alpha >= 0.5))
    return color


def dark_stage(mode: int, below: Array, above: Array, alpha: float) -> Array:
    """Block 143: Direct3D's texture operations."""
    stages = {
        1: below,
        5: clamp(2 * below * above),
        7: clamp(below + above),
        13: below * (1 - alpha) + above * alpha,
        24: dot3(below, above),
    }
    return stages.get(mode, below * above)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours that a graph works out from numbers alone, and what is left of nodes that change the colours of textures."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..links import Input, Source

Array = np.ndarray
DEEP = 64  # nodes between a socket and the numbers: more is a mistake in the tree

# Blender's ways to mix, where they need nothing but the two colours.
MIXED: dict[str, Callable[[Array, Array], Array]] = {
    "MIX": lambda below, above: above,
    "MULTIPLY": lambda below, above: below * above,
    "ADD": lambda below, above: below + above,
    "SUBTRACT": lambda below, above: below - above,
    "SCREEN": lambda below, above: 1 - (1 - below) * (1 - above),
    "DIFFERENCE": lambda below, above: np.abs(below - above),
    "DARKEN": np.minimum,
    "LIGHTEN": np.maximum,
    "OVERLAY": lambda below, above: np.where(below < 0.5, 2 * below * above, 1 - 2 * (1 - below) * (1 - above)),
}


def mix_sockets(source: Source) -> tuple[Input | None, Input | None, Input | None]:
    """Factor, and what is mixed."""
    names = ("Factor_Float", "A_Color", "B_Color") if source.kind == "MIX" else ("Fac", "Color1", "Color2")
    factor, below, above = map(source.input, names)
    return factor, below, above


def value_of(socket: Input | None, deep: int = DEEP) -> Array | None:
    """RGBA; None where a texture, the mesh or a node that is not known here has a part in it."""
    if socket is None or deep == 0:
        return None
    value = socket.constant()
    if value is not None:
        return _rgba(value)
    source = socket.source()
    return None if source is None else _made(source, deep - 1)


def _rgba(value: Any) -> Array:
    if isinstance(value, int | float):
        return np.array([value, value, value, 1.0])
    return np.append(np.array(value[:3], np.float64), value[3] if len(value) > 3 else 1.0)


def _made(source: Source, deep: int) -> Array | None:
    if source.kind in ("MIX", "MIX_RGB"):
        return _mixed(source, deep)
    if source.kind in ("COMBINE_COLOR", "COMBRGB"):
        parts = [value_of(socket, deep) for socket in source.inputs()[:3]]
        plain = getattr(source.node, "mode", "RGB") == "RGB"
        return _rgba([part[0] for part in parts if part is not None]) if plain and all(p is not None for p in parts) else None
    if source.kind == "VALTORGB":
        place = value_of(source.input("Fac") or source.input("Factor"), deep)
        return None if place is None else np.array(source.node.color_ramp.evaluate(float(place[:3].mean())))
    color = value_of(source.input("Color"), deep)
    return None if color is None else _changed(source, color, deep)


def _mixed(source: Source, deep: int) -> Array | None:
    factor, below, above = (value_of(socket, deep) for socket in mix_sockets(source))
    way = MIXED.get(source.node.blend_type)
    if factor is None or below is None or above is None or way is None:
        return None
    part = float(np.clip(factor[0], 0, 1))
    made = below.copy()
    made[:3] = below[:3] * (1 - part) + way(below, above)[:3] * part
    clamped = getattr(source.node, "clamp_result", False) or getattr(source.node, "use_clamp", False)
    return np.clip(made, 0, 1) if clamped else made


def _changed(source: Source, color: Array, deep: int) -> Array | None:
    """A colour as one of the nodes that change one makes it."""
    numbers = [value_of(socket, deep) for socket in source.inputs() if socket.type != "RGBA"]
    if any(number is None for number in numbers):
        return None
    values = [float(number[0]) for number in numbers if number is not None]
    made = color.copy()
    if source.kind == "HUE_SAT" and len(values) == 4:
        hue, saturation, value, part = values
        h, s, v = colorsys.rgb_to_hsv(*color[:3].tolist())
        new = colorsys.hsv_to_rgb((h + hue + 0.5) % 1, min(max(s * saturation, 0), 1), v * value)
        made[:3] = np.maximum(color[:3] * (1 - part) + np.array(new) * part, 0)
    elif source.kind == "GAMMA" and values:
        made[:3] = np.maximum(color[:3], 0) ** values[0]
    elif source.kind == "BRIGHTCONTRAST" and len(values) == 2:
        bright, contrast = values
        made[:3] = np.maximum(color[:3] * (1 + contrast) + bright - contrast / 2, 0)
    elif source.kind == "INVERT" and values:
        made[:3] = color[:3] * (1 - values[0]) + (1 - color[:3]) * values[0]
    else:
        return None
    return made


def as_product(source: Source) -> tuple[Input, Array] | None:
    """A node that does no more than multiply what a texture gives: the way on, and the factors."""
    if source.kind in ("MIX", "MIX_RGB"):
        factor, below, above = mix_sockets(source)
        amount = value_of(factor)
        if amount is None or below is None or above is None:
            return None
        part = float(np.clip(amount[0], 0, 1))
        way = source.node.blend_type
        if part == 0:
            return below, np.ones(3)
        for onward, other, upper in ((below, above, True), (above, below, False)):
            value = value_of(other)
            if value is None:
                continue
            if way == "MULTIPLY" and (upper or part == 1):
                return onward, 1 - part + part * value[:3]
            if way == "MIX" and (not value[:3].any() or part == float(not upper)):
                return onward, np.full(3, 1 - part if upper else part)
        return (above, np.ones(3)) if way == "MIX" and part == 1 else None
    if source.kind == "VECT_MATH" and source.node.operation == "MULTIPLY":
        one, other = source.inputs()[:2]
        for onward, value in ((one, value_of(other)), (other, value_of(one))):
            if value is not None:
                return onward, value[:3]
        return None
    color = source.input("Color")
    probes = np.array([[0.8, 0.4, 0.2, 1], [0.1, 0.3, 0.6, 1], [0.5, 0.5, 0.5, 1]])
    made = [_changed(source, probe, DEEP) for probe in probes] if color is not None else []
    if color is None or any(each is None for each in made):
        return None
    factors = np.array([each[:3] / probe[:3] for each, probe in zip(made, probes, strict=True) if each is not None])
    return (color, factors[0]) if np.ptp(factors, 0).max() < 1e-5 else None

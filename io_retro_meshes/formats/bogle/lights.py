# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulas between the engine's numbers of a light and Blender's, each with its inverse."""

from __future__ import annotations

import math
from typing import Literal

from .document import POINT, SPOT, SUN
from .options import LightFormula

# SPEC: the intensity is the light's power, as the format's text says. ORIGINAL: the curve that the engine's own exporter
# puts the power of spots and points through, which levels off at 250.

KINDS: dict[int, Literal["POINT", "SUN", "SPOT"]] = {SPOT: "SPOT", SUN: "SUN", POINT: "POINT"}
LEVEL, START, HALF_WAY, BEND = 250.0, 0.5, 15.0, 0.7


def intensity(energy: float, kind: str, formula: LightFormula) -> float:
    if formula == "SPEC" or kind == "SUN":
        return energy
    return LEVEL - (LEVEL + START) / (1 + (max(energy, 0) / HALF_WAY) ** BEND)


def energy(value: float, kind: str, formula: LightFormula) -> float | None:
    """The inverse; None where the curve never comes to that intensity."""
    if formula == "SPEC" or kind == "SUN":
        return value
    if not -START <= value < LEVEL:
        return None
    return HALF_WAY * ((LEVEL + START) / (LEVEL - value) - 1) ** (1 / BEND)


def linear_attenuation(distance: float) -> float:
    return 1000 / distance - distance


def cutoff_distance(linear: float) -> float:
    """The inverse of the above, in the form that loses no digits for either sign."""
    root = math.sqrt(linear * linear + 4000)
    return 2000 / (linear + root) if linear > 0 else (root - linear) / 2

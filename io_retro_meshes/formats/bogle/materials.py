# SPDX-License-Identifier: GPL-3.0-or-later
"""What both directions know of materials: which numbers of the file are which sockets, and the names of pictures."""

from __future__ import annotations

import os

from ...pictures.search import PICTURES, base_name

COLORS = ("Ambient", "Emissive", "Diffuse", "Specular")  # with a base colour and a texture each
# Numbers of the file that are sockets of the same meaning.
NUMBERS = {
    "opacity": "Opacity",
    "specular_power": "Specular Power",
    "reflectance": "Reflectance",
    "refraction": "Refraction",
    "index_of_refraction": "Index of Refraction",
    "bump_intensity": "Bump Intensity",
    "specular_scale": "Specular Scale",
    "alpha_threshold": "Alpha Threshold",
}


def stem(name: str) -> str:
    """A picture's name without folders and extension: what the file says."""
    name = base_name(name)
    start, extension = os.path.splitext(name)
    return start if extension.lower() in PICTURES and start else name

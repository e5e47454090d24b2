# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices in 16-bit floats."""

from __future__ import annotations

import numpy as np

from .document import HALF_VERTEX, Document

LARGEST = 65504.0
SMALLEST = 2.0**-14  # the loader makes nothing of smaller numbers


def narrow(document: Document) -> str:
    """Rounds all vertices to half floats, and says how far they are off."""
    worst = {"position": 0.0, "uv": 0.0, "normal": 0.0}
    clamped = 0
    for entity in document.entities:
        if entity.mesh is None:
            continue
        table = np.zeros(len(entity.mesh.vertices), HALF_VERTEX)
        for name in worst:
            exact = entity.mesh.vertices[name]
            clamped += int((np.abs(exact) > LARGEST).any(1).sum())
            near = np.clip(exact, -LARGEST, LARGEST)
            near = np.where(np.abs(near) < SMALLEST, 0, near)
            table[name] = near
            if len(exact):
                worst[name] = max(worst[name], float(np.abs(table[name].astype(np.float32) - exact).max()))
        entity.mesh.vertices = table
    message = (
        f"Half floats move vertices by up to {worst['position']:.3g} units along an axis, "
        f"UVs by up to {worst['uv']:.3g} and normals by up to {worst['normal']:.3g}."
    )
    if clamped:
        message += f" {clamped} vertices are too far out for them, and were brought to {LARGEST:g}."
    return message

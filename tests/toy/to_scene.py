# SPDX-License-Identifier: GPL-3.0-or-later
"""Document to Scene."""

from __future__ import annotations

import numpy as np

from ...scene import Mesh, Node, Scene
from .document import Document


def to_scene(document: Document) -> Scene:
    positions = document.triangles.reshape(-1, 3).astype(np.float32)
    mesh = Mesh("triangles", positions, np.arange(len(positions), dtype=np.int32))
    return Scene([Node("triangles", mesh=0)], [mesh], warnings=list(document.warnings))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .toy file holds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...scene import Floats


@dataclass
class Document:
    triangles: Floats = field(default_factory=lambda: np.zeros((0, 3, 3), np.float32))
    rest: bytes = b""  # what stands behind the triangles
    warnings: list[str] = field(default_factory=list)

# SPDX-License-Identifier: GPL-3.0-or-later
"""How the engine moves bones.

It places a bone by parent · rotation · translation(position): a bone turns about its parent's place, not its own.
"""

from __future__ import annotations

import numpy as np

from ...scene import Floats, maths

STILL = 1e-6  # less is no movement


def rotated(rotations: Floats, vectors: Floats) -> Floats:
    return np.einsum("...ij,...j->...i", maths.quaternion_to_matrix(rotations), vectors).astype(np.float32)

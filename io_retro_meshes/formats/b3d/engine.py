# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Blitz3D engine can hold, and what its numbers mean: shared by import and export."""

from __future__ import annotations

from typing import Final

DEFAULT_FPS = 60.0

MAX_WEIGHTS = 4  # of a vertex
MAX_BONES = 254  # of a mesh
MAX_VERTICES = 65535  # of a surface
MAX_UV_SETS = 2  # that are read, of a file's eight
MAX_TEXTURES = 8  # of a brush

# By the number in a texture's `blend`.
TEXTURE_BLENDS: Final = ("OFF", "ALPHA", "MULTIPLY", "ADD", "DOT3", "MULTIPLY_2X")

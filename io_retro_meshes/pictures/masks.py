# SPDX-License-Identifier: GPL-3.0-or-later
"""Alpha that is not in a picture but follows from its colours, as engines make it when they load one.

For bytes (0..255) and for floats (0..1) alike: (..., 4) RGBA.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def alters(mask_black: bool, mean_alpha: bool, has_alpha: bool, dds: bool) -> bool:
    """Does the engine give such a picture an alpha of its own making?

    `has_alpha`: the file has an alpha channel. The black mask is not made for .dds files, which have their own alpha.
    """
    return not dds if mask_black else mean_alpha and not has_alpha


def set_alpha(pixels: Array, mask_black: bool) -> None:
    """Pure black becomes transparent and all else opaque; or else the mean of the colours becomes the alpha."""
    colors = pixels[..., :3]
    whole = pixels.dtype.kind in "ui"
    if mask_black:
        pixels[..., 3] = colors.any(-1) * (255 if whole else 1)
    else:
        mean = colors.mean(-1, dtype=np.float32)
        pixels[..., 3] = np.rint(mean) if whole else mean

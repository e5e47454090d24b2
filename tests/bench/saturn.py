# SPDX-License-Identifier: GPL-3.0-or-later
"""Saturn characters: how fast their textures are unpacked."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from io_retro_meshes.formats.saturn import lzss
from tests.builders.saturn import tiles

from .timing import Report, best

UNPACKED_A_SECOND = 20e6  # bytes of Saturn textures


def measure(report: Report, folder: Path) -> None:
    for name, words in (("painted", tiles(1024)), ("flat", np.full(1 << 18, 0x8421, np.uint16))):
        packed = lzss.compress(words)
        seconds = best(lambda packed=packed, words=words: lzss.decompress(packed, len(words)))
        report.line(f"unpack 512 KB, {name}", seconds, None, words.nbytes / UNPACKED_A_SECOND)

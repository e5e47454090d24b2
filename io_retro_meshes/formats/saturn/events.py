# SPDX-License-Identifier: GPL-3.0-or-later
"""Events of animations <-> named markers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from .document import EVENT, EVENT_NAMES

SOUND = 0xFF00  # and the number of the sound

_CODES = {name: code for code, name in EVENT_NAMES.items()}


def marker_name(code: int) -> str:
    if code & SOUND == SOUND:
        return f"sound {code & 0xFF:02X}"
    return EVENT_NAMES.get(code, f"event {code:02X}")


def code_of(name: str) -> int | None:
    """The event that a marker stands for; a number that Blender put behind the name does not count."""
    plain = re.sub(r"\.\d{3}$", "", name)
    if plain in _CODES:
        return _CODES[plain]
    found = re.fullmatch(r"(sound|event) ([0-9A-Fa-f]{1,4})", plain)
    if not found:
        return None
    number = int(found[2], 16)
    return SOUND | number & 0xFF if found[1] == "sound" else number


def markers(events: npt.NDArray[Any]) -> list[tuple[float, str]]:
    return [(float(frame), marker_name(code)) for frame, code in events.tolist()]


def from_markers(markers: list[tuple[float, str]], warnings: list[str]) -> npt.NDArray[Any]:
    found = [(round(frame), code) for frame, name in markers if (code := code_of(name)) is not None]
    unknown = sorted({name for _, name in markers if code_of(name) is None})
    if unknown:
        warnings.append(f"Markers that are no events were left out: {', '.join(unknown)}.")
    return np.array(sorted(found, key=lambda event: event[0]), EVENT)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The codes of animation events, and their names as markers; for both directions."""

from __future__ import annotations

import re

from .names import EVENT_NAMES

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene knows and glTF has no field for: in `extras`, under a name of our own, so that it survives the way back."""

from __future__ import annotations

import math
from typing import Any

from ...scene import Settings
from .document import Json, Part

KEY = "retro_meshes"
DEEPEST = 8  # lists within lists that settings may be


def pack(entry: Json, settings: Settings | None = None, **values: Any) -> None:
    """Adds them to an object of the file. What is None, empty or false is left out."""
    cleaned = {name: clean(value) for name, value in values.items()}
    found = {name: value for name, value in cleaned.items() if value is not None and value is not False and value != ""}
    if settings:
        found["settings"] = clean(settings)
    if found:
        entry.setdefault("extras", {}).setdefault(KEY, {}).update(found)


def clean(value: Any) -> Any:
    """As JSON has it: no tuples, no arrays, no NaN."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return 0.0
    return value.hex() if isinstance(value, bytes) else value


def unpack(part: Part) -> Part:
    """Ours of an object of the file; empty where there are none, or they are not what they must be."""
    extras = part.values.get("extras")
    found = extras.get(KEY) if isinstance(extras, dict) else None
    return Part(found if isinstance(found, dict) else {}, f"{part.place}.extras.{KEY}")


def settings(part: Part) -> Settings:
    """The formats' settings of an object of the file: whatever there is in them, formats read those of their own alone."""
    found = unpack(part).values.get("settings")
    made: Settings = {}
    for name, values in found.items() if isinstance(found, dict) else ():
        if isinstance(values, dict):
            made[str(name)] = {str(key): _plain(value, 0) for key, value in values.items()}
    return made


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        return tuple(_plain(each, depth + 1) for each in value) if depth < DEEPEST else ()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return 0
    return value

# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a record that the scene has no field for: they travel as settings."""

from __future__ import annotations

from typing import Any

UNSIGNED = 1 << 31  # Blender's integers end here


def changed(record: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of a record that are not the engine's defaults."""
    found = {name: getattr(record, name) for name in names}
    defaults = {name: vars(type(record))[name].default for name in names}
    return {name: value for name, value in found.items() if value != defaults[name] and _fits(value)}


def _fits(value: Any) -> bool:
    return not isinstance(value, int) or value < UNSIGNED

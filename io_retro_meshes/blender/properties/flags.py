# SPDX-License-Identifier: GPL-3.0-or-later
"""Bits of a number as toggles: the number is what is kept, so that bits nobody has a name for stay, too."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty


def flag(of: str, bit: int, name: str, description: str) -> Any:
    """A toggle for one bit of the integer property `of` of the same group."""

    def get(group: Any) -> bool:
        return bool(getattr(group, of) & bit)

    def set(group: Any, value: bool) -> None:
        number = getattr(group, of)
        setattr(group, of, number | bit if value else number & ~bit)

    return BoolProperty(name=name, description=description, get=get, set=set, options={"SKIP_SAVE"})

# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are hidden on some frames only: no format has that, so they are shown on all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import bpy

from .. import compat

HIDING = ("hide_viewport", "hide_render")


def hiding_curves(source: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The keys and drivers that hide and show an object."""
    data = source.animation_data
    if data is None:
        return []
    slot = compat.assigned_slot(source)
    found = [
        curve for of, curves in (compat.action_curves(data.action) if data.action else ()) if of == slot for curve in curves
    ]
    return [curve for curve in (*found, *data.drivers) if curve.data_path in HIDING]


def is_blinking(source: bpy.types.Object) -> bool:
    """Hidden now by keys that show it on another frame, and not by anything else."""
    return source.hide_viewport and not source.hide_get() and any(c.data_path == "hide_viewport" for c in hiding_curves(source))


@contextlib.contextmanager
def all_shown(context: bpy.types.Context, chosen: list[bpy.types.Object], warnings: list[str]) -> Iterator[None]:
    """While it lasts, such objects can be seen on every frame."""
    blinking = {source: curves for source in chosen if (curves := hiding_curves(source))}
    warnings += [
        f'"{source.name}" has keys that hide and show it, which the format does not have: it can be seen on all frames'
        for source in blinking
    ]
    muted = [curve for curves in blinking.values() for curve in curves if not curve.mute]
    hidden = [source for source in blinking if source.hide_viewport]
    active = context.view_layer.objects.active
    try:
        for curve in muted:
            curve.mute = True
        for source in hidden:
            source.hide_viewport = False
        if hidden:
            context.view_layer.update()
        yield
    finally:
        for curve in muted:
            curve.mute = False
        for source in hidden:
            source.hide_viewport = True
        if hidden:
            context.view_layer.update()
            context.view_layer.objects.active = active

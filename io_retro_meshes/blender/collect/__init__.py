# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender data to Scene."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Literal

import bpy

from ... import scene as neutral
from ...formats import AnyFormat, FormatError
from ...formats.options import ExportOptions
from ...scene import prepare
from .. import properties
from ..world import world_color
from .animation import AnimationCollector
from .objects import ObjectCollector, why_nothing
from .visibility import all_shown


def collect(
    context: bpy.types.Context, options: ExportOptions, format: AnyFormat
) -> tuple[neutral.Scene, list[bpy.types.Image]]:
    """The scene as a format can write it, and Blender's image for each of its images.

    What the format's traits ask for: see formats/format.py.
    """
    with _out_of_edit_mode(context):
        collector = ObjectCollector(context, options, format)
        collector.choose()
        if not collector.objects:
            raise FormatError(why_nothing(context, options))
        animation = AnimationCollector(collector, _with_animation(options, collector))
        with all_shown(context, list(collector.index), collector.scene.warnings), animation.playing():
            scene = collector.collect()
            format.check(scene)
            animation.collect()
    render = context.scene.render
    scene.fps = render.fps / render.fps_base
    scene.first_frame = None if animation.plan.imported else float(context.scene.frame_start)
    scene.settings = properties.collect(context.scene)
    if context.scene.world is not None:
        scene.world_color = world_color(context.scene.world)
    scene = prepare.prepare(scene, format, options)
    if not scene.nodes:
        raise FormatError("there is nothing to export: lights and cameras are all there is, and the options leave them out")
    return scene, collector.pictures


def _with_animation(options: ExportOptions, collector: ObjectCollector) -> ExportOptions:
    """Automatic is all actions for a format that knows them by their names, unless an imported timeline is among them."""
    if options.animation != "AUTO" or not collector.format.named_actions:
        return options
    data = [source.animation_data for source in collector.objects if source is not None]
    actions = [each.action for each in data if each and each.action]
    if any(action.retro_meshes.role == "TIMELINE" for action in actions):
        return options
    return dataclasses.replace(options, animation="ACTIONS")


@contextlib.contextmanager
def _out_of_edit_mode(context: bpy.types.Context) -> Iterator[None]:
    """While an object is edited, Blender shows neither its mesh nor its poses as they will be."""
    layer = context.view_layer
    layer.update()  # a script may have made an object just now
    edited = [source for source in layer.objects if source.mode == "EDIT"]
    if not edited:
        yield
        return
    active, selected = layer.objects.active, [source for source in layer.objects if source.select_get()]
    first = active if active in edited else edited[0]
    layer.objects.active = first
    _set_mode("OBJECT")
    try:
        yield
    finally:
        _select(layer, edited)  # all that are selected enter the mode
        layer.objects.active = first
        _set_mode("EDIT")
        _select(layer, selected)
        layer.objects.active = active


def _set_mode(mode: Literal["OBJECT", "EDIT"]) -> None:
    """With a step to undo: going back past a change of mode that Blender does not know of gives wrong meshes."""
    bpy.ops.object.mode_set(mode=mode)
    bpy.ops.ed.undo_push(message=f"{mode.title()} Mode for an Export")


def _select(layer: bpy.types.ViewLayer, chosen: list[bpy.types.Object]) -> None:
    for source in layer.objects:
        source.select_set(source in chosen)

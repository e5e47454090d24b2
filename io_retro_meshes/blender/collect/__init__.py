# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender data to Scene."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import bpy

from ... import scene as neutral
from ... import sound
from .. import properties
from ..world import world_color
from .animation import collect_animation
from .objects import ObjectCollector


@dataclass(frozen=True)
class CollectOptions:
    """What every exporter can be told."""

    use_selection: bool = False
    use_visible: bool = True
    use_active_collection: bool = False
    collection: str = ""
    scale: float = 1.0
    use_modifiers: bool = True
    animation: str = "AUTO"
    key_tolerance: float = 1e-5
    textures: str = "BASENAME"


def collect(
    context: bpy.types.Context, options: CollectOptions, module: ModuleType
) -> tuple[neutral.Scene, list[bpy.types.Image]]:
    """The scene as a format can write it, and Blender's image for each of its images.

    A format's package says what it wants: see CONTRIBUTING.md.
    """
    with _out_of_edit_mode(context):
        collector = ObjectCollector(context, options, module)
        scene = collector.collect()
        collect_animation(collector, options)
    if not scene.nodes:
        scene.warnings.append("Nothing was exported: no object of the scene is both visible and chosen")
    render = context.scene.render
    scene.fps = render.fps / render.fps_base
    scene.settings = properties.collect(context.scene)
    if context.scene.world is not None:
        scene.world_color = world_color(context.scene.world)
    return sound.sound(neutral.scaled(scene, options.scale)), collector.pictures


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


def _set_mode(mode: str) -> None:
    """With a step to undo: going back past a change of mode that Blender does not know of gives wrong meshes."""
    bpy.ops.object.mode_set(mode=mode)
    bpy.ops.ed.undo_push(message=f"{mode.title()} Mode for an Export")


def _select(layer: bpy.types.ViewLayer, chosen: list[bpy.types.Object]) -> None:
    for source in layer.objects:
        source.select_set(source in chosen)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender data to Scene."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import bpy

from ... import scene as neutral
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
    if context.mode != "OBJECT" and context.object is not None:
        context.object.update_from_editmode()
    collector = ObjectCollector(context, options, module)
    scene = collector.collect()
    collect_animation(collector, options)
    render = context.scene.render
    scene.fps = render.fps / render.fps_base
    scene.settings = properties.collect(context.scene)
    if context.scene.world is not None:
        scene.world_color = world_color(context.scene.world)
    return neutral.scaled(scene, options.scale), collector.pictures

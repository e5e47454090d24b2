# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene to Blender data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from ... import scene as neutral
from ...formats.options import ImportOptions
from ...scene import sanitize
from .. import properties
from ..world import set_world_color
from .actions import ActionBuilder
from .armatures import BoneStyle
from .images import build_images
from .materials import build_materials
from .objects import ObjectBuilder

# What a new scene of Blender's has.
DEFAULT_RANGE = (1, 250)
DEFAULT_RATE = (24, 1.0)


@dataclass
class Built:
    objects: list[bpy.types.Object] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    framed: bool = False  # the scene's range is that of the file


@dataclass
class Place:
    """Where in Blender a file goes, and what it finds there."""

    collection: bpy.types.Collection | None = None  # None: the active one
    folders: Sequence[Path] = ()  # where textures are looked for, whatever the options say
    bones: BoneStyle = field(default_factory=BoneStyle)
    widen: bool = False  # another file of the same import has set the scene's range
    progress: Callable[[float], None] = lambda part: None  # is told which part is done: 0.3 when the file is read, to 1


def build(
    context: bpy.types.Context, scene: neutral.Scene, path: Path, options: ImportOptions, place: Place | None = None
) -> Built:
    """Puts a scene into the active collection, or where it is told."""
    place = place or Place()
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    scene = sanitize.sanitize(neutral.scaled(scene, options.scale))
    built = Built(warnings=scene.warnings)
    still = not _is_animated(context.scene)
    images: list[bpy.types.Image | None] = [None] * len(scene.images)
    if options.use_textures:
        folders = [Path(bpy.path.abspath(options.texture_folder))] if options.texture_folder else []
        images, missing = build_images(scene, path.parent, [*folders, *place.folders])
        built.warnings += missing
    materials = build_materials(scene, images)
    place.progress(0.5)
    collection = place.collection or active_collection(context)
    builder = ObjectBuilder(context, scene, collection, materials, built.warnings, place.bones)
    built.objects = builder.build()
    place.progress(0.8)
    if options.use_animation:
        actions = ActionBuilder(scene, built.objects, builder.armatures, path.stem).build()
        if actions:
            built.framed = _set_frames(context.scene, scene, still, options.scene_range, place.widen)
    _set_scene(context.scene, scene)
    _select(context, built.objects)
    return built


def active_collection(context: bpy.types.Context) -> bpy.types.Collection:
    """The active collection, unless it belongs to another file."""
    active = context.collection
    return active if active.is_editable and active.override_library is None else context.scene.collection


def _is_animated(scene: bpy.types.Scene) -> bool:
    """Something in the scene has an action. Actions that nothing in it plays do not count."""
    owners = [scene, *scene.objects, *(source.data for source in scene.objects if source.data is not None)]
    found = [owner.animation_data for owner in owners if owner.animation_data is not None]
    return any(data.action is not None or len(data.nla_tracks) > 0 for data in found)


def _set_frames(target: bpy.types.Scene, scene: neutral.Scene, still: bool, choice: str, widen: bool) -> bool:
    """Frame range and rate, so that the scene plays what the file plays; by itself only where nobody has set them."""
    clips = [scene.timeline] if scene.timeline is not None else scene.clips
    render = target.render
    first = max(round(min(clip.first for clip in clips)), 0)
    last = round(max(clip.last for clip in clips))
    if widen:
        return _widen_frames(target, scene, first, last)
    ours = choice == "ALWAYS" or (choice == "AUTO" and still)
    if ours and scene.fps and (choice == "ALWAYS" or (render.fps, render.fps_base) == DEFAULT_RATE):
        render.fps = max(round(scene.fps), 1)
        render.fps_base = render.fps / scene.fps
    if ours and last > first and (choice == "ALWAYS" or (target.frame_start, target.frame_end) == DEFAULT_RANGE):
        target.frame_start, target.frame_end = first, last
        target.frame_set(first)
        return True
    return False


def _widen_frames(target: bpy.types.Scene, scene: neutral.Scene, first: int, last: int) -> bool:
    """The range covers this file, too; there is one rate for all."""
    rate = target.render.fps / target.render.fps_base
    if scene.fps and abs(rate - scene.fps) > 1e-3:
        scene.warnings.append(f"The file plays {scene.fps:g} frames a second, the scene {rate:g}: import it by itself.")
    if last > first:
        target.frame_start, target.frame_end = min(first, target.frame_start), max(last, target.frame_end)
    return True


def _set_scene(target: bpy.types.Scene, scene: neutral.Scene) -> None:
    properties.apply(target, scene.settings)
    main = next((camera for camera in scene.cameras if camera.main and camera.resolution), None)
    if main is not None and main.resolution is not None and min(main.resolution) >= 4:
        target.render.resolution_x, target.render.resolution_y = main.resolution
    if scene.world_color is not None:
        target.world = target.world or bpy.data.worlds.new("World")
        set_world_color(target.world, scene.world_color)


def _select(context: bpy.types.Context, objects: list[bpy.types.Object]) -> None:
    for other in context.selected_objects:
        other.select_set(False)
    for made in objects:
        if made.visible_get():
            made.select_set(True)
    roots = [made for made in objects if made.parent is None]
    context.view_layer.objects.active = roots[0] if roots else None

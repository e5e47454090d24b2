# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab in the sidebar: the animations of the active model, and what the assigned action is to its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.translations import pgettext_iface as words
from bpy.props import StringProperty

from .panels import draw_groups

if TYPE_CHECKING:
    from ..blender.animations import Animation

CATEGORY = "Retro Meshes"


def _model(context: bpy.types.Context) -> list[bpy.types.Object]:
    from ..blender.animations import model_of

    return model_of(context.object, context.scene) if context.object is not None else []


def _active_action(context: bpy.types.Context) -> bpy.types.Action | None:
    """Of the active object, or else the first that one of its model has: a mesh shows what its armature plays."""
    for source in (context.object, *_model(context)):
        if source is not None and source.animation_data and source.animation_data.action:
            return source.animation_data.action
    return None


class ForModel:
    """Base of the operators on the model of the active object."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None


class PlayAnimation(ForModel, bpy.types.Operator):
    """Assign this animation to every object of the model, and play its frames alone"""

    bl_idname = "object.retro_play_animation"
    bl_label = "Play Animation"
    bl_options = {"REGISTER", "UNDO"}

    action: StringProperty(name="Action", description="The animation's action, or the first one of it")

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..blender.animations import animations_of
        from ..blender.player import play

        objects = _model(context)
        for animation in animations_of(objects):
            if self.action in (action.name for action in animation.actions):
                play(context.scene, animation, objects)
                return {"FINISHED"}
        self.report({"ERROR"}, f'The model of "{context.object.name}" has no animation "{self.action}"')
        return {"CANCELLED"}


class WholeTimeline(ForModel, bpy.types.Operator):
    """Assign the timeline with all that the file plays, at its own frames"""

    bl_idname = "object.retro_whole_timeline"
    bl_label = "Whole Timeline"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..blender.animations import animations_of
        from ..blender.player import play

        objects = _model(context)
        whole = next((each for each in animations_of(objects) if each.role == "TIMELINE"), None)
        if whole is None:
            self.report({"ERROR"}, f'The model of "{context.object.name}" has no timeline')
            return {"CANCELLED"}
        play(context.scene, whole, objects)
        return {"FINISHED"}


class ShowFrames(ForModel, bpy.types.Operator):
    """Set the preview range to the frames of the assigned action, and go to the first"""

    bl_idname = "object.retro_show_frames"
    bl_label = "Play These Frames"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..blender.animations import played_frames
        from ..blender.player import show_frames

        action = _active_action(context)
        if action is None:
            self.report({"ERROR"}, "No action is assigned")
            return {"CANCELLED"}
        show_frames(context.scene, played_frames(action))
        return {"FINISHED"}


# -------------------------------------------------------------------------------------------------------------- panels


class AnimationsPanel(bpy.types.Panel):
    bl_idname = "VIEW3D_PT_retro_animations"
    bl_label = "Animations"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY

    def draw(self, context: bpy.types.Context) -> None:
        from ..blender.animations import animations_of

        layout = self.layout
        animations = animations_of(_model(context))
        if not animations:
            layout.label(text="No animations" if context.object else "No active object")
            return
        column = layout.column(align=True)
        heading = column.split(factor=0.5, align=True)
        heading.label()
        _draw_columns(heading, words("Frames"), words("Length"))
        for animation in animations:
            _draw_animation(column, animation, context.scene)
        _draw_place(layout, context)


def _draw_animation(layout: bpy.types.UILayout, animation: Animation, scene: bpy.types.Scene) -> None:
    """A row: the name, which plays it, its frames, and how long it takes."""
    first, last = animation.frames
    plays = any(
        owner.object.animation_data is not None and owner.object.animation_data.action == owner.action
        for owner in animation.owners
    )
    seconds = (last - first) * scene.render.fps_base / scene.render.fps
    row = layout.split(factor=0.5, align=True)
    if animation.role == "TIMELINE":
        row.operator(WholeTimeline.bl_idname, icon="TIME", depress=plays)
    else:
        name = animation.actions[0].name
        row.operator(PlayAnimation.bl_idname, text=animation.name, translate=False, icon="ACTION", depress=plays).action = name
    length = words("{frames:g}, {seconds:.1f} s").format(frames=last - first + 1, seconds=seconds)
    _draw_columns(row, f"{first:g} – {last:g}", length)


def _draw_columns(row: bpy.types.UILayout, frames: str, length: str) -> None:
    place = row.split(factor=0.45)
    place.label(text=frames, translate=False)
    place.label(text=length, translate=False)


def _draw_place(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Where the frames of the assigned action are, if they are not among those that play."""
    from ..blender.animations import played_frames
    from ..blender.player import played_range

    action = _active_action(context)
    if action is None:
        return
    (first, last), (start, end) = played_frames(action), played_range(context.scene)
    if first < start or last > end:
        box = layout.box()
        there = words('"{name}": frames {first:g} to {last:g}').format(name=action.name, first=first, last=last)
        box.label(text=there, icon="INFO", translate=False)
        box.label(text=words("Played: {first} to {last}").format(first=start, last=end), translate=False)
        box.operator(ShowFrames.bl_idname, icon="PREVIEW_RANGE")


class ActionPanel:
    """What the assigned action is to its file, and its settings for each format."""

    bl_label = "Action"
    bl_region_type = "UI"
    bl_category = CATEGORY
    layout: Any

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and _active_action(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        action = _active_action(context)
        layout.prop(action, "name", text="", icon="ACTION")
        for text in describe(action):
            layout.label(text=text, translate=False)
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(action, "use_frame_range")
        column = layout.column(align=True)
        column.active = action.use_frame_range
        column.prop(action, "frame_start", text="Start")
        column.prop(action, "frame_end", text="End")
        draw_groups(layout, action, "Action")


def describe(action: bpy.types.Action) -> list[str]:
    """What an action is to its file, in words."""
    from ..blender.animations import is_part

    meta = action.retro_meshes
    if meta.role == "TIMELINE" or (meta.fingerprint and meta.place < 0):
        kind = words("The whole timeline of its file")
    elif is_part(action):
        kind = words('Part of the timeline "{name}"').format(name=meta.timeline.name)
    else:
        kind = words("An animation of its own")
    if not meta.fingerprint:
        return [kind, words("Not in a file yet")]
    first, last = meta.frames
    return [kind, words("Frames {first:g} to {last:g} in the file").format(first=first, last=last)]


class ViewActionPanel(ActionPanel, bpy.types.Panel):
    bl_idname = "VIEW3D_PT_retro_action"
    bl_space_type = "VIEW_3D"


class DopeSheetActionPanel(ActionPanel, bpy.types.Panel):
    bl_idname = "DOPESHEET_PT_retro_action"
    bl_space_type = "DOPESHEET_EDITOR"


CLASSES = (PlayAnimation, WholeTimeline, ShowFrames, AnimationsPanel, ViewActionPanel, DopeSheetActionPanel)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Typed settings for what a format has and Blender has no field for.

Each format's module lists its groups by what they belong to: GROUPS = {"Material": MaterialSettings, ...}. A group becomes
`material.retro_<format>`, and its fields have the names of the keys in `scene.Settings`.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatVectorProperty, PointerProperty, StringProperty

from ...scene import Settings
from . import b3d, bo3d, bogle, dbo, saturn

FORMAT_GROUPS: dict[str, dict[str, type]] = {
    "b3d": b3d.GROUPS,
    "bo3d": bo3d.GROUPS,
    "bogle": bogle.GROUPS,
    "dbo": dbo.GROUPS,
    "saturn": saturn.GROUPS,
}


class BoneSettings(bpy.types.PropertyGroup):
    """How the file's bone lies in Blender's, which points at its child."""

    axes: FloatVectorProperty(
        name="File Axes",
        description="The bone's matrix in its file, seen from Blender's bone. Exporting gives the file its own axes back",
        size=16,
        default=[float(i % 5 == 0) for i in range(16)],
    )
    name: StringProperty(name="File Name", description="The bone's name in its file, where Blender had to change it")


class ObjectSettings(bpy.types.PropertyGroup):
    """What an imported object was in its file."""

    name: StringProperty(name="File Name", description="The object's name in its file, where Blender had to change it")
    helper: BoolProperty(name="Helper", description="Made on import to hold a shear; not exported as an object of its own")


class ActionSettings(bpy.types.PropertyGroup):
    """What an imported action is to its file."""

    role: EnumProperty(
        name="Role",
        description="What the action is to the file it came from",
        items=[
            ("ACTION", "Action", "An animation of its own: exported as a sequence"),
            ("TIMELINE", "Whole Timeline", "Everything the file plays: exported as it is, with its sequences as named ranges"),
            ("SEQUENCE", "Sequence", "A named range of the timeline: exported as a range, its keys come from the timeline"),
        ],
        default="ACTION",
    )
    timeline: PointerProperty(name="Timeline", description="The action that this one is a range of", type=bpy.types.Action)


class TextureSettings(bpy.types.PropertyGroup):
    """What a texture that is not linked to anything is for."""

    use: StringProperty(name="Use", description="What the texture is for in its file: COLOR, NORMAL, OCCLUSION, ...")
    blend: StringProperty(name="Blend", description="How the file lays the texture over the ones before it")


class ImageSettings(bpy.types.PropertyGroup):
    """What an imported image is to its file."""

    name: StringProperty(name="File Name", description="What the model's file calls the image")
    mask_black: BoolProperty(name="Black Is Transparent", description="Pure black pixels were made transparent on import")
    mean_alpha: BoolProperty(name="Dark Is Transparent", description="The mean of the colors was made the alpha on import")


COMMON: dict[str, type] = {
    "Bone": BoneSettings,
    "Object": ObjectSettings,
    "Action": ActionSettings,
    "ShaderNodeTexImage": TextureSettings,
    "Image": ImageSettings,
}


def apply(owner: Any, settings: Settings) -> None:
    """Sets the typed properties of a datablock from a Scene's settings. What has no property is left out."""
    for format_id, values in settings.items():
        group = getattr(owner, f"retro_{format_id}", None)
        if group is None:
            continue
        known = group.bl_rna.properties
        for key, value in values.items():
            if key in known:
                setattr(group, key, min(max(value, -(2**31)), 2**31 - 1) if type(value) is int else value)


def collect(owner: Any) -> Settings:
    """The settings that were set, by an import or by hand."""
    found: Settings = {}
    for format_id in FORMAT_GROUPS:
        group = getattr(owner, f"retro_{format_id}", None)
        if group is None:
            continue
        known = group.bl_rna.properties
        kept = [key for key in group.__annotations__ if group.is_property_set(key) and not known[key].is_skip_save]
        values = {key: _plain(getattr(group, key)) for key in kept}
        if values:
            found[format_id] = values
    return found


def file_name(source: Any) -> str:
    """The name a file had for it, while Blender's is still that name with a number; else Blender's."""
    name = source.retro_meshes.name
    return name if name and source.name.startswith(name.encode()[:59].decode("utf-8", "ignore")) else source.name


def _plain(value: Any) -> Any:
    """Arrays and colors as tuples."""
    return value if isinstance(value, str) or not hasattr(value, "__len__") else tuple(value)


def _attachments() -> list[tuple[str, str, type]]:
    """(type of datablock, attribute, group) for every group there is."""
    common = [(owner, "retro_meshes", group) for owner, group in COMMON.items()]
    return common + [
        (owner, f"retro_{format_id}", group) for format_id, groups in FORMAT_GROUPS.items() for owner, group in groups.items()
    ]


def register() -> None:
    for owner, attribute, group in _attachments():
        group.__name__ = f"RETRO_PG_{attribute}_{owner}"  # Blender knows a class by this name alone: it must be nobody else's
        bpy.utils.register_class(group)
        setattr(getattr(bpy.types, owner), attribute, PointerProperty(type=group))


def unregister() -> None:
    for owner, attribute, group in reversed(_attachments()):
        if not group.is_registered:  # another copy of the add-on has taken its place
            continue
        kind = getattr(bpy.types, owner)
        attached = kind.bl_rna.properties.get(attribute)
        if attached is not None and attached.fixed_type == group.bl_rna:
            delattr(kind, attribute)
        bpy.utils.unregister_class(group)

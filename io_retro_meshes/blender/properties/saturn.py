# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of polygons, tags, lists and animations of Saturn battle characters."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty


class MaterialSettings(bpy.types.PropertyGroup):
    """What new polygons of the material get; polygons of a file keep their own, in the mesh's face attributes."""

    flag: IntProperty(name="Flag", description="0 single sided, 1 double sided", min=0, max=255)
    sort: IntProperty(
        name="Sort",
        description="How polygons are sorted: 4 texture, 8 light, 128 gouraud",
        default=0xC3,
        min=0,
        max=255,
    )
    atrb: IntProperty(
        name="Draw",
        description="Bits 0-2 draw mode (1 shadow, 2 half luminance, 3 half transparent, 4 gouraud), 3-5 color mode, "
        "6 transparent pixels off, 7 end codes off, 8 mesh",
        default=0x4AC,
        min=0,
        max=0xFFFF,
    )


class ObjectSettings(bpy.types.PropertyGroup):
    """What the object is in its file."""

    character: IntProperty(name="Character", description="The number of the character in its file", min=0)
    is_tag: BoolProperty(name="Tag", description="The empty marks a place on its bone")
    tag: IntProperty(
        name="Tag Code",
        description="9 chest, 16 weapon base, 17 weapon tip, 32 hand, 48 weapon (what hangs on it is the weapon)",
        min=0,
        max=255,
    )
    list: IntProperty(name="Mesh List", description="0 body, 1 weapon, 2 shown instead of a weapon", min=0, max=15)


class MeshSettings(bpy.types.PropertyGroup):
    """A body."""

    draw_codes: StringProperty(name="Draw Codes", description="How the skeleton draws each part, as hexadecimal digits")


class ActionSettings(bpy.types.PropertyGroup):
    """An animation."""

    type: IntProperty(name="Type", description="0 idle, 16 hit, 32 block, 112 attack", min=0, max=0xFFFF)
    distance: IntProperty(name="Distance", description="How far from the enemy it is played", min=0, max=0xFFFF)
    character: IntProperty(name="Character", description="The number of the character it is of", min=0)
    order: IntProperty(name="Place", description="Where it is among the animations of its character", min=0)
    external: BoolProperty(name="In the x8an File", description="The keys are in the x8an file beside the character's")


GROUPS = {"Material": MaterialSettings, "Object": ObjectSettings, "Mesh": MeshSettings, "Action": ActionSettings}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D brushes and textures, beyond what a node graph can say."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty, IntProperty, StringProperty


class MaterialSettings(bpy.types.PropertyGroup):
    """A brush."""

    brush: StringProperty(name="Brush", description="The brush's name in the file")
    fx: IntProperty(
        name="FX",
        description="Sum of: 1 full bright, 2 vertex colours, 4 flat, 8 no fog, 16 no backface culling, 32 force alpha",
        min=0,
    )
    blend: IntProperty(name="Blend", description="0 default, 1 alpha, 2 multiply, 3 add", min=0)
    shininess: FloatProperty(name="Shininess", description="Strength of the highlight, 0 to 1")


class SceneSettings(bpy.types.PropertyGroup):
    """The file as a whole."""

    version: IntProperty(name="Version", description="Version of the file format, major * 100 + minor", default=1)


GROUPS = {"Material": MaterialSettings, "Scene": SceneSettings}

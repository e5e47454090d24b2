# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D brushes and textures, beyond what a node graph can say."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from .flags import flag


class MaterialSettings(bpy.types.PropertyGroup):
    """A brush."""

    brush: StringProperty(name="Brush", description="The brush's name in the file")
    fx: IntProperty(
        name="FX",
        description="Sum of: 1 full bright, 2 vertex colors, 4 flat, 8 no fog, 16 no backface culling, 32 force alpha",
        min=0,
    )
    full_bright: flag("fx", 1, "Full Bright", "Not lit: always as bright as its texture")
    vertex_colors: flag("fx", 2, "Vertex Colors", "Colored by the mesh's vertex colors instead of the brush")
    flat: flag("fx", 4, "Flat", "Each face has one shade")
    no_fog: flag("fx", 8, "No Fog", "Not hidden by fog")
    no_culling: flag("fx", 16, "No Culling", "Seen from behind as well")
    force_alpha: flag("fx", 32, "Force Alpha", "Drawn with the transparent surfaces, whatever its alpha")
    blend: IntProperty(name="Blend", description="0 default, 1 alpha, 2 multiply, 3 add", min=0, default=1)
    color: FloatVectorProperty(
        name="Color",
        description="The brush's own color, which vertex colors take the place of",
        subtype="COLOR_GAMMA",
        default=(1, 1, 1),
        min=0,
        max=1,
    )
    shininess: FloatProperty(name="Shininess", description="Strength of the highlight, 0 to 1")


class TextureSettings(bpy.types.PropertyGroup):
    """A texture of a brush, on its image node."""

    flags: IntProperty(
        name="Flags",
        description="Sum of: 1 color, 2 alpha, 4 masked, 8 mipmaps, 16 clamp U, 32 clamp V, 64 sphere map, 128 cube map, "
        "256 stay in video memory, 512 high color, 65536 second UV set",
    )
    blend: IntProperty(name="Blend", description="0 off, 1 alpha, 2 multiply, 3 add, 4 dot3, 5 multiply twice", min=0)
    slot: IntProperty(name="Slot", description="Which of the brush's textures it is, from 0", min=0)


class SceneSettings(bpy.types.PropertyGroup):
    """The file as a whole."""

    version: IntProperty(name="Version", description="Version of the file format, major * 100 + minor", default=1)


GROUPS = {"Material": MaterialSettings, "ShaderNodeTexImage": TextureSettings, "Scene": SceneSettings}

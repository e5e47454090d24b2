# SPDX-License-Identifier: GPL-3.0-or-later
"""Render states, textures and footfalls of Dark Basic Pro, beyond what Blender's own fields say."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty


def color(name: str, description: str, default: float) -> FloatVectorProperty:
    return FloatVectorProperty(name=name, description=description, size=4, subtype="COLOR", default=(default,) * 3 + (1.0,))


class MaterialSettings(bpy.types.PropertyGroup):
    """How the engine draws what wears the material."""

    use_material: BoolProperty(
        name="Use Material", description="Light the mesh by these colors instead of plain white", default=True
    )
    ambient_color: color("Ambient Color", "The part of the ambient light that is given back", 1.0)
    specular_color: color("Specular Color", "The color of highlights", 0.0)
    emissive_color: color("Emissive Color", "The light that the surface gives by itself", 0.0)
    power: FloatProperty(name="Specular Power", description="How small highlights are", min=0.0)
    fog: BoolProperty(name="Fog", description="Hidden by fog", default=True)
    ambient: BoolProperty(name="Ambient Light", description="Lit by the ambient light", default=True)
    ghost: BoolProperty(name="Ghost", description="Laid over what is behind in a way of its own")
    ghost_mode: IntProperty(
        name="Ghost Mode",
        description="0 screen, 1 multiply, 2 add, 3 half by alpha, 4 both squared, 5 multiply twice",
        default=2,
        min=0,
        max=5,
    )
    effect: StringProperty(name="Effect", description="The shader file that draws it")
    z_bias: BoolProperty(name="Depth Bias", description="Moved towards the camera or away from it when depths are compared")
    z_bias_slope: FloatProperty(name="Depth Bias Slope", description="Bias in proportion to the slope")
    z_bias_depth: FloatProperty(name="Depth Bias Depth", description="The same bias everywhere", precision=6)
    z_read: BoolProperty(name="Depth Test", description="Hidden by what is nearer", default=True)
    z_write: BoolProperty(name="Depth Write", description="Hides what is farther", default=True)
    alpha_test: IntProperty(name="Alpha Test", description="Pixels with less alpha than this are not drawn", min=0, max=255)
    specular_override: FloatProperty(name="Specular Override", description="Highlights are this strong", default=1.0, min=0.0)


class TextureSettings(bpy.types.PropertyGroup):
    """A texture, on its image node."""

    stage: IntProperty(name="Stage", description="The stage of the pipeline it is in", min=0)
    blend_mode: IntProperty(
        name="Blend Mode",
        description="How it meets the stage before: 4 multiply, 5 multiply twice, 7 add, 13 alpha",
        default=4,
        min=0,
    )
    argument_1: IntProperty(
        name="Argument 1", description="0 diffuse, 1 current, 2 texture, 3 factor, 4 specular", default=2, min=0
    )
    argument_2: IntProperty(name="Argument 2", description="0 diffuse, 1 current, 2 texture, 3 factor, 4 specular", min=0)
    mag: IntProperty(name="Magnified", description="0 none, 1 point, 2 linear, 3 anisotropic", default=2, min=0)
    min: IntProperty(name="Minified", description="0 none, 1 point, 2 linear, 3 anisotropic", default=2, min=0)
    mip: IntProperty(name="Between Mipmaps", description="0 none, 1 point, 2 linear", default=2, min=0)
    tc_mode: IntProperty(
        name="Coordinates",
        description="0 the UV map of the stage, 1 sphere, 2 cube, 3 the first UV map, 10 and up: the UV map of that number",
        min=0,
    )
    channel_mask: BoolProperty(name="Channel Mask", description="Holds channels instead of a color")


class MeshSettings(bpy.types.PropertyGroup):
    """A mesh."""

    arbitrary_value: IntProperty(name="Arbitrary Value", description="A number that the program gives a meaning", min=0)
    linked: BoolProperty(name="Linked", description="Shares its data with another mesh of the engine")


class ActionSettings(bpy.types.PropertyGroup):
    """An animation."""

    footfall_1: IntProperty(name="Footfall 1", description="Where a foot meets the ground, as the file has it", min=0)
    footfall_2: IntProperty(name="Footfall 2", description="Where a foot meets the ground, as the file has it", min=0)
    footfall_3: IntProperty(name="Footfall 3", description="Where a foot meets the ground, as the file has it", min=0)


class SceneSettings(bpy.types.PropertyGroup):
    """The file as a whole."""

    version: IntProperty(name="Version", description="The version that the imported file says it is of", default=1062, min=0)
    custom_data: StringProperty(name="Custom Data", description="Data of the program that made the file, as hexadecimal digits")


GROUPS = {
    "Material": MaterialSettings,
    "ShaderNodeTexImage": TextureSettings,
    "Mesh": MeshSettings,
    "Action": ActionSettings,
    "Scene": SceneSettings,
}

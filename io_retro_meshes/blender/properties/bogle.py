# SPDX-License-Identifier: GPL-3.0-or-later
"""What a BOGLE file says of cameras, lights and the scene, and Blender has no field for."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty, IntProperty


class CameraSettings(bpy.types.PropertyGroup):
    """A camera."""

    type: IntProperty(name="Type", description="0: a basic camera, 1: one that walks", default=1, min=0, max=255)


class LightSettings(bpy.types.PropertyGroup):
    """How a light fades, beside the linear part that the custom distance gives."""

    constant: FloatProperty(name="Constant", description="Constant attenuation", default=0.0)
    quadratic: FloatProperty(name="Quadratic", description="Quadratic attenuation", default=1.0)


class SceneSettings(bpy.types.PropertyGroup):
    """The file as a whole."""

    ambient_alpha: FloatProperty(name="Ambient Alpha", description="Alpha of the global ambient light", default=1.0)


GROUPS = {"Camera": CameraSettings, "Light": LightSettings, "Scene": SceneSettings}

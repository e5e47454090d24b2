# SPDX-License-Identifier: GPL-3.0-or-later
"""What a BOGLE file says of cameras, lights and the scene, and Blender has no field for."""

from __future__ import annotations

from ..options import option, settings


@settings
class CameraSettings:
    """A camera."""

    type: int = option(
        1,
        "Type",
        "How the engine moves the camera. Basic and Walking are written as the layout's engine wants them",
        items=(("BASIC", "Basic", "It stands still"), ("WALKING", "Walking", "It walks")),
        numbers=(0, 1),
        minimum=0,
        maximum=255,
    )


@settings
class LightSettings:
    """How a light fades, beside the linear part that the custom distance gives."""

    constant: float = option(0.0, "Constant", "Constant attenuation")
    quadratic: float = option(1.0, "Quadratic", "Quadratic attenuation")


@settings
class SceneSettings:
    """The file as a whole."""

    layout: str = option(
        "NONE",
        "Imported Layout",
        "The layout that Layout: Automatic writes, as an import found it",
        items=(
            ("NONE", "None", "By what is in the scene: skeletons where something is rigged, else the published layout"),
            ("SEED", "Published", "No names, no skeletons"),
            ("NAMES", "With Names", "Names, no skeletons"),
            ("ANIM", "With Skeletons", "Names, armatures and their animations"),
            ("GEOMETRIES", "Geometry Files", "The same, with each geometry in a file of its own"),
        ),
    )
    ambient_alpha: float = option(1.0, "Ambient Alpha", "Alpha of the global ambient light")


@settings
class ActionSettings:
    """An animation of a skeleton."""

    order: int = option(0, "Order", "Its place among the animations of the file, from 1; 0 is after all others", minimum=0)


SETTINGS = {"Action": ActionSettings, "Camera": CameraSettings, "Light": LightSettings, "Scene": SceneSettings}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D brushes and textures, beyond what a node graph can say."""

from __future__ import annotations

from ..options import bit, option, settings


@settings
class MaterialSettings:
    """A brush."""

    brush: str = option("", "Brush", "The brush's name in the file")
    fx: int = option(
        0, "FX", "Sum of: 1 full bright, 2 vertex colors, 4 flat, 8 no fog, 16 no backface culling, 32 force alpha", minimum=0
    )
    full_bright: bool = bit("fx", 1, "Full Bright", "Not lit: always as bright as its texture")
    vertex_colors: bool = bit("fx", 2, "Vertex Colors", "Colored by the mesh's vertex colors instead of the brush")
    flat: bool = bit("fx", 4, "Flat", "Each face has one shade")
    no_fog: bool = bit("fx", 8, "No Fog", "Not hidden by fog")
    no_culling: bool = bit("fx", 16, "No Culling", "Seen from behind as well")
    force_alpha: bool = bit("fx", 32, "Force Alpha", "Drawn with the transparent surfaces, whatever its alpha")
    blend: int = option(
        1,
        "Blend",
        "How it is laid over what is behind",
        items=(
            ("DEFAULT", "Default", "By alpha where its only texture has some"),
            ("ALPHA", "Alpha", "By the alpha of its textures, its color and its vertices"),
            ("MULTIPLY", "Multiply", "Multiplied with what is behind"),
            ("ADD", "Add", "Added to what is behind"),
        ),
        numbers=(0, 1, 2, 3),
    )
    color: tuple[float, float, float] = option(
        (1.0, 1.0, 1.0),
        "Color",
        "The brush's own color, which vertex colors take the place of",
        subtype="COLOR_GAMMA",
        minimum=0,
        maximum=1,
    )
    shininess: float = option(0.0, "Shininess", "Strength of the highlight, 0 to 1")


@settings
class TextureSettings:
    """A texture of a brush, on its image node."""

    flags: int = option(
        0,
        "Flags",
        "Sum of: 1 color, 2 alpha, 4 masked, 8 mipmaps, 16 clamp U, 32 clamp V, 64 sphere map, 128 cube map, "
        "256 stay in video memory, 512 high color, 65536 second UV set",
    )
    use_alpha: bool = bit("flags", 2, "Alpha", "Its alpha, or the mean of its colors where it has none, counts")
    masked: bool = bit("flags", 4, "Masked", "Black is transparent")
    mipmaps: bool = bit("flags", 8, "Mipmaps", "Smoothed at a distance")
    clamp_u: bool = bit("flags", 16, "Clamp U", "Not repeated sideways")
    clamp_v: bool = bit("flags", 32, "Clamp V", "Not repeated upwards")
    sphere_map: bool = bit("flags", 64, "Sphere Map", "Looked up by the normal, as seen from the camera")
    cube_map: bool = bit("flags", 128, "Cube Map", "Looked up by the reflection")
    second_uv: bool = bit("flags", 65536, "Second UV Set", "Placed by the second UV map")
    blend: int = option(
        2,
        "Blend",
        "How it is laid over the textures before it",
        items=(
            ("OFF", "Off", "Not shown"),
            ("ALPHA", "Alpha", "Covers them by its alpha"),
            ("MULTIPLY", "Multiply", "Multiplied with them"),
            ("ADD", "Add", "Added to them"),
            ("DOT3", "Dot3", "A bump map: the dot product with them"),
            ("MULTIPLY_2X", "Multiply 2x", "Twice their product"),
        ),
        numbers=(0, 1, 2, 3, 4, 5),
    )
    slot: int = option(0, "Slot", "Which of the brush's textures it is, from 0", minimum=0, maximum=7)


@settings
class SceneSettings:
    """The file as a whole."""

    version: int = option(1, "Version", "Version of the file format, major * 100 + minor", minimum=0, maximum=99)


SETTINGS = {"Material": MaterialSettings, "ShaderNodeTexImage": TextureSettings, "Scene": SceneSettings}

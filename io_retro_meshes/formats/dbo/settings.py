# SPDX-License-Identifier: GPL-3.0-or-later
"""Render states, textures and footfalls of Dark Basic Pro, beyond what Blender's own fields say."""

from __future__ import annotations

from ..options import option, settings

Color = tuple[float, float, float, float]

# The codes of Direct3D.
BLEND_MODES = (
    ("OFF", "Off", "This stage and those after it are not shown"),
    ("FIRST", "First Argument", "The first argument alone"),
    ("SECOND", "Second Argument", "The second argument alone"),
    ("MULTIPLY", "Multiply", "The product"),
    ("MULTIPLY_2X", "Multiply 2x", "Twice the product"),
    ("MULTIPLY_4X", "Multiply 4x", "Four times the product"),
    ("ADD", "Add", "The sum"),
    ("ADD_SIGNED", "Add Signed", "The sum less one half"),
    ("ADD_SMOOTH", "Add Smooth", "The sum less the product"),
    ("DIFFUSE_ALPHA", "By the Diffuse Alpha", "Mixed by the alpha of the vertices"),
    ("ALPHA", "By the Texture's Alpha", "Covers what is below by its alpha"),
    ("DOT3", "Dot3", "A bump map: the dot product"),
)
ARGUMENTS = (
    ("DIFFUSE", "Diffuse", "The lit color of the vertices"),
    ("CURRENT", "Current", "What the stage before made"),
    ("TEXTURE", "Texture", "The texture of this stage"),
    ("FACTOR", "Factor", "A constant color"),
    ("SPECULAR", "Specular", "The highlights of the vertices"),
)
FILTERS = (
    ("NONE", "None", "No filter"),
    ("POINT", "Point", "The nearest pixel"),
    ("LINEAR", "Linear", "Mixed from the nearest pixels"),
    ("ANISOTROPIC", "Anisotropic", "Mixed, and sharper where the surface is seen at a slant"),
)


@settings
class MaterialSettings:
    """How the engine draws what wears the material."""

    use_material: bool = option(True, "Use Material", "Light the mesh by these colors instead of plain white")
    ambient_color: Color = option(
        (1.0, 1.0, 1.0, 1.0), "Ambient Color", "The part of the ambient light that is given back", subtype="COLOR"
    )
    specular_color: Color = option((0.0, 0.0, 0.0, 1.0), "Specular Color", "The color of highlights", subtype="COLOR")
    emissive_color: Color = option(
        (0.0, 0.0, 0.0, 1.0), "Emissive Color", "The light that the surface gives by itself", subtype="COLOR"
    )
    power: float = option(0.0, "Specular Power", "How small highlights are", minimum=0.0)
    fog: bool = option(True, "Fog", "Hidden by fog")
    ambient: bool = option(True, "Ambient Light", "Lit by the ambient light")
    ghost: bool = option(False, "Ghost", "Laid over what is behind in a way of its own")
    ghost_mode: int = option(
        2,
        "Ghost Mode",
        "How a ghost is laid over what is behind",
        items=(
            ("SCREEN", "Screen", "Added, less where it is bright behind"),
            ("MULTIPLY", "Multiply", "Multiplied with what is behind"),
            ("ADD", "Add", "Added to what is behind"),
            ("HALF", "Half by Alpha", "Both by its alpha"),
            ("SQUARED", "Both Squared", "Each times itself, added"),
            ("MULTIPLY_2X", "Multiply 2x", "Twice the product with what is behind"),
        ),
        numbers=(0, 1, 2, 3, 4, 5),
    )
    effect: str = option("", "Effect", "The shader file that draws it")
    z_bias: bool = option(False, "Depth Bias", "Moved towards the camera or away from it when depths are compared")
    z_bias_slope: float = option(0.0, "Bias Slope", "Bias in proportion to the slope")
    z_bias_depth: float = option(0.0, "Bias Depth", "The same bias everywhere", precision=6)
    z_read: bool = option(True, "Depth Test", "Hidden by what is nearer")
    z_write: bool = option(True, "Depth Write", "Hides what is farther")
    alpha_test: int = option(0, "Alpha Test", "Pixels with less alpha than this are not drawn", minimum=0, maximum=255)
    specular_override: float = option(1.0, "Specular Override", "Highlights are this strong", minimum=0.0)


@settings
class TextureSettings:
    """A texture, on its image node."""

    stage: int = option(0, "Stage", "The stage of the pipeline it is in", minimum=0)
    blend_mode: int = option(
        4, "Blend Mode", "How it meets the stage before", items=BLEND_MODES, numbers=(1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 24)
    )
    argument_1: int = option(2, "Argument 1", "What the blend takes first", items=ARGUMENTS, numbers=(0, 1, 2, 3, 4))
    argument_2: int = option(0, "Argument 2", "What the blend takes second", items=ARGUMENTS, numbers=(0, 1, 2, 3, 4))
    mag: int = option(2, "Magnified", "How pixels become larger", items=FILTERS, numbers=(0, 1, 2, 3))
    min: int = option(2, "Minified", "How pixels become smaller", items=FILTERS, numbers=(0, 1, 2, 3))
    mip: int = option(2, "Between Mipmaps", "How mipmaps are chosen", items=FILTERS[:3], numbers=(0, 1, 2))
    tc_mode: int = option(
        0,
        "Coordinates",
        "Where on the picture the surface is",
        items=(
            ("STAGE", "UV Map of the Stage", "The UV map with the number of the stage"),
            ("SPHERE", "Sphere Map", "By the normal, as seen from the camera"),
            ("CUBE", "Cube Map", "By the reflection"),
            ("FIRST", "First UV Map", "The first UV map, whatever the stage"),
            *((f"UV_{index}", f"UV Map {index + 1}", "The UV map of this number") for index in range(8)),
        ),
        numbers=(0, 1, 2, 3, *range(10, 18)),
    )
    channel_mask: bool = option(False, "Channel Mask", "Holds channels instead of a color")
    path: str = option("", "Path", "Where the file says it is, while the picture has this name and is not copied")


@settings
class MeshSettings:
    """A mesh."""

    arbitrary_value: int = option(0, "Arbitrary Value", "A number that the program gives a meaning", minimum=0)
    linked: bool = option(False, "Linked", "Shares its data with another mesh of the engine")
    levels: str = option("", "Levels of Detail", "Coarser meshes over the same vertices, written again while it has as many")


@settings
class ActionSettings:
    """An animation."""

    footfall_1: int = option(0, "Footfall 1", "Where a foot meets the ground, as the file has it", minimum=0)
    footfall_2: int = option(0, "Footfall 2", "Where a foot meets the ground, as the file has it", minimum=0)
    footfall_3: int = option(0, "Footfall 3", "Where a foot meets the ground, as the file has it", minimum=0)


@settings
class SceneSettings:
    """The file as a whole."""

    version: int = option(1062, "Version", "The version that the imported file says it is of", minimum=0)
    custom_data: str = option("", "Custom Data", "Data of the program that made the file, as hexadecimal digits")


SETTINGS = {
    "Material": MaterialSettings,
    "ShaderNodeTexImage": TextureSettings,
    "Mesh": MeshSettings,
    "Action": ActionSettings,
    "Scene": SceneSettings,
}

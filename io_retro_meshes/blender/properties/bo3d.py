# SPDX-License-Identifier: GPL-3.0-or-later
"""Effects of the bOGL engine, beyond what a node graph can say."""

from __future__ import annotations

import bpy
from bpy.props import IntProperty

from .flags import flag


class MaterialSettings(bpy.types.PropertyGroup):
    """How the engine draws what wears the material."""

    fx: IntProperty(
        name="FX",
        description="Sum of: 1 full bright, 2 flat, 4 no fog, 8 add, 16 multiply, 32 no backface culling, 128 stencil "
        "increment, 256 stencil decrement, 1024 stencil both. Until it is set, exporting takes what the material shows",
        min=0,
    )
    full_bright: flag("fx", 1, "Full Bright", "Not lit: always as bright as its texture")
    flat: flag("fx", 2, "Flat", "Each face has one shade")
    no_fog: flag("fx", 4, "No Fog", "Not hidden by fog")
    add: flag("fx", 8, "Add", "Added to what is behind")
    multiply: flag("fx", 16, "Multiply", "Multiplied with what is behind")
    no_culling: flag("fx", 32, "No Culling", "Seen from behind as well")
    stencil_increment: flag("fx", 128, "Stencil Increment", "Adds one to the stencil buffer where it is drawn")
    stencil_decrement: flag("fx", 256, "Stencil Decrement", "Takes one from the stencil buffer where it is drawn")
    stencil_both: flag("fx", 1024, "Stencil Both", "Adds one with its front faces and takes one with its back faces")


GROUPS = {"Material": MaterialSettings}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Effects of the bOGL engine, beyond what a node graph can say."""

from __future__ import annotations

from ..options import bit, option, settings


@settings
class MaterialSettings:
    """How the engine draws what wears the material."""

    fx: int = option(
        0,
        "FX",
        "Sum of: 1 full bright, 2 flat, 4 no fog, 8 add, 16 multiply, 32 no backface culling, 128 stencil "
        "increment, 256 stencil decrement, 1024 stencil both",
        minimum=0,
    )
    full_bright: bool = bit("fx", 1, "Full Bright", "Not lit: always as bright as its texture")
    flat: bool = bit("fx", 2, "Flat", "Each face has one shade")
    no_fog: bool = bit("fx", 4, "No Fog", "Not hidden by fog")
    add: bool = bit("fx", 8, "Add", "Added to what is behind")
    multiply: bool = bit("fx", 16, "Multiply", "Multiplied with what is behind")
    no_culling: bool = bit("fx", 32, "No Culling", "Seen from behind as well")
    stencil_increment: bool = bit("fx", 128, "Stencil Increment", "Adds one to the stencil buffer where it is drawn")
    stencil_decrement: bool = bit("fx", 256, "Stencil Decrement", "Takes one from the stencil buffer where it is drawn")
    stencil_both: bool = bit("fx", 1024, "Stencil Both", "Adds one with its front faces and takes one with its back faces")


SETTINGS = {"Material": MaterialSettings}

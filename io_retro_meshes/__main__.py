# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as `python -m io_retro_meshes` and as the installed program `retro-meshes`."""

from __future__ import annotations

import os
import sys

from .batch import interrupts


def program() -> int:
    interrupts.install()  # before numpy and the rest are loaded: that takes a while
    from .cli import main

    code = main(sys.argv[1:])
    if "bpy" in sys.modules:  # Blender's module may wait for ever when the interpreter ends
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(program())

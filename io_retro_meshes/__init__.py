# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens the 3D models of old engines in Blender, and puts new ones into them."""


# The imports wait until Blender asks, so that `io_retro_meshes.formats` works in any Python without bpy.
def register() -> None:
    from . import ui

    ui.register()


def unregister() -> None:
    from . import ui

    ui.unregister()

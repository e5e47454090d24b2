# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the pictures of Blender's window for these pages:

    BLENDER_USER_RESOURCES=EMPTY_FOLDER blender --factory-startup --enable-event-simulate \\
        --window-geometry 0 0 1280 800 --python docs/make_window_pictures.py -- docs

Needs ImageMagick and an X server of 1280 x 800, such as Xvfb.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import bpy
from mathutils import Euler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by its path

from tests.gui import window
from tests.gui.window import Steps, clear, import_fox, in_area, press

COLORS = 200  # a window has few, and a picture with a palette is small


OPTIONS = "244x664+1031+76"  # the side of the export dialog: the rest shows the folders of whoever takes the picture


def take(path: Path, crop: str = "") -> None:
    part = ["-crop", crop, "+repage"] if crop else []
    command = ["import", "-window", "root", *part, "+dither", "-colors", str(COLORS), f"png8:{path}"]
    subprocess.run(command, check=True, timeout=120)


def wait(steps: int = 4) -> Steps:
    for _ in range(steps):
        yield


def steps(folder: Path) -> Generator[None, None, bool]:
    clear()
    import_fox()
    with in_area("VIEW_3D") as area:
        view = area.spaces.active
        view.shading.color_type = "TEXTURE"
        view.show_region_ui = True
        bpy.context.view_layer.objects.active = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    yield
    with in_area("VIEW_3D") as area:
        next(region for region in area.regions if region.type == "UI").active_panel_category = "Retro Meshes"
        bpy.ops.object.retro_play_animation("EXEC_DEFAULT", True, action="walk")
        bpy.context.scene.frame_set(62)
        bpy.ops.object.select_all(action="DESELECT")
        looking = area.spaces.active.region_3d
        looking.view_perspective, looking.view_rotation = "PERSP", Euler((1.25, 0.0, 0.7)).to_quaternion()
        bpy.ops.view3d.view_all()
    with in_area("PROPERTIES") as area:
        area.spaces.active.context = "OBJECT"
    yield from wait(8)
    take(folder / "window.png")
    with in_area("VIEW_3D"):
        bpy.ops.export_scene.b3d("INVOKE_DEFAULT", filepath=str(window.ROOT / "examples" / "fox.b3d"))
    yield from wait(8)
    take(folder / "export.png", OPTIONS)
    press("ESC")
    yield
    return True


window.start(steps(Path(window.arguments()[0])))

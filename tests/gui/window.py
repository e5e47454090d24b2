# SPDX-License-Identifier: GPL-3.0-or-later
"""How a script works in a Blender with a window: areas, keys, pictures of the screen, and steps between which Blender draws."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[2]
FOX = ROOT / "examples" / "fox.b3d"
NAME = "bl_ext.user_default.io_retro_meshes"
PAUSE = 0.4  # seconds between the steps of a check

Steps = Generator[None, None, None]


@contextmanager
def in_area(kind: str) -> Iterator[bpy.types.Area]:
    """The context of an area of this kind, in whatever window it is."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == kind:
                region = next(region for region in area.regions if region.type == "WINDOW")
                with bpy.context.temp_override(window=window, area=area, region=region):
                    yield area
                return
    raise AssertionError(f"there is no area of the kind {kind}")


def press(key: str) -> None:
    window = bpy.context.window_manager.windows[0]
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type=key, value=value, x=window.width // 2, y=window.height // 2)


def clear() -> None:
    for kind in (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.actions, bpy.data.texts):
        bpy.data.batch_remove(list(kind))
    bpy.data.batch_remove([each for each in bpy.data.collections if each.name != "Collection"])


def import_fox() -> None:
    with in_area("VIEW_3D"):
        bpy.ops.import_scene.b3d(filepath=str(FOX))


def asking() -> str:
    """The operator whose file dialog is open."""
    with in_area("FILE_BROWSER") as area:
        return str(area.spaces.active.active_operator.bl_idname)


def speak(language: str) -> None:
    """en_US, de_DE, ja_JP …: Blender's names."""
    view = bpy.context.preferences.view
    view.language = language
    view.use_translate_interface = view.use_translate_tooltips = language != "en_US"


def picture(path: Path) -> None:
    """Of the whole screen, through ImageMagick: Blender's own screenshot is black inside a timer."""
    subprocess.run(["import", "-window", "root", f"png:{path}"], check=True, timeout=60)


class Errors:
    """Everything that is written to the standard error, by Python or by Blender, from here on."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115, open as long as Blender runs
        os.dup2(self.file.fileno(), 2)

    def text(self) -> str:
        sys.stderr.flush()
        self.file.seek(0)
        return self.file.read().decode("utf-8", "replace")


def arguments() -> list[str]:
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


def install() -> None:
    """The zip as users get it, by Blender's own installer. BLENDER_USER_RESOURCES says where it goes."""
    import build

    with tempfile.TemporaryDirectory() as folder:
        made = build.build(Path(folder))
        bpy.ops.extensions.package_install_files(filepath=str(made), repo="user_default", enable_on_install=True)
    assert NAME in bpy.context.preferences.addons, "the extension was not installed"


def start(running: Generator[None, None, bool], end: Callable[[], None] = lambda: None) -> None:
    """Installs the extension, runs the steps, then ends Blender: with 0 if they return True."""
    assert os.environ.get("BLENDER_USER_RESOURCES"), "set BLENDER_USER_RESOURCES to an empty folder: the extension goes there"
    view = bpy.context.preferences.view
    view.show_splash = False
    view.filebrowser_display_type = "SCREEN"
    install()

    def tick() -> float:
        try:
            next(running)
        except StopIteration as stop:
            _end(end, 0 if stop.value else 1)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            _end(end, 1)
        return PAUSE

    bpy.app.timers.register(tick, first_interval=2)


def _end(end: Callable[[], None], code: int) -> None:
    end()
    sys.stdout.flush()
    os._exit(code)

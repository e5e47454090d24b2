# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of every dialog, menu and panel in a language, to be looked at:

    blender --factory-startup --enable-event-simulate --python tests/gui/pictures.py -- FOLDER [LANGUAGE,LANGUAGE] [NAME...]

Languages have Blender's names for them (en_US, de_DE, ja_JP); each gets a folder. Needs ImageMagick, and an X server that is as
large as the window.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Generator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # Blender runs this file by its path

from io_retro_meshes.formats import MENU_FORMATS
from tests.gui import window
from tests.gui.window import ROOT, Steps, clear, import_fox, in_area, picture, press, speak

EXAMPLES = ROOT / "examples"


def wait(steps: int = 3) -> Steps:
    for _ in range(steps):
        yield


def menus(folder: Path) -> Steps:
    for verb in ("import", "export"):
        with in_area("VIEW_3D"):
            bpy.ops.wm.call_menu(name=f"TOPBAR_MT_file_{verb}")
        yield from wait()
        picture(folder / f"menu_{verb}.png")
        press("ESC")
        yield


def dialogs(folder: Path) -> Steps:
    """The file dialogs with their options, all panels open."""
    operators = importlib.import_module(f"{window.NAME}.ui.operators")
    folded, operators.FOLDED = operators.FOLDED, ()
    for verb, name in [(verb, name) for name in MENU_FORMATS for verb in ("import", "export")] + [("import", "retro_mesh")]:
        with in_area("VIEW_3D"):
            getattr(getattr(bpy.ops, f"{verb}_scene"), name)("INVOKE_DEFAULT")
        yield from wait(4)
        picture(folder / f"{verb}_{name}.png")
        press("ESC")
        yield from wait(2)
    operators.FOLDED = folded


def drops(folder: Path) -> Steps:
    """What is asked when files are dropped on the viewport: one of each format, and of several formats at once."""
    for names in [*([entry.example] for entry in MENU_FORMATS.values()), ["fox.b3d", "robot.bo3d"]]:
        title = "_".join(["drop", *(Path(name).stem for name in names)])
        with in_area("VIEW_3D"):
            listed = [{"name": name} for name in names]
            bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(EXAMPLES), files=listed)
        yield from wait(4)
        picture(folder / f"{title}.png")
        press("ESC")
        yield from wait(2)


def preferences(folder: Path) -> Steps:
    bpy.ops.preferences.retro_texture_folder_add()
    with in_area("VIEW_3D") as area:
        area.type = "PREFERENCES"
        bpy.context.preferences.active_section = "ADDONS"
        bpy.context.window_manager.addon_search = "Retro"
        yield from wait()
        bpy.ops.preferences.addon_expand(module=window.NAME)
        yield from wait()
        picture(folder / "preferences.png")
        area.type = "VIEW_3D"
        yield


def panels(folder: Path) -> Steps:
    """The settings in the Properties editor, for a model of every format, with the sidebar's tab."""
    for name, entry in MENU_FORMATS.items():
        clear()
        with in_area("VIEW_3D") as area:
            bpy.ops.import_scene.retro_mesh(filepath=str(EXAMPLES / entry.example))
            area.spaces.active.show_region_ui = True
            yield
            next(region for region in area.regions if region.type == "UI").active_panel_category = "Retro Meshes"
        bpy.context.view_layer.objects.active = next(each for each in bpy.data.objects if each.type == "MESH")
        yield
        with in_area("PROPERTIES") as area:
            area.spaces.active.context = "MATERIAL"
        yield from wait(4)
        picture(folder / f"panel_{name}.png")


def check(folder: Path) -> Steps:
    """What an export would lose, format by format."""
    with in_area("VIEW_3D"):
        bpy.ops.export_scene.retro_check("INVOKE_DEFAULT")
    yield from wait()
    picture(folder / "check.png")
    press("ESC")
    yield


PICTURES = (menus, dialogs, drops, check, preferences, panels)


def steps(folder: Path, languages: list[str], names: list[str]) -> Generator[None, None, bool]:
    for language in languages:
        speak(language)
        (folder / language).mkdir(parents=True, exist_ok=True)
        yield
        for take in PICTURES:
            if not names or take.__name__ in names:
                clear()
                if take is not panels:
                    import_fox()
                yield from take(folder / language)
                print(f"taken: {language} {take.__name__}", flush=True)
    return True


def main() -> None:
    folder, *rest = window.arguments()
    languages, *names = rest or ["en_US"]
    window.start(steps(Path(folder), languages.split(","), names))


main()

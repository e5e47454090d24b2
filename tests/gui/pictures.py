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
        area.tag_redraw()
        yield from wait()
        picture(folder / "preferences.png")
        area.type = "VIEW_3D"
        yield


def panels(folder: Path) -> Steps:
    """The sidebar's tab with the settings of a material, and those of its texture, for a model of every format."""
    for name, entry in MENU_FORMATS.items():
        clear()
        with in_area("VIEW_3D"):
            bpy.ops.import_scene.retro_mesh(filepath=str(EXAMPLES / entry.example))
        worn = [(ob, material) for ob in bpy.data.objects if ob.type == "MESH" for material in ob.data.materials]
        wearer, material = max(worn, key=lambda pair: bool(textures(pair[1])))
        wearer.active_material_index = wearer.data.materials.find(material.name)
        bpy.context.view_layer.objects.active = wearer
        yield
        with in_area("PROPERTIES") as area:
            area.spaces.active.context = "MATERIAL"
        yield from sidebar("VIEW_3D", "Retro Meshes")
        with in_area("PROPERTIES"):
            bpy.ops.wm.call_panel(name="MATERIAL_PT_retro_meshes", keep_open=True)
        yield from wait()
        picture(folder / f"panel_{name}.png")
        press("ESC")
        yield
        for node in textures(material)[:1]:
            material.node_tree.nodes.active = node
            yield from sidebar("ShaderNodeTree", "Node")
            with in_area("NODE_EDITOR"):
                bpy.ops.wm.call_panel(name="NODE_PT_retro", keep_open=True)
            yield from wait()
            picture(folder / f"node_{name}.png")
            press("ESC")
            yield
            yield from sidebar("VIEW_3D", "Retro Meshes")


def textures(material: bpy.types.Material) -> list[bpy.types.Node]:
    return [node for node in material.node_tree.nodes if node.bl_idname == "ShaderNodeTexImage"]


def sidebar(kind: str, tab: str) -> Steps:
    """Makes the large area one of this kind and opens a tab of its sidebar."""
    area = max(bpy.context.window_manager.windows[0].screen.areas, key=lambda each: each.width * each.height)
    area.ui_type = kind
    area.spaces.active.show_region_ui = True
    yield from wait(2)
    next(region for region in area.regions if region.type == "UI").active_panel_category = tab
    yield from wait()


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

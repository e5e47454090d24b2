# SPDX-License-Identifier: GPL-3.0-or-later
"""What only a Blender with a window can show: menus, file dialogs, presets and drag and drop. Run by

    python3 build.py test --blender PATH

Each check is a generator; at every `yield` Blender draws and handles its events. Errors in drawing code do not reach
Python, they are only printed: the standard error is read back at the end.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Callable, Generator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # Blender runs this file by its path

from io_retro_meshes.formats import MENU_FORMATS
from tests.gui import window
from tests.gui.window import FOX, Errors, Steps, asking, clear, import_fox, in_area, press

Check = Callable[[Path], Steps]


def check_menus(folder: Path) -> Steps:
    """The File menus open and list every format."""
    for menu in ("TOPBAR_MT_file_import", "TOPBAR_MT_file_export"):
        with in_area("VIEW_3D"):
            bpy.ops.wm.call_menu(name=menu)
        yield
        press("ESC")
        yield


def check_import_dialogs(folder: Path) -> Steps:
    """Every format's import dialog opens and draws its options; the fox comes in through its own."""
    for name in MENU_FORMATS:
        with in_area("VIEW_3D"):
            getattr(bpy.ops.import_scene, name)("INVOKE_DEFAULT")
        yield
        assert asking() == f"IMPORT_SCENE_OT_{name}"
        press("ESC")
        yield
    with in_area("VIEW_3D"):
        bpy.ops.import_scene.b3d("INVOKE_DEFAULT")
    yield
    with in_area("FILE_BROWSER") as area:
        area.spaces.active.params.directory = str(FOX.parent).encode()
        area.spaces.active.params.filename = FOX.name
    yield
    press("RET")
    yield
    assert any(ob.type == "ARMATURE" for ob in bpy.data.objects), "the fox did not come in"


def check_export_dialogs(folder: Path) -> Steps:
    """Every format's export dialog opens and draws its options; the fox goes out through its own."""
    import_fox()
    for name, entry in MENU_FORMATS.items():
        with in_area("VIEW_3D"):
            getattr(bpy.ops.export_scene, name)("INVOKE_DEFAULT", filepath=str(folder / f"fox{entry.extensions[0]}"))
        yield
        assert asking() == f"EXPORT_SCENE_OT_{name}"
        press("RET" if name == "b3d" else "ESC")
        yield
    assert (folder / "fox.b3d").stat().st_size > 10_000


def check_presets(folder: Path) -> Steps:
    """The presets that come with the extension run, and set what they say."""
    if not hasattr(bpy.utils, "register_preset_path"):
        return
    for name in ("b3d", "dbo"):
        paths = bpy.utils.preset_paths(f"operator/export_scene.{name}")
        presets = sorted(path for found in paths for path in Path(found).glob("*.py"))
        assert presets, f"no presets for {name}"
        for preset in presets:
            with in_area("VIEW_3D"):
                getattr(bpy.ops.export_scene, name)("INVOKE_DEFAULT", filepath=str(folder / "preset"))
            yield
            with in_area("FILE_BROWSER") as area:
                bpy.ops.script.execute_preset(filepath=str(preset), menu_idname="WM_MT_operator_presets")
                assert area.spaces.active.active_operator.properties.keys(), f"{preset.name} sets nothing"
            yield
            press("ESC")
            yield


def check_drop(folder: Path) -> Steps:
    """A file that is dropped on the viewport asks for its options and comes in."""
    with in_area("VIEW_3D"):
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(FOX.parent), files=[{"name": FOX.name}])
    yield
    press("RET")
    yield
    assert any(ob.type == "ARMATURE" for ob in bpy.data.objects), "the dropped fox did not come in"


def check_properties(folder: Path) -> Steps:
    """The panels of the typed settings draw for whatever is active."""
    import_fox()
    bpy.context.view_layer.objects.active = next(ob for ob in bpy.data.objects if ob.type == "MESH")
    yield
    with in_area("PROPERTIES") as area:
        space = area.spaces.active
    for tab in ("OBJECT", "DATA", "MATERIAL", "SCENE"):
        space.context = tab
        yield


def check_player(folder: Path) -> Steps:
    """The tab of the sidebar draws; a picked animation plays in its range; one that lies elsewhere is told of; undo works."""
    import_fox()
    scene = bpy.context.scene
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    with in_area("VIEW_3D") as area:
        bpy.context.view_layer.objects.active = rig
        area.spaces.active.show_region_ui = True
        yield
        next(region for region in area.regions if region.type == "UI").active_panel_category = "Retro Meshes"
        yield
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.object.retro_play_animation("EXEC_DEFAULT", True, action="walk")
        yield
        assert (scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end) == (True, 50, 74)
        bpy.ops.screen.animation_play()
        for _ in range(5):
            yield
            assert 50 <= scene.frame_current <= 74 and rig.animation_data.action.name == "walk"
        bpy.ops.screen.animation_cancel(restore_frame=False)
        bpy.ops.ed.undo()
        yield
        rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
        assert rig.animation_data.action.name == "fox", "the walk is still assigned"
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 1, 40
        rig.animation_data.action = bpy.data.actions["wave"]  # as the action editor does
        yield
        bpy.ops.object.retro_show_frames("EXEC_DEFAULT", True)
        assert (scene.frame_preview_start, scene.frame_preview_end) == (75, 123)
        bpy.ops.object.retro_whole_timeline("EXEC_DEFAULT", True)
        yield
        assert rig.animation_data.action.name == "fox" and scene.frame_current == 1


def check_undo_of_an_import(folder: Path) -> Steps:
    before = len(bpy.data.objects)
    with in_area("VIEW_3D"):
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.import_scene.b3d("EXEC_DEFAULT", True, filepath=str(FOX))
        yield
        assert len(bpy.data.objects) > before
        bpy.ops.ed.undo()
        yield
        assert len(bpy.data.objects) == before, "the fox is still there"


def check_undo_past_an_export_in_edit_mode(folder: Path) -> Steps:
    """The edits before it come undone one by one, and the mesh is the old one when edit mode is left that way."""
    with in_area("VIEW_3D"):
        bpy.ops.mesh.primitive_cube_add()
        bpy.ops.ed.undo_push(message="cube")
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.ed.undo_push(message="edit mode")
        bpy.ops.transform.resize(value=(3, 3, 3))
        bpy.ops.ed.undo_push(message="resize")
        yield
        bpy.ops.export_scene.b3d("EXEC_DEFAULT", True, filepath=str(folder / "cube.b3d"))
        assert bpy.context.mode == "EDIT_MESH"
        sizes = []
        for _ in range(4):
            bpy.ops.ed.undo()
            yield
            bpy.context.object.update_from_editmode()
            sizes.append((bpy.context.mode, max(vertex.co.x for vertex in bpy.context.object.data.vertices)))
        assert sizes == [("OBJECT", 3), ("EDIT_MESH", 3), ("EDIT_MESH", 1), ("OBJECT", 1)], sizes


CHECKS: list[Check] = [
    check_menus,
    check_import_dialogs,
    check_export_dialogs,
    check_presets,
    check_drop,
    check_properties,
    check_player,
    check_undo_of_an_import,
    check_undo_past_an_export_in_edit_mode,
]


def steps(checks: list[Check], folder: Path, errors: Errors) -> Generator[None, None, bool]:
    failed = 0
    for check in checks:
        clear()
        seen = len(errors.text())
        try:
            yield from check(folder)
            words = errors.text()[seen:]
            assert "Traceback" not in words and "Error" not in words, words
            print(f"passed  {check.__name__}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {check.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed in Blender {bpy.app.version_string}", flush=True)
    return not failed


def main() -> None:
    names = window.arguments()
    chosen = [check for check in CHECKS if not names or check.__name__ in names]
    folder = tempfile.TemporaryDirectory()
    window.start(steps(chosen, Path(folder.name), Errors()), folder.cleanup)


main()

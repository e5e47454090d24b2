# SPDX-License-Identifier: GPL-3.0-or-later
"""What only a Blender with a window can show: menus, file dialogs, presets and drag and drop. Run by

    python3 build.py test --blender PATH

Each check is a generator; at every `yield` Blender draws and handles its events. Errors in drawing code do not reach
Python, they are only printed: the standard error is read back at the end.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # Blender runs this file by its path

from io_retro_meshes.formats import MENU_FORMATS
from tests.gui import window
from tests.gui.window import FOX, Errors, Steps, asking, clear, import_fox, in_area, press, speak

Check = Callable[[Path], Steps]
EXAMPLES = FOX.parent
SEVERAL = ["fox.b3d", "robot.bo3d", "flower.dbo"]


def drop(folder: Path, names: list[str]) -> None:
    """As if the files were let go over the viewport: Blender asks for options."""
    with in_area("VIEW_3D"):
        listed = [{"name": name} for name in names]
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(folder), files=listed)


def choose(path: Path, **options: object) -> None:
    """Types a name into the open file dialog, and sets options beside it."""
    with in_area("FILE_BROWSER") as area:
        area.spaces.active.params.directory = str(path.parent).encode()
        area.spaces.active.params.filename = path.name
        for name, value in options.items():
            setattr(area.spaces.active.active_operator, name, value)


def until(done: Callable[[], bool], most: int = 40) -> Steps:
    """Lets Blender go on until something is so."""
    for _ in range(most):
        yield
        if done():
            return
    raise AssertionError("it does not come to that")


def collections() -> list[str]:
    return [each.name for each in bpy.data.collections if each.name != "Collection"]


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
    for group, name in [
        (verb, name) for name in ("b3d", "bogle", "dbo", "saturn") for verb in ("import_scene", "export_scene")
    ]:
        paths = bpy.utils.preset_paths(f"operator/{group}.{name}")
        presets = sorted(path for found in paths for path in Path(found).glob("*.py"))
        assert presets, f"no presets for {group}.{name}"
        for preset in presets:
            with in_area("VIEW_3D"):
                getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT")
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


def check_several_dropped(folder: Path) -> Steps:
    """Several files come in one by one, each into its collection, and the scene's range covers all of them."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 250, 24
    drop(EXAMPLES, SEVERAL)
    yield
    press("RET")
    yield from until(lambda: len(collections()) == 3)
    assert collections() == sorted(Path(name).stem for name in SEVERAL)
    assert scene.frame_end == max(int(action.frame_range[1]) for action in bpy.data.actions), scene.frame_end


def check_stopping(folder: Path) -> Steps:
    """Esc ends an import of many files between two of them; what has come in stays, and the log says what has not."""
    names = [f"fox {number:02}.b3d" for number in range(30)]
    for name in names:
        shutil.copy(FOX, folder / name)
    drop(folder, names)
    yield
    press("RET")
    yield from until(lambda: bool(collections()))
    press("ESC")
    yield from until(lambda: bool(bpy.data.texts))
    came = len(collections())
    yield
    assert 0 < came == len(collections()) < 30
    log = bpy.data.texts["Retro Meshes Log"].as_string()
    assert f"Stopped: {30 - came} of 30 files were not imported" in log, log


def check_any_importer(folder: Path) -> Steps:
    """What a file is, is seen from its bytes: a Blitz3D model and an entity under other names, side by side."""
    shutil.copy(FOX, folder / "unknown.bin")
    with in_area("VIEW_3D"):
        bpy.ops.import_scene.retro_mesh("INVOKE_DEFAULT")
    yield
    assert asking() == "IMPORT_SCENE_OT_retro_mesh"
    choose(folder / "unknown.bin", use_collection="ALWAYS")
    yield
    press("RET")
    yield from until(lambda: collections() == ["unknown"])
    assert any(ob.type == "ARMATURE" for ob in bpy.data.objects)
    shutil.copy(EXAMPLES / "flower.dbo", folder)
    (folder / "flower.fpe").write_text("model = flower.dbo\n")
    drop(folder, ["flower.fpe"])
    yield
    press("RET")
    yield from until(lambda: any(len(rig.bones) == 18 for rig in bpy.data.armatures))


def check_options(folder: Path) -> Steps:
    """What is chosen in the dialog is done: bones, normals, merging, animations, range, collection."""
    scene = bpy.context.scene
    scene.frame_end = 7
    with in_area("VIEW_3D"):
        bpy.ops.import_scene.b3d("INVOKE_DEFAULT")
    yield
    choose(
        FOX,
        use_collection="ALWAYS",
        bone_direction="FILE",
        bone_length=0.5,
        bone_shape="OCTAHEDRAL",
        merge_vertices=True,
        animations="CHOSEN",
        animation_names="wa*",
        scene_range="ALWAYS",
    )
    yield
    press("RET")
    yield from until(lambda: collections() == ["fox"])
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    assert rig.data.display_type == "OCTAHEDRAL" and all(abs(bone.length - 0.5) < 1e-4 for bone in rig.data.bones)
    assert {action.name for action in bpy.data.actions} == {"walk", "wave"}
    assert (scene.frame_end, bpy.data.meshes["fox"].polygons[0].loop_total) == (123, 3)
    assert len(bpy.data.meshes["fox"].vertices) < 944


def check_bad_file(folder: Path) -> Steps:
    """A file that is cut off is refused, and leaves nothing behind."""
    (folder / "cut.b3d").write_bytes(FOX.read_bytes()[:9999])
    drop(folder, ["cut.b3d"])
    yield
    press("RET")
    yield
    press("ESC")  # the message
    yield
    assert not bpy.data.objects and not bpy.data.meshes


def check_assets(folder: Path) -> Steps:
    """Each file's collection is an asset with a picture of the model."""
    with in_area("VIEW_3D"):
        bpy.ops.import_scene.retro_mesh(
            "EXEC_DEFAULT", directory=str(EXAMPLES), files=[{"name": name} for name in SEVERAL], use_assets=True
        )
    yield
    made = [bpy.data.collections[name] for name in collections()]
    assert len(made) == 3 and all(each.asset_data is not None and each.preview.is_image_custom for each in made)


def check_preferences(folder: Path) -> Steps:
    """The page draws; a format can be taken out of the menus; dialogs begin with its scale; the documentation is there."""
    chosen = bpy.context.preferences.addons[window.NAME].preferences
    page = importlib.import_module(f"{window.NAME}.ui.preferences").DOCUMENTATION / "first-model.html"
    assert page.is_file() and (page.parent / "window.png").is_file()
    bpy.ops.preferences.retro_texture_folder_add()
    with in_area("VIEW_3D") as area:
        area.type = "PREFERENCES"
        bpy.context.preferences.active_section = "ADDONS"
        bpy.context.window_manager.addon_search = "Retro"
        yield
        bpy.ops.preferences.addon_expand(module=window.NAME)
        area.tag_redraw()
        yield
        area.type = "VIEW_3D"
    bpy.ops.preferences.retro_texture_folder_remove(index=0)
    chosen.show_dbo, chosen.import_scale_b3d = False, 0.25
    with in_area("VIEW_3D"):
        bpy.ops.wm.call_menu(name="TOPBAR_MT_file_import")
    yield
    press("ESC")
    yield
    with in_area("VIEW_3D"):
        bpy.ops.import_scene.b3d("INVOKE_DEFAULT")
    yield
    with in_area("FILE_BROWSER") as area:
        assert area.spaces.active.active_operator.scale == 0.25
    press("ESC")
    yield
    chosen.show_dbo, chosen.import_scale_b3d = True, 1.0


def check_languages(folder: Path) -> Steps:
    """Every dialog draws in German and in Japanese, and what it says comes from our tables where Blender has no words."""
    said = {"de_DE": "Vertices vereinen", "ja_JP": "頂点を結合"}
    operators = importlib.import_module(f"{window.NAME}.ui.operators")
    folded, operators.FOLDED = operators.FOLDED, ()
    try:
        for language, words in said.items():
            speak(language)
            yield
            assert bpy.app.translations.pgettext_iface("Merge Vertices", "Retro Meshes") == words
            assert bpy.app.translations.pgettext_iface("Import Saturn Character", "Operator") != "Import Saturn Character"
            yield from open_dialogs()
    finally:
        operators.FOLDED = folded
        speak("en_US")


def open_dialogs() -> Steps:
    for verb, name in [(verb, name) for name in MENU_FORMATS for verb in ("import", "export")]:
        with in_area("VIEW_3D"):
            getattr(getattr(bpy.ops, f"{verb}_scene"), name)("INVOKE_DEFAULT")
        yield
        press("ESC")
        yield


def check_the_check(folder: Path) -> Steps:
    """The list of what an export would lose opens, and its buttons select."""
    import_fox()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.shape_key_add(name="Basis")
    cube.shape_key_add(name="Bump")
    with in_area("VIEW_3D"):
        bpy.ops.export_scene.retro_check("INVOKE_DEFAULT")
    yield
    lines = bpy.context.window_manager.retro_check.lines
    about = [number for number, line in enumerate(lines) if cube.name in json.loads(line.objects)]
    assert about, [line.text for line in lines]
    press("ESC")
    yield
    bpy.ops.object.select_all(action="DESELECT")
    bpy.ops.object.retro_select_culprit(line=about[0])
    assert cube.select_get()


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
    check_several_dropped,
    check_stopping,
    check_any_importer,
    check_options,
    check_bad_file,
    check_assets,
    check_preferences,
    check_languages,
    check_the_check,
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

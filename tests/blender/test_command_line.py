# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as people call it: as a program of its own."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes import cli
from io_retro_meshes.blender import compat
from io_retro_meshes.formats.b3d import document as b3d
from io_retro_meshes.formats.b3d.write import write
from tests.conftest import bpy_command

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "io_retro_meshes" / "cli.py"
FOX = ROOT / "examples" / "fox.b3d"


def run(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(bpy_command(CLI, *arguments), capture_output=True, text=True, timeout=300, cwd=folder)


def report_of(command: str, *paths: Path) -> list[dict[str, Any]]:
    words = run(command, *paths, "--json").stdout
    return json.loads(words[words.index("[\n") :])  # a Blender says hello first


def gltf_of(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    magic, version, length, json_length, json_kind = struct.unpack_from("<4sIIII", data)
    assert (magic, version, length, json_kind) == (b"glTF", 2, len(data), 0x4E4F534A)
    return json.loads(data[20 : 20 + json_length])


@pytest.fixture(scope="module")
def glb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("glb") / "fox.glb"
    done = run("convert", FOX, "-o", target, "--to", "glb")
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_converted_fox_has_all_its_parts(glb: Path) -> None:
    gltf = gltf_of(glb)
    assert sorted(animation["name"] for animation in gltf["animations"]) == ["fox", "idle", "walk", "wave"]
    (skin,) = gltf["skins"]
    assert len(skin["joints"]) == 16
    (mesh,) = gltf["meshes"]
    (primitive,) = mesh["primitives"]
    assert {"POSITION", "NORMAL", "TEXCOORD_0", "JOINTS_0", "WEIGHTS_0"} <= primitive["attributes"].keys()
    assert gltf["accessors"][primitive["indices"]]["count"] == 3 * 1280
    (image,) = gltf["images"]
    assert "bufferView" in image, "the texture is inside the file"
    (material,) = gltf["materials"]
    assert "baseColorTexture" in material["pbrMetallicRoughness"]


def times(gltf: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """When each animation starts and ends, in seconds, in the file's order."""
    found = {}
    for animation in gltf["animations"]:
        inputs = [gltf["accessors"][sampler["input"]] for sampler in animation["samplers"]]
        found[animation["name"]] = (min(entry["min"][0] for entry in inputs), max(entry["max"][0] for entry in inputs))
    return found


def test_animations_have_their_own_times(glb: Path) -> None:
    """The whole timeline has the file's times; each named sequence starts at zero."""
    expected = {"fox": (1 / 24, 123 / 24), "idle": (0, 48 / 24), "walk": (0, 24 / 24), "wave": (0, 48 / 24)}
    found = times(gltf_of(glb))
    assert found.keys() == expected.keys()
    for name, span in expected.items():
        assert found[name] == pytest.approx(span, abs=1e-4), name


def test_the_whole_timeline_comes_first(tmp_path: Path, addon: Any) -> None:
    """Whatever it is called: engines that know one animation only take the first."""
    shutil.copy(FOX, tmp_path / "zebra.b3d")
    for to in ("glb", "gltf"):
        assert cli.main(["convert", str(tmp_path / "zebra.b3d"), "-o", str(tmp_path / "out"), "--to", to]) == 0
    plain = json.loads((tmp_path / "out" / "zebra.gltf").read_text())
    for gltf in (gltf_of(tmp_path / "out" / "zebra.glb"), plain):
        assert [animation["name"] for animation in gltf["animations"]] == ["zebra", "idle", "walk", "wave"]


def posed(bpy: Any, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH" and ob.find_armature())
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(3 * len(mesh.data.vertices), np.float32)
    mesh.data.vertices.foreach_get("co", points)
    matrix = np.array(mesh.matrix_world)
    return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def test_glb_is_posed_as_the_original(glb: Path, blender: Any) -> None:
    """Each vertex of the .b3d has one of the .glb in its place, and the other way round."""
    shown = [("fox", 1, 1), ("fox", 55, 55), ("fox", 110, 110), ("idle", 19, 20), ("walk", 6, 56), ("wave", 20, 95)]
    blender.ops.import_scene.b3d(filepath=str(FOX))
    before = [posed(blender, frame) for _, _, frame in shown]
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    blender.ops.import_scene.gltf(filepath=str(glb))
    armature = next(ob for ob in blender.data.objects if ob.type == "ARMATURE")
    for track in armature.animation_data.nla_tracks:
        track.mute = True
    for (name, frame, _), expected in zip(shown, before, strict=True):
        action = next(action for action in blender.data.actions if action.name.startswith(name))
        compat.assign_action(armature, action, next((slot for slot, _ in compat.action_curves(action)), None))
        distance = np.linalg.norm(posed(blender, frame)[:, None] - expected[None], axis=-1)
        assert max(distance.min(0).max(), distance.min(1).max()) < 1e-3, (name, frame)


def test_several_moving_objects_share_an_animation(tmp_path: Path, addon: Any) -> None:
    keys = np.zeros(3, b3d.key_dtype(b3d.POSITION))
    keys["frame"], keys["position"] = [1, 10, 20], [[0, 0, 0], [0, 1, 0], [2, 0, 0]]
    children = [b3d.Node(name, chunks=[b3d.Keys(b3d.POSITION, keys)]) for name in (b"left", b"right")]
    sequences = [b3d.Sequence(b"up", 1, 10), b3d.Sequence(b"down", 10, 20)]
    root = b3d.Node(b"root", chunks=[b3d.Anim(0, 20, 30.0), *sequences, *children])
    (tmp_path / "doors.b3d").write_bytes(write(b3d.Document(chunks=[root])))
    assert cli.main(["convert", str(tmp_path / "doors.b3d"), "-o", str(tmp_path / "doors.glb")]) == 0
    gltf = gltf_of(tmp_path / "doors.glb")
    moved = {
        animation["name"]: {gltf["nodes"][channel["target"]["node"]]["name"] for channel in animation["channels"]}
        for animation in gltf["animations"]
    }
    both = {"left", "right"}
    assert moved == {"doors": both, "up": both, "down": both}


def test_glb_is_valid(glb: Path) -> None:
    validator = shutil.which("gltf_validator")
    if validator is None:
        pytest.skip("no gltf_validator on PATH")
    done = subprocess.run([validator, "-o", str(glb)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and json.loads(done.stdout)["issues"]["numErrors"] == 0, done.stdout


def test_glb_comes_back_as_b3d(glb: Path, tmp_path: Path) -> None:
    done = run("convert", glb, "-o", tmp_path / "back.b3d")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "fox.png").is_file(), "the texture is beside the model"
    report = report_of("info", tmp_path / "back.b3d")[0]
    assert report["format"] == "b3d"
    assert report["summary"] == report_of("info", FOX)[0]["summary"], "all that was there, and each animation once"


@pytest.mark.parametrize("to", ["gltf", "obj", "fbx", "ply", "stl", "usd", "blend", "b3d"])
def test_every_output_is_written(to: str, tmp_path: Path, addon: Any, capfd: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["convert", str(FOX), "-o", str(tmp_path / "out"), "--to", to])
    words = capfd.readouterr().out
    if to == "usd" and "could not be found" in words:
        pytest.skip("this Blender was built without USD")
    assert code == 0, words
    assert (tmp_path / "out" / f"fox.{to}").stat().st_size > 1000
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")], "nothing is left lying about"


def test_every_example_becomes_a_glb(tmp_path: Path, addon: Any, capfd: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["convert", str(ROOT / "examples"), "-o", str(tmp_path), "--to", "glb"])
    assert code == 0, capfd.readouterr().out
    made = {path.stem for path in tmp_path.glob("*.glb")}
    assert made == {
        path.stem for path in (ROOT / "examples").iterdir() if path.suffix in {".b3d", ".bo3d", ".bgl", ".dbo", ".bin"}
    }
    assert all(gltf_of(path)["meshes"] for path in tmp_path.glob("*.glb"))


def test_one_bad_file_does_not_stop_the_rest(tmp_path: Path) -> None:
    models = tmp_path / "models"
    (models / "deep").mkdir(parents=True)
    shutil.copy(FOX, models / "one.b3d")
    shutil.copy(FOX, models / "deep" / "two.b3d")
    (models / "broken.b3d").write_bytes(FOX.read_bytes()[:1000])
    (models / "notes.txt").write_text("not a model")
    done = run("convert", models, "-o", tmp_path / "out", "--to", "glb", "--jobs", 2)
    assert done.returncode == 1
    assert "2 converted, 1 failed" in done.stdout and "broken.b3d -> FAILED" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "out/one.glb").is_file() and (tmp_path / "out/deep/two.glb").is_file()
    assert not (tmp_path / "out/broken.glb").exists()
    again = run("convert", models, "-o", tmp_path / "out", "--to", "glb", "--skip-existing")
    assert "0 converted, 1 failed, 2 were there already" in again.stdout, again.stdout


def test_options_are_those_of_the_dialog(tmp_path: Path, addon: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def convert(option: str) -> tuple[int, str]:
        code = cli.main(["convert", str(FOX), "-o", str(tmp_path / "fox.glb"), "--option", option])
        return code, capfd.readouterr().err

    code, words = convert("scale=nonsense")
    assert code == 2 and "scale is a number" in words
    code, words = convert("no_such_thing=1")
    assert code == 2 and "no option no_such_thing" in words
    assert convert("use_animation=false")[0] == 0
    assert "animations" not in gltf_of(tmp_path / "fox.glb")


def test_info_and_check(tmp_path: Path) -> None:
    done = run("info", FOX)
    assert done.returncode == 0 and "idle" in done.stdout and "Blitz3D" in done.stdout, done.stdout + done.stderr
    assert run("check", FOX).returncode == 0
    (tmp_path / "cut.b3d").write_bytes(FOX.read_bytes()[:500])
    reports = report_of("check", FOX, tmp_path / "cut.b3d", tmp_path / "absent.b3d")
    assert ["error" in report for report in reports] == [False, True, True]
    assert "offset" in reports[1]["error"]


def test_commands_that_make_no_sense(tmp_path: Path) -> None:
    assert run("convert", tmp_path / "absent.b3d", "-o", tmp_path / "x.glb").returncode == 2
    assert run("convert", FOX, "-o", FOX, "--to", "b3d").returncode == 2
    assert run("convert", FOX, "-o", tmp_path / "x", "--to", "nothing").returncode == 2
    assert run().returncode == 2

# SPDX-License-Identifier: GPL-3.0-or-later
"""What mods rely on: bones' own axes, texture slots and frames, of a .glb that was made of a .b3d."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.batch.job import Job
from io_retro_meshes.batch.worker import attempt
from io_retro_meshes.convert import convert
from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d import document
from io_retro_meshes.scene import Armature, Bone, Channel, Clip, Node, Scene, Track, Transform
from tests.conftest import ROOT, corpus_files
from tests.engines.gltf import Gltf
from tests.engines.luanti import B3d, glb_surfaces, glb_worlds

FILES = {path: B3d(path.read_bytes()) for path in corpus_files("b3d", "*.b3d")}
RIGGED = [path for path, file in FILES.items() if any(joint.bone for joint in file.joints)]
MANY_SURFACES = [path for path, file in FILES.items() if len(file.surfaces) > 1]


def converted(path: Path, folder: Path, **options: Any) -> Gltf:
    target = folder / "model.glb"
    convert(path, target, options=options)
    return Gltf(target)


def three(frames: list[int]) -> list[int]:
    """The first, a middle one (between keys, most often), and the last."""
    return sorted({frames[0], (frames[0] + frames[-1]) // 2, frames[-1]}) if frames else []


@pytest.mark.parametrize("path", RIGGED)
def test_every_joint_is_where_the_b3d_has_it(path: Path, tmp_path: Path) -> None:
    """At rest and on three frames: overrides, attachments and their offsets act in these axes."""
    source, made = FILES[path], converted(path, tmp_path)
    numbers = {}
    for number, node in enumerate(made.nodes):
        numbers.setdefault(node["name"], []).append(number)
    bones = [(number, joint) for number, joint in enumerate(source.joints) if joint.bone]
    size = max(float(np.ptp(np.concatenate(source.surfaces).reshape(-1, 3), 0).max()), 1e-6)
    names = [joint.name for _, joint in bones]
    for frame in [None, *three([frame for frame in source.key_frames() if frame >= 0])]:
        theirs, ours = source.worlds(frame), glb_worlds(made, None if frame is None else frame / source.fps)
        for number, joint in bones:
            # Several bones may have the same name: they come in the same order.
            same = [each for each in numbers[joint.name] if made.nodes[each].get("mesh") is None]
            place = [n for n, each in bones if each.name == joint.name].index(number)
            found = ours[same[place - names.count(joint.name)]]
            off = np.abs(found - theirs[number])[:3] / [1, 1, 1, size]
            assert off.max() < 1e-4 * max(1, np.abs(theirs[number][:3, :3]).max()), (joint.name, frame)


@pytest.mark.parametrize("pictures", ["NONE", "EMBED"])
@pytest.mark.parametrize("path", MANY_SURFACES)
def test_every_surface_has_the_slot_it_had(path: Path, pictures: str, tmp_path: Path) -> None:
    """One entry of `textures` a surface, whether they look alike or not, and each primitive takes its own."""
    source, made = FILES[path], converted(path, tmp_path, pictures=pictures)
    textures = made.json.get("textures", [])
    if pictures == "NONE":
        assert not made.json.get("images") and not any("source" in texture for texture in textures)
    assert len(textures) in ((len(source.surfaces),) if pictures == "NONE" else (0, len(source.surfaces)))
    slots = dict(glb_surfaces(made))
    for number, corners in enumerate(source.surfaces):
        assert (number in slots) == bool(len(corners))
        if len(corners):
            np.testing.assert_allclose(slots[number], corners, atol=1e-4 * max(1, np.abs(corners).max()))


def test_merging_surfaces_is_left_to_those_who_ask(tmp_path: Path) -> None:
    """Formats in which nobody counts surfaces get one for each brush."""
    corner = np.eye(3, dtype=np.float32)
    chunks = [document.Vertices(0, 0, 0, corner), *(document.Triangles(0, np.array([[0, 1, 2]])) for _ in range(3))]
    brush = document.Brush(b"skin", np.ones(4, np.float32), 0.0, 1, 0, np.array([-1], np.int32))
    nodes = [document.Node(b"mesh", chunks=[document.Mesh(-1, chunks)])]
    path = tmp_path / "three.b3d"
    path.write_bytes(b3d.write(document.Document(chunks=[document.Brushes(1, [brush]), *nodes])))
    assert len(glb_surfaces(converted(path, tmp_path))) == 3
    assert len(glb_surfaces(converted(path, tmp_path, merge_surfaces="true"))) == 1
    convert(path, tmp_path / "again.b3d")
    assert len(B3d((tmp_path / "again.b3d").read_bytes()).surfaces) == 3


# --------------------------------------------------------------------------------------------------------------- frames


def test_convert_tells_where_the_frames_are(tmp_path: Path) -> None:
    """Frame N of the API is frame N + 1 of the file, at (N + 1) / fps seconds: the line says where that pose is."""
    scene = rigged(Clip("walk", 10, 20, moving(10, 20)), Clip("sit", 31, 40, moving(31, 40)), fps=25.0)
    (tmp_path / "model.b3d").write_bytes(b3d.write(b3d.from_scene(scene)))
    lines = [line for line in convert(tmp_path / "model.b3d", tmp_path / "model.glb") if line.startswith("Frames: ")]
    assert [line.partition(" is ")[0] for line in lines] == ['Frames: "model"', 'Frames: "walk"', 'Frames: "sit"']
    assert lines[1].endswith(
        "is 10 to 20 in the .b3d, 9 to 19 in mods for it, and 0.4 to 0.8 seconds in the .glb; "
        "divide the speed by 25 (30 is 1.2)"
    )
    assert not [line for line in convert(tmp_path / "model.b3d", tmp_path / "model.bo3d") if line.startswith("Frames: ")]
    result = attempt(Job(str(tmp_path / "model.b3d"), str(tmp_path / "model.glb"), "glb", through_blender=False))
    assert result.notes == lines and not result.warnings  # nothing is wrong with the file


def moving(first: float, last: float) -> dict[tuple[int, int], Track]:
    frames = np.array([first, last], np.float32)
    return {(0, 0): Track(Channel(frames, np.array([[0, 0, 0], [1, 2, 3]], np.float32)))}


def rigged(*clips: Clip, **values: Any) -> Scene:
    bones = [Bone("bone", -1, np.eye(4, dtype=np.float32), Transform(), drawn=True)]
    return Scene([Node("rig", armature=Armature("rig", bones))], clips=list(clips), **values)


def written(scene: Scene, **options: Any) -> tuple[B3d, list[tuple[str, int, int]], list[str]]:
    made = b3d.from_scene(scene, b3d.ExportOptions(**options))
    sequences = [
        (chunk.name.decode(), chunk.first, chunk.last)
        for node, _ in made.walk()
        for chunk in node.chunks
        if isinstance(chunk, document.Sequence)
    ]
    return B3d(b3d.write(made)), sequences, made.warnings


def test_actions_stay_on_their_frames_unless_they_share_some() -> None:
    apart = (Clip("walk", 168, 187, moving(168, 187)), Clip("idle", 0, 79, moving(0, 79)))
    file, found, warnings = written(rigged(*apart, first_frame=0.0), start_frame="ONE")
    assert found == [("walk", 169, 188), ("idle", 1, 80)] and not warnings
    assert file.key_frames() == [1, 80, 169, 188]
    assert np.allclose(file.worlds(188)[1][:3, 3], (1, 3, 2)) and np.allclose(file.worlds(169)[1][:3, 3], 0)
    assert written(rigged(*apart))[1] == [("walk", 168, 187), ("idle", 0, 79)]
    unnamed, found, _ = written(rigged(*apart, first_frame=0.0), start_frame="ONE", sequences=False)
    assert found == [] and unnamed.key_frames() == file.key_frames()
    _, found, warnings = written(rigged(*apart, Clip("run", 187, 190, moving(187, 190))), start_frame="ONE")
    assert found == [("walk", 1, 20), ("idle", 21, 100), ("run", 101, 104)]
    assert warnings[1:] == [
        '  "walk": frames 168 to 187 are 1 to 20 in the file',
        '  "idle": frames 0 to 79 are 21 to 100 in the file',
        '  "run": frames 187 to 190 are 101 to 104 in the file',
    ]


def test_no_key_is_before_the_scenes_first_frame() -> None:
    scene = rigged(first_frame=5.0)
    scene.timeline = Clip("timeline", 1, 9, moving(1, 9))
    file, _, warnings = written(scene, start_frame="ONE")
    assert file.key_frames() == [1, 5] and "before the scene's first" in warnings[0]
    assert np.allclose(file.worlds(1)[1][:3, 3], (0.5, 1.5, 1))


# ------------------------------------------------------------------------------------------------------- axes of new bones


def turned(x: float, y: float, z: float) -> Transform:
    half = np.array([np.cos(0.4), np.sin(0.4), 0, 0], np.float32)
    return Transform(np.array([x, y, z], np.float32), half, np.array([1, 2, 0.5], np.float32))


def test_only_drawn_bones_are_turned_and_nothing_else_moves() -> None:
    """W·C of every bone that no file had; what hangs on them, in the pose too, is where it was."""
    locals_ = [turned(1, 2, 3), turned(0, 4, 1), turned(2, 0, 1)]
    binds = [locals_[0].matrix, locals_[0].matrix @ locals_[1].matrix, locals_[0].matrix @ locals_[2].matrix]
    bones = [Bone(f"b{i}", -1 if i == 0 else 0, binds[i], locals_[i], drawn=i < 2) for i in range(3)]
    nodes = [Node("rig", armature=Armature("rig", bones))]
    nodes += [Node(f"on{i}", 0, i, turned(1, 1, 1)) for i in range(3)]
    tracks = {**{(0, i): moving(1, 9)[0, 0] for i in range(3)}, (1, -1): moving(1, 9)[0, 0]}
    scene = Scene(nodes, timeline=Clip("timeline", 1, 9, tracks))
    plain, ours = written(scene)[0], written(scene, bone_axes="LUANTI")[0]
    half = np.array([[-1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    for frame in (None, 1, 4, 9):
        before, after = (dict(zip([j.name for j in f.joints], f.worlds(frame), strict=True)) for f in (plain, ours))
        for name, world in before.items():
            wanted = world @ half if name in ("b0", "b1") else world
            assert np.allclose(after[name], wanted, atol=1e-5), (name, frame)


# ---------------------------------------------------------------------------------------------------------------- normals


def folded(*, seam: bool, normals: np.ndarray | None = None) -> bytes:
    """Two triangles at a right angle; with a seam, each has vertices of its own."""
    points = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], np.float32)
    ids = [[0, 1, 2], [0, 3, 1]]
    if seam:
        points, ids = points[[0, 1, 2, 0, 3, 1]], [[0, 1, 2], [3, 4, 5]]
    rows = points if normals is None else np.concatenate([points, normals], 1)
    mesh = document.Mesh(-1, [document.Vertices(int(normals is not None), 0, 0, rows), document.Triangles(-1, np.array(ids))])
    return b3d.write(document.Document(chunks=[document.Node(b"fold", chunks=[mesh])]))


def shades(data: bytes, **options: Any) -> tuple[int, Scene]:
    """In how many directions the corners of a file face."""
    scene = b3d.to_scene(b3d.read(data), b3d.ImportOptions(**options))
    mesh = scene.meshes[0]
    assert mesh.normals is not None
    values = mesh.normals.data if mesh.normals.domain == "CORNER" else mesh.normals.data[mesh.corners]
    return len(np.unique(values.round(4) + 0.0, axis=0)), scene


def test_missing_normals_are_made_as_either_engine_does() -> None:
    assert shades(folded(seam=True))[0] == 3  # smooth along the fold, by position
    assert shades(folded(seam=True), missing_normals="LUANTI")[0] == 2  # a hard edge: the faces share no vertex
    assert shades(folded(seam=False), missing_normals="LUANTI")[0] == 3


def test_normals_that_point_inwards_are_told_and_made_anew() -> None:
    _, right = shades(folded(seam=True), missing_normals="LUANTI")
    good = right.meshes[0].normals.data[:, [0, 2, 1]]  # type: ignore[union-attr]
    assert not [w for w in shades(folded(seam=True, normals=good[[0, 2, 1, 3, 5, 4]]))[1].warnings if "normals" in w]
    wrong = folded(seam=True, normals=-good[[0, 2, 1, 3, 5, 4]])
    assert [w for w in shades(wrong)[1].warnings if "Recalculate" in w]
    again = shades(wrong, use_normals="RECALCULATE", missing_normals="LUANTI")[1]
    assert not [w for w in again.warnings if "normals" in w]
    assert np.allclose(again.meshes[0].normals.data, right.meshes[0].normals.data)  # type: ignore[union-attr]


def test_the_profile_makes_a_glb_of_any_format_by_way_of_a_b3d(tmp_path: Path) -> None:
    """The robot's balloon hangs on a bone: joined in the .b3d, it is a surface of the one mesh in the .glb, with a slot."""
    command = [sys.executable, "-m", "io_retro_meshes", "convert", "examples/robot.bo3d", "--profile", "luanti"]
    for extension in ("b3d", "glb"):
        made = [*command, "-o", str(tmp_path / f"robot.{extension}"), "--option", "scale=2"]
        done = subprocess.run(made, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120)
    assert 'Frames: "robot"' in done.stdout and "warning: Frames" not in done.stdout
    source, found = B3d((tmp_path / "robot.b3d").read_bytes()), Gltf(tmp_path / "robot.glb")
    assert source.key_frames()[0] == 1 and source.key_frames()[-1] == 50  # those of the .bo3d are 0 to 49
    assert found.json["textures"] == [{}, {}]
    for (slot, corners), surface in zip(glb_surfaces(found), source.surfaces, strict=True):
        np.testing.assert_allclose(corners, surface, atol=1e-4)
        assert slot == [len(each) for each in source.surfaces].index(len(surface))


def test_the_profile_leaves_no_mesh_on_a_bone(tmp_path: Path) -> None:
    """Luanti 5.15.2 refused this file with the balloon on its bone: "Illegal vertex index found"."""
    command = [sys.executable, "-m", "io_retro_meshes", "convert", "examples/robot.bo3d", "--profile", "luanti"]
    subprocess.run([*command, "-o", str(tmp_path / "robot.b3d")], cwd=ROOT, check=True, capture_output=True, timeout=120)
    joints = B3d((tmp_path / "robot.b3d").read_bytes()).joints
    (holder,) = (joint for joint in joints if joint.surfaces)
    assert len(holder.surfaces) == 2 and holder.parent < 0

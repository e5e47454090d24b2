# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that say what cannot be: Blender must go on, soon, and what it was given must be exported again."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS, MENU_FORMATS
from io_retro_meshes.formats.b3d.document import ROTATION, SCALE, Anim, Document, Mesh, Node, Sequence, floats
from tests.builders import b3d
from tests.fuzz.fuzz import case, seeds
from tests.fuzz.worker import attempt

# What a small file may cost, whatever frames it names: frames that are played, and keys on curves.
MOST_STEPS = 3000
MOST_KEYS = 30_000


def rig(bones: int, frames: list[int], scale: tuple[float, float, float] = (1, 1, 1)) -> Document:
    """A chain of bones that turn half round from key to key."""
    root = last = Node(b"root", chunks=[Mesh(-1, [b3d.vertices(b3d.QUAD), b3d.triangles([[0, 1, 2]])]), Anim(0, 100, 30.0)])
    turns = [(1, 0, 0, 0), (0, 1, 0, 0)]
    for number in range(bones):
        keys = b3d.keys(ROTATION | SCALE, *((frame, scale, turns[i % 2]) for i, frame in enumerate(frames)))
        chunks = [b3d.weights((number % 4, 1.0)), keys]
        last.chunks.append(Node(b"bone%d" % number, floats(0, 1, 0), floats(*scale), chunks=chunks))
        last = last.chunks[-1]
    return Document(chunks=[root])


def through(bpy: Any, folder: Path, document: Document) -> Document:
    """Imported, looked at, exported, read again, and none of that is more work than the file is worth."""
    data = FORMATS["b3d"].write(document)
    (folder / "hostile.b3d").write_bytes(data)
    assert bpy.ops.import_scene.b3d(filepath=str(folder / "hostile.b3d")) == {"FINISHED"}
    for frame in (1, 7):
        bpy.context.scene.frame_set(frame)
        for source in bpy.context.evaluated_depsgraph_get().objects:
            assert np.isfinite(np.array(source.matrix_world)).all()
    assert keys_of(bpy) <= MOST_KEYS
    steps: list[int] = []
    bpy.app.handlers.frame_change_pre.append(lambda scene, _=None: steps.append(scene.frame_current))
    try:
        assert bpy.ops.export_scene.b3d(filepath=str(folder / "again.b3d")) == {"FINISHED"}
    finally:
        bpy.app.handlers.frame_change_pre.pop()
    assert len(steps) <= MOST_STEPS
    return FORMATS["b3d"].read((folder / "again.b3d").read_bytes())


def keys_of(bpy: Any) -> int:
    """The keys on all the curves of all actions."""
    from io_retro_meshes.blender import compat

    curves = [curve for action in bpy.data.actions for _, found in compat.action_curves(action) for curve in found]
    return sum(len(curve.keyframe_points) for curve in curves)


@pytest.mark.parametrize("scale", [(1, 1, 1), (1, 1.5, 2)], ids=["plain", "uneven"])
@pytest.mark.parametrize("last", [1_000_000, 2_000_000_000])
def test_keys_a_million_frames_apart(blender: Any, tmp_path: Path, last: int, scale: tuple[float, float, float]) -> None:
    through(blender, tmp_path, rig(6, [0, 10, last], scale))
    logs = "".join(text.as_string() for text in blender.data.texts)  # the import's, and the export's where it had to warn
    assert ("keys were left out" in logs) == (last > 1_048_574)
    assert len(blender.data.actions) == 1


def test_what_turns_slowly_for_ever_still_turns(blender: Any, tmp_path: Path) -> None:
    """Half way through a million frames the first bone has turned half of half round."""
    through(blender, tmp_path, rig(1, [0, 1_000_000]))
    armature = next(source for source in blender.data.objects if source.type == "ARMATURE")
    blender.context.scene.frame_set(500_000)
    turned = armature.pose.bones["bone0"].matrix.to_quaternion()
    blender.context.scene.frame_set(0)
    assert abs(turned.rotation_difference(armature.pose.bones["bone0"].matrix.to_quaternion()).angle - np.pi / 2) < 1e-3


@pytest.mark.parametrize("number", [np.nan, np.inf, 3e38, -1e18, 1e-45, 0.0])
def test_numbers_that_are_none(blender: Any, tmp_path: Path, number: float) -> None:
    """In every field and array of a file at once."""
    document = b3d.everything()
    waiting: list[Any] = list(document.chunks)
    while waiting:
        owner = waiting.pop()
        for each in dataclasses.fields(owner):
            value = getattr(owner, each.name)
            if isinstance(value, list):
                waiting += [item for item in value if dataclasses.is_dataclass(item)]
            elif isinstance(value, float):
                setattr(owner, each.name, number)
            elif isinstance(value, np.ndarray):
                setattr(owner, each.name, _spoiled(value, number))
    through(blender, tmp_path, document)


def _spoiled(values: np.ndarray, number: float) -> np.ndarray:
    values = values.copy()
    for column in values.dtype.names or [...]:
        if values[column].dtype.kind == "f":
            values[column].reshape(-1)[::2] = number
    return values


@pytest.mark.parametrize("rate", [np.nan, np.inf, -1.0, 1e-30, 1e30])
def test_no_such_frame_rate(blender: Any, tmp_path: Path, rate: float) -> None:
    document = rig(1, [0, 10])
    document.chunks[0].chunks[1] = Anim(0, 2**31 - 1, rate)
    through(blender, tmp_path, document)
    assert 1 <= blender.context.scene.render.fps <= 240


def test_sequences_beyond_all_measure_keep_their_names(blender: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from io_retro_meshes.blender.build import actions

    monkeypatch.setattr(actions, "MOST_CURVES", 100)
    document = rig(4, [0, 10])
    document.chunks[0].chunks += [Sequence(b"s%d" % number, number, 10) for number in range(9)]
    again = through(blender, tmp_path, document)
    found = [chunk for node in again.chunks for chunk in getattr(node, "chunks", ()) if isinstance(chunk, Sequence)]
    assert {(each.name, each.first) for each in found} == {(b"s%d" % number, number) for number in range(9)}


def test_names(blender: Any, tmp_path: Path) -> None:
    names = [
        b"",
        b"x" * 300,
        "\N{EURO SIGN}".encode() * 100,
        b"\xed\xa0\x80",
        b"\xff\xfe" * 50,
        b'a/b\\c"d\n',
        b"same",
        b"same",
    ]
    again = through(blender, tmp_path, Document(chunks=[Node(name) for name in names]))
    assert sum(isinstance(chunk, Node) for root in again.chunks for chunk in getattr(root, "chunks", ())) == len(names)


def test_rigs_with_the_same_bones_keep_their_own_movements(blender: Any, tmp_path: Path) -> None:
    """Whatever one slot of an action moves, the other rigs could take, too: each has its own."""
    from io_retro_meshes.blender import compat

    if not compat.HAS_SLOTS:
        pytest.skip("every object has an action of its own")
    rigs = [rig(2, [0, 10]), rig(2, [0, 10])]
    for number, chunk in enumerate(each for each in rigs[1].chunks[0].chunks if isinstance(each, Node)):
        chunk.chunks[1] = b3d.keys(ROTATION, (0, (1, 0, 0, 0)), (10, (0, 0, 1, number)))
    through(blender, tmp_path, Document(chunks=[rigs[0].chunks[0], rigs[1].chunks[0]]))
    blender.ops.export_scene.b3d(filepath=str(tmp_path / "actions.b3d"), animation="ACTIONS")
    module = FORMATS["b3d"]
    scene = module.to_scene(module.read((tmp_path / "actions.b3d").read_bytes()), module.ImportOptions())
    tracks = [track for (_, bone), track in scene.timeline.tracks.items() if bone == 0 and track.rotation is not None]
    first, second = (track.rotation.values[-1] for track in tracks)
    assert np.abs(np.abs(first) - np.abs(second)).max() > 0.5


def test_numbers_too_large_for_a_property(blender: Any) -> None:
    from io_retro_meshes.blender import properties

    properties.apply(blender.context.scene, {"dbo": {"version": 2**32 - 1}})
    assert blender.context.scene.retro_dbo.version == 2**31 - 1


@pytest.mark.parametrize("format_id", sorted(MENU_FORMATS))
def test_a_few_lies(blender: Any, tmp_path: Path, format_id: str) -> None:
    """A short run of the fuzzer, for those that come as far as Blender."""
    files = sorted(seeds(format_id, None), key=len)[:4]
    path = tmp_path / ("case" + FORMATS[format_id].extensions[0])
    for number in range(100, 115):
        path.write_bytes(case(files, format_id, 4, number))
        found = attempt(format_id, path, number, blender=True, timed=False)
        assert "problem" not in found, (number, found)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The x8an files that characters share: found, written as a whole, never written unread."""

from __future__ import annotations

from pathlib import Path

import pytest

from io_retro_meshes.formats import FormatError, saturn
from io_retro_meshes.formats.saturn.document import SECTOR, Document, Segment
from io_retro_meshes.scene import Clip
from tests.builders import saturn as made
from tests.builders import saturn_packed as later


def shared_files(folder: Path) -> tuple[Path, Path]:
    """Two players who share an x8an file: the first two of its four animations are the first one's."""
    group = made.more_animations(2).segments + [Segment([*s.bones, s.bones[0]]) for s in made.more_animations(2).segments]
    model, beside = folder / "x8pc00a.bin", folder / "x8an00.bin"
    model.write_bytes(saturn.write(made.puppet(2)))
    beside.write_bytes(saturn.write(Document(segments=group)))
    return model, beside


def test_a_shared_companion_is_written_whole(tmp_path: Path) -> None:
    model, beside = shared_files(tmp_path)
    document = saturn.read(model.read_bytes())
    assert saturn.companions(model, document) == [beside]
    scene = saturn.to_scene(document, None, [saturn.read(beside.read_bytes())])
    assert saturn.companion_files(model, saturn.from_scene(scene)) == []  # nothing to change in it
    [(path, data)] = saturn.companion_files(tmp_path / "new" / "x8pc00b.bin", saturn.from_scene(scene))
    assert path.name == "x8an00.bin" and data == beside.read_bytes()
    later.swung(scene.clips[-1], 2, 30)
    [(path, data)] = saturn.companion_files(model, saturn.from_scene(scene))
    old = saturn.read(beside.read_bytes()).segments
    assert path == beside and [s.source == o.source for s, o in zip(saturn.read(data).segments, old, strict=True)] == [
        True,
        False,
        True,
        True,
    ]
    # Somebody changed another segment meanwhile: that stays.
    there = saturn.read(beside.read_bytes())
    there.segments[3].bones[0].rotation.values[0] = (0, 16384, 0, 0)
    beside.write_bytes(saturn.write(there))
    [(_, data)] = saturn.companion_files(model, saturn.from_scene(scene))
    assert saturn.read(data).segments[3].source == saturn.read(beside.read_bytes()).segments[3].source


def test_a_companion_that_was_not_read(tmp_path: Path) -> None:
    model, _ = shared_files(tmp_path)
    document = saturn.read(model.read_bytes())
    scene = saturn.to_scene(document)
    assert "kept, but not shown" in scene.warnings[0]
    again = saturn.from_scene(scene)
    assert saturn.write(again) == model.read_bytes() and saturn.companion_files(model, again) == []
    tracks = {(0, 2): scene.timeline.tracks[(0, 2)]}
    scene.clips.append(Clip("attack", 1, 9, tracks, settings={"saturn": {"external": True}}))
    with pytest.raises(FormatError, match="cannot be added"):
        saturn.from_scene(scene)
    del scene.nodes[0].settings["saturn"]["source"]
    with pytest.raises(FormatError, match="was not read"):
        saturn.companion_files(model, saturn.from_scene(scene))
    with pytest.raises(FormatError, match=r"missing\.bin"):
        saturn.companions(model, document, saturn.ImportOptions(animation_file=str(tmp_path / "missing.bin")))


def test_a_damaged_companion_gives_what_is_sound(tmp_path: Path) -> None:
    model, beside = shared_files(tmp_path)
    data = bytearray(beside.read_bytes())
    data[SECTOR : SECTOR + 4] = b"\0\xff\0\0"
    with pytest.raises(FormatError) as caught:
        saturn.read(bytes(data))
    partial = caught.value.partial
    assert [len(segment.bones) for segment in partial.segments] == [3, 0, 4, 4]
    scene = saturn.to_scene(saturn.read(model.read_bytes()), None, [partial])
    assert [clip.name for clip in scene.clips] == ["idle", "counter", "special 1"] and "damaged" in scene.warnings[-1]
    document = saturn.from_scene(scene)
    assert saturn.write(document) == model.read_bytes()
    beside.unlink()
    [(_, written)] = saturn.companion_files(model, document)
    assert written == bytes(data)


@pytest.mark.parametrize(("name", "beside"), [("X8PC701.BIN", "X8AN70.BIN"), ("x8pc00c.bin", "x8an00.bin")])
def test_companions_by_the_first_two_digits(tmp_path: Path, name: str, beside: str) -> None:
    (tmp_path / beside).touch()
    assert saturn.companions(tmp_path / name, made.puppet(1)) == [tmp_path / beside]

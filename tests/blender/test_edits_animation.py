# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations that a person edits in Blender arrive in the file, whichever action was edited and whatever is assigned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.builders.session import Session, middle, others
from tests.conftest import ROOT, corpus_files

FOX, FLOWER, KNIGHT = (ROOT / "examples" / name for name in ("fox.b3d", "flower.dbo", "knight.bin"))
REAL = [
    *(path for path in corpus_files("b3d", "*.b3d") if path.name == "severedhand.b3d"),
    *(path for path in corpus_files("saturn", "*.bin") if path.name in ("hero.bin", "two_roots.bin", "multi.bin")),
]
FILES = [FOX, FLOWER, KNIGHT, *REAL]


def assign(session: Session, which: str, part: str) -> None:
    rest = others(session, part)
    session.assign({"timeline": "", "part": part, "other": rest[-1] if rest else "", "nothing": None}[which])


@pytest.mark.parametrize("path", FILES)
def test_untouched_files_are_the_same_whatever_is_assigned(blender: Any, tmp_path: Path, path: Path) -> None:
    session = Session.open(blender, path)
    session.export(tmp_path / f"0{path.suffix}")
    first = (tmp_path / f"0{path.suffix}").read_bytes()
    frame = session.scene.frame_current
    for which, mode in (("timeline", "ACTIONS"), ("other", "AUTO"), ("nothing", "ACTIONS")):
        assign(session, which, next(iter(session.parts())))
        session.scene.frame_set(frame)
        session.export(tmp_path / f"1{path.suffix}", animation=mode)
        assert (tmp_path / f"1{path.suffix}").read_bytes() == first, (which, mode)


@pytest.mark.parametrize("path", [FOX, FLOWER, KNIGHT])
def test_part_and_timeline_are_edited(blender: Any, tmp_path: Path, path: Path) -> None:
    """Over the same frames the part wins, with a warning; elsewhere both count, without one."""
    session = Session.open(blender, path)
    first, second = list(session.parts())[:2]
    session.assign(second)
    session.move(middle(session, second), by=0.4)
    session.assign("")
    session.move(middle(session, first))
    session.expect_untouched(*others(session, second))
    session.expect(second, second, *session.parts()[second].frames)
    assert "edited" not in session.export(tmp_path / path.name)
    session.check(tmp_path / path.name)
    session = Session.open(blender, path)
    session.assign(second)
    session.move(middle(session, second), by=0.4)
    session.assign("")
    session.expect_untouched(*others(session, second))
    session.expect(second, second, *session.parts()[second].frames)
    session.assign("")
    session.move(middle(session, second), by=-0.4)
    warnings = session.export(tmp_path / path.name)
    assert f'"{second}" was edited, and so was the timeline' in warnings
    session.check(tmp_path / path.name)


def test_characters_of_one_file_are_edited_by_themselves(blender: Any, tmp_path: Path, corpus: Path) -> None:
    """Their animations lie on the same frames, and say nothing of each other."""
    session = Session.open(blender, next(corpus.rglob("multi.bin")))
    session.assign("")
    session.scene.frame_set(20)
    before = [rig.pose.bones[0].matrix.translation.copy() for rig in session.owners()]
    for name in ("idle.001", "idle.002"):
        session.assign(name)
        session.move(20)
    warnings = session.export(tmp_path / "multi.bin")
    assert "idle.002" not in warnings and '"counter" shares frame 20 with "idle.001"' in warnings
    after = Session.open(blender, tmp_path / "multi.bin")
    after.scene.frame_set(20)
    moved = [(rig.pose.bones[0].matrix.translation - at).length for rig, at in zip(after.owners(), before, strict=True)]
    assert moved[0] < 1e-3 and min(moved[1:]) > 1, moved


def test_parts_that_share_frames(blender: Any, tmp_path: Path, corpus: Path) -> None:
    session = Session.open(blender, next(corpus.rglob("multi.bin")))
    session.assign("hit")
    session.move(15)
    assert '"idle" shares frame' in session.export(tmp_path / "multi.bin")
    session.assign("idle")
    session.move(15, by=-0.2)
    assert "share frame 15 and were both edited: there the file has" in session.export(tmp_path / "multi.bin")


@pytest.mark.parametrize(("which", "mode"), [("timeline", "AUTO"), ("part", "ACTIONS"), ("nothing", "AUTO")])
@pytest.mark.parametrize("path", [FOX, FLOWER, KNIGHT])
def test_a_new_action(blender: Any, tmp_path: Path, path: Path, which: str, mode: str) -> None:
    """One is keyed from nothing, one is a copy of a part that was edited: both follow behind the timeline."""
    from io_retro_meshes.blender import compat

    session = Session.open(blender, path)
    names = list(session.parts())
    session.expect_untouched(*names)
    end = session.owners()[0].retro_meshes.timeline.frame_range[1]
    source = session.owners()[0]
    copy = session.parts()[names[1]].actions[0].copy()
    copy.name, copy.use_fake_user = "attack twice", True
    compat.assign_action(source, copy, compat.slot_for(copy, source, [source.retro_meshes.slot]))
    session.move(middle(session, names[1]))
    session.truth["attack twice"] = session.poses(*copy.frame_range)
    assign(session, which, names[1])
    session.export(tmp_path / path.name, animation=mode)
    if path.suffix == ".bin":
        assert len(Session.open(blender, tmp_path / path.name).parts()) == len(names) + 1
        return
    after = session.check(tmp_path / path.name).parts()
    assert after["attack twice"].frames[0] == end + 1


@pytest.mark.parametrize("keep", ["KEEP", "MOVE"])
@pytest.mark.parametrize("path", [FOX, FLOWER, KNIGHT, *REAL[:2]])
def test_longer_and_shorter(blender: Any, tmp_path: Path, path: Path, keep: str) -> None:
    """A longer part goes to the end, or others move; a shorter one stays where it is."""
    session = Session.open(blender, path)
    names = sorted(session.parts(), key=lambda name: session.parts()[name].frames[0])
    names = [name for name in names if session.parts()[name].frames[1] > session.parts()[name].frames[0]]
    longer, shorter = names[0], names[-1]
    frames = {name: part.frames for name, part in session.parts().items()}
    end = session.owners()[0].retro_meshes.timeline.frame_range[1]
    session.expect_untouched(*others(session, longer, shorter))
    session.assign(longer)
    session.move(frames[longer][1] + 6)
    session.expect(longer, longer, frames[longer][0], frames[longer][1] + 7)
    session.assign(shorter)
    session.move(frames[shorter][1] - 2, by=0.0)
    for action in session.parts()[shorter].actions:
        action.frame_end -= 3
    session.expect(shorter, shorter, frames[shorter][0], frames[shorter][1] - 3)
    session.export(tmp_path / path.name, sequence_frames=keep)
    found = {name: part.frames for name, part in session.check(tmp_path / path.name).parts().items()}
    if keep == "KEEP":
        assert found[longer] == (end + 1, end + 8 + frames[longer][1] - frames[longer][0])
        assert found[shorter] == (frames[shorter][0], frames[shorter][1] - 3)
        assert all(found[name] == frames[name] for name in others(session, longer, shorter))
    else:
        assert found[longer] == (frames[longer][0], frames[longer][1] + 7)
        shared = any(frames[name][0] == frames[longer][1] for name in frames)
        assert found[shorter][0] == frames[shorter][0] + 7 + shared

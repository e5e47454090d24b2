# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of edit, on every file with named parts, with each action assigned and each way of exporting animation.

An edit is made once. What Automatic and All Actions write must not depend on what is assigned then, to the byte; that file is
compared with the poses of the edited scene. The other ways write what they say, and name what they leave out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from io_retro_meshes.formats import FORMATS, FormatError
from tests.builders.session import Session, middle, others
from tests.conftest import CORPUS, ROOT


def with_named_parts() -> list[Path]:
    """The examples, and every sound file of the corpus with keys in parts that have names.

    The characters of multi.bin lie on the same frames: an edit of one shows in the others. They have tests of their own.
    """
    found = [ROOT / "examples" / name for name in ("fox.b3d", "flower.dbo", "knight.bin")]
    for path in sorted(CORPUS.rglob("*")):
        entry = next((entry for entry in FORMATS.values() if path.suffix in entry.extensions), None)
        if entry is None or entry.id not in ("b3d", "dbo", "saturn") or {"malformed", "multi.bin"} & set(path.parts):
            continue
        try:
            scene = entry.to_scene(entry.read(path.read_bytes()))
        except FormatError:  # bad on purpose, or animations alone
            continue
        if scene.timeline is not None and scene.timeline.tracks and any(clip.last > clip.first for clip in scene.clips):
            found.append(path)
    return found


# ---------------------------------------------------------------------------------------------------------------- edits


def last_part(session: Session) -> str:
    """The longest part, and of several the last: it has frames to edit."""
    parts = session.parts()
    return max(reversed(parts), key=lambda name: parts[name].frames[1] - parts[name].frames[0])


def edit_part(session: Session, name: str) -> str:
    session.expect_untouched(*others(session, name))
    session.assign(name)
    session.move(middle(session, name))
    session.expect(name, name, *session.parts()[name].frames)
    return ""


def edit_timeline(session: Session, name: str) -> str:
    session.assign("")
    session.move(middle(session, name))
    session.expect_untouched(*session.parts())
    return ""


def edit_both(session: Session, name: str) -> str:
    edit_part(session, name)
    session.assign("")
    session.move(middle(session, name), by=-0.4)
    return f'"{name}" was edited, and so was the timeline'


def rename(session: Session, name: str) -> str:
    session.expect_untouched(*session.parts())
    for action in session.parts()[name].actions:
        action.name = action.name.replace(name, f"{name}_fast")
    session.truth[f"{name}_fast"] = session.truth.pop(name)
    return ""


def delete(session: Session, name: str) -> str:
    session.expect_untouched(*others(session, name))
    for action in session.parts()[name].actions:
        session.bpy.data.actions.remove(action)
    return ""


def add(session: Session, name: str) -> str:
    """A copy of a part, with an edit of its own."""
    from io_retro_meshes.blender import compat

    session.expect_untouched(*session.parts())
    owner = session.parts()[name].owners[0]
    copy = owner.action.copy()
    copy.name, copy.use_fake_user = "something new", True
    session.assign(None)
    compat.assign_action(owner.object, copy, compat.slot_for(copy, owner.object, [owner.object.retro_meshes.slot]))
    session.move(sum(copy.frame_range) // 2)
    session.truth["something new"] = session.poses(*copy.frame_range)
    return ""


def lengthen(session: Session, name: str) -> str:
    first, last = session.parts()[name].frames
    session.expect_untouched(*others(session, name))
    session.assign(name)
    session.move(last + 6)
    session.expect(name, name, first, last + 7)
    return ""


def shorten(session: Session, name: str) -> str:
    first, last = session.parts()[name].frames
    session.expect_untouched(*others(session, name))
    for action in session.parts()[name].actions:
        action.use_frame_range = True
        action.frame_start, action.frame_end = first, last - 2
    session.expect(name, name, first, last - 2)
    return ""


EDITS: dict[str, Callable[[Session, str], str]] = {
    each.__name__: each for each in (edit_part, edit_timeline, edit_both, rename, delete, add, lengthen, shorten)
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("path", with_named_parts(), ids=lambda path: path.name)
def test_an_edit_arrives_whatever_is_assigned(blender: Any, tmp_path: Path, path: Path, edit: str) -> None:
    session = Session.open(blender, path)
    frame, name = session.scene.frame_current, last_part(session)
    told = EDITS[edit](session, name)
    files: dict[tuple[str | None, str], bytes] = {}
    for assigned in ("", *to_assign(session), None):
        for mode in ("AUTO", "ACTIONS"):
            session.assign(assigned)
            session.scene.frame_set(frame)
            target = tmp_path / f"{len(files)}{path.suffix}"
            warnings = session.export(target, animation=mode)
            assert told in warnings and "Left out" not in warnings
            files[assigned, mode] = target.read_bytes()
    assert len(set(files.values())) == 1, {key: len(data) for key, data in files.items()}
    for assigned in ("", last_part(session) if session.parts() else None):
        session.assign(assigned)
        for mode in ("ACTIVE", "SCENE", "NONE"):
            leave_out(session, assigned, mode, tmp_path / f"some{path.suffix}")
    if session.format == "saturn":
        check_without_names(session, tmp_path / f"0{path.suffix}", edit, warnings, name)
    else:
        session.check(tmp_path / f"0{path.suffix}")


def to_assign(session: Session) -> list[str]:
    """Every part; of a character with dozens of them those at the ends, in the middle and the one that was edited."""
    names = list(session.parts())
    if len(names) <= 6:
        return names
    return list(dict.fromkeys([names[0], last_part(session), names[len(names) // 2], names[-1]]))


def leave_out(session: Session, assigned: str | None, mode: str, target: Path) -> None:
    """Ways of exporting that write less: what is not in the file, or there without its edit, is in the warning."""
    from io_retro_meshes.blender.fingerprints import is_edited

    warnings = session.export(target, animation=mode)
    entry = FORMATS[session.format]
    scene = entry.to_scene(entry.read(target.read_bytes()))
    if session.format != "saturn":  # whose animations stay in the file they were in
        found = {clip.name for clip in scene.clips}
        wanted = {"NONE": set(), "SCENE": set(), "ACTIVE": {assigned} if assigned else set(session.parts())}[mode]
        assert found == wanted
        if mode == "NONE":  # at most the pose that is shown
            assert scene.timeline is None or scene.timeline.first == scene.timeline.last
    for name, part in session.parts().items():
        kept = mode == "ACTIVE" and (assigned == name or (assigned == "" and not any(map(is_edited, part.actions))))
        assert (f'"{name}"' in warnings) != kept, (mode, assigned, name, warnings)


def check_without_names(session: Session, path: Path, edit: str, warnings: str, name: str) -> None:
    """Saturn characters: animations have types and places instead of names, and the game counts on each of them."""
    if edit == "delete" and session.truth:
        assert f"are gone from the file: {name}" in warnings
    elif edit == "delete":  # of the only one: a character without animations is none
        assert f"kept as they were: {name}" in warnings
        return
    after = Session.open(session.bpy, path)
    assert len(after.parts()) == len(session.truth)
    names = dict(zip(session.truth, session.truth, strict=True))
    if edit in ("rename", "add"):
        new = next(each for each in session.truth if each not in after.parts())
        names[new] = next(each for each in after.parts() if each not in session.truth)
    session.truth = {names[each]: poses for each, poses in session.truth.items()}
    session.check(path)

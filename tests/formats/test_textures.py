# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from pathlib import Path

import pytest

from io_retro_meshes.pictures import search as textures
from io_retro_meshes.pictures.search import Finder, find


@pytest.fixture
def mod(tmp_path: Path) -> Path:
    """A game's folder: models beside textures, and things that are nobody's business outside."""
    for name in (
        "mod/models/Skin.PNG",
        "mod/models/exact.png",
        "mod/models/sub/Deep.tga",
        "mod/models/old.pcx",
        "mod/models/both.pcx",
        "mod/models/both.png",
        "mod/models/Größe.png",
        "mod/textures/beside.png",
        "mod/sounds/secret.png",
        "secret.png",
        "library/lib.jpg",
        "library/textures/inner.png",
        "library/exact.png",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["exact.png"], "mod/models/exact.png"),
        (["skin.png"], "mod/models/Skin.PNG"),
        (["SUB\\deep.TGA"], "mod/models/sub/Deep.tga"),
        (["deep.tga"], None),  # folders are searched, not trees
        (["C:\\Users\\artist\\My Game\\sub\\deep.tga"], "mod/models/sub/Deep.tga"),
        (["c:exact.png"], "mod/models/exact.png"),
        (["\\\\server\\share\\exact.png"], "mod/models/exact.png"),
        (["/home/artist/./exact.png"], "mod/models/exact.png"),
        (["exact.png\0\x07junk"], "mod/models/exact.png"),
        ([" exact.png "], "mod/models/exact.png"),
        (["..\\textures\\beside.png"], "mod/textures/beside.png"),
        (["beside.bmp"], "mod/textures/beside.png"),
        (["skin"], "mod/models/Skin.PNG"),
        (["skin.v2"], None),
        (["old.pcx"], "mod/models/old.pcx"),
        (["both.pcx"], "mod/models/both.png"),
        (["GRO\u0308\u00dfE.png"], "mod/models/Größe.png"),
        (["lib.jpg"], "library/lib.jpg"),
        (["inner.dds"], "library/textures/inner.png"),
        (["missing.png", "lib.jpg"], "library/lib.jpg"),
        (["lib.jpg", "exact.png"], "library/lib.jpg"),  # the engine's order before ours
        (["lib.png", "exact.png"], "mod/models/exact.png"),  # another extension is the last resort
        (["", "..", ".", "\0", "/", "C:", "sub"], None),
        (["../sounds/secret.png", "../../secret.png", "/secret.png", "sub/../../../secret.png"], None),
        (["a/" * 5000 + "exact.png"], "mod/models/exact.png"),
    ],
)
def test_what_is_found(mod: Path, names: list[str], found: str | None) -> None:
    path = find(names, mod / "mod/models", [mod / "library"])
    assert path == (None if found is None else mod / found)


def test_the_absolute_path_of_a_file_outside_is_not_followed(mod: Path) -> None:
    assert find([str(mod / "secret.png")], mod / "mod/models") is None


def test_exact_case_wins(tmp_path: Path) -> None:
    for name in ("A.png", "a.png"):
        (tmp_path / name).write_bytes(b"")
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("the file system does not tell case apart")
    assert [find([name], tmp_path) for name in ("A.png", "a.png")] == [tmp_path / "A.png", tmp_path / "a.png"]


def test_links_do_not_lead_outside(mod: Path) -> None:
    models = mod / "mod/models"
    try:
        (models / "link.png").symlink_to(mod / "secret.png")
        (models / "away").symlink_to(mod)
        (models / "inside.png").symlink_to(models / "exact.png")
        (models / "loop.png").symlink_to(models / "loop.png")
        (models / "textures").symlink_to(mod)
    except OSError:
        pytest.skip("no symbolic links here")
    for name in ("link.png", "away/secret.png", "loop.png", "secret.png"):
        assert find([name], models) is None, name
    assert find(["inside.png"], models) == models / "inside.png"


def test_every_folder_is_listed_once(mod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Path] = []
    scandir = os.scandir
    monkeypatch.setattr(textures.os, "scandir", lambda folder: listed.append(folder) or scandir(folder))
    finder = Finder(mod / "mod/models", [mod / "library", mod / "nowhere"])
    for index in range(500):
        finder.find([f"sub\\texture{index}.png"])
    assert len(listed) == len(set(listed))
    assert finder.folders == [mod / "mod/models", mod / "mod/textures", mod / "library", mod / "library/textures"]

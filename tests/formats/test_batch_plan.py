# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files are converted, and what the results are called: through `convert --dry-run`."""

from __future__ import annotations

import io
import itertools
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from io_retro_meshes import cli
from io_retro_meshes.batch.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
FOX, FLOWER = ROOT / "examples" / "fox.b3d", ROOT / "examples" / "flower.dbo"


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs `convert --dry-run` in an empty folder and returns the plan: source to target."""
    monkeypatch.chdir(tmp_path)

    def plan(*arguments: str, to: str = "glb", out: str = "out") -> dict[str, str]:
        assert cli.main(["convert", *arguments, "-o", out, "--to", to, "--dry-run"]) == 0
        lines = capsys.readouterr().out.splitlines()
        found = dict(line.split(" -> ") for line in lines)
        assert len(found) == len(lines), "each file once"
        return found

    return plan


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes((FLOWER if name.lower().endswith(".dbo") else FOX).read_bytes())


def test_names_do_not_depend_on_the_rest_of_the_call(planned) -> None:
    names = ["x/hero.b3d", "y/hero.b3d", "z/hero.b3d", "z/hero.dbo", "z/hero.B3D", "../elsewhere/x/hero.b3d", "z/hero_dbo.b3d"]
    make(*names)
    whole = planned(*names)
    assert len(set(whole.values())) == len(names), "no two results have one name"
    assert whole["x/hero.b3d"] == "out/x/hero.glb" and whole["y/hero.b3d"] == "out/y/hero.glb"
    for some in itertools.permutations(names, 2):
        assert planned(*some) == {name: whole[name] for name in some}
    Path("list").write_text("\n".join(names))
    assert planned("--files-from", "list") == whole


def test_folders_are_kept(planned) -> None:
    make("models/a.b3d", "models/deep/a.b3d", "models/deep/a.dbo", "models/notes.b3d.txt")
    below = {"models/a.b3d": "out/a.glb", "models/deep/a.b3d": "out/deep/a.glb", "models/deep/a.dbo": "out/deep/a_dbo.glb"}
    assert planned("models") == below
    assert planned("models/**/*.*[3b][do]") == below, "a pattern, from its first folder without a wildcard"
    assert planned("models/a.b3d") == {"models/a.b3d": "out/a.glb"}
    assert planned("models/a.b3d", "models") == {name: f"out/models/{target[4:]}" for name, target in below.items()}


def test_folders_of_another_disk_are_kept_too(planned) -> None:
    make("../there/x/models/deep/a.b3d", "../there/y/models/deep/a.b3d", "here/a.b3d")
    both = planned("../there/x/models", "../there/y/models", "here", out="../far/away/out")
    x, y, here = (Path(target).relative_to("../far/away/out").parts for target in both.values())
    assert here == ("here", "a.glb") and x[1:] == y[1:] == ("deep", "a.glb") and x[0] != y[0]
    assert x[0].startswith("models-") and y[0].startswith("models-")
    assert planned("../there/y/models", "here", out="../far/away/out").items() <= both.items()


def test_files_of_the_output_folder_keep_their_place_there(planned) -> None:
    make("models/a.b3d", "models/deep/b.b3d", "models/c.b3d", "c.dbo", "d.b3d")
    names = ["models/a.b3d", "models/deep/b.b3d", "d.b3d"]
    assert planned(*names, out="models") == {name: f"models/{name.removeprefix('models/')[:-4]}.glb" for name in names}
    both = {"models/c.b3d": "models/models/c.glb", "c.dbo": "models/c.glb"}
    assert planned(*both, out="models") == both, "the other one has that name"


def test_no_two_folders_have_results_of_one_name(planned) -> None:
    """Of the working folder, the one that the output is in, and the output itself."""
    names = ["x/hero.b3d", "../x/hero.dbo", "../y/hero.dbo", "../out/y/hero.b3d", "../z/hero.dbo"]
    make(*names)
    first = planned(*names, out="../out")
    assert len(set(first.values())) == len(names), first
    assert first["x/hero.b3d"] == "../out/x/hero.glb" and first["../z/hero.dbo"] == "../out/z/hero.glb"
    for target in first.values():
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).write_bytes(b"glTF" + bytes(16))
    assert planned(*names, out="../out") == first, "results that are there change nothing"


def test_what_is_no_model_is_left_alone(planned) -> None:
    make("models/a.b3d", "models/out/c.b3d")
    Path("models/b.bin").write_bytes(bytes(1000))
    Path("models/b.gltf").write_text("{}")
    assert planned("models", out="models/out") == {"models/a.b3d": "models/out/a.glb"}, "neither a buffer nor the output itself"
    assert planned("models/b.bin") == {"models/b.bin": "out/b.glb"}, "but what is asked for"


def test_shards_are_parts_of_the_whole(planned) -> None:
    make(*(f"models/{number % 3}/{number}.b3d" for number in range(60)))
    whole = planned("models")
    parts = [planned("models", "--shard", f"{number}/3") for number in (1, 2, 3)]
    assert sum(map(len, parts)) == len(whole) and {key: part[key] for part in parts for key in part} == whole
    assert all(10 <= len(part) <= 30 for part in parts), "about equal"
    for name in parts[1]:
        Path(name).unlink()
    assert planned("models", "--shard", "1/3") == parts[0], "whatever else is there"


def test_lists_from_standard_input(planned, monkeypatch: pytest.MonkeyPatch) -> None:
    make("x/a b.b3d", "x/c.b3d")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x/a b.b3d\0x/c.b3d\0")))
    assert planned("--files-from", "-") == {"x/a b.b3d": "out/x/a b.glb", "x/c.b3d": "out/x/c.glb"}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x/missing.b3d\n")))
    assert planned("--files-from", "-") == {"x/missing.b3d": "  (cannot be converted: there is no such file)"}


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_names_that_are_not_utf8(planned) -> None:
    make(os.fsdecode(b"models/caf\xe9.b3d"))
    assert planned("models") == {"models/caf\\xe9.b3d": "out/caf\\xe9.glb"}


def test_a_plan_is_a_stream(tmp_path: Path) -> None:
    """The list of a hundred thousand files is not in memory."""
    listed = tmp_path / "list"
    listed.write_text("\n".join(f"{tmp_path}/x/{number}.b3d" for number in range(100_000)))
    plan = Plan([], str(tmp_path / "out"), "glb", files_from=str(listed), shard=(1, 1000))
    tracemalloc.start()
    assert 60 < sum(1 for _ in plan.jobs()) < 150
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000, "a number each, to see what is given twice"


USAGE = [
    ([], "say what to convert"),
    (["absent.b3d"], "no file absent.b3d"),
    (["*.dbo"], "no file *.dbo"),
    (["fox.b3d", "--to", "nothing"], "invalid choice"),
    (["fox.b3d", "--jobs", "0"], "--jobs is at least 1"),
    (["fox.b3d", "--timeout", "-1"], "--timeout is"),
    (["fox.b3d", "--shard", "3/2"], "a shard is"),
    (["fox.b3d", "--option", "scale"], "NAME=VALUE"),
    (["fox.b3d", "--option", "scale=nonsense"], "scale is a number"),
    (["fox.b3d", "--option", "scale=0"], "at least"),
    (["fox.b3d", "--option", "no_such_thing=1"], "no option no_such_thing"),
    (["fox.b3d", "--option", "palette=1"], "no option palette"),
    (["fox.b3d", "--texture-folder", "absent"], "no texture folder"),
    (["fox.b3d", "--report", "report.txt"], ".json, .jsonl or .html"),
    (["fox.b3d", "--report", "fox.b3d/report.json"], "cannot be written"),
    (["fox.b3d", "--profile", "nobody"], "no profile nobody; there are gameguru, luanti"),
    (["fox.b3d", "--profile", "bad.toml"], "colour"),
    (["fox.b3d", "--files-from", "absent"], "no list absent"),
    (["fox.b3d", "fox.b3d", "--to", "b3d", "--output", "fox.b3d"], "say a folder"),
    (["fox.b3d", "--to", "b3d", "--output", "fox.b3d"], "over itself"),
    (["empty"], "nothing to convert"),
]


@pytest.mark.parametrize(("arguments", "words"), USAGE, ids=[words for _, words in USAGE])
def test_nothing_runs_when_the_command_makes_no_sense(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make("fox.b3d")
    Path("empty").mkdir()
    Path("bad.toml").write_text("[options]\nscale = 1.0\n[colour]\n")
    assert cli.main(["convert", "-o", "out", "--to", "glb", *arguments]) == 2
    told = capsys.readouterr()
    assert words in told.err and "Traceback" not in told.err and not told.out, told.err
    assert not Path("out").exists()


def test_help_lists_the_options_of_all_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["convert", "--help"]) == 0
    words = capsys.readouterr().out
    for line in ("reading saturn", "writing dbo", "animation=AUTO|ACTIONS|ACTIVE|SCENE|NONE  (default AUTO)", "luanti"):
        assert line in words


def test_profiles_hold_the_format_and_its_options(planned, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make("flower.dbo")
    for profile, target in (("luanti", "flower.b3d"), ("gameguru", "flower.dbo"), ("own.toml", "flower.bo3d")):
        (tmp_path / "own.toml").write_text('to = "bo3d"\n[options]\nuse_animation = false\n')
        assert cli.main(["convert", "flower.dbo", "-o", "out", "--profile", profile, "--dry-run"]) == 0
        assert capsys.readouterr().out == f"flower.dbo -> {os.path.join('out', target)}\n"
    assert cli.main(["convert", "flower.dbo", "-o", "out", "--profile", "luanti", "--to", "glb", "--dry-run"]) == 0, (
        "options that a .glb has not are left to the formats that have them"
    )
    (tmp_path / "own.toml").write_text('to = "bo3d"\n[options]\nnothing = 1\n')
    assert cli.main(["convert", "flower.dbo", "-o", "out", "--profile", "own.toml", "--dry-run"]) == 2

# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a run: reports for programs, a page for people, pictures of models."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.batch import report as reports
from io_retro_meshes.batch.job import Result, UsageError
from io_retro_meshes.batch.thumbnail import thumbnail
from io_retro_meshes.pictures.render import SIZE, render
from io_retro_meshes.scene import Image, Layer, Material, Mesh, Node, Scene, TextureLayer, Transform, floats

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RESULTS = [
    Result("a/fox.b3d", "out/fox.glb", "converted", 0.25, 1 << 20, ["<b>odd</b>", "line\nend"], made="abc", thumbnail="AAAA"),
    Result("a/caf\udce9.b3d", "out/caf\udce9.glb", "failed", 0.1, error="fox.b3d: offset 12: <no> texture"),
    Result("a/slow.dbo", "out/slow.glb", "timed out", 120.0, error="it took more than 120 seconds"),
    Result("a/old.dbo", "out/old.glb", "skipped", made="def"),
]


def write(path: Path, results: list[Result] = RESULTS) -> str:
    report = reports.make_report(str(path))
    for result in results:
        report.add(result)
    report.finish({"interrupted": False, "seconds": 1.5})
    assert not report.problem and [entry.name for entry in path.parent.iterdir()] == [path.name]
    return path.read_text("utf-8")


def test_json_has_everything_a_program_wants(tmp_path: Path) -> None:
    report = json.loads(write(tmp_path / "report.json"))
    assert [entry["input"] for entry in report["files"]] == [result.input for result in RESULTS]
    first, second = report["files"][:2]
    assert (first["output"], first["status"], first["seconds"]) == ("out/fox.glb", "converted", 0.25)
    assert (first["peak_memory"], first["warnings"]) == (1 << 20, ["<b>odd</b>", "line\nend"]) and "error" not in first
    assert second["error"] == "fox.b3d: offset 12: <no> texture"
    summary = {"interrupted": False, "seconds": 1.5, "converted": 1, "failed": 1, "timed_out": 1, "skipped": 1}
    assert report["summary"] == summary and report["version"] != "unknown"
    assert json.loads(write(tmp_path / "report.json", []))["files"] == []
    lines = write(tmp_path / "sub" / "report.jsonl").splitlines()
    assert [json.loads(line) for line in lines] == report["files"]
    assert reports.reported(str(tmp_path / "sub" / "report.jsonl")) == {"out/fox.glb": "abc", "out/old.glb": "def"}


def test_lines_can_be_followed_while_the_run_goes_on(tmp_path: Path) -> None:
    report = reports.make_report(str(tmp_path / "report.jsonl"))
    report.add(RESULTS[0])
    assert json.loads((tmp_path / "report.jsonl").read_text())["input"] == "a/fox.b3d"
    with (tmp_path / "report.jsonl").open("a") as file:
        file.write('{"input": "a/cut o')  # the run was killed
    assert reports.reported(str(tmp_path / "report.jsonl")) == {"out/fox.glb": "abc"}


def test_a_full_disk_ends_the_report_only() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    report = reports.JsonLinesReport(Path("/dev/full"))
    for result in RESULTS:
        report.add(result)
    report.finish({})
    assert "No space left" in report.problem


def test_an_earlier_report_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("old")
    report = reports.make_report(str(tmp_path / "report.json"))
    report.add(RESULTS[0])
    assert (tmp_path / "report.json").read_text() == "old"
    with pytest.raises(UsageError):
        reports.make_report(str(tmp_path))


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.sources: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.sources += [value for name in ("src", "href") if (value := values.get(name))]
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        assert tag not in ("b", "no"), "what files say is no markup"

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    page = Page(write(tmp_path / "report.html"))
    rows = [row for row in page.rows if row]
    assert [row[1] for row in rows] == ["a/fox.b3d", "a/caf\\xe9.b3d", "a/slow.dbo", "a/old.dbo"]
    assert "<b>odd</b>" in rows[0][6] and "2 warnings" in rows[0][6] and "offset 12: <no> texture" in rows[1][6]
    assert page.sources == ["data:image/png;base64,AAAA"], "nothing is loaded from elsewhere"


def test_version_is_that_of_the_manifest() -> None:
    code = "from io_retro_meshes.batch.record import version; print(version())"
    root = EXAMPLES.parent
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, timeout=60).stdout.strip()
    assert f'version = "{told}"' in (root / "blender_manifest.toml").read_text("utf-8")


# ------------------------------------------------------------------------------------------------------------ pictures


def decoded(picture: bytes) -> np.ndarray:
    """(height, width, 4), top row first."""
    data = b"".join(re.findall(b"IDAT(.*?)....IEND", picture, re.DOTALL))
    return np.frombuffer(zlib.decompress(data), np.uint8).reshape(SIZE, -1)[:, 1:].reshape(SIZE, SIZE, 4)


@pytest.mark.parametrize("name", ["fox.b3d", "robot.bo3d", "lighthouse.bgl", "flower.dbo", "knight.bin"])
def test_every_format_has_a_picture(name: str, tmp_path: Path) -> None:
    picture = decoded(base64.b64decode(thumbnail(EXAMPLES / name, tmp_path / "result.fbx")))
    covered = picture[..., 3] > 0
    assert covered.mean() > 0.05 and not covered[:2].any() and not covered[:, :2].any(), "whole, with a margin"
    assert len(np.unique(picture[covered][:, :3], axis=0)) > 20, "it is lit"
    assert thumbnail(tmp_path / "absent.b3d", tmp_path / "result.fbx") == ""


def quad(x: float, y: float, size: float, material: int) -> Mesh:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], np.float32) * size + floats(x, y, 0)
    uvs = Layer("UVMap", np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32))
    return Mesh("quad", corners, np.arange(4, dtype=np.int32), np.zeros(1, np.int32), materials=[material], uvs=[uvs])


def shown(meshes: list[Mesh], materials: list[Material], **more: Any) -> np.ndarray:
    nodes = [Node(f"node {index}", mesh=index, transform=Transform()) for index in range(len(meshes))]
    pixels = render(Scene(nodes=nodes, meshes=meshes, materials=materials, **more), Path())
    assert pixels is not None
    return pixels[..., :3][pixels[..., 3] == 255]


def test_what_is_in_front_hides_what_is_behind() -> None:
    red, green = Material("red", floats(1, 0, 0, 1), full_bright=True), Material("green", floats(0, 1, 0, 1), full_bright=True)
    for order in (1, -1):  # whichever comes first in the file
        pixels = shown([quad(0, 0, 1, 0), quad(0, 5, 1, 1)][::order], [red, green])
        hidden = shown([quad(0, 0, 1, 0), quad(0, 1e-3, 1, 1)][::order], [red, green])
        assert (pixels[:, 0] == 255).any() and (pixels[:, 1] == 255).any(), "both are seen from the side"
        assert (hidden == [255, 0, 0]).all(1).mean() > 0.95


def test_nothing_to_see_and_numbers_that_are_none() -> None:
    assert render(Scene(), Path()) is None
    broken = quad(0, 0, 1, -1)
    broken.positions[1] = np.nan
    with np.errstate(all="ignore"):
        assert render(Scene(nodes=[Node("n", mesh=0)], meshes=[broken]), Path()) is not None, "the other half"


def test_textures_are_the_right_way_up_and_cut_out() -> None:
    image = Image("halves", pixels=np.zeros((4, 4, 4), np.uint8))
    assert image.pixels is not None
    image.pixels[:2], image.pixels[2:, :2] = [0, 0, 255, 255], [255, 255, 0, 255]  # blue below; above it yellow, and a hole
    material = Material("m", layers=[TextureLayer(0)], full_bright=True, blend="MASK")
    pixels = render(Scene(nodes=[Node("n", mesh=0)], meshes=[quad(0, 0, 1, 0)], materials=[material], images=[image]), Path())
    assert pixels is not None
    blue, yellow = ((pixels == [*color, 255]).all(-1) for color in ([0, 0, 255], [255, 255, 0]))
    assert np.argwhere(blue)[:, 0].mean() < np.argwhere(yellow)[:, 0].mean()
    assert blue.sum() == pytest.approx(2 * yellow.sum(), rel=0.1)

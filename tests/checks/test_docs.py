# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documentation says of formats and options is what the code says; its links lead somewhere, in the zip, too."""

from __future__ import annotations

import html
import posixpath
import re
import tomllib
import zipfile
from pathlib import Path

import build
from io_retro_meshes.formats import FORMATS
from io_retro_meshes.formats.options import options_of, parse
from tools import pages, tables
from tools.common import ROOT


def test_tables_are_up_to_date() -> None:
    assert tables.main(["--check"]) == 0, "run: python3 build.py docs"
    assert len(tables.tables()) >= 6


def test_every_option_has_words_and_takes_its_own_default() -> None:
    for entry in FORMATS.values():
        for kind in (entry.ImportOptions, entry.ExportOptions):
            assert kind.__doc__ is not None
            for option in options_of(kind):
                assert option.label and option.description and not option.description.endswith("."), option.name
                assert parse(option, str(option.default)) == option.default, option.name
                if option.kind == "ENUM":
                    assert option.default in [value for value, _, _ in option.items]


def linked(text: str) -> list[str]:
    return [target for target in re.findall(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"", text) for target in target if target]


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in linked(page.read_text("utf-8")):
            if "://" in target:
                continue
            path, _, place = target.partition("#")
            found = page.parent / path if path else page
            assert found.exists(), f"{page.name}: {target}"
            headings = (
                {pages.anchor(line) for line in found.read_text("utf-8").splitlines() if line[:1] == "#"} if place else {""}
            )
            assert place in headings, f"{page.name}: {target}"


def test_links_in_the_zip_lead_to_what_is_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(build.build(tmp_path, "https://example.org/models")) as archive:
        names = set(archive.namelist())
        texts = {name: archive.read(name).decode() for name in names if name.endswith((".html", ".md", ".toml"))}
    assert tomllib.loads(texts.pop("blender_manifest.toml"))["website"] == "https://example.org/models"
    assert {"docs/first-model.html", "docs/troubleshooting.html", "docs/other-tools.html", "README.md"} <= set(texts)
    for name, text in texts.items():
        targets = [target.partition("#")[0] for target in linked(text) if "://" not in target]
        missing = {target for target in targets if target and posixpath.join(posixpath.dirname(name), target) not in names}
        assert not missing, name
        places = set(re.findall(r'id="([^"]+)"', text))
        assert {target[1:] for target in linked(text) if target[0] == "#"} <= places, name


def test_pages_have_every_word_of_their_sources() -> None:
    """Rows, entries, code and headings, in their order; and no mark of Markdown is left."""
    for source in (ROOT / "docs").glob("*.md"):
        made = pages.page(source).partition("<body>")[2]
        said = re.sub(r"<!--.*?-->", "", source.read_text("utf-8"), flags=re.DOTALL)
        words = re.findall(
            r"\w+", html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r'<img src="([^"]+)" alt="([^"]+)">', r"\2", made)))
        )
        wanted = re.findall(r"\w+", re.sub(r"\]\([^)]+\)|<br>|^ *\d+\. |^```\w*$|^\|[-|]+\|$", " ", said, flags=re.MULTILINE))
        assert words == wanted, source.name
        shown = re.sub(r"<(code|pre)>.*?</\1>", "", made, flags=re.DOTALL)
        assert "](" not in shown and "**" not in shown and "|" not in shown, source.name

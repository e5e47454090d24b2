# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables in README.md and docs/ that say what the code says: formats, and the options of each.

    python -m tools.tables            writes them anew
    python -m tools.tables --check    says which are not what they should be, and fails

A table stands between `<!-- table NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from io_retro_meshes.formats import FORMATS, AnyFormat
from io_retro_meshes.formats.options import Option, WindowOptions, options_of
from tools.common import ROOT

PLACE = re.compile(r"(<!-- table ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def formats_table() -> list[str]:
    rows = ["| format | files | from | an example |", "|---|---|---|---|"]
    for entry in listed():
        files = ", ".join(f"`{extension}`" for extension in entry.extensions)
        rows.append(f"| [{entry.label}](docs/{entry.id}.md) | {files} | {entry.used_by} | `examples/{entry.example}` |")
    return rows


def options_table(*kinds: type) -> list[str]:
    rows = ["| option | name | default | what it does |", "|---|---|---|---|"]
    for option in (option for kind in kinds for option in options_of(kind)):
        label = "" if option.hidden else option.label
        rows.append(f"| {label} | `{option.name}` | {default(option)} | {words(option)} |")
    return rows


def default(option: Option) -> str:
    if option.kind == "BOOLEAN":
        return "on" if option.default else "off"
    if option.kind == "ENUM":
        return next(label for value, label, _ in option.items if value == option.default)
    return f"{option.default:g}" if option.kind in ("INT", "FLOAT") else str(option.default)


def words(option: Option) -> str:
    items = [f"`{value}` {label}: {sentence(what)}" for value, label, what in option.items]
    return "<br>".join([sentence(option.description) + limits(option), *items]).replace("|", "\\|")


def sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def limits(option: Option) -> str:
    """Within which a number must be."""
    if option.kind not in ("INT", "FLOAT") or option.minimum is option.maximum is None:
        return ""
    if option.maximum is None:
        return f" At least {option.minimum:g}."
    return f" At most {option.maximum:g}." if option.minimum is None else f" {option.minimum:g} to {option.maximum:g}."


def listed() -> list[AnyFormat]:
    """The formats that have a page of their own."""
    return [entry for entry in FORMATS.values() if (ROOT / "docs" / f"{entry.id}.md").is_file() and entry.example]


def tables() -> dict[Path, dict[str, list[str]]]:
    """Every table by the file it is in and its name."""
    found = {ROOT / "README.md": {"formats": formats_table()}}
    for entry in listed():
        page = ROOT / "docs" / f"{entry.id}.md"
        found[page] = {
            "import options": options_table(entry.ImportOptions, WindowOptions),
            "export options": options_table(entry.ExportOptions),
        }
    return found


def updated(text: str, named: dict[str, list[str]], page: Path) -> str:
    places = [match[2] for match in PLACE.finditer(text)]
    if sorted(places) != sorted(named):
        raise SystemExit(f"{page.name} has the tables {places}, and should have {list(named)}")
    return PLACE.sub(lambda match: match[1] + "\n".join(named[match[2]]) + "\n" + match[3], text)


def main(arguments: list[str]) -> int:
    stale = []
    for page, named in tables().items():
        text = page.read_text("utf-8")
        new = updated(text, named, page)
        if new != text:
            stale.append(page.name)
            if "--check" not in arguments:
                page.write_text(new, "utf-8")
    if stale:
        print(("Not what the code says: " if "--check" in arguments else "Written: ") + ", ".join(stale))
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

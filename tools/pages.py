# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of docs/ as HTML that any browser shows without a network: they go into the extension's zip.

Of Markdown what the pages use: headings, paragraphs, lists, tables, code, pictures, links, emphasis.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from .common import ROOT

DOCS = ROOT / "docs"
ENTRY = re.compile(r"^(\s*)([-*]|\d+\.) +(.*)$")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
img { max-width: 100% }
table { border-collapse: collapse }
td, th { border: 1px solid #bbb; padding: .2em .6em; text-align: left }
code, pre { background: #eee; font-family: monospace }
pre { padding: .6em; overflow: auto }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1d1d1d }
  code, pre { background: #333 }
  a { color: #8bf }
}
"""


def pages() -> dict[str, bytes]:
    """Every page and the pictures on it, by its path in the zip."""
    found = {f"docs/{path.stem}.html": page(path).encode() for path in sorted(DOCS.glob("*.md"))}
    shown = {name for path in DOCS.glob("*.md") for mark, _, name in LINK.findall(path.read_text("utf-8")) if mark}
    return found | {f"docs/{name}": (DOCS / name).read_bytes() for name in sorted(shown)}


def readme() -> bytes:
    """README.md with links that lead to the pages of the zip; words that lead elsewhere in the project lead nowhere."""
    return LINK.sub(_link_of_readme, (ROOT / "README.md").read_text("utf-8")).encode()


def _link_of_readme(found: re.Match[str]) -> str:
    target = found[3]
    if target == "LICENSE" or "://" in target or target.endswith(".png"):
        return found[0]
    return f"[{found[2]}]({_html(target)})" if target.startswith("docs/") else found[2]


def _html(target: str) -> str:
    return re.sub(r"\.md(?=#|$)", ".html", target)


def page(path: Path) -> str:
    lines = re.sub(r"<!--.*?-->\n?", "", path.read_text("utf-8"), flags=re.DOTALL).splitlines()
    title = html.escape(lines[0].lstrip("# "))
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style></head>'
    return f"{head}\n<body>\n{blocks(lines)}\n</body></html>\n"


def blocks(lines: list[str]) -> str:
    """What stands one below the other."""
    made = []
    while lines:
        line = lines[0]
        if not line.strip():
            lines = lines[1:]
        elif line.startswith("```"):
            end = lines.index("```", 1)
            made.append(f"<pre>{html.escape(chr(10).join(lines[1:end]))}</pre>")
            lines = lines[end + 1 :]
        elif line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            made.append(f'<h{level} id="{anchor(line)}">{text(line.lstrip("# "))}</h{level}>')
            lines = lines[1:]
        else:
            how = table if line.startswith("|") else entries if ENTRY.match(line) else paragraph
            block, lines = how(lines)
            made.append(block)
    return "\n".join(made)


def anchor(heading: str) -> str:
    """What links to a heading say after the #."""
    return re.sub(r"[^\w\- ]", "", heading.lstrip("# ").lower()).replace(" ", "-")


def paragraph(lines: list[str]) -> tuple[str, list[str]]:
    end = next(
        (place for place, line in enumerate(lines) if not line.strip() or line.startswith(("#", "|", "```"))), len(lines)
    )
    return f"<p>{text(' '.join(lines[:end]))}</p>", lines[end:]


def table(lines: list[str]) -> tuple[str, list[str]]:
    end = next((place for place, line in enumerate(lines) if not line.startswith("|")), len(lines))
    rows = [re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|")) for line in lines[:end]]
    made = [_row(rows[0], "th"), *(_row(row, "td") for row in rows[2:])]
    return f"<table>{''.join(made)}</table>", lines[end:]


def _row(cells: list[str], kind: str) -> str:
    return f"<tr>{''.join(f'<{kind}>{text(cell.strip())}</{kind}>' for cell in cells)}</tr>\n"


def entries(lines: list[str]) -> tuple[str, list[str]]:
    """A list. What is indented below an entry belongs to it."""
    kind = "ol" if ENTRY.match(lines[0])[2][0].isdigit() else "ul"  # type: ignore[index]
    made = []
    while lines and (found := ENTRY.match(lines[0])) and not found[1]:
        own = list(_own(lines[1:]))
        lines = lines[1 + len(own) :]
        made.append(f"<li>{_entry([found[3], *own])}</li>")
    return f"<{kind}>{''.join(made)}</{kind}>", lines


def _own(lines: list[str]) -> Iterator[str]:
    """The lines that go on with an entry: indented ones, and empty ones before such."""
    for place, line in enumerate(lines):
        after = next((each for each in lines[place:] if each.strip()), "")
        if not after.startswith("  "):
            return
        yield line


def _entry(lines: list[str]) -> str:
    inner = [re.sub(r"^ {2,3}", "", line) for line in lines]
    made = blocks(inner)
    return made.removeprefix("<p>").removesuffix("</p>") if made.count("<p>") == 1 and made.endswith("</p>") else made


def text(line: str) -> str:
    """Words with emphasis, code, links and pictures; what stands in `code` stays as it is."""
    parts = re.split(r"(`[^`]*`)", line.replace("\\|", "|"))
    kept = [f"<code>{html.escape(part[1:-1])}</code>" for part in parts[1::2]]
    plain = html.escape("\0".join(parts[::2]), quote=False).replace("&lt;br&gt;", "<br>")
    plain = LINK.sub(_link, plain)
    plain = re.sub(r"\*\*(\S.*?)\*\*", r"<b>\1</b>", plain)
    plain = re.sub(r"(?<![\w*])\*(\S[^*]*?)\*(?![\w*])", r"<i>\1</i>", plain)
    codes = iter(kept)
    return re.sub("\0", lambda found: next(codes), plain)


def _link(found: re.Match[str]) -> str:
    mark, words, target = found.groups()
    if mark:
        return f'<img src="{target}" alt="{words}">'
    inside = "://" in target or not target.startswith("..")
    return f'<a href="{_html(target)}">{words}</a>' if inside else words

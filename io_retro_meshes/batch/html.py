# SPDX-License-Identifier: GPL-3.0-or-later
"""The report for people: one page without anything from elsewhere, with a picture of each result."""

from __future__ import annotations

import html
from pathlib import PurePath
from typing import Any

from .job import Result
from .progress import shown
from .record import version
from .report import Report

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Conversion report</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem; border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; background: Canvas; white-space: nowrap; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid; }
th[aria-sort="ascending"] button::after { content: " \\25B2"; }
th[aria-sort="descending"] button::after { content: " \\25BC"; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.path { overflow-wrap: anywhere; }
img, .none { width: 96px; height: 96px; border-radius: 6px; background: var(--soft); display: block; }
.status { padding: .1rem .5rem; border-radius: 1rem; white-space: nowrap; background: var(--soft); }
.converted { background: #2a85; } .failed, .crashed, .timed { background: #c336; }
.error { color: light-dark(#a00, #f88); overflow-wrap: anywhere; }
summary { cursor: pointer; }
#bar { display: flex; gap: 1rem; flex-wrap: wrap; margin: 1rem 0; }
</style>
</head>
<body>
<h1>Conversion report</h1>
<div id="bar">
<input id="filter" type="search" placeholder="Filter by path" aria-label="Filter by path">
<label><input id="bad" type="checkbox"> failures and warnings only</label>
<span id="count"></span>
</div>
<table>
<thead><tr><th>Result</th>
"""
_COLUMNS = ("Input", "Output", "Status", "Seconds", "Memory", "Messages")
_TAIL = """</tbody>
</table>
<script>
const body = document.querySelector("tbody"), rows = [...body.rows], heads = [...document.querySelectorAll("th[data-column]")];
const filter = document.getElementById("filter"), bad = document.getElementById("bad");
function value(row, column) { const cell = row.cells[column]; return cell.dataset.value ?? cell.textContent; }
for (const head of heads) head.querySelector("button").addEventListener("click", () => {
  const column = +head.dataset.column, down = head.getAttribute("aria-sort") === "ascending";
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const compare = (a, b) => value(a, column).localeCompare(value(b, column), undefined, { numeric: true });
  rows.sort((a, b) => down ? compare(b, a) : compare(a, b));
  body.append(...rows);
});
function show() {
  const text = filter.value.toLowerCase();
  let count = 0;
  const tally = {};
  for (const row of rows) {
    const hit = (!bad.checked || "bad" in row.dataset) && row.cells[1].textContent.toLowerCase().includes(text);
    row.hidden = !hit;
    count += hit;
    if (hit) tally[row.cells[3].textContent] = (tally[row.cells[3].textContent] ?? 0) + 1;
  }
  const parts = Object.entries(tally).map(([status, number]) => number + " " + status);
  document.getElementById("count").textContent = count + " of " + rows.length + (count ? ": " : "") + parts.join(", ");
}
filter.addEventListener("input", show);
bad.addEventListener("change", show);
show();
</script>
</body>
</html>
"""


class HtmlReport(Report):
    def head(self) -> str:
        heads = [f'<th data-column="{number}"><button>{title}</button></th>' for number, title in enumerate(_COLUMNS, start=1)]
        return _HEAD + "\n".join(heads) + "\n</tr></thead>\n<tbody>\n"

    def line(self, result: Result, first: bool) -> str:
        bad = " data-bad" if result.failed or result.warnings else ""
        cells = [
            f"<td>{_picture(result)}</td>",
            f'<td class="path">{_text(result.input)}</td>',
            f'<td class="path">{_text(result.output)}</td>',
            f'<td><span class="status {result.status.split()[0]}">{result.status}</span></td>',
            f'<td class="number" data-value="{result.seconds:.4f}">{result.seconds:.2f}</td>',
            f'<td class="number" data-value="{result.peak_memory}">{_megabytes(result.peak_memory)}</td>',
            f"<td data-value={len(result.warnings) + 1000000 * result.failed}>{_messages(result)}</td>",
        ]
        return f"<tr{bad}>" + "".join(cells) + "</tr>\n"

    def tail(self, summary: dict[str, Any]) -> str:
        words = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in summary.items())
        return _TAIL.replace("</table>", f"</table>\n<p>{_text(words)}; io_retro_meshes {_text(version())}</p>", 1)


def _text(text: str) -> str:
    return html.escape(shown(text))


def _picture(result: Result) -> str:
    if not result.thumbnail:
        return '<div class="none"></div>'
    name = _text(PurePath(result.output).name)
    return f'<img loading="lazy" alt="{name}" src="data:image/png;base64,{result.thumbnail}">'


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.0f} MB" if size else ""


def _messages(result: Result) -> str:
    parts = [f'<div class="error">{_text(result.error)}</div>'] if result.error else []
    if result.warnings:
        count = len(result.warnings)
        items = "".join(f"<li>{_text(warning)}</li>" for warning in result.warnings)
        parts.append(f"<details><summary>{count} warning{'s' * (count > 1)}</summary><ul>{items}</ul></details>")
    if result.notes:
        parts.append("<ul>" + "".join(f"<li>{_text(note)}</li>" for note in result.notes) + "</ul>")
    return "".join(parts)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What an import or an export tells when it is done: a line in the status bar, and a text for each that has warnings."""

from __future__ import annotations

import re
from collections import Counter

import bpy

LOG_NAME = "Retro Meshes Log"  # of the newest; those before it have numbers
ALIKE = 3  # sentences that differ in names and numbers alone are written out so often


def report_warnings(operator: bpy.types.Operator, warnings: list[str], title: str) -> None:
    """One line in the status bar, all of them in a text block of their own."""
    if not warnings:
        return
    before: bpy.types.Text | None = bpy.data.texts.get(LOG_NAME)
    if before is not None:
        before.name = f"{LOG_NAME}.001"  # or the next number that is free
    text = bpy.data.texts.new(LOG_NAME)
    text.write(showable("\n".join([title, *(f"  {line}" for line in folded(warnings)), ""])))
    more = f' (and {len(warnings) - 1} more: see the text "{text.name}")' if len(warnings) > 1 else ""
    operator.report({"WARNING"}, showable(warnings[0]) + more)


def folded(warnings: list[str]) -> list[str]:
    """Of many sentences that differ in names and numbers alone a few, then how many more there are, and of what.

    What is said several times in the same words is said once: "[12x] ...". Rows of a table, which are indented, all stay.
    """
    alike: dict[str, list[str]] = {}
    for warning, count in Counter(warnings).items():
        kind = warning if warning.startswith(" ") else re.sub(r'"[^"]*"|\d[\d,.]*', "*", warning)
        alike.setdefault(kind, []).append(warning if count == 1 else f"[{count}x] {warning}")
    lines: list[str] = []
    for several in alike.values():
        lines += several[:ALIKE]
        rest = several[ALIKE:]
        if rest:
            names = list(dict.fromkeys(found[0] for found in (re.findall(r'"[^"]*"', each) for each in rest) if found))
            lines.append(f"    and {len(rest):,} more like these" + (f": {', '.join(names)}" if names else ""))
    return lines


def report_success(operator: bpy.types.Operator, lines: list[str]) -> None:
    """In one line, also of many files."""
    if lines:
        more = f" (and {len(lines) - 1} more files)" if len(lines) > 1 else ""
        operator.report({"INFO"}, showable(lines[0]) + more)


def showable(text: str) -> str:
    """Names of files need not be Unicode; what Blender shows must be."""
    return text.encode("utf-8", "replace").decode()

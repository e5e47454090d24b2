# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene tree: a string of object numbers and braces.

A number hangs that object below the current one; `{` goes into the object whose number came last; `}` goes back up. This is
what the engine's loader does, and it accepts far more than the engine's exporter writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..errors import FormatError
from .document import MOST_LEVELS

ROOT = -1
_TOKEN = re.compile(rb"[0-9]+|[{}]")
_STRANGE = re.compile(rb"[^0-9{} \t\n\v\f\r]")


@dataclass
class Tree:
    parents: list[int]  # of every object; ROOT for none
    order: list[int]  # the objects, parents first
    warnings: list[str] = field(default_factory=list)


def check(text: bytes, offset: int) -> None:
    """Raises for a character that has no meaning in a tree."""
    strange = _STRANGE.search(text)
    if strange is not None:
        message = f"the character {strange.group().decode('latin-1')!r} means nothing in a scene tree"
        raise FormatError(message, offset=offset + strange.start(), field="scene tree")


def parse(text: bytes, count: int) -> Tree:
    """Every one of `count` objects gets a place: the first that the tree gives it, or at the root."""
    parents = [ROOT] * count
    placed = bytearray(count)
    order: list[int] = []
    above: list[int] = []  # where each open brace was opened
    current = last = ROOT
    extra = deepest = 0
    unknown: list[str] = []
    again: list[int] = []
    for token in _TOKEN.findall(text):
        if token == b"{":
            above.append(current)
            current = last
            deepest = max(deepest, len(above))
        elif token == b"}":
            if above:
                current = above.pop()  # `last` stays: the engine goes into the last number, wherever it was
            else:
                extra += 1
        else:
            digits = token.lstrip(b"0") or b"0"
            number = int(digits) if len(digits) < 11 else count
            if number >= count:
                unknown.append(digits.decode() if len(digits) < 11 else f"a number of {len(digits)} digits")
                last = current
                continue
            last = number
            if placed[number]:
                again.append(number)
                continue
            placed[number] = 1
            parents[number] = current
            deepest = max(deepest, len(above) + 1)
            order.append(number)
    missing = [number for number in range(count) if not placed[number]]
    tree = Tree(parents, order + missing)
    tree.warnings = _warnings(count, extra, deepest, unknown, again, missing)
    return tree


def _warnings(count: int, extra: int, deepest: int, unknown: list[str], again: list[int], missing: list[int]) -> list[str]:
    found = []
    if extra:
        found.append(f"The scene tree closes {extra} more braces than it opens: they were ignored.")
    if deepest > MOST_LEVELS:
        found.append(f"The scene tree is {deepest} levels deep; the engine takes {MOST_LEVELS}.")
    if unknown:
        found.append(f"The scene tree names {_some(unknown)}, but there are {count} objects: skipped.")
    if again:
        found.append(f"The scene tree has a second place for {_some(again)}: the first counts.")
    if missing:
        found.append(f"The scene tree leaves out {_some(missing)}: put at the root.")
    return found


def _some(numbers: list[str] | list[int]) -> str:
    """A few of them, so that a broken file does not give a page of numbers."""
    few = ", ".join(str(number) for number in numbers[:5])
    return f"object {few}" + (f" and {len(numbers) - 5} more" if len(numbers) > 5 else "")


def write(parents: list[int]) -> bytes:
    """The tree as the engine's exporter writes it: braces after every number, no spaces, brothers in their order."""
    children: list[list[int]] = [[] for _ in range(len(parents) + 1)]  # the last are the root's
    for number, parent in enumerate(parents):
        children[parent].append(number)
    parts: list[bytes] = []
    stack = [iter(children[ROOT])]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
            parts.append(b"}" if stack else b"")
        else:
            parts.append(b"%d{" % child)
            stack.append(iter(children[child]))
    return b"".join(parts)

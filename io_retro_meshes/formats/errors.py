# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception that readers and writers raise."""

from __future__ import annotations

import re
from typing import Any

ALIKE = 10  # sentences that differ in their numbers alone and are still told one by one


class FormatError(ValueError):
    """The bytes are not a usable file of the format. Says which file, where in it, and which field."""

    def __init__(self, message: str, *, offset: int | None = None, field: str = "", file: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.field = field
        self.file = file
        self.partial: Any = None  # a document of what is sound in spite of it, for files that are read beside another

    def __str__(self) -> str:
        """What happened, before where: people read the first, those who mend files the second."""
        place = [self.field] if self.field else []
        if self.offset is not None:
            place.append(f"offset {self.offset} (0x{self.offset:X})")
        words = f"{self.file}: {self.message}" if self.file else self.message
        return f"{words} ({', '.join(place)})" if place else words


def folded(warnings: list[str]) -> list[str]:
    """A log that can be read: what is said again and again, be it with other numbers, is said once, with how often."""
    groups: dict[str, dict[str, int]] = {}
    for sentence in warnings:
        group = groups.setdefault(re.sub(r"\d+", "#", sentence), {})
        group[sentence] = group.get(sentence, 0) + 1
    lines: list[tuple[str, int]] = []
    for group in groups.values():
        lines += group.items() if len(group) <= ALIKE else [(next(iter(group)), sum(group.values()))]
    return [sentence if count == 1 else f"[{count}x] {sentence}" for sentence, count in lines]

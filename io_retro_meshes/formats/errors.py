# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception that readers and writers raise."""

from __future__ import annotations

from typing import Any


class FormatError(ValueError):
    """The bytes are not a usable file of the format. Says which file, where in it, and which field."""

    def __init__(self, message: str, *, offset: int | None = None, field: str = "", file: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.field = field
        self.file = file
        self.partial: Any = None  # a document of what could be read in spite of it, for files that are read beside another

    def __str__(self) -> str:
        """What happened, before where: people read the first, those who mend files the second."""
        place = [self.field] if self.field else []
        if self.offset is not None:
            place.append(f"offset {self.offset} (0x{self.offset:X})")
        words = f"{self.file}: {self.message}" if self.file else self.message
        return f"{words} ({', '.join(place)})" if place else words

# SPDX-License-Identifier: GPL-3.0-or-later
"""Names for pictures that every system can hold, and that mean nothing but a picture."""

from __future__ import annotations

import os
import re
import unicodedata

from .search import PICTURES, base_name

LONGEST = 255  # bytes of UTF-8; other systems count fewer units in the same name
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x7f]')
# Windows takes these for devices, whatever follows the first dot.
DEVICES = re.compile(r"(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
# Characters that cannot be seen, turn the writing round, or are halves of others.
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def safe_name(name: str, extensions: tuple[str, ...]) -> str:
    """The file's own name, made safe on Linux, Windows and macOS, with one of the extensions (the first, if it has none).

    An extension of another kind of picture is exchanged; anything else after a dot is a part of the name.
    """
    name = unicodedata.normalize("NFC", base_name(name))
    name = "".join("_" if unicodedata.category(letter) in UNSEEN else letter for letter in name[: 4 * LONGEST])
    stem, extension = os.path.splitext(FORBIDDEN.sub("_", name).rstrip(" ."))
    if extension.lower() not in PICTURES:
        stem, extension = stem + extension, extensions[0]
    elif extension.lower() not in extensions:
        extension = extensions[0]
    stem = stem.strip(" .") or "texture"
    if DEVICES.fullmatch(stem.split(".")[0].rstrip(" ")):
        stem = f"_{stem}"
    return shortened(stem, extension)


def shortened(stem: str, extension: str, number: int = 0) -> str:
    """As much of the stem as fits, the number if there is one, and the extension."""
    ending = (f"_{number}" if number else "") + extension
    return stem.encode()[: LONGEST - len(ending.encode())].decode("utf-8", "ignore").rstrip(" .") + ending


def key(name: str) -> str:
    """The same for names that some system takes for one: in another case, or with accents written apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())

# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read, in their language. Blender's own catalogs come first: what it says there by itself stays as it says it."""

from __future__ import annotations

from typing import Any

import bpy

from . import german, japanese

OWNER = __package__.rpartition(".ui.")[0]
LANGUAGES = {"de": german.WORDS, "ja": japanese.WORDS}
CONTEXTS = ("*", "Operator")  # of labels, tooltips and entries; of buttons and menus that run an operator


def register() -> None:
    tables: Any = {
        code: {(context, english): word for english, word in words.items() for context in CONTEXTS}
        for code, words in LANGUAGES.items()
    }
    bpy.app.translations.register(OWNER, tables)


def unregister() -> None:
    bpy.app.translations.unregister(OWNER)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read, in their language. Blender looks into its own catalogs first, and here for what they do not have."""

from __future__ import annotations

from typing import Any

import bpy

from ...blender.properties import CONTEXT
from . import german, japanese

OWNER = __package__.rpartition(".ui.")[0]
LANGUAGES = {"de": german.WORDS, "ja": japanese.WORDS}
# Of titles and tooltips; of buttons and menus that run an operator; of options and settings.
CONTEXTS = ("*", "Operator", CONTEXT)


def register() -> None:
    tables: Any = {
        code: {(context, english): word for english, word in words.items() for context in CONTEXTS}
        for code, words in LANGUAGES.items()
    }
    bpy.app.translations.register(OWNER, tables)


def unregister() -> None:
    bpy.app.translations.unregister(OWNER)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that menus, dialogs and panels show has its words in every language, and the tables hold nothing else."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from io_retro_meshes.formats import MENU_FORMATS
from io_retro_meshes.formats.options import WindowOptions, options_of
from tests.conftest import ROOT

UI = ROOT / "io_retro_meshes" / "ui"
# The same in every language: names of programs, formats and encodings, and terms that have no other word.
NAMES = {"Blitz3D", "BO3D", "BOGLE", "Dark Basic Pro", "Luanti", "Retro Meshes", "bOGL 2", "DarkBASIC Professional, GameGuru"}
NAMES |= {"Blitz3D, Luanti (Minetest), Irrlicht", "Windows-1250", "Windows-1251", "Windows-1252", "Shift JIS", "Dot3", "FX"}
UNSEEN = ("RETRO_PG_retro_meshes_", "RetroBudget", "RetroCheck")  # groups that no panel draws
SPOKEN = {"text", "heading"}  # what layouts are given to show
FIELD = re.compile(r"\{[^}]*\}")


def registered() -> Iterator[type]:
    from io_retro_meshes import ui
    from io_retro_meshes.blender import properties

    yield from ui._registered
    yield from (group for _, _, group in properties._attached)


def shown_of_class(bpy: Any, kind: type) -> Iterator[str]:
    """The title, the tooltip, and all that a dialog shows of the properties."""
    rna = kind.bl_rna
    if issubclass(kind, bpy.types.Operator):
        module, name = kind.bl_idname.split(".")
        rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
        yield rna.description
    yield getattr(kind, "bl_label", "")
    if kind.__name__.startswith(UNSEEN):
        return
    ours = [base for base in kind.__mro__ if not base.__module__.startswith("bpy")]
    declared = {name for base in ours for name in inspect.get_annotations(base)}
    for each in rna.properties:
        if each.is_hidden or each.identifier not in declared or each.type in ("COLLECTION", "POINTER"):
            continue
        yield from (each.name, each.description)
        for item in each.enum_items if each.type == "ENUM" else ():
            yield from (item.name, item.description)


def shown_in_code(path: Path) -> Iterator[str]:
    """What is said in the sources: text="…" in layouts, words("…"), and both ends of a choice between two."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        spoken = [each.value for each in node.keywords if each.arg in SPOKEN]
        if isinstance(node.func, ast.Name) and node.func.id == "words":
            spoken += node.args
        for each in spoken:
            for part in (each.body, each.orelse) if isinstance(each, ast.IfExp) else (each,):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def shown_elsewhere() -> Iterator[str]:
    """Titles of the dialogs' panels, columns of the preferences, and what a budget counts."""
    for entry in MENU_FORMATS.values():
        for kind in (entry.ImportOptions, entry.ExportOptions, WindowOptions):
            yield from (option.panel for option in options_of(kind))
    yield from ("Format", "In Menus", "Import Scale", "Export Scale")
    yield from ("The character", "Polygons", "Bytes of textures", "Bytes in the file")


def tables() -> dict[str, dict[str, str]]:
    from io_retro_meshes.ui.languages import LANGUAGES  # needs Blender

    return LANGUAGES


@pytest.fixture
def shown(blender: Any) -> set[str]:
    found = {text for kind in registered() for text in shown_of_class(blender, kind)} | set(shown_elsewhere())
    found |= {text for path in UI.glob("*.py") for text in shown_in_code(path)}
    return {text for text in found if text.strip() and re.search("[A-Za-z]", FIELD.sub("", text))} - NAMES


def test_everything_shown_is_in_every_language(shown: set[str]) -> None:
    assert len(shown) > 500
    for code, table in tables().items():
        assert sorted(shown - set(table)) == [], f"these have no words in {code}"
        assert sorted(set(table) - shown) == [], f"nobody shows these any more ({code})"


def test_what_is_filled_in_is_filled_in_everywhere() -> None:
    for table in tables().values():
        for english, word in table.items():
            assert sorted(FIELD.findall(english)) == sorted(FIELD.findall(word)), english
            assert word == word.strip() and word.endswith((".", "。")) == english.endswith("."), english

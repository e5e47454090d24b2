# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documentation says of formats and options is what the code says."""

from __future__ import annotations

from io_retro_meshes.formats import FORMATS
from io_retro_meshes.formats.options import options_of, parse
from tools import tables


def test_tables_are_up_to_date() -> None:
    assert tables.main(["--check"]) == 0, "run: python3 build.py docs"
    assert len(tables.tables()) >= 6


def test_every_option_has_words_and_takes_its_own_default() -> None:
    for entry in FORMATS.values():
        for kind in (entry.ImportOptions, entry.ExportOptions):
            assert kind.__doc__ is not None
            for option in options_of(kind):
                assert option.label and option.description and not option.description.endswith("."), option.name
                assert parse(option, str(option.default)) == option.default, option.name
                if option.kind == "ENUM":
                    assert option.default in [value for value, _, _ in option.items]

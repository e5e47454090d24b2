# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and settings of all formats: what they are by default, they may be."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import pytest

from io_retro_meshes.formats import FORMATS, b3d
from io_retro_meshes.formats.options import Option, options_of, parse

KINDS = [
    pytest.param(kind, id=f"{format_id}-{kind.__name__}")
    for format_id, entry in FORMATS.items()
    for kind in (entry.ImportOptions, entry.ExportOptions, *entry.settings.values())
]


def numbers(option: Option) -> list[float]:
    return list(option.default) if option.kind == "VECTOR" else [option.default] if option.kind in ("INT", "FLOAT") else []


def plain(hint: Any) -> Any:
    """The class that a field is said to have: that of a literal's values, or of a tuple."""
    return type(typing.get_args(hint)[0]) if typing.get_origin(hint) is typing.Literal else typing.get_origin(hint) or hint


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_allowed(kind: type) -> None:
    declared = {option.name: option for option in options_of(kind)}
    for option in declared.values():
        assert all(isinstance(words, str) and words for words in (option.label, option.description))
        assert isinstance(option.default, plain(typing.get_type_hints(kind)[option.name])), option.name
        if option.kind == "ENUM" and option.numbers:
            assert option.default in option.numbers and len(option.numbers) == len(option.items)
        elif option.kind != "VECTOR":
            assert parse(option, str(option.default)) == option.default
        for number in numbers(option):
            assert option.minimum is None or number >= option.minimum
            assert all(limit is None or number <= limit for limit in (option.maximum, option.soft_maximum))
        if option.needs is not None:
            assert option.needs[0] in declared
        if option.bit_of:
            assert declared[option.bit_of].kind == "INT" and option.bit.bit_count() == 1


def test_toggles_are_the_bits_of_the_brush() -> None:
    toggles = {option.name: option.bit for option in options_of(b3d.settings["Material"]) if option.bit_of == "fx"}
    assert toggles == {"full_bright": 1, "vertex_colors": 2, "flat": 4, "no_fog": 8, "no_culling": 16, "force_alpha": 32}


def test_options_do_not_change_and_know_their_names() -> None:
    chosen = FORMATS["b3d"].ImportOptions(scale=2.0)
    assert (chosen.scale, chosen.use_animation, dataclasses.replace(chosen, use_animation=False).scale) == (2.0, True, 2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.scale = 3.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        del chosen.scale
    with pytest.raises(TypeError, match="scael"):
        FORMATS["b3d"].ImportOptions(scael=2.0)

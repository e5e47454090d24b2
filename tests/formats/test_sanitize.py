# SPDX-License-Identifier: GPL-3.0-or-later
"""Every number of a scene, spoiled one at a time: `sanitize` makes all usable, changes nothing else, and not its argument."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.scene.sanitize import sanitize
from tests.builders.gltf import everything

Path = tuple[Any, ...]
LEFT = {"settings", "warnings", "images"}


def numbers(owner: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every number and array of numbers below something, with the way to it."""
    if is_dataclass(owner) and not isinstance(owner, type):
        for field in fields(owner):
            if field.name not in LEFT:
                yield from numbers(getattr(owner, field.name), (*path, field.name))
    elif isinstance(owner, dict):
        for key, value in owner.items():
            yield from numbers(value, (*path, key))
    elif isinstance(owner, list | tuple):
        for index, value in enumerate(owner):
            yield from numbers(value, (*path, index))
    elif isinstance(owner, np.ndarray | float | int):
        yield path, owner


def is_float(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 0)


def spoil(owner: Any, path: Path, bad: float) -> Any:
    """A copy with a bad number at the end of the way: in an array the first one."""
    if not path:
        if not isinstance(owner, np.ndarray):
            return bad
        owner = owner.copy()
        owner.reshape(-1)[0] = bad
        return owner
    if is_dataclass(owner) and not isinstance(owner, type):
        return replace(owner, **{path[0]: spoil(getattr(owner, path[0]), path[1:], bad)})
    if isinstance(owner, dict):
        return {**owner, path[0]: spoil(owner[path[0]], path[1:], bad)}
    return type(owner)([*owner[: path[0]], spoil(owner[path[0]], path[1:], bad), *owner[path[0] + 1 :]])


FLOATS = [path for path, value in numbers(everything()) if is_float(value)]


def test_a_good_scene_is_the_same_and_shares_what_it_has() -> None:
    scene = everything()
    clean = sanitize(scene)
    before, after = dict(numbers(scene)), dict(numbers(clean))
    assert before.keys() == after.keys() and all(np.array_equal(before[path], after[path]) for path in before)
    assert all(one.positions is other.positions for one, other in zip(scene.meshes, clean.meshes, strict=True))
    for name in ("nodes", "cameras", "lights"):
        assert all(a is b for a, b in zip(getattr(scene, name), getattr(clean, name), strict=True)), name


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e30])
def test_a_bad_number_is_replaced_and_nothing_else(bad: float) -> None:
    good = dict(numbers(everything()))
    assert len(FLOATS) > 100
    for path in FLOATS:
        scene = spoil(everything(), path, bad)
        kept = copy.deepcopy(dict(numbers(scene)))
        clean = dict(numbers(sanitize(scene)))
        assert all(np.all(np.abs(value) <= 1e18) for value in clean.values()), path
        assert all(np.array_equal(value, kept[key], equal_nan=True) for key, value in numbers(scene)), path
        around = path[:-1] if len(path) > 1 else path  # what a bad number makes useless may go with it
        for key, value in good.items():
            if key[: len(around)] != around:
                assert np.array_equal(clean[key], value), (path, key)

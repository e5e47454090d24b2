# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to spoil a file. Everything follows from a numpy random generator: the same seed gives the same file."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

Random = np.random.Generator

INTEGERS = [0, 1, 2, 3, 7, 8, 255, 256, 32767, 32768, 65535, 65536, 2**24, 2**30, 2**31 - 1, -1, -2, -(2**31), -32768, 1048574]
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 1e-39, 1e-20, 1e-7, -1.0, 1e6, 2e9, -2e9, 1e18, 1e30, 3.4e38, -3.4e38]


def mutated(random: Random, files: list[bytes], module: Any) -> bytes:
    """One of the files, spoiled in one way or in several."""
    data = files[random.integers(len(files))]
    if random.random() < 0.6:
        data = lied(random, data, module)
        if random.random() < 0.8:
            return data
    for _ in range(random.integers(1, 4)):
        data = BYTES[random.integers(len(BYTES))](random, data, files)
    return data


# --------------------------------------------------------------------------------------------------------------- bytes


def _place(random: Random, data: bytes) -> int:
    """Somewhere in the file, more often near its start, where the counts are."""
    end = max(len(data), 1)
    return int(random.integers(min(end, 128) if random.random() < 0.3 else end))


def flip(random: Random, data: bytes, files: list[bytes]) -> bytes:
    spoiled = bytearray(data)
    for _ in range(random.integers(1, 9)):
        if spoiled:
            spoiled[_place(random, data)] ^= 1 << random.integers(8)
    return bytes(spoiled)


def truncate(random: Random, data: bytes, files: list[bytes]) -> bytes:
    return data[: _place(random, data)]


def extreme(random: Random, data: bytes, files: list[bytes]) -> bytes:
    """A number of two or four bytes that is not the one that was there."""
    at = _place(random, data) // 4 * 4 if random.random() < 0.7 else _place(random, data)
    number = INTEGERS[random.integers(len(INTEGERS))]
    order = "<>"[random.integers(2)]
    kind = random.integers(3)
    if kind == 0:
        new = struct.pack(order + "I", number & 0xFFFFFFFF)
    elif kind == 1:
        new = struct.pack(order + "H", number & 0xFFFF)
    else:
        new = struct.pack(order + "f", FLOATS[random.integers(len(FLOATS))])
    return data[:at] + new + data[at + len(new) :]


def repeat(random: Random, data: bytes, files: list[bytes]) -> bytes:
    at, size = _place(random, data), int(random.integers(1, 257))
    return data[:at] + data[at : at + size] * int(random.integers(2, 5)) + data[at + size :]


def remove(random: Random, data: bytes, files: list[bytes]) -> bytes:
    at = _place(random, data)
    return data[:at] + data[at + int(random.integers(1, 257)) :]


def splice(random: Random, data: bytes, files: list[bytes]) -> bytes:
    other = files[random.integers(len(files))]
    return data[: _place(random, data)] + other[_place(random, other) :]


BYTES: list[Callable[[Random, bytes, list[bytes]], bytes]] = [flip, truncate, extreme, extreme, repeat, remove, splice]


# -------------------------------------------------------------------------------------------------------------- fields


def lied(random: Random, data: bytes, module: Any) -> bytes:
    """The file with some of its fields saying something else: whole again, so that readers follow it to the end."""
    try:
        document = module.read(data)
    except ValueError:
        return data
    places = _leaves(document)
    for _ in range(random.integers(1, 6)):
        if places:
            _lie(random, *places[random.integers(len(places))])
    try:
        return bytes(module.write(document))
    except (struct.error, OverflowError, ValueError, TypeError, IndexError, KeyError):
        return data  # a value that the field cannot hold


def _leaves(document: Any) -> list[tuple[Any, Any]]:
    """(owner, field or index) of every number, string, list and array in a document."""
    found: list[tuple[Any, Any]] = []
    waiting, seen = [document], set()
    while waiting:
        owner = waiting.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        if dataclasses.is_dataclass(owner):
            keys: list[Any] = [each.name for each in dataclasses.fields(owner) if each.name != "warnings"]
        else:
            keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
        for key in keys:
            value = owner[key] if isinstance(owner, (list, dict)) else getattr(owner, key)
            if isinstance(value, (int, float, bytes, np.ndarray)):
                found.append((owner, key))
            elif isinstance(value, (list, dict)) or dataclasses.is_dataclass(value):
                waiting.append(value)
                if isinstance(value, list) and value:
                    found.append((owner, key))
    return found


def _lie(random: Random, owner: Any, key: Any) -> None:
    value = owner[key] if isinstance(owner, (list, dict)) else getattr(owner, key)
    new = _other(random, value)
    if isinstance(owner, (list, dict)):
        owner[key] = new
    else:
        try:
            setattr(owner, key, new)
        except AttributeError:
            object.__setattr__(owner, key, new)


def _other(random: Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(random.integers(-2, 3)) if random.random() < 0.5 else INTEGERS[random.integers(len(INTEGERS))]
    if isinstance(value, float):
        return FLOATS[random.integers(len(FLOATS))]
    if isinstance(value, bytes):
        return _other_bytes(random, value)
    if isinstance(value, np.ndarray):
        return _other_array(random, value)
    if not value:
        return value
    at = int(random.integers(len(value)))
    choice = random.integers(4)
    if choice == 0:
        return value[:at] + value[at + 1 :]
    if choice == 1:
        return value + value[at : at + 1] * int(random.integers(1, 40))
    return value[::-1] if choice == 2 else [value[index] for index in random.permutation(len(value))]


def _other_bytes(random: Random, value: bytes) -> bytes:
    if len(value) > 64:
        return flip(random, value, [])
    words = [
        b"",
        b"x" * 70,
        b"a" * 300,
        b"\xff\xfe\x80",
        b"\xed\xa0\x80",
        b"../../x",
        b"/",
        b"a\nb",
        bytes(value[::-1]),
        b"%s{}",
    ]
    return words[random.integers(len(words))]


def _other_array(random: Random, value: np.ndarray) -> np.ndarray:
    new = value.copy()
    if not new.size:
        return new
    part = new
    while part.dtype.names:  # a column of a table
        part = part[part.dtype.names[random.integers(len(part.dtype.names))]]
    pool = FLOATS if part.dtype.kind == "f" else INTEGERS
    flat = part.reshape(-1) if part.flags.c_contiguous else part
    if not flat.size:
        return new
    count = [1, 1, 1, flat.size][random.integers(4)] if flat.ndim == 1 else 1
    with np.errstate(all="ignore"):
        wild = np.array(pool, np.float64 if part.dtype.kind == "f" else np.int64)[random.integers(len(pool), size=count)]
        if part.dtype.kind == "V":
            return new
        wild = wild.astype(part.dtype)
        if flat.ndim == 1:
            flat[random.integers(flat.size, size=count)] = wild
        else:
            flat[tuple(random.integers(size) for size in flat.shape)] = wild[0]
    if random.random() < 0.15:
        return new[: random.integers(len(new) + 1)]
    if random.random() < 0.1:
        return np.concatenate([new, new[::-1]])
    return new

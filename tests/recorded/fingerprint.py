# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a document or a scene, in a few numbers that can be compared: the structure exactly, measurements nearly.

Fields that have their defaults do not count, so that a new one changes nothing that was recorded before it came.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

SAID = {"warnings"}  # how many there are counts, not their words
SMALL = 1000  # integers up to here are numbers of things; larger ones are measurements in steps
LARGEST = 1e12
LEAST = 0.01  # what measures less is rounding
NEAR = 1e-5


class Fingerprint:
    """Collects what is in an object: `structure` has all that must be the same, `sums` the measurements by field."""

    def __init__(self, *parts: Any) -> None:
        self.structure: list[str] = []
        self.sums: dict[str, list[float]] = {}
        for number, part in enumerate(parts):
            self._add(f"{number}", part)

    def recorded(self) -> dict[str, float]:
        """Two numbers: of the structure, and of all measurements, where those of every field weigh the same."""
        measured = sum((1 + zlib.crc32(path.encode()) % 997 / 997) * self.measured(path) for path in sorted(self.sums))
        return {"structure": zlib.crc32("\n".join(self.structure).encode()), "measured": round(measured, 5)}

    def measured(self, path: str) -> float:
        """How large the numbers of a field are, and how they are spread."""
        weighted, size = self.sums[path]
        return float(np.log(size + LEAST) + weighted / (size + LEAST))

    def _add(self, path: str, value: Any) -> None:
        if dataclasses.is_dataclass(value):
            for name, part in _told(value):
                self._add(f"{path}.{name}", part)
        elif isinstance(value, dict):
            for key in value:
                self.structure.append(f"{path} {key!r}")
                self._add(f"{path}[]", value[key])
        elif isinstance(value, (list, tuple)):
            self.structure.append(f"{path} {len(value)}")
            for part in value:
                self._add(f"{path}[]", part)
        elif isinstance(value, (np.ndarray, np.generic)):
            self._add_array(path, np.asarray(value))
        elif isinstance(value, bool) or value is None:
            self.structure.append(f"{path} {value!r}")
        elif isinstance(value, (str, bytes)):  # those that are no names are numbers: what is read from them is recorded
            text = value.decode("latin-1") if isinstance(value, bytes) else value
            self.structure.append(f"{path} {text!r}" if len(text) <= 64 and text.isprintable() else path)
        elif isinstance(value, (int, float)):
            self._add_array(path, np.asarray(value))
        else:
            self._add(path, vars(value))

    def _add_array(self, path: str, values: np.ndarray) -> None:
        if values.dtype.names:
            for name in values.dtype.names:
                self._add_array(f"{path}.{name}", values[name])
            return
        self.structure.append(f"{path} {values.dtype.kind}{values.shape}")
        flat = values.reshape(-1)
        if values.dtype.kind in "biu" and np.abs(flat.astype(np.int64)).max(initial=0) <= SMALL:
            self.structure.append(f"{zlib.crc32(flat.astype('<i8').tobytes())}")
        elif values.dtype.kind in "fiu":
            self._sum(path, flat.astype(np.float64))
        else:
            self.structure.append(f"{len(flat.tobytes())}")

    def _sum(self, path: str, flat: np.ndarray) -> None:
        """Each number has another weight. What is no number counts by how many there are."""
        good = np.abs(flat) <= LARGEST
        self.structure.append(f"{int((~good).sum())} that are none")
        both = self.sums.setdefault(path, [0.0, 0.0])
        numbers = np.where(good, flat, 0)
        both[0] += float((numbers * np.cos(np.arange(len(flat)) * 2.399 + 0.7 * len(self.structure))).sum())
        both[1] += float(np.abs(numbers).sum())


def _told(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields that are not as they are by default."""
    for field in dataclasses.fields(value):
        part = getattr(value, field.name)
        if field.name in SAID:
            yield field.name, len(part)
            continue
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        if type(part) is not type(default) or not _same(part, default):
            yield field.name, part


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and bool(np.array_equal(a, b))
    return bool(a == b) if not dataclasses.is_dataclass(a) else False


def differences(found: dict[str, Any], known: dict[str, Any]) -> list[str]:
    """What of the two is not as it was recorded."""
    names = sorted({*found, *known})
    if names == ["measured", "structure"]:
        near = abs(found["measured"] - known["measured"]) <= NEAR * max(abs(known["measured"]), 1)
        return ["structure"] * (found["structure"] != known["structure"]) + ["measured"] * (not near)
    return [f"{found.get('error', 'no error')}, not {known.get('error', 'no error')}"] if found != known else []

# SPDX-License-Identifier: GPL-3.0-or-later
"""The buffer of a file that is being made, with its views and accessors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..document import COMPONENTS, WIDTHS, Json

Array = npt.NDArray[Any]

CODES = {np.dtype(kind): code for code, kind in COMPONENTS.items()}
TYPES = {width: name for name, width in WIDTHS.items()}


def _accessor(values: Array) -> Json:
    return {"componentType": CODES[values.dtype], "count": len(values), "type": TYPES[values.shape[1]]}


class Buffer:
    """Vertices, indices and the matrices of a skin have a view each; the keys of animations share one, which comes last."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.views: list[Json] = []
        self.accessors: list[Json] = []
        self.shared: list[bytes] = []
        self.shared_size = 0
        self.shared_view = -1
        self.known: dict[tuple[int, bool, bytes], int] = {}  # of the shared ones: equal arrays are one accessor

    def view(self, data: bytes, target: int = 0) -> int:
        self.views.append({"buffer": 0, "byteOffset": self.size, "byteLength": len(data)})
        if target:
            self.views[-1]["target"] = target
        self._append(data)
        return len(self.views) - 1

    def _append(self, data: bytes) -> None:
        padding = bytes(-len(data) % 4)
        self.pieces += [data, padding] if padding else [data]
        self.size += len(data) + len(padding)

    def own(self, values: Array, target: int = 0, bounds: bool = False, normalized: bool = False) -> int:
        """An accessor with a view of its own. Rows must be a multiple of four bytes."""
        made = _accessor(values)
        if bounds:
            made["min"], made["max"] = values.min(0).tolist(), values.max(0).tolist()
        made["bufferView"] = self.view(values.tobytes(), target)
        if normalized:
            made["normalized"] = True
        self.accessors.append(made)
        return len(self.accessors) - 1

    def keys(self, values: Array, times: bool = False) -> int:
        """An accessor in the shared view: the times of keys, which ascend, or their values."""
        data = values.tobytes()
        key = (values.shape[1], times, data)
        if key not in self.known:
            if self.shared_view < 0:
                self.shared_view = len(self.views)
                self.views.append({"buffer": 0})
            made = _accessor(values)
            made["bufferView"] = self.shared_view
            made["byteOffset"] = self.shared_size
            if times:
                made["min"], made["max"] = values[0].tolist(), values[-1].tolist()
            self.shared.append(data)
            self.shared_size += len(data)
            self.known[key] = len(self.accessors)
            self.accessors.append(made)
        return self.known[key]

    def finish(self) -> bytes:
        """All of the buffer."""
        if self.shared_view >= 0:
            self.views[self.shared_view] |= {"byteOffset": self.size, "byteLength": self.shared_size}
            self._append(b"".join(self.shared))
        return b"".join(self.pieces)

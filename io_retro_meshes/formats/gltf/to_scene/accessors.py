# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of a file: buffers, views of them and accessors. Nothing is allocated before the bytes are known to be there."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
import numpy.typing as npt

from ....scene import Floats
from ...errors import FormatError
from ..beside import find
from ..document import COMPONENTS, MESHOPT, WIDTHS, Document, Part

Array = npt.NDArray[Any]

LARGEST = 1e18  # its square is still a float32


class Accessors:
    def __init__(self, document: Document, beside: Sequence[Document], warnings: list[str]) -> None:
        self.document = document
        self.files = [document, *beside]
        self.warnings = warnings
        root = document.root
        self.buffers = root.parts("buffers")
        self.views = root.parts("bufferViews")
        self.parts = root.parts("accessors")
        self.loaded: dict[int, bytes] = {}
        self.known: dict[int, Array] = {}
        # As many rows as a file may ask for that it has no bytes for: sparse accessors start from nothing.
        self.most_rows = document.size + sum(other.size for other in beside)

    # --------------------------------------------------------------------------------------------------------- buffers

    def buffer(self, index: int) -> bytes:
        if index not in self.loaded:
            part = self.buffers[index]
            data = self.bytes_of(part, index)
            size = part.integer("byteLength")
            if size > len(data):
                raise part.bad("byteLength", f"{size} bytes are declared, {len(data)} are there")
            self.loaded[index] = data
        return self.loaded[index]

    def bytes_of(self, part: Part, index: int) -> bytes:
        if "uri" not in part:
            if index == 0 and self.document.chunks:
                return self.document.buffer
            raise part.bad("uri", "the buffer is nowhere")
        uri = part.text("uri")
        if uri.startswith("data:"):
            return data_uri(part)
        data = find(uri, self.files)
        if data is None:
            raise part.bad("uri", f'the buffer "{uri[:100]}" is not beside the file')
        return data

    def view(self, index: int) -> memoryview:
        part = self.views[index]
        if any(part.extension(name) is not None for name in MESHOPT):
            raise FormatError("meshopt has compressed it, which cannot be read; save it without compression", field=part.place)
        data = self.buffer(_needed(part, "buffer", len(self.buffers)))
        start, size = part.integer("byteOffset", 0), part.integer("byteLength")
        if start + size > len(data):
            raise part.bad("byteLength", f"bytes {start} to {start + size} of a buffer of {len(data)}")
        return memoryview(data)[start : start + size]

    # ------------------------------------------------------------------------------------------------------- accessors

    def raw(self, index: int) -> Array:
        """The numbers as they are stored: (count, width)."""
        part = self.parts[index]
        kind, width = _kind(part), _width(part)
        count = part.integer("count")
        if "bufferView" in part:
            rows = self.rows(part, kind, count, width)
        elif count > self.most_rows:
            raise part.bad("count", f"{count} rows that the file has no bytes for")
        else:
            rows = np.zeros((count, width), kind)
        return self.with_sparse(part, rows) if "sparse" in part else rows

    def rows(self, part: Part, kind: np.dtype[Any], count: int, width: int) -> Array:
        """A view of the buffer: nothing is copied."""
        number = part.index("bufferView", len(self.views))
        data = self.view(number)
        size = kind.itemsize * width
        stride = self.views[number].integer("byteStride", 0) or size
        start = part.integer("byteOffset", 0)
        if stride < size:
            raise self.views[number].bad("byteStride", f"{stride} bytes for rows of {size}")
        if count and start + (count - 1) * stride + size > len(data):
            raise part.bad("count", f"{count} rows of {stride} bytes from {start} on, in a view of {len(data)}")
        return np.ndarray((count, width), kind, data, start if count else 0, (stride, kind.itemsize))

    def with_sparse(self, part: Part, rows: Array) -> Array:
        sparse = part.part("sparse")
        count = sparse.integer("count")
        places, values = sparse.part("indices"), sparse.part("values")
        kind = _kind(places)
        if kind.kind != "u":
            raise places.bad("componentType", "indices are not whole numbers")
        where = self.rows(places, kind, count, 1)[:, 0]
        if count and where.max() >= len(rows):
            raise places.bad("bufferView", f"row {where.max()} of {len(rows)}")
        rows = rows.copy()
        rows[where] = self.rows(values, rows.dtype, count, rows.shape[1])
        return rows

    def floats(self, index: int, *widths: int) -> Floats:
        """An accessor as float32; integers that are parts of one are divided. Must be of one of the widths."""
        if index not in self.known:
            part = self.parts[index]
            rows = self.raw(index)
            if part.flag("normalized") and rows.dtype.kind != "f":
                most = np.iinfo(rows.dtype).max
                rows = np.maximum(rows.astype(np.float64) / most, -1)
            found = rows.astype(np.float32)
            if found.size and not (found.min() >= -LARGEST and found.max() <= LARGEST):  # also where one is NaN
                self.warnings.append(f"{part.place} has values that are no usable numbers; they were made 0.")
                found = np.where(np.abs(found) <= LARGEST, found, np.float32(0))
            self.known[index] = found
        found = self.known[index]
        if found.shape[1] not in widths:
            raise self.parts[index].bad("type", f"{found.shape[1]} numbers a row, where there must be {widths[0]}")
        return found

    def integers(self, index: int, width: int) -> npt.NDArray[np.int64]:
        rows = self.raw(index)
        if rows.dtype.kind == "f" or rows.shape[1] != width:
            raise self.parts[index].bad("componentType", f"not {width} whole numbers a row")
        return rows.astype(np.int64)

    def indices(self, index: int) -> npt.NDArray[np.int64]:
        return self.integers(index, 1)[:, 0]


def _kind(part: Part) -> np.dtype[Any]:
    code = part.integer("componentType")
    if code not in COMPONENTS:
        raise part.bad("componentType", f"{code} is none")
    return np.dtype(COMPONENTS[code])


def _width(part: Part) -> int:
    name = part.text("type")
    if name not in WIDTHS:
        raise part.bad("type", f'"{name[:20]}" cannot be read')
    return WIDTHS[name]


def _needed(part: Part, name: str, count: int) -> int:
    index = part.index(name, count)
    if index < 0:
        raise part.bad(name, "missing")
    return index


def data_uri(part: Part) -> bytes:
    """The bytes in a URI of the kind data:."""
    head, comma, body = part.text("uri").partition(",")
    if not comma:
        raise part.bad("uri", "a data URI without data")
    data = unquote_to_bytes(body)
    if not head.endswith(";base64"):
        return data
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise part.bad("uri", f"not base64: {error}") from None

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds-checked reading and writing of binary files.

Every value is read under the name its format's document gives it, so that an error can say where in the file it is and
which field is wrong. Nothing here allocates before the bytes are known to be there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import FormatError

Array = npt.NDArray[Any]


def too_short(size: int, offset: int, end: int, total: int) -> str:
    """That `size` bytes are not there at the offset: because the file ends, or because what they are in does."""
    left = f"{size} bytes are needed, {max(end - offset, 0)} are left"
    return f"the file is cut off or damaged: it has {total:,} bytes; {left}" if end == total else left


class Reader:
    """A cursor over bytes[offset:end]. Offsets in errors are always those of the whole file."""

    def __init__(self, data: bytes, *, offset: int = 0, end: int | None = None, order: str = "<") -> None:
        self.data = data
        self.offset = offset
        self.end = len(data) if end is None else end
        self.order = order

    @property
    def remaining(self) -> int:
        return self.end - self.offset

    def error(self, message: str, field: str, offset: int | None = None) -> FormatError:
        return FormatError(message, offset=self.offset if offset is None else offset, field=field)

    def need(self, size: int, field: str) -> None:
        """Raises unless `size` more bytes are there."""
        if size < 0 or size > self.remaining:
            raise self.error(too_short(size, self.offset, self.end, len(self.data)), field)

    def _scalar(self, code: str, size: int, field: str) -> Any:
        self.need(size, field)
        (value,) = struct.unpack_from(self.order + code, self.data, self.offset)
        self.offset += size
        return value

    def u8(self, field: str) -> int:
        return int(self._scalar("B", 1, field))

    def u16(self, field: str) -> int:
        return int(self._scalar("H", 2, field))

    def u32(self, field: str) -> int:
        return int(self._scalar("I", 4, field))

    def i32(self, field: str) -> int:
        return int(self._scalar("i", 4, field))

    def f32(self, field: str) -> float:
        return float(self._scalar("f", 4, field))

    def take(self, size: int, field: str) -> bytes:
        self.need(size, field)
        start = self.offset
        self.offset += size
        return self.data[start : self.offset]

    def array(self, dtype: npt.DTypeLike, count: int, field: str) -> Array:
        """`count` elements as a read-only view of the file: nothing is copied. Give the dtype its byte order."""
        kind = np.dtype(dtype)
        if count < 0:
            raise self.error(f"a count of {count}", field)
        self.need(count * kind.itemsize, field)
        values = np.frombuffer(self.data, kind, count, self.offset)
        self.offset += count * kind.itemsize
        return values

    def cstring(self, field: str) -> bytes:
        """Bytes up to a NUL, which is passed over."""
        stop = self.data.find(b"\0", self.offset, self.end)
        if stop < 0:
            raise self.error("the string has no terminating NUL", field)
        start, self.offset = self.offset, stop + 1
        return self.data[start:stop]

    def seek(self, offset: int, field: str) -> None:
        if not 0 <= offset <= self.end:
            raise self.error(f"the offset {offset} is outside the {self.end} bytes there are", field)
        self.offset = offset

    def align(self, size: int, field: str, origin: int = 0) -> bytes:
        """Passes over the padding to the next multiple of `size` from `origin`, and returns it."""
        return self.take(-(self.offset - origin) % size, field)

    def window(self, size: int, field: str) -> Reader:
        """A Reader of the next `size` bytes, which this one passes over."""
        self.need(size, field)
        inner = Reader(self.data, offset=self.offset, end=self.offset + size, order=self.order)
        self.offset += size
        return inner


class Writer:
    """Collects bytes; sizes and offsets that are known only later are patched in."""

    def __init__(self, *, order: str = "<") -> None:
        self.data = bytearray()
        self.order = order

    def __len__(self) -> int:
        return len(self.data)

    def _scalar(self, code: str, value: float) -> None:
        self.data += struct.pack(self.order + code, value)

    def u8(self, value: int) -> None:
        self._scalar("B", value)

    def u16(self, value: int) -> None:
        self._scalar("H", value)

    def u32(self, value: int) -> None:
        self._scalar("I", value)

    def i32(self, value: int) -> None:
        self._scalar("i", value)

    def f32(self, value: float) -> None:
        self._scalar("f", value)

    def put(self, data: bytes | bytearray | memoryview) -> None:
        self.data += data

    def array(self, values: Array, dtype: npt.DTypeLike | None = None) -> None:
        """The elements as they lie in memory, after a conversion to `dtype`."""
        self.data += np.ascontiguousarray(values, dtype).tobytes()

    def cstring(self, text: bytes) -> None:
        self.data += text + b"\0"

    def align(self, size: int, fill: bytes = b"\0", origin: int = 0) -> None:
        self.data += fill * (-(len(self.data) - origin) % size)

    def patch_u32(self, offset: int, value: int) -> None:
        struct.pack_into(self.order + "I", self.data, offset, value)


def decode(text: bytes) -> str:
    """A string of unknown code page: UTF-8 if it is that, else Windows-1252, else Latin-1. Never fails."""
    for encoding in ("utf-8", "cp1252"):
        try:
            return text.decode(encoding)
        except UnicodeDecodeError:
            continue
    return text.decode("latin-1")


def decoder(encoding: str) -> Callable[[bytes], str]:
    """How to decode the names of a file: with the code page that the user chose, or as `decode` does for "AUTO"."""
    if encoding == "AUTO":
        return decode
    return lambda text: text.decode(encoding, "replace")


def encode(text: str) -> bytes:
    """For a string that an old engine is to read: Windows-1252 where that has the letters, else UTF-8."""
    try:
        return text.encode("cp1252")
    except UnicodeEncodeError:
        return text.encode("utf-8")

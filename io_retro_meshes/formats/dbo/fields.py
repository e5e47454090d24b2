# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of blocks: how many bytes each takes in a file, and what Python sees of it.

Classes of records name their blocks with these descriptors, so that document.py reads like the format's tables. A kind
knows the length that the engine reads, which is not always the size that a file declares.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from ..binary import decode, encode

Array = npt.NDArray[Any]
T = TypeVar("T")

TERMINATOR = bytes(8)


@dataclass(eq=False, repr=False, slots=True)
class Records:
    """The records of a table. `counted`: their number stands before them, and no terminator behind."""

    entries: list[Record] = field(default_factory=list)
    end: bytes = TERMINATOR
    counted: bool = False


@dataclass(eq=False, repr=False, slots=True)
class Block:
    code: int
    data: bytes | Record | Records
    size: int | None = None  # as the file declares it; None: the true one


class Record:
    FIELDS: ClassVar[dict[int, Field[Any]]] = {}

    def __init__(self, **values: Any) -> None:
        self.blocks: list[Block] = []
        self.end = TERMINATOR  # empty, where the file has none
        self.latest: dict[int, Block] | None = None  # while it is read: the last block of each code, found at once
        for name, value in values.items():
            setattr(self, name, value)

    def __init_subclass__(cls) -> None:
        cls.FIELDS = {entry.code: entry for entry in vars(cls).values() if isinstance(entry, Field)}

    def find(self, code: int) -> Block | None:
        """The last block of the code: the engine reads one over the other."""
        if self.latest is not None:
            return self.latest.get(code)
        for block in reversed(self.blocks):
            if block.code == code:
                return block
        return None

    def put(self, code: int, data: bytes | Record | Records) -> None:
        block = self.find(code)
        if block is None:
            self.blocks.append(Block(code, data))
        else:
            block.data, block.size = data, None


class Field(Generic[T]):
    """A descriptor: the value of the block `code` of a record."""

    def __init__(self, code: int, default: T) -> None:
        self.code = code
        self.default = default
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, record: None, owner: type) -> Field[T]: ...
    @overload
    def __get__(self, record: Record, owner: type) -> T: ...
    def __get__(self, record: Record | None, owner: type) -> Field[T] | T:
        if record is None:
            return self
        block = record.find(self.code)
        return self.default if block is None else self.value(block.data)

    def __set__(self, record: Record, value: T) -> None:
        record.put(self.code, self.payload(value))

    def value(self, data: Any) -> T:
        raise NotImplementedError

    def payload(self, value: T) -> bytes | Record | Records:
        raise NotImplementedError

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        """The bytes that the engine reads at `offset`, whatever the block declares."""
        return declared


class Number(Field[Any]):
    """A DWORD, or a float."""

    def __init__(self, code: int, kind: str = "<I", default: float = 0) -> None:
        super().__init__(code, default)
        self.struct = struct.Struct(kind)

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        return 4

    def value(self, data: bytes) -> Any:
        return self.struct.unpack(data[:4])[0] if len(data) >= 4 else self.default

    def payload(self, value: Any) -> bytes:
        return self.struct.pack(value)


class Flag(Field[bool]):
    def __init__(self, code: int, default: bool = False) -> None:
        super().__init__(code, default)

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        return 1

    def value(self, data: bytes) -> bool:
        return bool(data[0]) if data else self.default

    def payload(self, value: bool) -> bytes:
        return bytes([bool(value)])


class Text(Field[str]):
    """A DWORD with the length, then that many bytes."""

    def __init__(self, code: int) -> None:
        super().__init__(code, "")

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        return 4 + int.from_bytes(data[offset : offset + 4], "little")

    def value(self, data: bytes) -> str:
        return decode(data[4:].split(b"\0")[0])

    def payload(self, value: str) -> bytes:
        text = encode(value)
        return len(text).to_bytes(4, "little") + text


class Floats(Field[Array]):
    def __init__(self, code: int, shape: tuple[int, ...], default: Array) -> None:
        super().__init__(code, default)
        self.shape = shape
        self.size = 4 * int(np.prod(shape))

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        return self.size

    def value(self, data: bytes) -> Array:
        if len(data) < self.size:
            return self.default
        return np.frombuffer(data, "<f4", self.size // 4).reshape(self.shape)

    def payload(self, value: Array) -> bytes:
        return np.ascontiguousarray(value, "<f4").tobytes()


class Raw(Field[bytes]):
    """Bytes: of a fixed size, or of the declared one."""

    def __init__(self, code: int, size: int | None = None) -> None:
        super().__init__(code, b"")
        self.size = size

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        return declared if self.size is None else self.size

    def value(self, data: bytes) -> bytes:
        return data

    def payload(self, value: bytes) -> bytes:
        return value


class Data(Field[Array]):
    """Elements of a dtype, as many as another block says; without that count, as many as the size says."""

    def __init__(self, code: int, dtype: npt.DTypeLike, count: str) -> None:
        self.dtype = np.dtype(dtype)
        super().__init__(code, np.zeros(0, self.dtype))
        self.count = count

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        return self.dtype.itemsize * int(getattr(record, self.count)) or declared

    def value(self, data: bytes) -> Array:
        return np.frombuffer(data, self.dtype, len(data) // self.dtype.itemsize)

    def payload(self, value: Array) -> bytes:
        return np.ascontiguousarray(value, self.dtype).tobytes()


class VertexData(Field[bytes]):
    """Vertices: stride x count bytes. The engine writes an empty list as a size of 0 and then a DWORD 0."""

    def __init__(self, code: int) -> None:
        super().__init__(code, b"")

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        size = int(record.stride * record.vertex_count)  # type: ignore[attr-defined]
        if size == 0 and declared == 0 and data[offset : offset + 4] == b"\0\0\0\0":
            after = int.from_bytes(data[offset + 4 : offset + 8], "little")
            return 4 if after in record.FIELDS else 0
        return size

    def value(self, data: bytes) -> bytes:
        return data

    def payload(self, value: bytes) -> bytes:
        return value


class Elements(Field[Array]):
    """A fixed number of elements of a dtype."""

    def __init__(self, code: int, dtype: npt.DTypeLike, count: int) -> None:
        self.dtype = np.dtype(dtype)
        super().__init__(code, np.zeros(0, self.dtype))
        self.count = count

    def length(self, record: Record, data: bytes, offset: int, declared: int) -> int:
        return self.dtype.itemsize * self.count

    def value(self, data: bytes) -> Array:
        return np.frombuffer(data, self.dtype, len(data) // self.dtype.itemsize)

    def payload(self, value: Array) -> bytes:
        return np.ascontiguousarray(value, self.dtype).tobytes()


class Sub(Field[Any]):
    """One record; an empty one is none."""

    def __init__(self, code: int, kind: Callable[[], type[Record]]) -> None:
        super().__init__(code, None)
        self.kind = kind

    def value(self, data: Record) -> Any:
        return data if data.blocks else None

    def payload(self, value: Any) -> Record:
        return self.kind()() if value is None else value


class Table(Field[list[Any]]):
    """Records, each with its terminator, and one more after the last; another block says how many."""

    def __init__(self, code: int, kind: Callable[[], type[Record]], count: str) -> None:
        super().__init__(code, [])
        self.kind = kind
        self.count = count

    def value(self, data: Records) -> list[Any]:
        return data.entries

    def payload(self, value: list[Any]) -> Records:
        return Records(list(value))


class Inline(Table):
    """A count, which is all that the size speaks of, and after it that many records."""

    def __init__(self, code: int, kind: Callable[[], type[Record]]) -> None:
        super().__init__(code, kind, "")

    def payload(self, value: list[Any]) -> Records:
        return Records(list(value), counted=True)

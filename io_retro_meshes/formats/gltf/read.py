# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes -> document: .glb by its header, else .gltf."""

from __future__ import annotations

import json
from typing import Any

from ..binary import Reader
from ..errors import FormatError
from .document import JSON_CHUNK, MAGIC, VERSION, Chunk, Document, Json

BOM = b"\xef\xbb\xbf"
# Members that say that a JSON file is a glTF: it may begin with any of them.
SIGNS = (b'"asset"', b'"bufferViews"', b'"accessors"', b'"extensionsUsed"')


def sniff(data: bytes) -> bool:
    if data[:4] == MAGIC:
        return True
    start = data.removeprefix(BOM).lstrip(b" \t\r\n")[:1]
    return start == b"{" and any(sign in data for sign in SIGNS)


def read(data: bytes) -> Document:
    document = _read_binary(data) if data[:4] == MAGIC else _read_text(data)
    version = document.root.part("asset").text("version")
    if version.split(".")[0] != str(VERSION):
        raise FormatError(f"glTF version {version or 'unknown'} cannot be read; only 2 can", field="asset.version")
    return document


def _read_text(data: bytes) -> Document:
    document = Document(binary=False, text=data)
    if data.startswith(BOM):
        document.warnings.append("The file begins with a byte order mark, which JSON must not have.")
    document.json = _parse(data.removeprefix(BOM), 0)
    return document


def _read_binary(data: bytes) -> Document:
    reader = Reader(data, offset=4)
    version = reader.u32("version")
    if version != VERSION:
        raise FormatError(f"glTF version {version} cannot be read; only 2 can", offset=4, field="version")
    document = Document(length=reader.u32("length"))
    size = reader.u32("chunk length")
    if reader.take(4, "chunk type") != JSON_CHUNK:
        raise FormatError("the first chunk is not JSON", offset=16, field="chunk type")
    start = reader.offset
    document.text = reader.take(size, "JSON chunk")
    document.json = _parse(document.text, start)
    end = min(document.length, len(data))
    while end - reader.offset >= 8:
        size = reader.u32("chunk length")
        kind = reader.take(4, "chunk type")
        document.chunks.append(Chunk(kind, reader.take(size, "chunk")))
    document.trailing = reader.take(reader.remaining, "trailing bytes")
    if document.length == len(data) and not document.trailing:
        document.length = -1
    else:
        document.warnings.append(f"The header declares {document.length} bytes, the file has {len(data)}.")
    return document


def _parse(text: bytes, offset: int) -> Json:
    try:
        found = json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", offset=offset + error.pos, field="JSON") from None
    except UnicodeDecodeError as error:
        raise FormatError("the JSON is not UTF-8", offset=offset + error.start, field="JSON") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; lists within lists within lists
        raise FormatError(f"the JSON cannot be read: {error}", offset=offset, field="JSON") from None
    if not isinstance(found, dict):
        raise FormatError("the JSON is not an object", offset=offset, field="JSON")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")

# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of formats. A new format is one new folder and one new line here.

`formats.b3d` is the face of the format in the folder b3d, as format.py declares it: `formats.b3d.read(data)` and so on.
"""

from __future__ import annotations

from typing import Any

from .b3d import FORMAT as b3d
from .bo3d import FORMAT as bo3d
from .bogle import FORMAT as bogle
from .dbo import FORMAT as dbo
from .errors import FormatError as FormatError
from .format import Format
from .gltf import FORMAT as gltf
from .saturn import FORMAT as saturn

AnyFormat = Format[Any, Any, Any]

FORMATS: dict[str, AnyFormat] = {entry.id: entry for entry in tuple(globals().values()) if isinstance(entry, Format)}
# Those that Blender gets operators, menus and settings for.
MENU_FORMATS: dict[str, AnyFormat] = {entry.id: entry for entry in FORMATS.values() if entry.in_menus}


def sniff(data: bytes) -> AnyFormat | None:
    """The format whose file this is by its first bytes, whatever it is called."""
    return next((entry for entry in FORMATS.values() if entry.sniff(data)), None)


def by_extension(suffix: str) -> AnyFormat | None:
    """The format that files with this extension (".b3d") are of, unless other programs use it, too."""
    known = (entry for entry in FORMATS.values() if not entry.shared_extension)
    return next((entry for entry in known if suffix.lower() in (*entry.extensions, *entry.import_extensions)), None)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles: TOML files with the target format and the options for an engine.

description = "what it is for"
to = "b3d"
via = "b3d"                         # other formats are made of this one, whose options count for them, too
texture-folders = ["textures"]      # relative to the profile

[options]
scale = 10.0
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..formats import FORMATS
from .job import Options, UsageError

SHIPPED = Path(__file__).parents[1] / "profiles"
_KEYS = {"description": str, "to": str, "via": str, "texture-folders": list, "options": dict}


@dataclass
class Profile:
    to: str | None = None
    via: str | None = None
    options: Options = field(default_factory=dict)
    texture_folders: list[str] = field(default_factory=list)


def shipped() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load(name: str) -> Profile:
    """A shipped profile by its name, or one's own by its path. Raises UsageError."""
    path = Path(name) if name.lower().endswith(".toml") or "/" in name else SHIPPED / f"{name}.toml"
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no profile {name}; there are {', '.join(shipped())}, and files ending in .toml") from None
    except (OSError, ValueError) as error:  # not TOML, not UTF-8
        raise UsageError(f"the profile {name} cannot be read: {error}") from None
    _check(name, content)
    folders = [str(path.parent / folder) for folder in content.get("texture-folders", [])]
    options = {key: _text(value) for key, value in content.get("options", {}).items()}
    return Profile(content.get("to"), content.get("via"), options, folders)


def _check(name: str, content: dict[str, Any]) -> None:
    for key, value in content.items():
        if key not in _KEYS:
            raise UsageError(f"the profile {name} has {key}; a profile has {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]):
            raise UsageError(f"in the profile {name}, {key} is of the wrong type")
    if content.get("via", next(iter(FORMATS))) not in FORMATS:
        raise UsageError(f"in the profile {name}, via is one of {', '.join(FORMATS)}")
    if not all(isinstance(folder, str) for folder in content.get("texture-folders", [])):
        raise UsageError(f"in the profile {name}, texture-folders is a list of texts")
    for key, value in content.get("options", {}).items():
        if not isinstance(value, (str, bool, int, float)):
            raise UsageError(f"in the profile {name}, the option {key} is neither a text, a number, nor true or false")


def _text(value: str | bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

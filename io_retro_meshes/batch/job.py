# SPDX-License-Identifier: GPL-3.0-or-later
"""One file to convert, and how that went: what goes to a worker and what comes back, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

Status = Literal["converted", "skipped", "failed", "crashed", "timed out"]
Options = dict[str, str]


class UsageError(Exception):
    """The command cannot be done as it was given."""


@dataclass
class Job:
    """One file to convert. Paths are local, or fsspec addresses."""

    source: str
    target: str
    to: str
    inside: str = ""  # the path of the source below what was given: its place in the output, and what shards are made by
    options: Options = field(default_factory=dict)
    texture_folders: list[str] = field(default_factory=list)
    via: str = ""  # a format of ours to make first, which the result is then made of
    through_blender: bool = True
    thumbnail: bool = False
    debug: bool = False
    made: str = ""  # the fingerprint of what the result is made of
    error: str = ""  # it failed before it began: a folder that cannot be listed

    def dump(self) -> str:
        return json.dumps(asdict(self))  # escapes what is not ASCII, also the halves of names that are not UTF-8

    @classmethod
    def load(cls, text: str) -> Job:
        return cls(**json.loads(text))


@dataclass
class Result:
    """What the report says about one file."""

    input: str
    output: str
    status: Status
    seconds: float = 0.0
    peak_memory: int = 0  # bytes
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what is worth knowing, and no trouble
    error: str = ""
    made: str = ""  # the fingerprint of what it was made of, for --skip-existing
    thumbnail: str = ""  # a PNG in base64
    traceback: str = ""
    memory: int = 0  # bytes that the worker holds after the file

    @property
    def failed(self) -> bool:
        return self.status not in ("converted", "skipped")

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Result:
        return cls(**json.loads(text))

    @classmethod
    def of(cls, job: Job, status: Status, error: str = "", seconds: float = 0.0) -> Result:
        return cls(job.source, job.target, status, error=error, seconds=round(seconds, 4), made=job.made)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a result was made of, for --skip-existing: kept with the file itself, as an extended attribute.

It goes where the file goes and leaves nothing in its folder. Where there are no extended attributes (Windows, macOS, stores),
the report of the last run says the same for those that it lists.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tomllib
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from . import remote
from .job import Job

ATTRIBUTE = "user.retro_meshes"


@lru_cache(maxsize=1)
def version() -> str:
    """Of this package: its manifest is in it when it is installed as an extension, else beside it."""
    package = Path(__file__).parents[1]
    for folder in (package, package.parent):
        with contextlib.suppress(OSError, KeyError, ValueError):
            return str(tomllib.loads((folder / "blender_manifest.toml").read_text("utf-8"))["version"])
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version("io-retro-meshes")
    return "unknown"


def fingerprint(job: Job) -> str:
    """Of everything that makes a result what it is: the version, the way, the options, and the source's time and size."""
    source = ""
    if not remote.is_remote(job.source):
        with contextlib.suppress(OSError):  # it is told when the conversion fails
            status = os.stat(job.source)
            source = f"{status.st_mtime_ns} {status.st_size}"
    way = [job.through_blender, *([job.via] if job.via else [])]
    parts = [version(), job.to, *way, sorted(job.options.items()), job.texture_folders, source]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()


def remember(job: Job) -> None:
    """After a conversion, what the result was made of when it began."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setxattr(job.target, ATTRIBUTE, job.made.encode())


def _recall(target: str) -> str:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.getxattr(target, ATTRIBUTE).decode("ascii", "replace")
    return ""


class Existing:
    """Which results need not be made again. `reported` are the fingerprints that an earlier report has, by output."""

    def __init__(self, reported: dict[str, str] | None = None) -> None:
        self._reported = reported or {}

    def is_current(self, job: Job) -> bool:
        """Not older than its source, and made as it would be made now; one that nothing is known of counts as that."""
        try:
            made, changed = _time(job.target), _time(job.source)
            if made is None or changed is None or made < changed:
                return False
            known = ("" if remote.is_remote(job.target) else _recall(job.target)) or self._reported.get(job.target, "")
            return not known or known == fingerprint(job)
        except OSError:
            return False


def _time(path: str) -> float | None:
    if remote.is_remote(path):
        return remote.modified(path)
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return None

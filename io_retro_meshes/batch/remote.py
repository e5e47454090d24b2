# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses like s3://bucket/models, through fsspec: listed, fetched before a conversion, and stored after it.

The process that asks a worker does this, the worker only ever sees local files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse

from ..pictures.search import PICTURES
from .job import Job, UsageError

COMPANIONS = (*PICTURES, ".bin", ".mtl")  # what models may need that lies beside them
TEXTURES = "textures"  # in the model's folder or beside that


def is_remote(path: str) -> bool:
    return "://" in path


def local(path: str) -> str:
    """A file:// address as a path; everything else as it is."""
    if not path.startswith("file://"):
        return path
    found = unquote(urlparse(path).path)
    return found[1:] if os.name == "nt" else found


def filesystem(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it. Raises UsageError."""
    try:
        import fsspec
    except ImportError:
        raise UsageError(f"{address}: addresses need fsspec; pip install 'io-retro-meshes[cluster]' brings it") from None
    try:
        system, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:  # no such protocol, or a package that it needs is not there
        raise UsageError(f"{address}: {error}") from None
    return system, path


def parent(address: str) -> str:
    """The address of the folder that something is in."""
    return address.rstrip("/").rpartition("/")[0]


def join(address: str, inside: str) -> str:
    return f"{address.rstrip('/')}/{inside}"


def modified(address: str) -> float | None:
    """When it was last written, in seconds; None when it is not there, 0 when the store does not say."""
    system, path = filesystem(address)
    try:
        return float(system.modified(path).timestamp())
    except FileNotFoundError:
        return None
    except (NotImplementedError, AttributeError):
        return 0.0 if system.exists(path) else None


def read_start(address: str, size: int) -> bytes:
    system, path = filesystem(address)
    with system.open(path, "rb") as file:
        return bytes(file.read(size))


# ------------------------------------------------------------------------------------------------------------- staging


class Staging:
    """Copies of remote files in a folder of one worker. What lies beside models is fetched once for a folder of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fetched = ""  # the remote folder that is here
        self._place = folder

    @contextmanager
    def staged(self, job: Job) -> Iterator[Job]:
        """The job on local files; what it makes is stored when it goes well."""
        here = job
        if is_remote(job.source):
            here = replace(here, source=str(self._fetch(job.source)))
        made = self._folder / "made"
        if is_remote(job.target):
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir(parents=True)
            here = replace(here, target=str(made / PurePosixPath(job.target).name))
        yield here
        if is_remote(job.target):
            self._store(made, job.target)

    def told(self, text: str) -> str:
        """A message with addresses instead of the places where their copies are."""
        text = text.replace(str(self._place / "models"), self._fetched).replace(str(self._place), parent(self._fetched))
        return text.replace(f"{self._folder / 'made'}{os.sep}", "")

    def _fetch(self, address: str) -> Path:
        folder = parent(address)
        self._place = place = self._folder / "fetched" / hashlib.blake2b(folder.encode(), digest_size=6).hexdigest()
        if folder != self._fetched:
            shutil.rmtree(self._folder / "fetched", ignore_errors=True)
            _fetch_beside(folder, place / "models")
            _fetch_beside(join(folder, TEXTURES), place / "models" / TEXTURES)
            _fetch_beside(join(parent(folder), TEXTURES), place / TEXTURES)
            self._fetched = folder
        system, path = filesystem(address)
        target = place / "models" / PurePosixPath(address).name
        system.get_file(path, str(target))
        return target

    def _store(self, made: Path, address: str) -> None:
        """The model last: when it is there, all of it is."""
        system, path = filesystem(address)
        folder, name = parent(path), PurePosixPath(path).name
        system.makedirs(folder, exist_ok=True)
        files = sorted(found for found in made.rglob("*") if found.is_file() and found != made / name)
        for found in [*files, made / name]:
            if found.exists():
                system.put_file(str(found), f"{folder}/{found.relative_to(made).as_posix()}")


def _fetch_beside(folder: str, place: Path) -> None:
    """Everything in a remote folder that a model there may need."""
    system, path = filesystem(folder)
    try:
        entries = system.ls(path, detail=True)
    except (FileNotFoundError, NotADirectoryError):
        return
    place.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        name = PurePosixPath(entry["name"]).name
        if entry["type"] == "file" and PurePosixPath(name).suffix.lower() in COMPANIONS:
            system.get_file(entry["name"], str(place / name))

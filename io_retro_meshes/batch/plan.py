# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files are converted and where the results go: a stream, whatever the number of files."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..atomic import PREFIX
from . import remote
from .job import Job, Options, UsageError
from .kinds import extension, needs_blender, output_of, writer_of
from .names import KeptFolders, ResultNames, stable_hash


@dataclass
class Found:
    """A source, with its path below what was given. An error is told instead of a conversion."""

    source: str
    inside: PurePosixPath
    error: str = ""


@dataclass
class Plan:
    """What was asked for. `jobs` can be gone through more than once, except where names come from standard input."""

    inputs: Sequence[str]
    output: str
    to: str
    files_from: str | None = None
    shard: tuple[int, int] = (0, 1)
    options: Options = field(default_factory=dict)
    usual: Options = field(default_factory=dict)  # of a profile: used by the formats that have them
    texture_folders: list[str] = field(default_factory=list)
    via: str | None = None  # of a profile: what is not of this format becomes it first
    through_blender: bool = False
    thumbnails: bool = False
    debug: bool = False

    def __post_init__(self) -> None:
        self.inputs = [remote.local(name) for name in self.inputs]
        self.output = remote.local(self.output)
        self._several = len(self.inputs) > 1 or self.files_from is not None
        self._names = ResultNames(self.to)
        self._kept = KeptFolders(self.output, self._names)
        _check_inputs(self)
        self.is_one_file = self._is_one_file()
        _check_output(self)

    @property
    def is_repeatable(self) -> bool:
        return self.files_from != "-"

    @property
    def single(self) -> str | None:
        """The one local file that was asked for, if it is that."""
        alone = not self._several and not remote.is_remote(self.inputs[0]) and os.path.isfile(self.inputs[0])
        return self.inputs[0] if alone else None

    def _is_one_file(self) -> bool:
        """Is OUT the file itself, not a folder for it?"""
        if self._several or not os.path.splitext(self.output)[1] or self.output.endswith(("/", os.sep)):
            return False
        is_folder = not remote.is_remote(self.output) and os.path.isdir(self.output)
        return not is_folder and (self.single is not None or _is_remote_file(self.inputs[0]))

    def jobs(self) -> Iterator[Job]:
        """Every file to convert. Raises UsageError when there is none at all."""
        number, count = self.shard
        met = 0
        for met, found in enumerate(self._unique(), 1):  # noqa: B007 - used after the loop
            if count > 1 and stable_hash(found.inside.as_posix()) % count != number % count:
                continue
            yield self._job(found)
        if not met and self.files_from is None:
            raise UsageError("there is nothing to convert in " + ", ".join(self.inputs))

    def _job(self, found: Found) -> Job:
        target = self.output if self.is_one_file else self._target(found)
        job = Job(found.source, target, self.to, found.inside.as_posix(), {**self.usual, **self.options}, self.texture_folders)
        job.error = found.error
        job.thumbnail, job.debug = self.thumbnails, self.debug
        if self.via and self.via != self.to and writer_of(self.to, self.through_blender) is not None:
            job.via = self.via
        job.through_blender = self.through_blender or needs_blender(found.source, job.via or self.to)
        if not found.error and _is_same_file(found.source, target):
            job.error = "it would be written over itself"
        return job

    def _target(self, found: Found) -> str:
        if found.error:
            return ""
        inside = self._names.result(found.source, found.inside)
        if remote.is_remote(self.output):
            return remote.join(self.output, inside.as_posix())
        return os.path.join(self.output, *inside.parts)

    # --------------------------------------------------------------------------------------------------------- sources

    def _unique(self) -> Iterator[Found]:
        """Each file once, also when it was given twice or lies in a folder that was given."""
        if not self._several:
            yield from self._found(self.inputs[0])
            return
        seen: set[int] = set()
        for name in self._given():
            for found in self._found(name):
                path = found.source if remote.is_remote(found.source) else os.path.abspath(found.source)
                if (key := stable_hash(path)) not in seen:
                    seen.add(key)
                    yield found

    def _given(self) -> Iterator[str]:
        yield from self.inputs
        if self.files_from is not None:
            yield from map(remote.local, _lines_of(self.files_from))

    def _found(self, name: str) -> Iterator[Found]:
        """Every file that a name means: itself, what is below a folder, or what a pattern matches."""
        if remote.is_remote(name):
            yield from self._found_remote(name)
        elif os.path.isdir(name):
            yield from self._walk(name, name)
        elif os.path.lexists(name):
            yield self._entry(name, os.path.dirname(name))
        elif glob.has_magic(name):
            base = _fixed_part(name)
            for match in glob.iglob(name, recursive=True, include_hidden=False):
                if os.path.isfile(match):
                    yield self._entry(match, base)
        else:  # from a list: what was on the command line is checked before
            yield Found(name, PurePosixPath(name), "there is no such file")

    def _entry(self, source: str, base: str) -> Found:
        if self._several:
            return Found(source, self._kept.inside(source, base))
        return Found(source, PurePosixPath(Path(os.path.relpath(source, base or ".")).as_posix()))

    def _walk(self, top: str, folder: str) -> Iterator[Found]:
        """Folder by folder, sorted, so that only one listing is in memory for each level."""
        waiting = [folder]
        out = os.path.abspath(self.output) if not remote.is_remote(self.output) else ""
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted((entry.name, entry.is_dir(follow_symlinks=False), entry.is_file()) for entry in entries)
            except OSError as error:
                yield Found(folder, PurePosixPath(folder), error.strerror or str(error))
                continue
            folders = [os.path.join(folder, name) for name, is_folder, _ in listed if is_folder and not name.startswith(PREFIX)]
            waiting += [path for path in reversed(folders) if os.path.abspath(path) != out]
            for name, _, is_file in listed:
                path = os.path.join(folder, name)
                if is_file and not name.startswith(PREFIX) and self._names.is_wanted(path, name):
                    yield self._entry(path, top)

    def _found_remote(self, address: str) -> Iterator[Found]:
        system, path = remote.filesystem(address)
        matches: Iterator[str]
        if glob.has_magic(path):
            base, matches = _fixed_part(path), (match for match in sorted(system.glob(path)) if system.isfile(match))
        elif system.isdir(path):
            below = (f"{folder}/{name}" for folder, _, names in system.walk(path) for name in sorted(names))
            base, matches = path, (name for name in below if self._names.is_wanted(system.unstrip_protocol(name), name))
        else:
            base, matches = remote.parent(path), iter([path])
        for match in matches:
            source = str(system.unstrip_protocol(match))
            inside = PurePosixPath(match.removeprefix(base).lstrip("/"))
            yield Found(source, self._kept.inside(source, base) if self._several else inside)


# -------------------------------------------------------------------------------------------------------------- checks


def make_target(to: str | None, output: str, usual: str | None) -> str:
    """The format to convert to: as was said, else by the output's name, else the usual one. Raises UsageError."""
    found = to or output_of(os.path.splitext(output)[1]) or usual
    if found is None:
        raise UsageError("say --to which format")
    return found


def _check_inputs(plan: Plan) -> None:
    """What can be told before anything runs. Raises UsageError."""
    if not plan.inputs and plan.files_from is None:
        raise UsageError("say what to convert: files, folders, patterns, or --files-from a list")
    if plan.files_from not in (None, "-") and not os.path.isfile(str(plan.files_from)):
        raise UsageError(f"there is no list {plan.files_from}")
    if len({name.partition("://")[0] if remote.is_remote(name) else "" for name in plan.inputs}) > 1:
        raise UsageError("inputs are all local, or all at addresses of one kind")
    for name in plan.inputs:
        if not _is_there(name):
            raise UsageError(f"there is no file {name}")


def _check_output(plan: Plan) -> None:
    if plan.is_one_file:
        if _is_same_file(plan.inputs[0], plan.output):
            raise UsageError(f"{plan.inputs[0]} would be written over itself")
    elif not remote.is_remote(plan.output):
        if os.path.splitext(plan.output)[1].lower() == extension(plan.to) and not os.path.isdir(plan.output):
            raise UsageError(f"{plan.output} is one file, and there may be several inputs: say a folder")
        if os.path.exists(plan.output) and not os.path.isdir(plan.output):
            raise UsageError(f"{plan.output} is not a folder")


def _is_there(name: str) -> bool:
    if remote.is_remote(name):
        system, path = remote.filesystem(name)
        return bool(glob.has_magic(path) or system.exists(path))
    return os.path.lexists(name) or (glob.has_magic(name) and next(glob.iglob(name, recursive=True), None) is not None)


def _is_remote_file(name: str) -> bool:
    if not remote.is_remote(name):
        return False
    system, path = remote.filesystem(name)
    return not glob.has_magic(path) and not system.isdir(path)


def _is_same_file(source: str, target: str) -> bool:
    if remote.is_remote(source) or remote.is_remote(target):
        return source == target
    try:
        return os.path.samefile(source, target)
    except OSError:
        return False


def _fixed_part(pattern: str) -> str:
    """The folder of a pattern before anything in it is a wildcard."""
    folder = os.path.dirname(pattern)
    while glob.has_magic(folder):
        folder = os.path.dirname(folder)
    return folder


def _lines_of(name: str) -> Iterator[str]:
    """The names in a list, a line or (as of `find -print0`) a NUL each; in whatever encoding the file system has."""
    stream = sys.stdin.buffer if name == "-" else open(name, "rb")  # noqa: SIM115 - closed below
    try:
        for line in stream:
            for part in line.rstrip(b"\r\n").split(b"\0"):
                if part:
                    yield os.fsdecode(part)
    finally:
        if name != "-":
            stream.close()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are whole or not there: made beside their target under a name that tells whose they are, then renamed.

A process that is killed leaves such names behind. `sweep` removes them: those of one process, or those of all that have ended.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

# .retro-meshes-<computer>-<process>-<random>: no two processes make the same name, and it says whether its maker still lives.
PREFIX = ".retro-meshes-"
HOST = f"{zlib.crc32(platform.node().encode('utf-8', 'replace')):08x}"
LEFT_OVER = re.compile(re.escape(PREFIX) + r"([0-9a-f]{8})-(\d+)-.+")
NO_FILE = "It is a pipe, a device or a socket, not a file"
OLD = 24 * 3600  # seconds after which what is half written has no maker any more, wherever it was made


def owner_prefix() -> str:
    """What the temporary names of this process begin with."""
    return f"{PREFIX}{HOST}-{os.getpid()}-"


def write_atomically(path: Path, data: bytes) -> None:
    """Puts a file in place: whatever happens, it is the old one or the new one. A link stays a link, and a mode is kept."""
    path = Path(os.path.realpath(path))
    mode = _mode(path)
    with _written(path.parent, data, mode) as name:
        os.replace(name, path)


def create_atomically(path: Path, data: bytes) -> None:
    """Makes a file that is not there yet. Raises FileExistsError where anything is there by now, a broken link even."""
    with _written(path.parent, data, None) as name:
        try:
            os.link(name, path)  # unlike a renaming, never in the place of another file
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            os.rename(name, path)


def _mode(path: Path) -> int | None:
    """The mode of the file that is there; OSError where it is none that can be written over."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return stat.S_IMODE(found)


def read_regular(path: Path, most: int = -1) -> bytes:
    """The bytes of a file, or its first ones. Never waits for a pipe, and never reads a device: these give an OSError."""
    found = path.stat().st_mode
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    with path.open("rb") as stream:
        return stream.read(most)


@contextlib.contextmanager
def _written(folder: Path, data: bytes, mode: int | None) -> Iterator[str]:
    """The name of a new file with the data, in the same folder. It is gone afterwards if it has that name still."""
    _sweep_once(folder)
    name = str(folder / f"{owner_prefix()}{os.urandom(8).hex()}")
    try:
        with open(name, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(name, mode)
        yield name
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A folder to make things in, on the same disk as the target; gone afterwards with all that is left in it."""
    _sweep_once(target.parent)
    made = Path(tempfile.mkdtemp(prefix=owner_prefix(), dir=target.parent))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def move_into_place(made: Path, target: Path) -> None:
    """Moves what was made in a folder to where it belongs, the target itself last: when it is there, all of it is."""
    companions = sorted(path for path in made.iterdir() if path.name != target.name)
    with commit():
        for path in [*companions, made / target.name]:
            path.replace(target.parent / path.name)


# -------------------------------------------------------------------------------------------------------------- commit

_depth = 0
_postponed: list[Callable[[], None]] = []


@contextlib.contextmanager
def commit() -> Iterator[None]:
    """While several files are renamed that belong together: a request to stop waits until that is done."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth and _postponed:
            _postponed.pop()()


def after_commit(stop: Callable[[], None]) -> None:
    """Calls `stop`, for signal handlers: at once, or when the files that are being renamed are all in place."""
    if _depth:
        _postponed.append(stop)
    else:
        stop()


# --------------------------------------------------------------------------------------------------------------- sweep


_swept: set[str] = set()


def _sweep_once(folder: Path) -> None:
    """What was left half made by processes that were killed is looked for once in each folder that is written to."""
    if str(folder) not in _swept:
        _swept.add(str(folder))
        sweep(folder)


def sweep(folder: Path, process: int | None = None) -> None:
    """Removes temporary names: those of a process of this machine, else those whose process has ended."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and _is_abandoned(entry, process):
                _remove(Path(entry.path))


def _is_abandoned(entry: os.DirEntry[str], process: int | None) -> bool:
    found = LEFT_OVER.fullmatch(entry.name)
    if found is None:
        return False
    if found[1] == HOST:
        if process is not None:
            return int(found[2]) == process
        if not is_alive(int(found[2])):
            return True
    return process is None and time.time() - entry.stat(follow_symlinks=False).st_mtime > OLD


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def is_alive(process: int) -> bool:
    if os.name == "nt" or process <= 0:  # there the question would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is somebody else's
        return True
    try:  # one that has ended may wait to be noticed by its parent
        return Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True

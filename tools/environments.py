# SPDX-License-Identifier: GPL-3.0-or-later
"""The virtual environments: one for each dependency group, installed from its lock file and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import libraries
from .common import ROOT, Failure, output, run, say

ENVIRONMENTS = Path(os.environ.get("RETRO_ENVS") or ROOT / ".envs")
LOCKS = ROOT / "locks"
MARKER = "lock.txt"  # in a finished environment: the lock it was made from
PYTHON = (3, 11)  # the one that Blender 4.2 to 5.0 have
VERSIONS = ["4.2", "4.5", "5.0"]  # of Blender, each with a group bpy-<version>
DEFAULT = "4.5"


def find_python() -> str:
    """The path of an interpreter of the version that bpy is made for."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    name = "{}.{}".format(*PYTHON)
    pyenv = sorted(versions.glob(f"{name}*/bin/python")) + sorted(versions.glob(f"{name}*/python.exe"))
    candidates = [[sys.executable], [f"python{name}"], ["py", f"-{name}"], ["python3"], ["python"]]
    candidates += [[str(path)] for path in pyenv]
    candidates.append([output(["uv", "python", "find", name]) or sys.executable])
    for command in candidates:
        found = output([*command, "-c", "import sys; print(*sys.version_info[:2], sys.executable)"])
        if found and found.startswith("{} {} ".format(*PYTHON)):
            return found.split(" ", 2)[2]
    raise Failure(
        f"Python {name} is needed, the one that Blender's own module is made for, and none was found.\n"
        f"This is Python {sys.version.split()[0]}. Install {name} beside it, for example:\n"
        f"    apt-get install python{name} python{name}-venv      (Debian 12, Ubuntu)\n"
        f"    dnf install python{name}                        (Fedora)\n"
        f"    brew install python@{name}                      (macOS)\n"
        f"    winget install Python.Python.{name}             (Windows)\n"
        f"    pyenv install {name}      or      uv python install {name}"
    )


def interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def lock_text(name: str) -> str:
    path = LOCKS / f"{name}.txt"
    if not path.is_file():
        raise Failure(f"There is no {path.name} in {LOCKS.name}: run `python3 build.py lock`.")
    return path.read_text("utf-8")


def is_made_from(folder: Path, lock: str) -> bool:
    marker = folder / MARKER
    return marker.is_file() and marker.read_text("utf-8") == lock


def environment(name: str) -> str:
    """The Python of an environment, which is made first if it is not there, is half made, or has another lock.

    It is made under another name and renamed when it is whole, so that two runs at once do not meet in it.
    """
    folder = ENVIRONMENTS / name
    lock = lock_text(name)
    if not is_made_from(folder, lock):
        ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f"{name}-making-", dir=ENVIRONMENTS))
        try:
            install(making, name)
            (making / MARKER).write_text(lock, "utf-8")
            put_in_place(making, folder, lock)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    python = str(interpreter(folder))
    started = folder / "started.txt"
    if name.startswith("bpy-") and not started.is_file():
        started.write_text(start_bpy(python), "utf-8")
    return python


def put_in_place(making: Path, folder: Path, lock: str) -> None:
    if folder.exists() and not is_made_from(folder, lock):
        old = Path(tempfile.mkdtemp(prefix=f"{folder.name}-old-", dir=folder.parent))
        folder.rename(old / "old")
        shutil.rmtree(old, ignore_errors=True)
    try:
        making.rename(folder)
    except OSError:  # another run was faster, and its environment is as good
        if not is_made_from(folder, lock):
            raise


def install(folder: Path, name: str) -> None:
    say(f"Making the environment {name} from locks/{name}.txt. This happens once.")
    pip = empty_environment(folder)
    run([*pip, "install", "--quiet", "--require-hashes", "-r", str(LOCKS / f"{name}.txt")], f"install locks/{name}.txt")


def empty_environment(folder: Path) -> list[str]:
    """Makes a virtual environment and returns the pip command that installs into it."""
    base = find_python()
    own = str(interpreter(folder))
    # A pip that can install into another environment spares us ensurepip, which some systems leave out.
    found = re.match(r"pip (\d+)\.(\d+)", output([base, "-m", "pip", "--version"]) or "")
    if found and (int(found[1]), int(found[2])) >= (22, 3):
        run([base, "-m", "venv", "--without-pip", str(folder)], "make a virtual environment")
        return [base, "-m", "pip", "--python", own, "--disable-pip-version-check"]
    run([base, "-m", "venv", str(folder)], "make a virtual environment (is the package python3-venv installed?)")
    return [own, "-m", "pip", "--disable-pip-version-check"]


def start_bpy(python: str) -> str:
    """The version that bpy says it is; where a system library is missing it is installed, or its name is told."""
    version, missing = try_bpy(python)
    if missing and libraries.install():
        version, missing = try_bpy(python)
    if missing:
        raise Failure(f"Blender's module needs the system library {missing}. To install what it needs:\n{libraries.lines()}")
    return version


def try_bpy(python: str) -> tuple[str, str]:
    """Imports bpy: its version, or the name of the system library that is missing."""
    code = "import bpy, os, sys; print(bpy.app.version_string); sys.stdout.flush(); os._exit(0)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return done.stdout.strip(), ""
    words = (done.stderr or done.stdout).strip()
    missing = re.search(r"(lib\S+): cannot open shared object file", words)
    if missing is None:
        raise Failure(f"Blender's module does not start:\n{words}")
    return "", missing[1]

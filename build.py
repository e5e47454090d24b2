#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything around the add-on, with nothing but Python: run `python3 build.py --help`.

    python3 build.py                              the extension, as dist/io_retro_meshes-<version>.zip
    python3 build.py convert IN... -o OUT --to FORMAT
    python3 build.py info FILE...                 what is in a file
    python3 build.py check FILE...                is it read and written back byte for byte?
    python3 build.py test [--all] [PYTEST...]     linters, types and tests; --all: on every supported Blender
    python3 build.py bench [--check]              times against Blender's own importers
    python3 build.py libraries                    the line that installs the system libraries Blender's module needs

What a command needs is installed on its first run, into .envs (or the folder that RETRO_ENVS names).
`--blender PATH` as the first option after the command runs it in that Blender instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "io_retro_meshes"
ENVIRONMENTS = Path(os.environ.get("RETRO_ENVS") or ROOT / ".envs")
PYTHON = (3, 11)  # the one that Blender 4.2 to 5.0 have
LIMIT = 1800  # seconds that any program started here may take

PYTEST = ["pytest==9.2.0", "hypothesis==6.170.15"]
PINS = {
    "plain": ["numpy==2.4.6"],
    "checks": ["numpy==2.4.6", *PYTEST, "ruff==0.17.5", "mypy==2.4.1"],
    # numpy as in the Blender of the same version
    "bpy-4.2": ["bpy==4.2.0", "numpy==1.24.4", *PYTEST],
    "bpy-4.5": ["bpy==4.5.4", "numpy==1.26.4", *PYTEST],
    "bpy-5.0": ["bpy==5.0.1", "numpy==1.26.4", *PYTEST],
}
VERSIONS = ["4.2", "4.5", "5.0"]
DEFAULT = "4.5"

# The system's libraries that the bpy wheels ask for, by the packages that bring them.
LIBRARIES = {
    "apt-get install -y": "libx11-6 libxi6 libxxf86vm1 libxfixes3 libxrender1 libxkbcommon0 libsm6 libice6 libgl1 libgomp1",
    "dnf install -y": "libX11 libXi libXxf86vm libXfixes libXrender libxkbcommon libSM libICE libglvnd-glx libgomp",
}


class Failure(Exception):
    """Something the user must know, said in words."""


# ----------------------------------------------------------------------------------------------------------- the zip


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / "blender_manifest.toml").read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise Failure("blender_manifest.toml has no version.")
    return found[1]


def build(folder: Path = ROOT / "dist") -> Path:
    """The same sources give the same bytes: sorted names, one date, one set of permissions."""
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*") if path.is_file()}
    files = {name: path for name, path in files.items() if not name.endswith(".pyc") and "/." not in "/" + name}
    for name in ("blender_manifest.toml", "LICENSE", "README.md"):
        files[name] = ROOT / name
    target = folder / f"io_retro_meshes-{version()}.zip"
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part")
    with zipfile.ZipFile(part, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name].read_bytes(), zipfile.ZIP_DEFLATED, 9)
    part.replace(target)
    return target


# ------------------------------------------------------------------------------------------------------ environments


def output(command: list[str]) -> str | None:
    """What a program prints, or None when it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


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


def environment(name: str) -> str:
    """The Python of an environment, which is made first if it is not there, is half made, or has other pins.

    It is made under another name and renamed when it is whole, so that two runs at once do not meet in it.
    """
    folder = ENVIRONMENTS / name
    pins = "\n".join(PINS[name])
    marker = folder / "pins.txt"
    if not marker.is_file() or marker.read_text("utf-8") != pins:
        ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f"{name}-making-", dir=ENVIRONMENTS))
        try:
            install(making, name)
            (making / "pins.txt").write_text(pins, "utf-8")
            put_in_place(making, folder, pins)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    python = str(interpreter(folder))
    started = folder / "started.txt"
    if name.startswith("bpy-") and not started.is_file():
        started.write_text(try_bpy(python), "utf-8")
    return python


def put_in_place(making: Path, folder: Path, pins: str) -> None:
    marker = folder / "pins.txt"
    if folder.exists() and not (marker.is_file() and marker.read_text("utf-8") == pins):
        old = Path(tempfile.mkdtemp(prefix=f"{folder.name}-old-", dir=folder.parent))
        folder.rename(old / "old")
        shutil.rmtree(old, ignore_errors=True)
    try:
        making.rename(folder)
    except OSError:  # another run was faster, and its environment is as good
        if not marker.is_file():
            raise


def install(folder: Path, name: str) -> None:
    say(f"Making the environment {name}: {', '.join(PINS[name])}. This happens once.")
    base = find_python()
    own = str(interpreter(folder))
    # A pip that can install into another environment spares us ensurepip, which some systems leave out.
    pip_version = output([base, "-m", "pip", "--version"])
    found = re.match(r"pip (\d+)\.(\d+)", pip_version or "")
    if found and (int(found[1]), int(found[2])) >= (22, 3):
        run([base, "-m", "venv", "--without-pip", str(folder)], "make a virtual environment")
        pip = [base, "-m", "pip", "--python", own]
    else:
        run([base, "-m", "venv", str(folder)], "make a virtual environment (is the package python3-venv installed?)")
        pip = [own, "-m", "pip"]
    run([*pip, "install", "--quiet", "--disable-pip-version-check", *PINS[name]], f"install {' '.join(PINS[name])}")


def try_bpy(python: str) -> str:
    """Imports bpy and returns its version; a missing system library becomes the line that installs it."""
    code = "import bpy, os, sys; print(bpy.app.version_string); sys.stdout.flush(); os._exit(0)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return done.stdout.strip()
    words = (done.stderr or done.stdout).strip()
    missing = re.search(r"(lib\S+): cannot open shared object file", words)
    if missing is None:
        raise Failure(f"Blender's module does not start:\n{words}")
    raise Failure(f"Blender's module needs the system library {missing[1]}. To install what it needs:\n{library_lines()}")


def library_lines() -> str:
    here = [f"    {line} {names}" for line, names in LIBRARIES.items() if shutil.which(line.split()[0])]
    return "\n".join(here or [f"    {line} {names}" for line, names in LIBRARIES.items()])


def run(command: list[str], purpose: str) -> None:
    done = subprocess.run(command, timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Failure(f"Could not {purpose}:\n{done.stdout.strip()}")


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


# ---------------------------------------------------------------------------------------------------------- commands


def script(path: Path, arguments: list[str], blender: str | None, environment_name: str) -> list[str]:
    """The command that runs a script of ours in Blender, or in an environment."""
    if blender:
        return [blender, "-b", "--factory-startup", "--python-exit-code", "1", "--python", str(path), "--", *arguments]
    return [environment(environment_name), str(path), *arguments]


def command_line(command: str, arguments: list[str], blender: str | None) -> int:
    """convert needs Blender; info and check only numpy, which is quicker to have."""
    name = f"bpy-{DEFAULT}" if command == "convert" else "plain"
    return subprocess.run(script(PACKAGE / "cli.py", [command, *arguments], blender, name)).returncode


def bench(arguments: list[str], blender: str | None) -> int:
    return subprocess.run(script(ROOT / "tests/bench/bench.py", arguments, blender, f"bpy-{DEFAULT}"), timeout=LIMIT).returncode


def test_in_blender(arguments: list[str], blender: str) -> int:
    """tests/blender with the pytest of an environment of ours, then tests/gui in a window if there is a screen."""
    pytest = [environment("checks"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = output(pytest) or ""
    code = subprocess.run(
        script(ROOT / "tests/in_blender.py", [packages, *(arguments or ["tests/blender"])], blender, ""),
        cwd=ROOT,
        timeout=LIMIT,
    ).returncode
    window = [blender, "--factory-startup", "--enable-event-simulate", "--python", str(ROOT / "tests/gui/run.py")]
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        if not shutil.which("xvfb-run"):
            say("There is no screen and no xvfb-run: tests/gui was left out.")
            return code or 1
        window = ["xvfb-run", "-a", *window]
    return code or subprocess.run(window, cwd=ROOT, timeout=LIMIT).returncode


def test(arguments: list[str], blender: str | None) -> int:
    """Every step says its name and, when it fails, its output; the steps run two at a time."""
    if blender:
        return test_in_blender(arguments, blender)
    versions = VERSIONS if "--all" in arguments else [DEFAULT]
    chosen = [argument for argument in arguments if argument != "--all"]
    if chosen:
        return max(subprocess.run([environment(f"bpy-{v}"), "-m", "pytest", *chosen], cwd=ROOT).returncode for v in versions)
    steps = [(f"Blender {v}", f"bpy-{v}", ["pytest", "tests/blender"]) for v in versions]
    steps += [
        ("formats, without Blender", "checks", ["pytest", "tests/formats"]),
        ("ruff check", "checks", ["ruff", "check", "."]),
        ("ruff format", "checks", ["ruff", "format", "--check", "."]),
        ("mypy", "checks", ["mypy"]),
    ]
    for name in sorted({name for _, name, _ in steps}):
        environment(name)
    with ThreadPoolExecutor(2) as pool:
        passed = list(pool.map(lambda parts: step(*parts), steps))
    say("All passed." if all(passed) else f"{passed.count(False)} of {len(passed)} steps failed.")
    return 0 if all(passed) else 1


def step(title: str, environment_name: str, module: list[str]) -> bool:
    start = time.monotonic()
    command = [environment(environment_name), "-m", *module]
    try:
        done = subprocess.run(command, cwd=ROOT, timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        words, code = done.stdout.decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        words, code = (late.stdout or b"").decode("utf-8", "replace"), -1
    lines = words.strip().splitlines()
    verdict = "passed" if code == 0 else f"FAILED (exit code {code})"
    shown = lines[-1:] if code == 0 else lines
    print("\n".join([f"== {title}: {verdict} in {time.monotonic() - start:.0f} s", *shown]), flush=True)
    return code == 0


def main(arguments: list[str]) -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("build", [])
    blender = None
    if rest[:1] == ["--blender"] and len(rest) > 1:
        blender, rest = rest[1], rest[2:]
    if command == "build":
        print(build().relative_to(ROOT))
        return 0
    if command in ("convert", "info", "check"):
        return command_line(command, rest, blender)
    if command == "libraries":
        print(library_lines().strip())
        return 0
    if command in ("test", "bench"):
        return (test if command == "test" else bench)(rest, blender)
    print(__doc__)
    return 0 if command in ("help", "--help", "-h") else 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"build.py: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)

# SPDX-License-Identifier: GPL-3.0-or-later
"""`build.py test`: linters, types and tests, in environments of our own or in a Blender that is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from .common import LIMIT, ROOT, output, say
from .environments import DEFAULT, ENVIRONMENTS, VERSIONS, environment

# title, environment (none: the Python that runs build.py), module and arguments
CHECKS: list[tuple[str, str | None, list[str]]] = [
    ("formats, without Blender", "checks", ["pytest", "tests/formats"]),
    ("build.py and its environments", "checks", ["pytest", "tests/checks"]),
    ("import graph", "checks", ["tests.checks.imports"]),
    ("pip install .", None, ["tests.checks.install"]),
    ("ruff check", "checks", ["ruff", "check", "."]),
    ("ruff format", "checks", ["ruff", "format", "--check", "."]),
    ("mypy", "checks", ["mypy"]),
]


def test(arguments: list[str], blender: str | None) -> int:
    """Every step says its name and, when it fails, its output; the steps run two at a time."""
    if blender:
        return in_blender(arguments, blender)
    versions = VERSIONS if "--all" in arguments else [DEFAULT]
    chosen = [argument for argument in arguments if argument != "--all"]
    if chosen:
        return max(subprocess.run([environment(f"bpy-{v}"), "-m", "pytest", *chosen], cwd=ROOT).returncode for v in versions)
    steps = [*((f"Blender {v}", f"bpy-{v}", ["pytest", "tests/blender"]) for v in versions), *CHECKS]
    for name in sorted({name for _, name, _ in steps if name}):
        environment(name)
    with ThreadPoolExecutor(2) as pool:
        passed = list(pool.map(lambda parts: step(*parts), steps))
    say("All passed." if all(passed) else f"{passed.count(False)} of {len(passed)} steps failed.")
    return 0 if all(passed) else 1


def step(title: str, name: str | None, module: list[str]) -> bool:
    start = time.monotonic()
    command = [environment(name) if name else sys.executable, "-m", *module]
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


def blender_command(blender: str, script: str, *arguments: str) -> list[str]:
    """Runs a script in a Blender, without a window."""
    return [blender, "-b", "--factory-startup", "--python-exit-code", "1", "--python", script, "--", *arguments]


def packages() -> str:
    """The folder of the environment that has pytest, for a Blender that has none."""
    return output([environment("checks"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]) or ""


def with_addon_tester(revision: str, arguments: list[str], blender: str | None, archive: str) -> int:
    """blender-addon-tester with a load script of ours; the arguments are pytest's."""
    command = [environment("addon-tester"), "-m", "tests.addon_tester.run", archive, revision, str(ENVIRONMENTS / "blenders")]
    command += [*(["--blender", blender] if blender else []), "--", *arguments]
    variables = {**os.environ, "RETRO_PACKAGES": packages()}
    return subprocess.run(command, cwd=ROOT, timeout=LIMIT, env=variables).returncode


def in_blender(arguments: list[str], blender: str) -> int:
    """tests/blender with the pytest of an environment of ours, then tests/gui in a window if there is a screen."""
    command = blender_command(blender, str(ROOT / "tests/in_blender.py"), packages(), *(arguments or ["tests/blender"]))
    code = subprocess.run(command, cwd=ROOT, timeout=LIMIT).returncode
    window = [blender, "--factory-startup", "--enable-event-simulate", "--python", str(ROOT / "tests/gui/run.py")]
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        if not shutil.which("xvfb-run"):
            say("There is no screen and no xvfb-run: tests/gui was left out.")
            return code or 1
        window = ["xvfb-run", "-a", *window]
    with tempfile.TemporaryDirectory() as folder:  # where the extension is installed
        variables = {**os.environ, "BLENDER_USER_RESOURCES": folder}
        return code or subprocess.run(window, cwd=ROOT, timeout=LIMIT, env=variables).returncode

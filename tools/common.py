# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are, and how other programs are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "io_retro_meshes"
LIMIT = 1800  # seconds that any program started here may take


class Failure(Exception):
    """Something the user must know, in words."""


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def output(command: list[str]) -> str | None:
    """What a program prints, or None when it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def run(command: list[str], purpose: str) -> str:
    """Runs a program and returns what it printed; raises Failure with that when it fails."""
    done = subprocess.run(command, timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    if done.returncode:
        raise Failure(f"Could not {purpose}:\n{done.stdout.strip()}")
    return done.stdout

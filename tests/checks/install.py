# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the project into an empty virtual environment, as `pip install .` does, and runs its program there.

    python -m tests.checks.install

What pip would download comes from locks/install.txt, with hashes; after that pip is cut off from the index, so a dependency
that is missing in the lock, or a build that wants more than [build-system] says, fails here.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from build import version
from tools.common import ROOT, output, run
from tools.environments import LOCKS, empty_environment, interpreter

MODEL = str(ROOT / "examples/fox.b3d")


def called(command: list[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return done.returncode, done.stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "environment"
        pip = empty_environment(folder)
        run([*pip, "install", "--quiet", "--require-hashes", "-r", str(LOCKS / "install.txt")], "install the lock")
        run([*pip, "install", "--quiet", "--no-index", "--no-build-isolation", str(ROOT)], "install the project")
        python = interpreter(folder)
        program = str(python.with_name("retro-meshes" + python.suffix))
        # from another folder, so that nothing of the sources can be meant by accident
        for command in ([program], [str(python), "-m", "io_retro_meshes"]):
            code, words = called([*command, "info", MODEL], Path(name))
            assert code == 0 and "Blitz3D" in words and "bones" in words, words
            assert called([*command, "--version"], Path(name)) == (0, f"io_retro_meshes {version()}\n")
            assert called([*command, "check", MODEL], Path(name))[0] == 0
            assert called([*command, "convert", MODEL, "-o", "fox.glb"], Path(name))[0] == 0
            assert (Path(name) / "fox.glb").read_bytes()[:4] == b"glTF"
            assert called([*command, "info", "missing.b3d"], Path(name))[0] == 1
            assert called([*command, "nonsense"], Path(name))[0] == 2
        ask = "import importlib.metadata as m; print(m.version('io-retro-meshes'))"
        assert output([str(python), "-c", ask]) == version()
    print("pip install . gives a program that works")
    return 0


if __name__ == "__main__":
    sys.exit(main())

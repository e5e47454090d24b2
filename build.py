#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything around the add-on, with nothing but Python: run `python3 build.py --help`.

    python3 build.py                              the extension, as dist/io_retro_meshes-<version>.zip
    python3 build.py build --website URL          the same, with the address of the project for Blender's Website button
    python3 build.py convert IN... -o OUT --to FORMAT
    python3 build.py info FILE...                 what is in a file
    python3 build.py check FILE...                is it read and written back byte for byte?
    python3 build.py assets IN... -o OUT.blend    an asset library out of models and folders
    python3 build.py test [--all] [PYTEST...]     linters, types and tests; --all: on every supported Blender
    python3 build.py test --addon-tester REVISION the zip, installed in a Blender that blender-addon-tester downloads
    python3 build.py mutate [--count 200] [--seed N] [--jobs 2] [--list FILE]    how many defects do the tests notice?
    python3 build.py bench [--check]              times against Blender's own importers
    python3 build.py docs                         the tables of formats and options in README.md and docs/
    python3 build.py lock                         the lock files again, from the dependency groups of pyproject.toml
    python3 build.py libraries                    the line that installs the system libraries Blender's module needs

What a command needs is installed on its first run, into .envs (or the folder that RETRO_ENVS names).
`--blender PATH` among the first options after the command runs it in that Blender instead.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

from tools import libraries, pages
from tools.common import PACKAGE, ROOT, Failure
from tools.environments import DEFAULT, environment
from tools.lock import lock
from tools.testing import blender_command, test, with_addon_tester

# ----------------------------------------------------------------------------------------------------------- the zip


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / "blender_manifest.toml").read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise Failure("blender_manifest.toml has no version.")
    return found[1]


def build(folder: Path = ROOT / "dist", website: str = "") -> Path:
    """The same sources give the same bytes: sorted names, one date, one set of permissions."""
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*") if path.is_file()}
    files = {name: path for name, path in files.items() if not name.endswith(".pyc") and "/." not in "/" + name}
    contents = {name: path.read_bytes() for name, path in files.items()}
    contents |= {name: (ROOT / name).read_bytes() for name in ("blender_manifest.toml", "LICENSE")}
    contents |= {"README.md": pages.readme(), **pages.pages()}
    if website:
        contents["blender_manifest.toml"] = f'website = "{website}"\n'.encode() + contents["blender_manifest.toml"]
    target = folder / f"io_retro_meshes-{version()}.zip"
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part")
    with zipfile.ZipFile(part, "w") as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, contents[name], zipfile.ZIP_DEFLATED, 9)
    part.replace(target)
    return target


# ---------------------------------------------------------------------------------------------------------- commands


def run_script(path: Path, arguments: list[str], blender: str | None, name: str) -> int:
    """Runs a script of ours in Blender, or in an environment."""
    command = blender_command(blender, str(path), *arguments) if blender else [environment(name), str(path), *arguments]
    return subprocess.run(command).returncode


def command_line(command: str, arguments: list[str], blender: str | None) -> int:
    """In an environment that is quick to have; a conversion that needs Blender asks this program for one that has it."""
    os.environ["RETRO_MESHES_BUILD"] = str(Path(__file__).resolve())
    script = str(PACKAGE / "cli.py")
    if blender:
        return replace_by(blender_command(blender, script, command, *arguments))
    return replace_by([environment("plain"), script, command, *arguments])


def replace_by(command: list[str]) -> int:
    """Becomes another program, so that a signal meets the one that works. One that comes in between waits for it."""
    if os.name == "nt":
        return subprocess.run(command).returncode
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    os.execvp(command[0], command)


def mutate(arguments: list[str]) -> int:
    """Defects put in at random or from a list: do the tests notice? Those in Blender are run where they are asked for."""
    if {"--list", "--blender-tests"} & set(arguments):
        arguments = ["--bpy-python", environment(f"bpy-{DEFAULT}"), *arguments]
    return subprocess.run([environment("checks"), "-m", "tests.mutation.run", *arguments], cwd=ROOT).returncode


def leading_options(arguments: list[str], *names: str) -> tuple[dict[str, str], list[str]]:
    """The options with a value that stand before everything else, in any order, and what comes after them."""
    found: dict[str, str] = {}
    while len(arguments) > 1 and arguments[0] in names:
        found[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    return found, arguments


def main(arguments: list[str]) -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("build", [])
    own = {"test": ["--addon-tester"], "build": ["--website"]}
    options, rest = leading_options(rest, "--blender", *own.get(command, []))
    blender = options.get("--blender")
    if command == "build":
        print(build(website=options.get("--website", "")).relative_to(ROOT))
    elif command == "libraries":
        print(libraries.lines().strip())
    elif command == "environment":  # asked for by a conversion that goes through Blender
        print(environment(f"bpy-{DEFAULT}"))
    elif command == "lock":
        lock()
    elif command == "docs":
        return subprocess.run([environment("plain"), "-m", "tools.tables", *rest], cwd=ROOT).returncode
    elif command in ("convert", "info", "check", "assets"):
        return command_line(command, rest, blender)
    elif "--addon-tester" in options:
        return with_addon_tester(options["--addon-tester"], rest, blender, str(build()))
    elif command == "test":
        return test(rest, blender)
    elif command == "mutate":
        return mutate(rest)
    elif command == "bench":
        return run_script(ROOT / "tests/bench/bench.py", rest, blender, f"bpy-{DEFAULT}")
    else:
        print(__doc__)
        return 0 if command in ("help", "--help", "-h") else 2
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"build.py: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)

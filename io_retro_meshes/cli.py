# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: convert, info and check.

python3 build.py convert IN... -o OUT --to FORMAT
blender -b --python io_retro_meshes/cli.py -- convert IN... -o OUT --to FORMAT
blender --command retro_meshes convert IN... -o OUT --to FORMAT
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run by its path: be a part of the package all the same
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __package__ = "io_retro_meshes"

from . import batch
from .batch import FOREIGN_OUTPUTS, UsageError, format_of
from .formats import FORMATS, FormatError

# ------------------------------------------------------------------------------------------------------------- convert


def convert(arguments: argparse.Namespace) -> int:
    options = dict(_option(text) for text in arguments.option)
    if arguments.texture_folder:
        options["texture_folder"] = str(Path(arguments.texture_folder).resolve())
    jobs = batch.plan(arguments.inputs, arguments.output, arguments.to, options)
    todo = [job for job in jobs if not (arguments.skip_existing and Path(job.target).exists())]
    workers = min(arguments.jobs, len(todo))
    failed = 0
    for number, job in enumerate(batch.in_workers(todo, workers) if workers > 1 else map(batch.do, todo), 1):
        print(f"[{number}/{len(todo)}] {job.source} -> {'FAILED: ' + job.error if job.error else job.target}")
        for warning in job.warnings:
            print(f"    warning: {warning}")
        sys.stdout.flush()
        failed += bool(job.error)
    if len(jobs) > 1:
        print(f"{len(todo) - failed} converted, {failed} failed, {len(jobs) - len(todo)} were there already.")
    return 1 if failed else 0


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"an option is NAME=VALUE, not {text}")
    return name, value


def work(arguments: argparse.Namespace) -> int:
    batch.work()
    return 0


# ------------------------------------------------------------------------------------------------------ info and check


def look(path: Path) -> dict[str, Any]:
    """What a file is, in words and numbers; raises FormatError or OSError."""
    kind = format_of(path)
    if kind is None:
        raise FormatError("not a file of a known format", file=str(path))
    data = path.read_bytes()
    document = kind.module.read(data)
    return {
        "format": kind.id,
        "label": kind.label,
        "bytes": len(data),
        "document": document,
        "data": data,
        "module": kind.module,
    }


def info_of(path: Path) -> dict[str, Any]:
    found = look(path)
    document = found["document"]
    return {
        "file": str(path),
        **{name: found[name] for name in ("format", "label", "bytes")},
        "summary": found["module"].summary(document),
        "warnings": list(document.warnings),
    }


def check_of(path: Path) -> dict[str, Any]:
    found = look(path)
    data, again = found["data"], found["module"].write(found["document"])
    report = {"file": str(path), "format": found["format"], "bytes": len(data), "warnings": list(found["document"].warnings)}
    if again != data:
        same = next((at for at, (a, b) in enumerate(zip(data, again, strict=False)) if a != b), min(len(data), len(again)))
        report["error"] = f"written back it differs from offset {same} on ({len(again)} bytes instead of {len(data)})"
    return report


def report(arguments: argparse.Namespace, of: Callable[[Path], dict[str, Any]], line: Callable[[dict[str, Any]], str]) -> int:
    """Prints a report of every file, for people or as JSON."""
    reports = []
    for name in arguments.files:
        try:
            reports.append(of(Path(name)))
        except FormatError as error:
            reports.append({"file": name, "error": str(error)})
        except OSError as error:
            reports.append({"file": name, "error": error.strerror or str(error)})
        if not arguments.json:
            _print_report(reports[-1], line)
    if arguments.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    return 1 if any("error" in entry for entry in reports) else 0


def _print_report(entry: dict[str, Any], line: Callable[[dict[str, Any]], str]) -> None:
    print(f"{entry['file']}: {'FAILED: ' + entry['error'] if 'error' in entry else line(entry)}")
    for text in entry.get("summary", []):
        print(f"    {text}")
    for text in entry.get("warnings", []):
        print(f"    warning: {text}")


def info(arguments: argparse.Namespace) -> int:
    return report(arguments, info_of, lambda entry: f"{entry['label']}, {entry['bytes']:,} bytes")


def check(arguments: argparse.Namespace) -> int:
    return report(arguments, check_of, lambda entry: "ok, written back byte for byte")


# ------------------------------------------------------------------------------------------------------------ the rest


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="retro_meshes", description="Converts and inspects the 3D models of old engines.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("convert", help="convert files, folders of files, or patterns")
    one.add_argument(
        "inputs", nargs="+", metavar="IN", help="a file, a folder (with all that is below it) or a pattern like '*.b3d'"
    )
    one.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write, or the folder to write into")
    one.add_argument("--to", choices=[*FOREIGN_OUTPUTS, *FORMATS], help="the format; by default the one of OUT's extension")
    one.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the import or export dialog"
    )
    one.add_argument("--texture-folder", metavar="DIR", help="where to look for textures as well")
    one.add_argument("--jobs", type=int, default=1, metavar="N", help="how many files at once")
    group = one.add_mutually_exclusive_group()
    group.add_argument("--overwrite", action="store_true", help="write over files that are there (this is the default)")
    group.add_argument("--skip-existing", action="store_true", help="leave files that are there as they are")
    one.set_defaults(run=convert)

    for name, run, words in (
        ("info", info, "say what is in a file"),
        ("check", check, "read a file, and see whether writing it gives the same bytes"),
    ):
        one = commands.add_parser(name, help=words)
        one.add_argument("files", nargs="+", metavar="FILE")
        one.add_argument("--json", action="store_true", help="for programs to read")
        one.set_defaults(run=run)

    commands.add_parser("work").set_defaults(run=work)
    return top


def main(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code: 0, 1 when some file failed, 2 when the command makes no sense."""
    try:
        parsed = parser().parse_args(list(arguments))
        return int(parsed.run(parsed))
    except UsageError as error:
        print(f"retro_meshes: {error}", file=sys.stderr)
        return 2
    except SystemExit as end:  # argparse has said why
        return int(end.code or 0)


def script() -> None:
    """Runs as a program, in Blender or in a Python of its own, and ends at once: bpy may hang on the way out."""
    inside_blender = "bpy" in sys.modules
    arguments = sys.argv[sys.argv.index("--") + 1 :] if inside_blender and "--" in sys.argv else sys.argv[1:]
    code = main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


_command: Any = None


def register() -> None:
    """Makes `blender --command retro_meshes …` work."""
    global _command
    import bpy

    _command = bpy.utils.register_cli_command("retro_meshes", main)


def unregister() -> None:
    import bpy

    bpy.utils.unregister_cli_command(_command)


if __name__ == "__main__":
    script()

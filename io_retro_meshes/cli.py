# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: convert, info, check and assets.

python3 build.py convert IN... -o OUT --to FORMAT
blender -b --python io_retro_meshes/cli.py -- convert IN... -o OUT --to FORMAT
blender --command retro_meshes convert IN... -o OUT --to FORMAT
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run by its path: be a part of the package all the same
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __package__ = "io_retro_meshes"
    from .batch import interrupts

    interrupts.install()  # before numpy and the rest are loaded: that takes a while

from .batch import choices, profiles
from .batch.interrupts import end
from .batch.job import UsageError
from .batch.kinds import format_of, outputs
from .batch.plan import Plan, make_target
from .batch.record import version
from .batch.report import wants_thumbnails
from .batch.run import Run
from .batch.session import Manner
from .batch.session import convert as convert_all
from .formats import MENU_FORMATS, FormatError

# ------------------------------------------------------------------------------------------------------------- convert


def convert(arguments: argparse.Namespace) -> int:
    profile = profiles.load(arguments.profile) if arguments.profile else profiles.Profile()
    folders = [*profile.texture_folders, *arguments.texture_folder]
    plan = Plan(
        arguments.inputs,
        arguments.output,
        make_target(arguments.to, arguments.output, profile.to),
        files_from=arguments.files_from,
        shard=_shard(arguments.shard),
        options=dict(choices.split(text) for text in arguments.option),
        usual=profile.options,
        via=profile.via,
        texture_folders=[os.path.abspath(folder) for folder in folders],
        through_blender=arguments.through_blender,
        thumbnails=wants_thumbnails(arguments.report),
        debug=arguments.debug,
    )
    manner = Manner(
        jobs=arguments.jobs,
        timeout=arguments.timeout,
        report=arguments.report,
        cluster=arguments.cluster,
        skip_existing=arguments.skip_existing,
        dry_run=arguments.dry_run,
        quiet=arguments.quiet,
    )
    return convert_all(plan, manner)


def _shard(text: str | None) -> tuple[int, int]:
    """K of N, as "2/8"; 0 is another name for the last."""
    if text is None:
        return 0, 1
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and int(number) <= int(count) and int(count)):
        raise UsageError(f"a shard is K/N with K from 1 to N, not {text}")
    return int(number), int(count)


def assets(arguments: argparse.Namespace) -> int:
    from .batch.library import make_library

    folders = [word for folder in arguments.texture_folder for word in ("--texture-folder", folder)]
    again = [*arguments.inputs, "-o", arguments.output, *folders]  # for the Blender that may have to do it
    return make_library(arguments.inputs, arguments.output, arguments.texture_folder, again)


def work(arguments: argparse.Namespace) -> int:
    from .batch import worker

    worker.work(arguments.timeout, arguments.through_blender)
    return 0


# ------------------------------------------------------------------------------------------------------ info and check


def look(path: Path) -> dict[str, Any]:
    """What a file is, in words and numbers; raises FormatError or OSError."""
    kind = format_of(path)
    if kind is None:
        raise FormatError("not a file of a known format", file=str(path))
    data = path.read_bytes()
    document = kind.read(data)
    return {
        "format": kind.id,
        "label": kind.label,
        "bytes": len(data),
        "document": document,
        "data": data,
        "kind": kind,
    }


def info_of(path: Path) -> dict[str, Any]:
    found = look(path)
    document = found["document"]
    return {
        "file": str(path),
        **{name: found[name] for name in ("format", "label", "bytes")},
        "summary": found["kind"].summary(document),
        "warnings": list(document.warnings),
    }


def check_of(path: Path) -> dict[str, Any]:
    found = look(path)
    data, again = found["data"], found["kind"].write(found["document"])
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


def losses_of(arguments: argparse.Namespace, path: Path) -> dict[str, Any]:
    """What a conversion would lose or refuse, by format: its own warnings. What it writes is thrown away."""
    found: dict[str, Any] = {"file": str(path), "lost": {}}
    options = dict(choices.split(text) for text in arguments.option)
    for to in arguments.formats:
        with tempfile.TemporaryDirectory() as folder:
            plan = Plan([str(path)], folder, to, options=options)
            (result,) = Run(plan.jobs(), 1, arguments.timeout).results()
        found["lost"][to] = result.warnings
        if result.failed:
            found["error"] = "; ".join(filter(None, (found.get("error"), f"{to}: {result.error}")))
    found["warnings"] = [f"{to}: {text}" for to, lost in found["lost"].items() for text in lost]
    return found


def check(arguments: argparse.Namespace) -> int:
    if arguments.formats:
        return report(
            arguments, lambda path: losses_of(arguments, path), lambda entry: f"{len(entry['warnings']) or 'no'} warnings"
        )
    return report(arguments, check_of, lambda entry: "ok, written back byte for byte")


# ------------------------------------------------------------------------------------------------------------ the rest


class _Help(argparse.RawDescriptionHelpFormatter):
    """The options of all formats come after those of the command; they are listed only when somebody asks."""

    def format_help(self) -> str:
        return super().format_help() + "\n" + choices.listing() + "\n"


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="retro_meshes", description="Converts and inspects the 3D models of old engines.")
    top.add_argument("--version", action="version", version=f"io_retro_meshes {version()}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("convert", help="convert files, folders of files, or patterns", formatter_class=_Help)
    _add_what(one)
    _add_how(one)
    _add_told(one)
    one.set_defaults(run=convert)
    for name, run, words in (
        ("info", info, "say what is in a file"),
        ("check", check, "read a file, and see whether writing it gives the same bytes"),
    ):
        one = commands.add_parser(name, help=words)
        one.add_argument("files", nargs="+", metavar="FILE")
        one.add_argument("--json", action="store_true", help="for programs to read")
        one.set_defaults(run=run)
    one.add_argument(
        "--for",
        dest="formats",
        action="append",
        default=[],
        choices=list(MENU_FORMATS),
        metavar="FORMAT",
        help="say instead what is lost when the file, or scene, becomes this; may be given several times",
    )
    one.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of that format")
    one.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds each may take (0: any)")
    one = commands.add_parser("assets", help="make an asset library for Blender out of files and folders")
    one.add_argument("inputs", nargs="+", metavar="IN", help="models, and folders of them: each inner folder is a catalog")
    one.add_argument("-o", "--output", required=True, metavar="OUT.blend", help="the library")
    one.add_argument("--texture-folder", action="append", default=[], metavar="DIR", help="where to look for textures as well")
    one.set_defaults(run=assets)
    one = commands.add_parser("work")  # what `convert` starts
    one.add_argument("--timeout", type=float, default=0.0)
    one.add_argument("--through-blender", action="store_true")
    one.set_defaults(run=work)
    return top


def _add_what(one: argparse.ArgumentParser) -> None:
    one.add_argument("inputs", nargs="*", metavar="IN", help="files, folders (with all below them), patterns like '*.b3d'")
    one.add_argument("--files-from", metavar="FILE", help="convert what this list names, a line each; - is standard input")
    one.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write, or the folder to write into")
    one.add_argument("--to", choices=outputs(), help="the format; by default the one of OUT's extension")
    one.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of a format, see the list below"
    )
    one.add_argument(
        "--profile", metavar="NAME|FILE.toml", help=f"a format and its options: {', '.join(profiles.shipped())}, or a file"
    )
    one.add_argument("--texture-folder", action="append", default=[], metavar="DIR", help="where to look for textures as well")
    one.add_argument("--through-blender", action="store_true", help="also what could be converted without it")


def _add_how(one: argparse.ArgumentParser) -> None:
    one.add_argument("--jobs", type=int, metavar="N", help="how many files at once (default: as many as there are cores)")
    one.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds a file may take (default 120; 0: any)")
    one.add_argument("--shard", metavar="K/N", help="only part K of N equal parts, for N machines or runs")
    one.add_argument("--cluster", metavar="ADDRESS", help="have a Dask scheduler's workers do it: tcp://host:8786")
    group = one.add_mutually_exclusive_group()
    group.add_argument("--overwrite", action="store_true", help="write over files that are there (this is the default)")
    group.add_argument(
        "--skip-existing",
        action="store_true",
        help="leave what is there, unless its source, options or version changed",
    )


def _add_told(one: argparse.ArgumentParser) -> None:
    one.add_argument("--report", metavar="FILE", help="write a report: .json, .jsonl (line by line), or .html (with pictures)")
    one.add_argument("--dry-run", action="store_true", help="only say what would be converted into what")
    one.add_argument("--quiet", action="store_true", help="tell failures only")
    one.add_argument("--debug", action="store_true", help="tell failures with all that a developer wants to know")


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
    end(code)


if __name__ == "__main__":
    script()

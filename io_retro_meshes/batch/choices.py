# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of conversions: checked before anything runs, listed for people, and handed to the formats that have them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ..formats import FORMATS, AnyFormat
from ..formats.options import Option, options_of, parse
from .job import Options, UsageError


def split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"an option is NAME=VALUE, not {text}")
    return name, value


def known(readers: Sequence[AnyFormat], *writers: AnyFormat | None) -> Iterator[Option]:
    """The options of importers and of exporters, one after the other."""
    for reader in readers:
        yield from options_of(reader.ImportOptions)
    for writer in writers:
        if writer is not None:
            yield from options_of(writer.ExportOptions)


def check(options: Options, readers: Sequence[AnyFormat], *writers: AnyFormat | None) -> None:
    """Each option is one of some format that may be met, and has a value that makes sense there. Raises UsageError."""
    there = list(known(readers, *writers))
    for name, text in options.items():
        meant = [option for option in there if option.name == name]
        if not meant:
            names = ", ".join(sorted({option.name for option in there})) or "none"
            raise UsageError(f"there is no option {name} here; there are: {names}")
        problems = [_problem(option, text) for option in meant]
        if all(problems):
            raise UsageError(problems[0])


def _problem(option: Option, text: str) -> str:
    try:
        parse(option, text)
    except ValueError as error:
        return str(error)
    return ""


def fitting(options: Options, reader: AnyFormat | None, writer: AnyFormat | None) -> Options:
    """Those of the options that this conversion has: a folder may hold several formats."""
    names = {option.name for option in known([reader] if reader else [], writer)}
    return {name: text for name, text in options.items() if name in names}


# ---------------------------------------------------------------------------------------------------------------- help


def listing() -> str:
    """Every option of every format, for `convert --help`."""
    lines = ["options of the formats, for --option NAME=VALUE and profiles:"]
    for entry in FORMATS.values():
        for title, kind in (("reading", entry.ImportOptions), ("writing", entry.ExportOptions)):
            lines.append(f"\n  {title} {entry.id} ({entry.label}, {' '.join(entry.extensions)}):")
            for option in options_of(kind):
                lines += _lines(option)
    return "\n".join(lines)


def _lines(option: Option) -> list[str]:
    default = str(option.default).lower() if option.kind == "BOOLEAN" else str(option.default)
    head = f"    {option.name}={_values(option)}" + (f"  (default {default})" if default else "")
    return [head, *textwrap.wrap(option.description, 110, initial_indent=" " * 8, subsequent_indent=" " * 8)]


def _values(option: Option) -> str:
    if option.kind == "ENUM":
        return "|".join(item[0] for item in option.items)
    if option.kind == "BOOLEAN":
        return "true|false"
    low = "" if option.minimum is None else f"{option.minimum:g}"
    high = "" if option.maximum is None else f"{option.maximum:g}"
    limits = f" {low}..{high}" if low or high else ""
    return {"INT": "NUMBER", "FLOAT": "NUMBER", "STRING": "TEXT", "VECTOR": "VECTOR"}[option.kind] + limits

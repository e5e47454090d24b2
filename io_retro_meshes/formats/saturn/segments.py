# SPDX-License-Identifier: GPL-3.0-or-later
"""Which segment of an x8an file is which animation of which character, and where that file is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import FormatError
from . import read, write
from .document import Character, Definition, Document, Segment
from .options import ImportOptions

# (character, definition) -> the number of the segment that has its keys
Matches = dict[tuple[int, int], int]


def companions(path: Path, document: Document, options: ImportOptions | None = None) -> list[Path]:
    """The x8an file beside an x8pc file that needs one."""
    if not any(needs_companion(character) for character in document.characters):
        return []
    if options is not None and options.animation_file:
        chosen = Path(options.animation_file)
        if not chosen.is_file():
            raise FormatError("there is no such Animation File", file=str(chosen))
        return [chosen]
    found = _existing(path)
    return [] if found is None else [found]


def needs_companion(character: Character) -> bool:
    """Are some of its animations elsewhere? Characters of later games have theirs in chunks of their own."""
    return not character.extra and any(definition.external for definition in character.animation.definitions)


def companion_names(stem: str) -> list[str]:
    """What the x8an file of an x8pc file may be called: x8an70a, x8an701 or x8an70 for x8pc701a, name_an for name.

    The last name is what one is called that is written: the games share a file among all models of the same first two digits.
    """
    if found := re.fullmatch(r"(x8)pc((\d\d)\d*)(.*)", stem, re.IGNORECASE):
        an = found[1] + ("AN" if stem[2:4].isupper() else "an")
        return list(dict.fromkeys([f"{an}{found[2]}{found[4]}", f"{an}{found[2]}", f"{an}{found[3]}"]))
    return [stem + "_an"]


def _existing(path: Path) -> Path | None:
    try:
        beside = {entry.name.lower(): entry for entry in path.parent.iterdir()}
    except OSError:
        return None
    names = [(name + path.suffix).lower() for name in companion_names(path.stem)]
    return next((beside[name] for name in names if name in beside), None)


def companion_files(path: Path, document: Document) -> list[tuple[Path, bytes]]:
    """What has to be written beside the x8pc file: the whole x8an file, with the segments of this document that changed."""
    if not document.characters or not document.segments:
        return []
    names = companion_names(path.stem)
    existing = _existing(path)
    target = existing or path.with_name(names[-1] + path.suffix)
    if document.replaced is None:
        if existing is not None or names != [path.stem + "_an"]:
            raise FormatError(
                f"animations would go to {target.name}, which other characters share and which was not read. Import the "
                "character with that file beside it, or set Extra Actions to Timeline"
            )
        return [(target, write.write(Document(segments=document.segments)))]
    merged = Document(segments=list(document.segments), keep_room=document.keep_room)
    if existing is not None:
        if not document.replaced:
            return []
        merged.segments = _replaced(existing, document.segments, document.replaced)
    data = write.write(merged)
    document.warnings += merged.warnings
    return [(target, data)]


def _replaced(existing: Path, segments: list[Segment], replaced: list[int]) -> list[Segment]:
    """The segments of a file, some of them replaced: others may have been changed with other characters meanwhile."""
    try:
        there = read.read(existing.read_bytes())
    except FormatError as error:
        there = error.partial or Document()
    found = there.segments
    if len(found) != len(segments):
        raise FormatError(
            f"{existing.name} is there already, and has {len(found)} animations where the one that was imported has "
            f"{len(segments)}. Export to another folder, or move that file away"
        )
    return [replace(old, bones=segments[n].bones) if n in replaced else old for n, old in enumerate(found)]


def match(characters: list[Character], segments: list[Segment], bone_counts: list[int], warnings: list[str]) -> Matches:
    """The external animations of each character are a run of segments in the same order; those that do not fit are left out."""
    matches: Matches = {}
    taken = 0
    for number, (character, bones) in enumerate(zip(characters, bone_counts, strict=True)):
        external = external_definitions(character)
        if not needs_companion(character):
            continue
        if not segments:
            warnings.append(
                f"{len(external)} animations are in an x8an file that was not found beside this one: kept, but not shown."
            )
            continue
        first = _best_run([definition for _, definition in external], segments, bones, taken)
        taken = first + len(external)
        before = len(matches)
        for (index, definition), place in zip(external, range(first, len(segments)), strict=False):
            if _fit(definition, segments[place], bones):
                matches[(number, index)] = place
        lost = len(external) - (len(matches) - before)
        if lost:
            warnings.append(
                f"{lost} animations of the x8an file are damaged, or have other bones or frames (bone_count_mismatch): kept, "
                "but not shown."
            )
    return matches


def places(stored: Any, count: int) -> Iterator[tuple[int, int]]:
    """Definitions and the numbers of their segments, as an import has left them in the settings of a node."""
    for pair in stored if isinstance(stored, (list, tuple)) else ():
        match pair:
            case [int(index), int(place)] if 0 <= place < count:
                yield index, place


def external_definitions(character: Character) -> list[tuple[int, Definition]]:
    """The definitions whose keys are elsewhere, with their numbers."""
    return [(index, each) for index, each in enumerate(character.animation.definitions) if each.external]


def packed_matches(character: Character, bones: int, warnings: list[str]) -> dict[int, int]:
    """Of the definitions of later games the number of the packed chunk that has its keys: the n-th for the n-th."""
    external = external_definitions(character)
    found: dict[int, int] = {}
    if character.extra and len(external) != len(character.extra):
        warnings.append(
            f"{len(character.extra)} packed animations belong to {len(external)} definitions: those without the other are "
            "kept, but not shown."
        )
    for (index, _), (number, segment) in zip(external, enumerate(character.extra), strict=False):
        if segment.damaged:
            continue
        if len(segment.bones) != bones:
            warnings.append(
                f"The packed animation {number} has {len(segment.bones)} bones, the skeleton {bones} (bone_count_mismatch): "
                "kept, but not shown."
            )
            continue
        found[index] = number
    return found


def _best_run(definitions: list[Definition], segments: list[Segment], bones: int, hint: int) -> int:
    """Where the segments fit best; of equals the run that starts at `hint`, else the first."""
    starts = sorted(range(max(len(segments) - len(definitions), 0) + 1), key=lambda start: (start != hint, start))
    return max(starts, key=lambda start: sum(_fit(d, s, bones) for d, s in zip(definitions, segments[start:], strict=False)))


def _fit(definition: Definition, segment: Segment, bones: int) -> float:
    """0 where the segment cannot be meant, else up to 1: how much of their frames they share."""
    if len(segment.bones) != bones:
        return 0.0
    first, last = segment.frame_range
    shared = min(last, definition.last) - max(first, definition.first) + 1
    return max(shared, 0) / (max(last, definition.last) - min(first, definition.first) + 1)

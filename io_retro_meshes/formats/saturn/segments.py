# SPDX-License-Identifier: GPL-3.0-or-later
"""Which segment of an x8an file is which animation of which character, and where that file is."""

from __future__ import annotations

import re
from pathlib import Path

from .document import Definition, Document, Segment
from .options import ImportOptions

# (character, definition) -> the segment that has its keys
Matches = dict[tuple[int, int], Segment]


def companions(path: Path, document: Document, options: ImportOptions | None = None) -> list[Path]:
    """The x8an file beside an x8pc file that needs one: x8an90a.bin or x8an90.bin for x8pc90a.bin, name_an.bin for name.bin."""
    if not any(definition.external for character in document.characters for definition in character.animation.definitions):
        return []
    if options is not None and options.animation_file:
        return [Path(options.animation_file)]
    names = [companion_name(path.stem.lower())]
    if found := re.fullmatch(r"x8pc(\d+)(.*)", path.stem.lower()):
        names.append(f"x8an{found[1]}")  # one for all the forms of a character
    try:
        beside = {entry.name.lower(): entry for entry in path.parent.iterdir()}
    except OSError:
        return []
    wanted = list(dict.fromkeys(name + path.suffix.lower() for name in names))
    return [beside[name] for name in wanted if name in beside][:1]


def companion_name(stem: str) -> str:
    """What the x8an file of an x8pc file is called that is for that file alone."""
    if found := re.fullmatch(r"(x8)pc(\d.*)", stem, re.IGNORECASE):
        return f"{found[1]}an{found[2]}"
    return stem + "_an"


def match(document: Document, segments: list[Segment], bone_counts: list[int], warnings: list[str]) -> Matches:
    """The external animations of each character are a run of segments in the same order; those that do not fit are left out."""
    matches: Matches = {}
    taken = 0
    for number, (character, bones) in enumerate(zip(document.characters, bone_counts, strict=True)):
        external = [(index, each) for index, each in enumerate(character.animation.definitions) if each.external]
        if not external or character.extra:  # chunks of unknown packing hold the keys of later games
            continue
        if not segments:
            warnings.append(f"{len(external)} animations are in an x8an file that was not found beside this one: left out.")
            continue
        first = _best_run([definition for _, definition in external], segments, bones, taken)
        run = segments[first : first + len(external)]
        taken = first + len(external)
        before = len(matches)
        for (index, definition), segment in zip(external, run, strict=False):
            if _fit(definition, segment, bones):
                matches[(number, index)] = segment
        lost = len(external) - (len(matches) - before)
        if lost:
            warnings.append(f"{lost} animations of the x8an file have other bones or frames (bone_count_mismatch): left out.")
    return matches


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips and their markers -> definitions and their events; their keys on the timeline, in packed chunks or in an x8an file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Clip
from ...errors import FormatError
from .. import document as doc
from .. import events
from ..names import TYPE_NAMES
from ..options import ExportOptions
from ..segments import external_definitions
from .keys import LAST_FRAME, BoneKeyExporter

Array = npt.NDArray[Any]

LAST_START = doc.EXTERNAL - 1  # the next bit has another meaning

_TYPES = {name: code for code, name in TYPE_NAMES.items()}
# Those of most words and letters first: a far attack is no attack.
_BY_LENGTH = sorted(_TYPES, key=lambda name: (-len(name.split()), -len(name)))


@dataclass
class Animations:
    """The animations of a character."""

    animation: doc.Animation
    packed: list[doc.PackedSegment] = field(default_factory=list)
    # Those that belong into the x8an file, each with the number that its definition had in the file it came from, or -1.
    segments: list[tuple[int, doc.Segment]] = field(default_factory=list)


def settings_of(clip: Clip) -> dict[str, Any]:
    return clip.settings.get("saturn", {})


def is_external(clip: Clip) -> bool:
    return clip.tracks is not None and bool(settings_of(clip).get("external"))


def belongs_to(clip: Clip, node: int, number: int, mark: str) -> bool:
    """Is the clip an animation of the character `number`? One that does not say so is that of all."""
    if clip.owner >= 0:
        return clip.owner == node
    settings = settings_of(clip)
    moved = {target for target, _ in clip.tracks or {}}
    if settings.get("model") and mark:  # bones of other characters may have the same names
        return bool(settings["model"] == mark and (not moved or node in moved))
    if moved:
        return node in moved
    return bool(settings.get("character", number) == number)


# ------------------------------------------------------------------------------------------------------ new characters


def new_animations(
    clips: list[Clip], timeline: Clip | None, bone_keys: BoneKeyExporter, bounds: Array, options: ExportOptions
) -> Animations:
    """All clips but the external ones are parts of the timeline."""
    found = Animations(doc.Animation(bounds, [], bone_keys.keys(timeline)))
    if not clips:
        whole = timeline or Clip("idle", 0, 0)
        clips = [Clip("idle", whole.first, whole.last, markers=whole.markers)]
    elif len(clips) == 1 and options.other_type == "REFUSE" and not is_external(clips[0]) and not _says_its_type(clips[0]):
        bone_keys.warnings.append(
            f'The only animation, "{clips[0].name}", says no type: written as idle. Set its Type, or choose Other Actions.'
        )
        clips = [replace(clips[0], name="idle")]
    for clip in sorted(clips, key=_file_order):
        definition = _definition(clip, options, bone_keys.warnings)
        if is_external(clip):
            definition.start |= doc.EXTERNAL
            found.segments.append((-1, doc.Segment(bone_keys.keys(clip))))
        found.animation.definitions.append(definition)
    return _packed(found, []) if options.external == "PACKED" else found


def _packed(found: Animations, spare: list[doc.PackedSegment]) -> Animations:
    """All animations outside the timeline in packed chunks, one for each definition; `spare` chunks follow."""
    packed = [
        segment if isinstance(segment, doc.PackedSegment) else doc.PackedSegment(segment.bones) for _, segment in found.segments
    ]
    if not spare and len(packed) != sum(each.external for each in found.animation.definitions):
        raise FormatError(
            "some animations are in an x8an file that was not read, and cannot be packed. Import the character with that file "
            "beside it, or set Extra Actions to Where They Were"
        )
    return Animations(found.animation, packed + spare)


def _file_order(clip: Clip) -> float:
    """The place among the animations of the file that the clip came from; new ones follow."""
    return float(settings_of(clip).get("order", math.inf))


def _definition(clip: Clip, options: ExportOptions, warnings: list[str], shift: int = 0) -> doc.Definition:
    first, last = round(clip.first) + shift, round(clip.last) + shift
    if not 0 <= first <= LAST_START:
        raise FormatError(
            f'the animation "{clip.name}" starts at frame {first}: it must be within 0 and {LAST_START}. Shorten the others'
        )
    settings = settings_of(clip)
    kind = int(settings["type"]) if "type" in settings else _type_of(clip.name, options)
    markers = [(frame + shift, name) for frame, name in clip.markers]
    return doc.Definition(first, last - first + 1, kind, int(settings.get("distance", 0)), _events(markers, warnings))


def _says_its_type(clip: Clip) -> bool:
    return "type" in settings_of(clip) or _named_type(clip.name) is not None


def _named_type(name: str) -> int | None:
    plain = re.sub(r"\.\d{3}$", "", name).lower()
    if coded := re.fullmatch(r"type_([0-9a-f]{1,4})", plain):
        return int(coded[1], 16)
    return next((_TYPES[known] for known in _BY_LENGTH if _says(name, known)), None)


def _says(name: str, known: str) -> bool:
    """Are the words of a type's name in a name?"""
    return f" {' '.join(_words(known))} " in f" {' '.join(_words(name))} "


def _words(name: str) -> list[str]:
    """FarAttack, far_attack and "far attack" have the same two; white has no hit in it."""
    plain = re.sub(r"\.\d{3}$", "", name)
    return [word.lower().lstrip("0") for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", plain)]


def _type_of(name: str, options: ExportOptions) -> int:
    known = _named_type(name)
    if known is not None:
        return known
    if options.other_type != "REFUSE":
        return int(options.other_type, 16)
    raise FormatError(
        f'the animation "{name}" is of no known type. Name it after one ({", ".join(_TYPES)}, or type_ and a number), set Type '
        "in its settings, or choose what Other Actions are"
    )


def _events(markers: Sequence[tuple[float, str]], warnings: list[str]) -> Array:
    found = [(round(frame), code) for frame, name in markers if (code := events.code_of(name)) is not None]
    unknown = sorted({name for _, name in markers if events.code_of(name) is None})
    if unknown:
        warnings.append(f"Markers that are no events were left out: {', '.join(unknown)}.")
    return np.array(sorted(found, key=lambda event: event[0]), doc.EVENT)


# ------------------------------------------------------------------------------------------------- imported characters


class AnimationMerger:
    """The animations of an imported character: as they were in the file, but for what was edited."""

    def __init__(
        self,
        original: doc.Character,
        outside: dict[int, doc.Segment],  # by definition: what was shown of an x8an file, or of packed chunks
        bone_keys: BoneKeyExporter,
        options: ExportOptions,
    ) -> None:
        self.original = original
        self.outside = outside
        self.bone_keys = bone_keys
        self.options = options
        self.warnings = bone_keys.warnings
        self.bones = original.animation.bones
        self.definitions: list[doc.Definition] = []
        self.segments: list[tuple[int, doc.Segment]] = []
        external = external_definitions(original)
        self.chunks = {index: chunk for (index, _), chunk in zip(external, original.extra, strict=False)}
        self.spare = original.extra[len(external) :]

    def run(self, timeline: Clip | None, clips: list[Clip]) -> Animations:
        clips = [self._named(clip) for clip in clips]
        first, last = self._range()
        if timeline is not None and (timeline.last > timeline.first or first == last):
            around = min(first, math.floor(timeline.first)), max(last, math.ceil(timeline.last))
            self.bones = self.bone_keys.merged(self.bones, timeline, around)
        known, new = self._sort(clips)
        # Whoever exports all animations has deleted those that do not come. The game counts those outside: they stay.
        deletes = bool(known) and self.options.animation in ("AUTO", "ACTIONS")
        missing: dict[bool, list[str]] = {False: [], True: []}  # by whether they are gone
        for index, definition in enumerate(self.original.animation.definitions):
            if index in known:
                self._keep(index, definition, known[index])
            elif definition.external and self.options.external == "NONE":
                continue
            elif deletes and not definition.external:
                missing[True].append(definition.name)
            else:
                self._append(definition, self.outside.get(index, self.chunks.get(index)), index)
                if not definition.external or index in self.outside:
                    missing[False].append(definition.name)
        self._warn_of_missing(missing[False], missing[True])
        for clip in new:
            self._add(clip)
        return self._result()

    def _named(self, clip: Clip) -> Clip:
        """A new name counts like a new type, where the type is still that of the animation it was, or is a copy of."""
        settings, definitions = settings_of(clip), self.original.animation.definitions
        order = settings.get("order", -1)
        known = definitions[order] if 0 <= order < len(definitions) else None
        if known is None or settings.get("type") != known.type or _says(clip.name, known.name):
            return clip
        kind = _named_type(clip.name)
        if kind is None:
            self.warnings.append(f'The file has types instead of names: "{clip.name}" is written as {known.name}.')
            return clip
        if kind != known.type:
            named = TYPE_NAMES.get(kind, clip.name)
            self.warnings.append(
                f'"{clip.name}" is written as {named}, as its name says. For {known.name}, as before, give it that name again.'
            )
        return replace(clip, settings={**clip.settings, "saturn": {**settings, "type": kind}})

    def _warn_of_missing(self, kept: list[str], gone: list[str]) -> None:
        if kept:
            self.warnings.append(
                f"No action came for these animations of the file, which were kept as they were: {', '.join(kept)}."
            )
        if gone:
            self.warnings.append(
                f"These animations have no action any more and are gone from the file: {', '.join(gone)}. Those behind them "
                "have other numbers now; undo the deletion if a game counts on them."
            )

    def _range(self) -> tuple[int, int]:
        """The frames of the character's own timeline."""
        first, last = doc.Segment(self.bones).frame_range
        own = [definition for definition in self.original.animation.definitions if not definition.external]
        return min([first, *(each.first for each in own)]), max([last, *(each.last for each in own)])

    def _sort(self, clips: list[Clip]) -> tuple[dict[int, Clip], list[Clip]]:
        """Clips by the definition of the file that they are, and those that are new. Of copies the one of its type is it."""
        definitions = self.original.animation.definitions
        known: dict[int, Clip] = {}
        for clip in clips:
            settings = settings_of(clip)
            order = settings.get("order", -1)
            if 0 <= order < len(definitions) and (
                order not in known or settings.get("type") == definitions[order].type != settings_of(known[order]).get("type")
            ):
                known[order] = clip
        return known, [clip for clip in clips if not any(clip is other for other in known.values())]

    def _append(self, definition: doc.Definition, segment: doc.Segment | None, index: int = -1) -> None:
        if segment is not None:
            self.segments.append((index, segment))
        self.definitions.append(definition)

    def _keep(self, index: int, definition: doc.Definition, clip: Clip) -> None:
        """An animation of the file, where it was."""
        stays = definition.external and is_external(clip) and index in self.outside
        if stays and self.options.external == "NONE":
            return
        if stays and self.options.external != "TIMELINE":
            segment = self.outside[index]
            bones = self.bone_keys.merged(segment.bones, clip, segment.frame_range)
            self._append(self._edited(definition, clip), replace(segment, bones=bones), index)
        elif definition.external or is_external(clip):
            self._add(clip)
        elif clip.tracks is None or self._fits(definition, clip):
            if clip.tracks is not None:
                self.bones = self.bone_keys.merged(self.bones, clip, self._range())
            self._append(self._edited(definition, clip), None)
        else:
            self._add(clip)

    @staticmethod
    def _fits(definition: doc.Definition, clip: Clip) -> bool:
        return definition.first <= round(clip.first) and round(clip.last) <= definition.last

    def _edited(self, definition: doc.Definition, clip: Clip) -> doc.Definition:
        """The definition as the clip has it now; the very same one if that says the same."""
        now = _definition(clip, self.options, self.warnings)
        if definition.external:
            now.start |= doc.EXTERNAL
        if (now.first, now.last) == (definition.first, definition.last):
            now.start, now.count = definition.start, definition.count
        if sorted(now.events.tolist()) == sorted(definition.events.tolist()):
            now.events = definition.events
        return definition if doc.same(now, definition) else now

    def _add(self, clip: Clip) -> None:
        """A new animation, or one that has outgrown its frames: behind all others on the timeline, or outside it."""
        if is_external(clip) and self.options.external != "TIMELINE":
            if self.options.external == "NONE":
                return
            definition = _definition(clip, self.options, self.warnings)
            definition.start |= doc.EXTERNAL
            self._append(definition, doc.Segment(self.bone_keys.keys(clip)))
            return
        shift = 0
        if clip.tracks is not None:
            end = max([doc.Segment(self.bones).frame_range[1], *(each.last for each in self.definitions if not each.external)])
            shift = max(end, self._range()[1]) + 1 - math.floor(clip.first)
            if clip.last + shift > LAST_FRAME:
                raise FormatError(f'there is no room for the animation "{clip.name}" on the timeline. Shorten it')
            self.bones = self.bone_keys.merged(self.bones, clip, (0, math.ceil(clip.last) + shift), shift)
        self._append(_definition(clip, self.options, self.warnings, shift), None)

    def _result(self) -> Animations:
        animation = replace(self.original.animation, definitions=self.definitions, bones=self.bones)
        found = Animations(animation, [], self.segments)
        if self.options.external == "PACKED" and not self.original.extra:
            return _packed(found, [])
        if not self.original.extra:
            return found
        packed = [s if isinstance(s, doc.PackedSegment) else doc.PackedSegment(s.bones) for _, s in self.segments]
        return Animations(animation, packed + self.spare)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> Scene: an armature, its body, its weapon and its tags for each character."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....scene import Scene
from ...errors import FormatError
from .. import segments, skeleton, stored
from ..document import Document, Segment
from ..options import ImportOptions
from ..write import write_segments
from .animation import span_timeline
from .character import CharacterImporter


def to_scene(document: Document, options: ImportOptions | None = None, beside: Sequence[Document] = ()) -> Scene:
    """`beside`: the x8an files that belong to the document."""
    return Importer(document, options or ImportOptions(), beside).run()


class Importer:
    def __init__(self, document: Document, options: ImportOptions, beside: Sequence[Document]) -> None:
        if not document.characters:
            raise FormatError("an x8an file holds animations only: import the x8pc file that they belong to")
        self.document = document
        self.options = options
        self.beside = beside
        self.scene = Scene(interpolation="NLERP", fps=options.fps, warnings=list(document.warnings))

    def run(self) -> Scene:
        characters = self.document.characters
        trees = [skeleton.tree(character.model.skeleton) for character in characters]
        counts = [len(tree.parents) for tree in trees]
        found = [*self.document.segments, *(segment for other in self.beside for segment in other.segments)]
        self.scene.warnings += [warning for other in self.beside for warning in other.warnings]
        matches = segments.match(characters, found, counts, self.scene.warnings)
        nodes = []
        for number, (character, tree) in enumerate(zip(characters, trees, strict=True)):
            name = self.options.name if len(trees) == 1 else f"{self.options.name}_{number}"
            own: dict[int, Segment] = {index: found[place] for (owner, index), place in matches.items() if owner == number}
            packed = segments.packed_matches(character, counts[number], self.scene.warnings)
            own |= {index: character.extra[place] for index, place in packed.items()}
            nodes.append(CharacterImporter(self.scene, number, name, character, tree, own, self.options).run())
        self._keep_files(nodes, found, matches)
        self._line_up(nodes)
        span_timeline(self.scene)
        return self.scene

    def _keep_files(self, nodes: list[int], found: Sequence[Segment], matches: segments.Matches) -> None:
        """What an export has to write around the characters: the whole x8an file, and what follows the last character."""
        kept = [self.scene.nodes[node].settings["saturn"] for node in nodes]
        if self.document.tail:
            kept[-1]["tail"] = stored.encode(self.document.tail)
        needing = [number for number, each in enumerate(self.document.characters) if segments.needs_companion(each)]
        companion = stored.encode(write_segments(list(found), [])) if found and needing else ""
        for number in needing if companion else []:
            places = [[index, place] for (owner, index), place in matches.items() if owner == number]
            kept[number] |= {"companion": companion, "segments": places}

    def _line_up(self, nodes: list[int]) -> None:
        """Several characters stand side by side, as far apart as the widest needs."""
        skinned = [mesh for mesh in self.scene.meshes if mesh.skin is not None and len(mesh.positions)]
        step = self.options.spacing * max((float(np.ptp(mesh.positions[:, 0])) for mesh in skinned), default=0.0)
        for number, node in enumerate(nodes):
            self.scene.nodes[node].transform.location[0] = number * step

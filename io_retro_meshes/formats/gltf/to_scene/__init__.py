# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> Scene: what Khronos's samples and other programs write, and what this project has written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....scene import Scene
from ...errors import FormatError
from .. import extras, lights
from ..document import COMPRESSIONS, KNOWN_EXTENSIONS, LIGHTS, Document
from ..options import ImportOptions
from .accessors import Accessors
from .animation import Animations
from .materials import Materials
from .meshes import Meshes
from .rigs import Rigs


def to_scene(document: Document, options: ImportOptions | None = None, beside: Sequence[Document] = ()) -> Scene:
    """`beside`: the buffers that are files of their own."""
    with np.errstate(all="ignore"):
        return Importer(document, options or ImportOptions(), beside).run()


class Importer:
    def __init__(self, document: Document, options: ImportOptions, beside: Sequence[Document]) -> None:
        self.document = document
        self.options = options
        self.root = document.root
        self.scene = Scene(warnings=list(document.warnings))
        self.refuse_extensions()
        self.accessors = Accessors(document, beside, self.scene.warnings)
        self.materials = Materials(self.root, self.scene, self.accessors)
        self.meshes = Meshes(self.root, self.scene, self.accessors, self.materials)

    def refuse_extensions(self) -> None:
        """Those that are required; what is left out of the others is named."""
        required = set(self.root.texts("extensionsRequired")) - KNOWN_EXTENSIONS
        if required:
            how = "; save it without compression" if required & COMPRESSIONS else ""
            raise FormatError(f"the file cannot be read without {_names(required)}{how}", field="extensionsRequired")
        left_out = set(self.root.texts("extensionsUsed")) - KNOWN_EXTENSIONS - COMPRESSIONS
        if left_out:
            self.scene.warnings.append(f"What the file says with {_names(left_out)} was left out; it may look different.")

    def run(self) -> Scene:
        scene, root = self.scene, self.root
        scene.cameras = [lights.camera_to_scene(part, scene.warnings) for part in root.parts("cameras")]
        found = root.extension(LIGHTS)
        scene.lights = [lights.light_to_scene(part, scene.warnings) for part in (found.parts("lights") if found else [])]
        rigs = Rigs(root, scene, self.accessors, self.meshes, self.shown())
        animations = Animations(root, scene, self.accessors, rigs, self.options.fps or self.own_fps())
        animations.run()
        scene.warnings = list(dict.fromkeys(scene.warnings))
        return scene

    def shown(self) -> list[int] | None:
        """The roots of the scene that is shown; None: all there are."""
        scenes = self.root.parts("scenes")
        number = self.root.index("scene", len(scenes)) if scenes else -1
        if not scenes:
            return None
        if len(scenes) > 1:
            self.scene.warnings.append(f"The file has {len(scenes)} scenes; the one that is shown first was read.")
        part = scenes[max(number, 0)]
        self.scene.settings = extras.settings(part)
        color = extras.unpack(part).values.get("world_color")
        if isinstance(color, list) and len(color) == 3:
            self.scene.world_color = np.array(extras.unpack(part).numbers("world_color", 3, ()), np.float32)
        return part.indices("nodes", len(self.root.parts("nodes")))

    def own_fps(self) -> float:
        """The frame rate that this project wrote down; 0: none."""
        scenes = self.root.parts("scenes")
        if not scenes:
            return 0.0
        part = extras.unpack(scenes[max(self.root.index("scene", len(scenes)), 0)])
        rate = part.number("fps", 0.0)
        return rate if 1e-3 <= rate <= 32767 else 0.0


def _names(extensions: set[str]) -> str:
    return ", ".join(sorted(extensions))[:200]

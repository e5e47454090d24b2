# SPDX-License-Identifier: GPL-3.0-or-later
"""A person at work in Blender: imports a model, edits its animations, exports it, and looks at what the file has."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from io_retro_meshes.formats import FORMATS

TOLERANCE = 1e-3  # of the model's size


@dataclass
class Session:
    """A model in Blender, with its animations by name: the action that shows each, and its frames."""

    bpy: Any
    format: str
    truth: dict[str, list[np.ndarray]] = field(default_factory=dict)

    @classmethod
    def open(cls, bpy: Any, path: Path) -> Session:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        format_id = next(entry.id for entry in FORMATS.values() if path.suffix in entry.extensions)
        assert getattr(bpy.ops.import_scene, format_id)(filepath=str(path)) == {"FINISHED"}
        return cls(bpy, format_id)

    @property
    def scene(self) -> Any:
        return self.bpy.context.scene

    def parts(self) -> dict[str, Any]:
        from io_retro_meshes.blender.animations import parts_of

        return {part.name: part for part in parts_of(list(self.scene.objects))}

    def owners(self) -> list[Any]:
        return [source for source in self.scene.objects if source.retro_meshes.timeline is not None]

    def assign(self, name: str | None) -> None:
        """As in the action editor: the action by its name, the timeline for "", nothing for None."""
        from io_retro_meshes.blender import compat

        chosen = {} if not name else {owner.object: owner for owner in self.parts()[name].owners}
        for source in self.owners():
            source.animation_data.action = None
            action = source.retro_meshes.timeline if name == "" else chosen[source].action if source in chosen else None
            if action is not None:
                slot = compat.slot_for(action, source, [source.retro_meshes.slot])
                compat.assign_action(source, action, slot)

    def move(self, frame: float, by: float = 0.3) -> None:
        """Keys something that the assigned action moves on a frame, away from where it was, and as it was on those around."""
        source = next(source for source in self.owners() if source.animation_data.action is not None)
        target = source.pose.bones[0] if source.type == "ARMATURE" else source
        for at in (frame - 1, frame + 1):
            self.scene.frame_set(int(at))
            target.keyframe_insert("location", frame=at)
        self.scene.frame_set(int(frame))
        target.location.x += by * self.size()
        target.keyframe_insert("location", frame=frame)

    def size(self) -> float:
        return float(max(max(source.dimensions) for source in self.scene.objects if source.type == "MESH"))

    def pose(self, frame: float) -> np.ndarray:
        """Mean, spread and bounds of the corners of all meshes: the same however a file orders and splits them."""
        self.scene.frame_set(int(frame))
        graph = self.bpy.context.evaluated_depsgraph_get()
        found = []
        for source in self.scene.objects:
            if source.type == "MESH" and len(source.data.loops):
                evaluated = source.evaluated_get(graph)
                points = np.empty(len(evaluated.data.vertices) * 3, np.float32)
                corners = np.empty(len(evaluated.data.loops), np.int32)
                evaluated.data.vertices.foreach_get("co", points)
                evaluated.data.loops.foreach_get("vertex_index", corners)
                matrix = np.array(evaluated.matrix_world)
                found.append((points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])[corners])
        every = np.concatenate(found).astype(np.float64)
        return np.stack([every.mean(0), every.std(0), every.min(0), every.max(0)])

    def poses(self, first: float, last: float) -> list[np.ndarray]:
        """On five frames, the ends among them."""
        return [self.pose(first + round(part * (last - first) / 4)) for part in range(5)]

    def expect(self, name: str, action: str, first: float, last: float) -> None:
        """In the file, the animation is to be what an action shows now."""
        self.assign(action)
        self.truth[name] = self.poses(first, last)

    def expect_untouched(self, *names: str) -> None:
        for name in names:
            self.expect(name, "", *self.parts()[name].frames)

    def export(self, path: Path, **options: Any) -> str:
        """Exports and returns the warnings."""
        log = self.bpy.data.texts.get("Retro Meshes Log")
        if log is not None:
            self.bpy.data.texts.remove(log)
        assert getattr(self.bpy.ops.export_scene, self.format)(filepath=str(path), **options) == {"FINISHED"}
        log = self.bpy.data.texts.get("Retro Meshes Log")
        return str(log.as_string()) if log is not None else ""

    def check(self, path: Path) -> Session:
        """Imports what was exported: the file has the expected animations, no others, and they show what was expected."""
        after = Session.open(self.bpy, path)
        parts = after.parts()
        assert sorted(parts) == sorted(self.truth)
        for name, poses in self.truth.items():
            after.assign("")
            apart = [np.abs(a - b).max() for a, b in zip(after.poses(*parts[name].frames), poses, strict=True)]
            assert max(apart) < TOLERANCE * after.size(), (name, apart)
        return after


def others(session: Session, *names: str) -> list[str]:
    return [name for name in session.parts() if name not in names]


def middle(session: Session, name: str) -> float:
    first, last = session.parts()[name].frames
    return (first + last) // 2

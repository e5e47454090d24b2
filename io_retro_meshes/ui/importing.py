# SPDX-License-Identifier: GPL-3.0-or-later
"""Files one after the other: at once for scripts and a single file; in a window, several let Blender draw and Esc stop them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.translations import pgettext_iface as words

from ..formats import AnyFormat, FormatError
from .reports import report_success, report_warnings, showable

if TYPE_CHECKING:
    from ..blender.files import Batch

PAUSE = 0.01  # seconds between two files, in which Blender handles its events


class Run:
    """The files of one import, and what is told of them at the end."""

    def __init__(
        self,
        context: bpy.types.Context,
        paths: Sequence[Path],
        format_of: Callable[[Path], AnyFormat],
        options: dict[str, Any],
        folders: Sequence[Path],
    ) -> None:
        from ..blender import files  # numpy and the readers are loaded with it: not before they are needed

        self.manager = context.window_manager
        self.paths = paths
        self.format_of = format_of
        self.done = 0
        self.errors: list[str] = []
        self.batch: Batch = files.Batch(context, options, len(paths), folders, self._progress)
        self.manager.progress_begin(0, len(paths))

    def _progress(self, part: float) -> None:
        self.manager.progress_update(self.done + part)

    @property
    def next(self) -> Path | None:
        return self.paths[self.done] if self.done < len(self.paths) else None

    def step(self) -> None:
        """Imports the next file."""
        path = self.paths[self.done]
        try:
            self.batch.add(self.format_of(path), path)
        except FormatError as error:
            self.errors.append(str(error))
        except OSError as error:
            self.errors.append(f"{path.name}: cannot be read: {error.strerror or error}")
        self.done += 1

    def finish(self, operator: bpy.types.Operator) -> set[str]:
        """Tells what has come in, also when it was stopped before the last file."""
        self.manager.progress_end()
        left = len(self.paths) - self.done
        if left:
            self.batch.warnings.append(f"Stopped: {left} of {len(self.paths)} files were not imported")
        report_success(operator, self.batch.lines)
        names = ", ".join(path.name for path in self.paths[:5])
        report_warnings(operator, self.batch.warnings, f"Imported {names}{' …' if len(self.paths) > 5 else ''}")
        if self.errors:
            operator.report({"ERROR"}, showable("\n".join(self.errors)))
        return {"FINISHED"} if self.batch.lines else {"CANCELLED"}


_waiting: list[Run] = []


def run_in_window(run: Run) -> None:
    """Goes on when the dialog is closed."""
    _waiting.append(run)
    bpy.ops.import_scene.retro_files("INVOKE_DEFAULT")


class ImportFiles(bpy.types.Operator):
    """Import the files that were chosen, one after the other"""

    bl_idname = "import_scene.retro_files"
    bl_label = "Import Files"
    bl_options = {"INTERNAL", "UNDO"}

    run: Run
    timer: bpy.types.Timer

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not _waiting:
            return {"CANCELLED"}
        self.run = _waiting.pop()
        self.timer = context.window_manager.event_timer_add(PAUSE, window=context.window)
        context.window_manager.modal_handler_add(self)
        self._tell(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC":
            return self._end(context)
        if event.type == "TIMER":
            self.run.step()
            if self.run.next is None:
                return self._end(context)
            self._tell(context)
        return {"RUNNING_MODAL"}

    def _tell(self, context: bpy.types.Context) -> None:
        place = {
            "number": self.run.done + 1,
            "count": len(self.run.paths),
            "name": showable(self.run.paths[self.run.done].name),
        }
        context.workspace.status_text_set(words("Importing {number} of {count}: {name} (Esc stops)").format(**place))

    def _end(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.event_timer_remove(self.timer)
        context.workspace.status_text_set(None)
        return self.run.finish(self)


CLASSES = (ImportFiles,)

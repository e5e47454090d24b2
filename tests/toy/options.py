# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about .toy files."""

from __future__ import annotations

from .. import options
from ..options import choices, option


@choices
class ImportOptions(options.ImportOptions):
    pass


@choices
class ExportOptions(options.ExportOptions):
    flip: bool = option(False, "Flip", "Write every triangle the other way round")

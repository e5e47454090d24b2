# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pytest inside a Blender, for `build.py test --blender PATH`: the folder of its packages, then its arguments."""

from __future__ import annotations

import os
import sys

packages, *arguments = sys.argv[sys.argv.index("--") + 1 :]
sys.path.append(packages)  # last, so that Blender's own numpy comes first

import pytest  # noqa: E402

code = pytest.main(["-p", "no:cacheprovider", *arguments])
sys.stdout.flush()
os._exit(int(code))

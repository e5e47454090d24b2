# SPDX-License-Identifier: GPL-3.0-or-later
"""The common graph: the materials of all formats that bring no node group along.

names.py: what its nodes are called. textures.py: image nodes and their coordinates, both ways. make.py and read.py: the rest.
"""

from .make import make
from .read import read

__all__ = ["make", "read"]

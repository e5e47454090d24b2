# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures: where textures are looked for (search.py), and how they are encoded (png.py)."""

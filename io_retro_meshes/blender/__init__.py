# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor that knows Blender: Scene to and from bpy data."""

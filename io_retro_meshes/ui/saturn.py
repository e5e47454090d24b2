# SPDX-License-Identifier: GPL-3.0-or-later
"""Saturn battle characters, .bin, in the file menus."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from .operators import Exporter, Importer


class ImportSaturn(bpy.types.Operator, Importer):
    """Open battle characters of the Sega Saturn: x8pc files, with the x8an file beside them"""

    bl_idname = "import_scene.saturn"
    bl_label = "Import Saturn Battle Character"
    format_id = "saturn"
    filename_ext = ".bin"
    filter_glob: StringProperty(default="*.bin", options={"HIDDEN"})

    parts: EnumProperty(
        name="Body",
        description="The console draws every part of the body as a mesh of its own",
        items=[
            ("ONE", "One Mesh", "All parts in one mesh object, told apart by the face attribute part"),
            ("EACH", "A Mesh a Part", "A mesh object for each part"),
        ],
        default="ONE",
    )
    spacing: FloatProperty(
        name="Spacing",
        description="How far apart several characters of a file stand, in widths of the widest. 0 puts them all at the origin",
        default=1.25,
        min=0.0,
        soft_max=5.0,
    )
    fps: FloatProperty(
        name="Frame Rate",
        description="Frames a second. The files do not say it; 20 looks right",
        default=20.0,
        min=1.0,
        soft_max=60.0,
    )
    images: EnumProperty(
        name="Images",
        description="The console's textures are small, and each polygon shows the whole of one",
        items=[
            ("EACH", "One a Texture", "An image and a material for each texture"),
            ("ATLAS", "Atlas", "One image that has all textures of a character in it"),
        ],
        default="EACH",
    )
    animation_file: StringProperty(
        name="Animation File",
        description="The x8an file with more animations. Empty: the one beside the model that has its number",
        subtype="FILE_PATH",
    )

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "parts")
        layout.prop(self, "spacing")

    def draw_animation(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "fps")
        layout.prop(self, "animation_file")

    def draw_textures(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "images")


class ExportSaturn(bpy.types.Operator, Exporter):
    """Save characters as battle characters of the Sega Saturn"""

    bl_idname = "export_scene.saturn"
    bl_label = "Export Saturn Battle Character"
    format_id = "saturn"
    filename_ext = ".bin"
    filter_glob: StringProperty(default="*.bin", options={"HIDDEN"})

    strongest: BoolProperty(
        name="Strongest Bone",
        description="Let every vertex go with its strongest bone. Otherwise, vertices of several bones are an error: all "
        "parts of a character are rigid",
        default=False,
    )
    first_frame: IntProperty(
        name="First Frame", description="Where actions begin when they are laid end to end", default=1, min=0, max=4095
    )
    external: EnumProperty(
        name="x8an Actions",
        description="Where the actions go that came from an x8an file",
        items=[
            ("FILE", "x8an File", "Into an x8an file beside the exported one"),
            ("TIMELINE", "Timeline", "Behind the others on the character's own timeline"),
            ("NONE", "None", "They are left out"),
        ],
        default="FILE",
    )
    largest_texture: IntProperty(
        name="Largest Texture",
        description="Pixels of a side, at most, of a texture drawn anew because a face shows a slanted part of an image",
        default=64,
        min=8,
        max=248,
    )

    def draw_model(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "strongest")

    def draw_animation(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "first_frame")
        layout.prop(self, "external")

    def draw_textures(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "largest_texture")


CLASSES = (ImportSaturn, ExportSaturn)

import bpy

op = bpy.context.active_operator

op.light_formula = "ORIGINAL"  # as its own exporter writes them
op.draft_axes = "BLENDER"

import bpy

op = bpy.context.active_operator

op.file_layout = "NAMES"  # the engine of that time reads no other
op.light_formula = "ORIGINAL"  # as its own exporter writes them
op.textures = "COPY"

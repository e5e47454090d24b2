import bpy

op = bpy.context.active_operator

op.parts = "ONE"
op.images = "ATLAS"
op.fps = 20.0  # the files do not say it
op.spacing = 1.25

import bpy

op = bpy.context.active_operator

op.scale = 0.0254  # its unit is an inch, Blender's a metre
op.fps = 30.0

import bpy

op = bpy.context.active_operator

op.scale = 1.0
op.use_normals = "FILE"
op.missing_normals = "BLITZ3D"  # smooth wherever vertices of a surface are in the same place
op.merge_surfaces = True

import bpy

op = bpy.context.active_operator

op.scale = 1.0
op.use_normals = "FILE"
op.missing_normals = "LUANTI"
op.merge_surfaces = False  # textures of a mod are counted by surface

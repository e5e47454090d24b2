import bpy

op = bpy.context.active_operator

op.scale = 1.0
op.uv_sets = 2
op.textures = "COPY"
op.normals = True
op.colors = True
op.join_on_bones = True

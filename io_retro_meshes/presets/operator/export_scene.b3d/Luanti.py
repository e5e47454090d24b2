import bpy

op = bpy.context.active_operator

op.scale = 10.0  # ten units of a model are one node in Luanti
op.uv_sets = 2
op.textures = "NONE"  # Luanti takes textures from the mod, not from the model
op.normals = True
op.colors = False
op.join_on_bones = False

import bpy

op = bpy.context.active_operator

op.scale = 1.0
op.bone_axes = "AS_BLENDER"
op.start_frame = "KEEP"
op.uv_sets = 2  # it reads no more
op.textures = "COPY"  # it looks beside the model
op.normals = True
op.colors = True
op.join_on_bones = True  # a mesh on a bone does not move along

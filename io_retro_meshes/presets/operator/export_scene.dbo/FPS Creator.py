import bpy

op = bpy.context.active_operator

op.scale = 39.37  # its unit is an inch, Blender's a metre
op.influences = 4
op.uv_sets = 2
op.animation = "AUTO"
op.fps = 0.0  # frames keep their numbers: .fpe files count in them
op.textures = "COPY"  # looked for beside the model
op.effect = ""  # drawn without shaders, unless the .fpe names one
op.skinned_effect = ""
op.mesh_per_material = False

import bpy

op = bpy.context.active_operator

op.scale = 39.37  # its unit is an inch, Blender's a metre
op.influences = 4
op.animation = "AUTO"
op.textures = "COPY"  # looked for beside the model
op.effect = "effectbank\\reloaded\\apbr_basic.fx"
op.skinned_effect = "effectbank\\reloaded\\apbr_anim.fx"
op.mesh_per_material = True  # it draws one set of textures a mesh
op.deforming_only = True  # 170 bones at most

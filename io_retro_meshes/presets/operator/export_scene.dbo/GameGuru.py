import bpy

op = bpy.context.active_operator

op.scale = 39.37  # GameGuru's unit is an inch, Blender's a metre
op.influences = 4
op.animation = "AUTO"
op.textures = "COPY"  # GameGuru looks for textures beside the model
op.effect = "effectbank\\reloaded\\apbr_basic.fx"
op.skinned_effect = "effectbank\\reloaded\\apbr_anim.fx"
op.mesh_per_material = True  # GameGuru MAX draws one set of textures a mesh
op.deform_bones = True  # its characters may have so many bones

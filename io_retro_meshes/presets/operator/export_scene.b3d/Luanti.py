import bpy

op = bpy.context.active_operator

op.scale = 1.0  # ten units are one node in Luanti, in Blender as in the file
op.use_lights = False  # they would be joints
op.use_cameras = False
op.bone_axes = "LUANTI"  # overrides and attachments of mods act in these
op.start_frame = "ONE"  # frame 0 of Luanti's API
op.sequences = False  # Luanti knows frames by their numbers only
op.uv_sets = 2
op.textures = "NONE"  # Luanti takes textures from the mod, not from the model
op.normals = True
op.colors = False
op.join_on_bones = True  # Luanti 5.15.2 refused a file with a mesh on a bone
op.deform_bones = True  # every joint of a rig is sent and played, controls too

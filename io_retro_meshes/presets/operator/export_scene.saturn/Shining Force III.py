import bpy

op = bpy.context.active_operator

op.animation = "AUTO"
op.external = "FILE"  # attacks are in the x8an file
op.keep_room = True  # what outgrows its room would move what the disc has behind it
op.other_type = "REFUSE"

"""What all families share in Blender: options, operators, reports, the state of a scene, materials."""

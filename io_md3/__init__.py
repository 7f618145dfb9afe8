"""MD3: Quake III's models, whose frames are positions of all vertices, with tags."""

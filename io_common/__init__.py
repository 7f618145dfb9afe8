"""What all families share without Blender: files, errors, rules, game data."""

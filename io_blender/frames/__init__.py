"""Models of frames of vertices in Blender: what the imports and exports of all their formats share."""

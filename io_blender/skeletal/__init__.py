"""Skeletal models in Blender: what the imports and exports of all their formats share."""

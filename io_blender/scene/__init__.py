"""Objects, evaluated meshes, shape keys, F-curves, names and axes of a scene, and the state that a run restores."""

"""Materials, shader nodes and images."""

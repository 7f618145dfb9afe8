"""Materials, their nodes and images."""

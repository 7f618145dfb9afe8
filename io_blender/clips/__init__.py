"""What plays in a scene: actions, strips, ranges and shape keys, listed, played and sampled."""

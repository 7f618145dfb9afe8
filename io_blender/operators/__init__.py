"""What the operators of all formats share."""

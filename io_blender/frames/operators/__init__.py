"""Operators and lists for models of frames."""

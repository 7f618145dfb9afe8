"""Operators and lists for armatures."""

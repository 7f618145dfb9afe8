"""What a scene holds, and the state that a run must leave as it was."""

"""Files on disk: what may be opened, how one is replaced, and what is in it."""

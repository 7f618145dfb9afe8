"""Files on disk: opening regular ones, replacing them atomically, and describing them."""

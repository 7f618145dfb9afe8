"""The rules of the games, and preparation of files for them; see `profiles` for the games themselves."""

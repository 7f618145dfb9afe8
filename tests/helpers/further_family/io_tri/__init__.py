"""A family made for a test: a text file that holds one triangle."""

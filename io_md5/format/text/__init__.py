"""Reading and printing of the text of MD5 files: tokens, blocks, rows and numbers."""

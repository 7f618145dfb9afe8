"""Reading and printing the text of MD5 files: tokens, blocks, rows and numbers."""

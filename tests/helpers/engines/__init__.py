"""What the games' own loaders make of files: readers written from the facts of each, without the package's parsers.

A reader takes the bytes of a mesh and an animation. It raises `Refused` where the loader refuses or crashes, and else
says where every vertex is in a frame, omissions and limits of the game included.
"""

"""Data of imported characters, stored in the property group ``idtech_character`` of objects and actions.

`characters` stores the declaration on the root object of each part, `actions` the declared name, commands and flags on
actions, `skins` the materials of variants on mesh objects. No other module reads or writes these. Values that are
loaded are valid but may be outdated.
"""

GROUP = "idtech_character"
"""The name of the property group."""

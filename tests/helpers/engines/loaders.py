"""Which engines stand behind a game."""

from __future__ import annotations

import re
from functools import partial

from . import cube, daemon, doom3, md2, q2pro, quake

MD5 = {
    "ANY": {"iqm": partial(cube.load, iqm=True)},
    "DOOM3": {"Doom 3": doom3.load},
    "DOOM3_BFG": {"RBDOOM-3-BFG": partial(doom3.load, bfg=True)},
    "QUAKE": {
        "Ironwail": quake.load,
        "vkQuake": partial(quake.load, engine="vkquake"),
        "FTEQW": partial(quake.load, engine="fteqw"),
    },
    "QUAKE2": {"q2pro": q2pro.load},
    "SAUERBRATEN": {"Sauerbraten": cube.load},
    "UNVANQUISHED": {"Daemon": daemon.load},
}
MD2 = {
    "ANY": {"Cube": md2.cube},
    "QUAKE2": {"Quake II": md2.quake2, "yquake2": md2.yquake2},
    "QUAKE2_MODERN": {"q2pro": md2.q2pro},
}

# What a warning says about an engine that shares the profile with others, so that it may refuse the file.
REFUSED_WITH_WARNING = {("FTEQW", "several_roots"), ("iqm", "joint_count")}


def told(findings, engine):
    """How far vertices are off in an engine, as warnings of the weights that it keeps say it; 0 without any."""
    name = re.escape(engine.replace("RBDOOM-3-", "Doom 3 "))
    found = [re.search(rf"([\d.e+-]+) units in {name}", finding.text) for finding in findings]
    return max((float(match[1]) for match in found if match), default=0.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Frisson in Blender: layers of secondary motion on the active object."""

import bpy

from . import baking, live, operators, overrides, panel, properties, shapes

PARTS = (properties, operators, baking, shapes, live, overrides, panel)


def register():
    for part in PARTS:
        part.register()


def unregister():
    baking.stop_all()
    for part in reversed(PARTS):
        part.unregister()

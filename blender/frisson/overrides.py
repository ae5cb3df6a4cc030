# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers on characters of a library survive saving.

Blender keeps changes of an override only where the library's object has the same properties; an object that never had
layers has none. So the stacks of overrides are copied, when a file is saved, to objects of its own that are in no
collection, and taken back when it is opened.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

KEPT_FOR = "frisson_kept_for"


def copy_group(source, target) -> None:
    """Everything that is set in one property group, into another of the same kind."""
    for prop in source.bl_rna.properties:
        name = prop.identifier
        if name in ("rna_type", "live", "status", "progress"):
            continue
        value = getattr(source, name)
        if prop.type == "COLLECTION":
            items = getattr(target, name)
            items.clear()
            for item in value:
                copy_group(item, items.add())
        elif isinstance(value, bpy.types.PropertyGroup):
            copy_group(value, getattr(target, name))
        elif source.is_property_set(name):
            setattr(target, name, value)


def keepers() -> list[bpy.types.Object]:
    return [o for o in bpy.data.objects if KEPT_FOR in o and o.library is None]


@persistent
def on_save(*_):
    for keeper in keepers():
        bpy.data.objects.remove(keeper)
    for obj in [o for o in bpy.data.objects if o.override_library and len(o.frisson.layers)]:
        keeper = bpy.data.objects.new(f"Frisson layers of {obj.name}", None)
        keeper.use_fake_user = True
        keeper[KEPT_FOR] = obj
        copy_group(obj.frisson, keeper.frisson)


@persistent
def on_load(*_):
    for keeper in keepers():
        obj = keeper.get(KEPT_FOR)
        if obj is not None and obj.override_library:
            copy_group(keeper.frisson, obj.frisson)


def register():
    bpy.app.handlers.save_pre.append(on_save)
    bpy.app.handlers.load_post.append(on_load)


def unregister():
    bpy.app.handlers.save_pre.remove(on_save)
    bpy.app.handlers.load_post.remove(on_load)
    for keeper in keepers():
        bpy.data.objects.remove(keeper)

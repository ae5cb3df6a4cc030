# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel, in the side bar and in the physics tab; its parameters come from the schema."""

from __future__ import annotations

import bpy

from . import baking, fields, motion, operators, results


class FRISSON_UL_layers(bpy.types.UIList):
    """The stack."""

    bl_idname = "FRISSON_UL_layers"

    def draw_item(self, context, layout, data, item, icon, active_data, active_propname, index=0):
        # The panel's labels stand in a column of their own; a list has none.
        layout.use_property_split = False
        row = layout.row(align=True)
        row.prop(item, "enabled", text="")
        row.prop(item, "name", text="", emboss=False)
        row.label(text=item.kind.capitalize())


class FRISSON_MT_add(bpy.types.Menu):
    """Kinds of layers"""

    bl_idname = "FRISSON_MT_add"
    bl_label = "Add layer"

    def draw(self, context):
        for kind in fields.layers():
            self.layout.operator("frisson.add", text=kind.capitalize()).kind = kind


def draw_group(layout, obj, owner, group: fields.Group, depth: int = 0) -> None:
    """Parameters under their headings."""
    if group.variants:
        layout.prop(owner, "variant")
        chosen = next(v for v in group.variants if v.key == owner.variant)
        draw_field(layout, obj, owner, chosen, depth)
        return
    headings: dict[str, list[fields.Field]] = {}
    for entry in group.fields:
        if not (depth == 0 and entry.key in fields.OWN):
            headings.setdefault(entry.heading, []).append(entry)
    for heading, entries in headings.items():
        box = layout
        if heading and depth == 0:
            box = layout.box()
            box.label(text=heading)
        for entry in entries:
            draw_field(box, obj, owner, entry, depth)


def draw_field(layout, obj, owner, entry: fields.Field, depth: int) -> None:
    stored = getattr(owner, entry.attribute)
    if entry.kind == "selection":
        row = layout.row(align=True)
        row.prop_search(stored, "vertex_group", obj, "vertex_groups", text=entry.label)
        row.prop(stored, "attribute", text="", icon="COLOR")
        row.prop(stored, "invert", text="", icon="ARROW_LEFTRIGHT")
    elif entry.kind == "group":
        inner = layout.column()
        inner.label(text=entry.label, icon="DOWNARROW_HLT")
        draw_group(inner, obj, stored, fields.groups()[entry.group], depth + 1)
    elif entry.kind == "list":
        path = f"{owner.path_from_id()}.{entry.attribute}"
        row = layout.row()
        row.label(text=f"{entry.label}: {len(stored)}")
        row.operator("frisson.list", text="", icon="ADD").path = path
        for index, item in enumerate(stored):
            box = layout.box()
            head = box.row()
            head.label(text=f"{entry.label} {index + 1}")
            remove = head.operator("frisson.list", text="", icon="X")
            remove.path, remove.index = path, index
            draw_group(box, obj, item, fields.groups()[entry.group], depth + 1)
    elif entry.kind == "string" and entry.key in ("from", "joint") and motion.armature_of(obj):
        layout.prop_search(owner, entry.attribute, motion.armature_of(obj).data, "bones")
    else:
        # What was not set is grey: the engine's default holds.
        row = layout.row()
        row.active = entry.required or owner.is_property_set(entry.attribute)
        row.prop(owner, entry.attribute)


class Frisson:
    """What both panels draw."""

    bl_label = "Frisson"

    @classmethod
    def poll(cls, context):
        obj = results.owner(context)
        return obj is not None and obj.type == "MESH"

    def draw(self, context):
        layout, obj = self.layout, results.owner(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        stack = obj.frisson
        row = layout.row()
        row.template_list("FRISSON_UL_layers", "", stack, "layers", stack, "active", rows=4)
        column = row.column(align=True)
        column.menu("FRISSON_MT_add", text="", icon="ADD")
        column.operator("frisson.remove", text="", icon="REMOVE")
        column.separator()
        column.operator("frisson.move", text="", icon="TRIA_UP").by = -1
        column.operator("frisson.move", text="", icon="TRIA_DOWN").by = 1
        if not len(stack.layers):
            layout.label(text="Propose from the rig and the skin:", icon="ARMATURE_DATA")
            row = layout.row(align=True)
            for kind, label, _ in operators.PROPOSALS:
                row.operator("frisson.propose", text=label).kinds = {kind}
        self.draw_bake(layout, stack, obj)
        if 0 <= stack.active < len(stack.layers):
            layer = stack.layers[stack.active]
            if layer.kind in operators.PRESETS:
                layout.operator_menu_enum("frisson.preset", "preset", icon="PRESET")
            group = fields.groups()[fields.layers()[layer.kind][0]]
            draw_group(layout.column(), obj, getattr(layer, layer.kind), group)

    def draw_bake(self, layout, stack, obj):
        running = obj.session_uid in baking.JOBS
        row = layout.row(align=True)
        if running:
            row.progress(factor=max(stack.progress, 0.0), text=stack.status)
            row.operator("frisson.cancel", text="", icon="CANCEL")
        else:
            row.operator("frisson.bake", icon="PHYSICS")
            row.operator("frisson.bake", text="Resume").resume = True
            row.operator("frisson.shapes", text="", icon="SHAPEKEY_DATA")
            row.operator("frisson.clear", text="", icon="TRASH")
            if stack.status:
                for line in stack.status.splitlines()[:4]:
                    layout.label(text=line)
        layout.prop(stack, "live", toggle=True)
        layout.prop(stack, "rounds")
        if not stack.rounds:
            layout.prop(stack, "preroll")
        layout.prop(stack, "takes_part")
        layout.prop(stack, "folder")


class FRISSON_PT_sidebar(Frisson, bpy.types.Panel):
    bl_idname = "FRISSON_PT_sidebar"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Frisson"


class FRISSON_PT_physics(Frisson, bpy.types.Panel):
    bl_idname = "FRISSON_PT_physics"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "physics"


CLASSES = (FRISSON_UL_layers, FRISSON_MT_add, FRISSON_PT_sidebar, FRISSON_PT_physics)


register, unregister = bpy.utils.register_classes_factory(CLASSES)

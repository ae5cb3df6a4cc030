# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension as an artist uses it, without a window."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")


def shown(obj, frame):
    """World positions of what Blender shows."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world)
    return points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]


def engine_points(folder, name, index):
    """What the engine baked, in Blender's axes."""
    import frisson

    points = frisson.Cache(folder / "bake.frisson")[index].meshes[name.replace(".", "_")].positions
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=-1)


def add_flesh(obj):
    bpy.context.view_layer.objects.active = obj
    bpy.ops.frisson.add(kind="flesh")
    layer = obj.frisson.layers[-1]
    layer.flesh.p_from, layer.flesh.p_to = "pelvis", "chest"
    layer.flesh.p_frequency_hz, layer.flesh.p_damping_ratio = 2.5, 0.15
    return layer


def bake(obj):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.frisson.bake(wait=True) == {"FINISHED"}, obj.frisson.status
    return Path(bpy.data.filepath).parent / "frisson" / obj.name.replace(".", "_")


def test_it_is_installed_with_its_wheel(extension, profile):
    import frisson

    assert profile in Path(frisson.__file__).parents, "the wheel comes from the zip"
    assert profile in Path(extension.__file__).parents
    assert {p.bl_idname for p in (bpy.types.FRISSON_PT_sidebar, bpy.types.FRISSON_PT_physics)}


def test_every_layer_has_every_parameter_of_the_schema(blend):
    import frisson

    bpy.ops.mesh.primitive_cube_add()
    obj = bpy.context.object
    for kind, known in frisson.params.kinds().items():
        bpy.ops.frisson.add(kind=kind)
        stored = getattr(obj.frisson.layers[-1], kind)
        for name in known.names():
            key = known.key(name)
            assert hasattr(stored, f"p_{known._keys.get(name, name)}"), f"{kind}.{key}"
    assert [layer.kind for layer in obj.frisson.layers] == list(frisson.params.kinds())
    obj.frisson.active = 6
    bpy.ops.frisson.move(by=-1)
    assert [layer.kind for layer in obj.frisson.layers][-2:] == ["soft", "drops"]
    bpy.ops.frisson.remove()
    assert len(obj.frisson.layers) == 6


def test_flesh_on_a_cat_is_what_the_engine_says(cat):
    before = {f: shown(cat, f) for f in (1, 8, 16)}
    own = np.array([v.co[:] for v in cat.data.vertices])
    add_flesh(cat)
    folder = bake(cat)
    assert [m.type for m in cat.modifiers].count("MESH_CACHE") == 1 and cat.modifiers[-1].name == "Frisson"
    size = np.ptp(before[1], axis=0).max()
    for frame in (1, 8, 16):
        error = np.abs(shown(cat, frame) - engine_points(folder, cat.name, frame - 1)).max()
        assert error < 1e-4 * size, f"frame {frame}: {error / size:.1e} of the size"
    assert np.abs(shown(cat, 16) - before[16]).max() > 1e-3 * size, "it swings"
    assert np.array_equal(own, np.array([v.co[:] for v in cat.data.vertices])), "the mesh itself is untouched"
    bpy.ops.frisson.clear()
    assert not [m for m in cat.modifiers if m.name.startswith("Frisson")]
    assert np.array_equal(shown(cat, 8), before[8])


def test_modifiers_materials_scale_and_units_do_not_matter(cat):
    subdivide = cat.modifiers.new("Subdivision", "SUBSURF")
    subdivide.levels = subdivide.render_levels = 1
    for name in ("skin", "fur"):
        cat.data.materials.append(bpy.data.materials.new(name))
    for index, polygon in enumerate(cat.data.polygons):
        polygon.material_index = index % len(cat.data.materials)
    bpy.context.scene.unit_settings.scale_length = 0.01
    armature = cat.find_armature()
    armature.location = (3, -2, 0.5)
    armature.rotation_mode = "XYZ"
    armature.rotation_euler = (0.1, 0.2, 1.3)
    armature.scale = (100, 100, 100)
    bpy.context.scene.frame_end = 4
    without = {f: shown(cat, f) for f in (1, 4)}
    assert len(without[1]) > len(cat.data.vertices)
    # Nothing but the way there and back.
    layer = add_flesh(cat)
    layer.flesh.p_amount = 0.0
    bake(cat)
    size = np.ptp(without[1], axis=0).max()
    for frame in (1, 4):
        assert np.abs(shown(cat, frame) - without[frame]).max() < 1e-4 * size


def test_flesh_is_proposed_from_the_rig(cat):
    bpy.context.scene.frame_end = 30
    assert bpy.ops.frisson.propose() == {"FINISHED"}
    assert len(cat.frisson.layers) >= 1 and all(layer.kind == "flesh" for layer in cat.frisson.layers)
    bones = {b.name for b in cat.find_armature().data.bones}
    assert all(layer.flesh.p_from in bones for layer in cat.frisson.layers)
    # All of it, as it is: ears end beside a bone, not at one.
    assert any(layer.flesh.p_to.startswith("[") for layer in cat.frisson.layers)
    bpy.context.scene.frame_end = 4
    bake(cat)


def test_what_the_skin_asks_for_is_proposed_and_nothing_else(cat):
    bpy.context.scene.frame_end = 4
    # A cat has no head of hair.
    assert bpy.ops.frisson.propose(kinds={"hair", "drops"}) == {"FINISHED"}
    assert [layer.kind for layer in cat.frisson.layers] == ["drops"]
    bake(cat)


def test_saved_and_opened_again_it_shows_the_same(cat):
    add_flesh(cat)
    bake(cat)
    name, before = cat.name, shown(cat, 10)
    cat.name = "tom"
    path = bpy.data.filepath
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    tom = bpy.data.objects["tom"]
    assert np.array_equal(shown(tom, 10), before), name
    layer = tom.frisson.layers[0]
    assert (layer.kind, layer.flesh.p_from, layer.flesh.p_frequency_hz) == ("flesh", "pelvis", 2.5)
    assert layer.flesh.is_property_set("p_frequency_hz") and not layer.flesh.is_property_set("p_mass")


def test_a_cancelled_bake_goes_on_to_the_same_bytes(cat, extension):
    bpy.context.scene.frame_end = 60
    add_flesh(cat)
    folder = bake(cat)
    whole = (folder / "bake.frisson").read_bytes()
    baking = sys.modules[f"{extension.__name__}.baking"]
    job = baking.begin(bpy.context, cat, resume=False)
    while job.process.poll() is None and job.said().get("done", 0) < 3:
        time.sleep(0.005)
    bpy.ops.frisson.cancel()
    job.process.wait()
    assert not baking.look_at(job, bpy.context)
    if "stopped" not in job.said():
        pytest.skip("it was done before it could be stopped")
    assert cat.frisson.status.startswith("Stopped") and not (folder / "bake.frisson").exists()
    assert bpy.ops.frisson.bake(resume=True, wait=True) == {"FINISHED"}
    assert (folder / "bake.frisson").read_bytes() == whole


def test_two_bake_at_once_while_blender_goes_on(cat, extension):
    """As with a window: the processes run, a timer looks at them now and then."""
    baking = sys.modules[f"{extension.__name__}.baking"]
    twin = cat.copy()
    twin.data = cat.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    add_flesh(cat)
    add_flesh(twin).flesh.p_frequency_hz = 6.0
    for obj in (cat, twin):
        baking.begin(bpy.context, obj, resume=False)
    assert len(baking.JOBS) == 2 and cat.frisson.progress >= 0.0
    # A new name meanwhile does no harm.
    twin.name = "tim"
    deadline = time.monotonic() + 120
    while baking.JOBS and time.monotonic() < deadline:
        assert baking.watch() == (baking.LOOK if baking.JOBS else None)
        time.sleep(0.02)
    assert not baking.JOBS
    for obj in (cat, twin):
        assert [m.type for m in obj.modifiers].count("MESH_CACHE") == 1, obj.frisson.status
    assert np.abs(shown(cat, 12) - shown(twin, 12)).max() > 1e-3, "each has its own"


def test_mistakes_are_said_and_nothing_is_left(cat):
    layer = add_flesh(cat)
    layer.flesh.p_from = "pelviz"
    with pytest.raises(RuntimeError, match="pelvis"):
        bpy.ops.frisson.bake(wait=True)
    assert "pelvis" in cat.frisson.status and not [m for m in cat.modifiers if m.name.startswith("Frisson")]


def test_live_shows_what_a_bake_shows(cat):
    add_flesh(cat)
    bake(cat)
    baked = {f: shown(cat, f) for f in (1, 6, 16)}
    bpy.ops.frisson.clear()
    plain = shown(cat, 16)
    cat.frisson.live = True
    assert cat.frisson.live, cat.frisson.status
    size = np.ptp(plain, axis=0).max()
    for frame in (16, 6, 1, 16):
        assert np.abs(shown(cat, frame) - baked[frame]).max() < 1e-5 * size, frame
    cat.frisson.layers[0].flesh.p_amount = 0.0
    assert np.abs(shown(cat, 16) - plain).max() < 1e-5 * size, "a parameter takes hold at once"
    cat.frisson.live = False
    assert not [m for m in cat.modifiers if m.name.startswith("Frisson")]
    assert "frisson_offset" not in cat.data.attributes


def test_wrinkles_are_live_too(cat):
    add_wrinkles(cat)
    bake(cat)
    (made,) = [o for o in bpy.data.objects if o.get("frisson_made_for") == cat and o.type == "MESH"]
    baked = {f: shown(made, f) for f in (1, 9, 16)}
    bpy.ops.frisson.clear()
    cat.frisson.live = True
    assert cat.frisson.live, cat.frisson.status
    (stand_in,) = [o for o in bpy.data.objects if o.get("frisson_live") == cat]
    assert cat.hide_get() and len(stand_in.data.vertices) > len(cat.data.vertices)
    for frame in (9, 16, 1, 16):
        now = shown(stand_in, frame)
        size = np.ptp(now, axis=0).max()
        assert now.shape == baked[frame].shape
        assert np.abs(now - baked[frame]).max() < 1e-5 * size, frame
    cat.frisson.live = False
    assert not cat.hide_get() and not [o for o in bpy.data.objects if o.get("frisson_live")]


def grid(size=0.8, cells=16, height=1.0):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=cells, y_subdivisions=cells, size=size, location=(0, 0, height))
    return bpy.context.object


def group(obj, name, weight):
    made = obj.vertex_groups.new(name=name)
    for vertex in obj.data.vertices:
        made.add([vertex.index], float(weight(vertex.co)), "REPLACE")


def test_cloth_hangs_from_a_vertex_group_over_a_collider(blend):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12, radius=0.2, location=(0.1, 0, 0.7))
    ball = bpy.context.object
    ball.modifiers.new("Collision", "COLLISION")
    sheet = grid()
    group(sheet, "hung", lambda co: co.x < -0.39)
    bpy.ops.frisson.add(kind="cloth")
    layer = sheet.frisson.layers[0]
    layer.cloth.p_pins.vertex_group = "hung"
    layer.cloth.p_material = "cotton"
    before = shown(sheet, 1)
    bake(sheet)
    after = shown(sheet, 12)
    pinned = before[:, 0] < -0.39
    assert np.abs(after[pinned] - before[pinned]).max() < 1e-3
    assert after[:, 2].min() < before[:, 2].min() - 0.05, "the free end falls"
    assert not [m for m in ball.modifiers if m.name.startswith("Frisson")], "what is not moved is left alone"


def add_wrinkles(cat):
    """Folds of skin between two empties on the flank."""
    bpy.context.scene.frame_set(1)
    points = shown(cat, 1)
    flank = points[np.argsort(np.abs(points - np.median(points, axis=0)).sum(axis=1))]
    ends = []
    for index, place in enumerate((flank[0], flank[np.argmax(np.linalg.norm(flank[:200] - flank[0], axis=1))])):
        empty = bpy.data.objects.new(f"end{index}", None)
        empty.location = place
        bpy.context.scene.collection.objects.link(empty)
        ends.append(empty)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = cat
    bpy.ops.frisson.add(kind="wrinkles")
    tool = cat.frisson.layers[-1].wrinkles.p_tools.add()
    tool.p_name, tool.p_a, tool.p_b, tool.p_width = "flank", *ends, 0.03
    return points


def test_wrinkles_are_drawn_between_two_empties(cat):
    points = add_wrinkles(cat)
    folder = bake(cat)
    (made,) = [o for o in bpy.data.objects if o.get("frisson_made_for") == cat and o.type == "MESH"]
    assert cat.hide_render and cat.hide_get(), "a mesh with other triangles stands in its place"
    size = np.ptp(points, axis=0).max()
    for frame in (1, 9, 16):
        apart = np.abs(shown(made, frame) - engine_points(folder, cat.name, frame - 1)).max()
        assert apart < 1e-4 * size, f"frame {frame}: {apart / size:.1e} of the size"
    # The panel of what was made is that of the object it was made for.
    bpy.context.view_layer.objects.active = made
    bpy.ops.frisson.clear()
    assert not cat.hide_render and not [o for o in bpy.data.objects if o.get("frisson_made_for")]
    assert not bpy.data.cache_files and not [c for c in bpy.data.collections if c.name.startswith("Frisson")]


def test_folds_are_laid_along_a_curve(blend):
    sheet = grid()
    curve = bpy.data.curves.new("fold", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(2)
    for point, x in zip(spline.points, (-0.3, 0.0, 0.3), strict=True):
        point.co = (x, 0.02, 1.0, 1.0)
    line = bpy.data.objects.new("fold", curve)
    bpy.context.scene.collection.objects.link(line)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.frisson.add(kind="folds")
    fold = sheet.frisson.layers[0].folds.p_folds.add()
    fold.p_name, fold.p_points, fold.p_width, fold.p_amplitude = "crest", line, 0.08, 0.04
    bake(sheet)
    made = [o for o in bpy.data.objects if o.get("frisson_made_for") == sheet] or [sheet]
    highest = max(shown(o, 12)[:, 2].max() for o in made if o.type == "MESH")
    assert highest > 1.0 + 0.02, "the fold rises"


def test_lines_come_from_strokes_hair_curves_and_empties(blend, extension):
    motion = sys.modules[f"{extension.__name__}.motion"]
    convert = motion.engine_from_blender(bpy.context.scene)
    pencil = bpy.data.grease_pencils.new("pencil")
    drawing = pencil.layers.new("lines").frames.new(1).drawing
    drawing.add_strokes([3])
    for index, point in enumerate(drawing.strokes[0].points):
        point.position = (index, 2.0, 3.0)
    drawn = motion.lines_of(bpy.data.objects.new("pencil", pencil), convert)
    assert drawn == [[[0.0, 3.0, -2.0], [1.0, 3.0, -2.0], [2.0, 3.0, -2.0]]], "Y up"
    hair = bpy.data.hair_curves.new("hair")
    hair.add_curves([2, 3])
    assert [len(line) for line in motion.lines_of(bpy.data.objects.new("hair", hair), convert)] == [2, 3]
    empty = bpy.data.objects.new("empty", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.location = (1, 2, 3)
    bpy.context.view_layer.update()
    assert motion.lines_of(empty, convert) == [[[1.0, 3.0, -2.0]]]


def test_hair_grows_on_a_vertex_group_as_curves(blend):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=0.1, location=(0, 0, 1.5))
    head = bpy.context.object
    group(head, "scalp", lambda co: co.z > 0.03)
    bpy.ops.frisson.add(kind="hair")
    hair = head.frisson.layers[0].hair
    hair.p_scalp.vertex_group = "scalp"
    hair.p_wisps, hair.p_length = 12, 0.15
    hair.p_strands.p_per_wisp = 5
    bpy.context.scene.frame_end = 6
    bake(head)
    made = [o for o in bpy.data.objects if o.get("frisson_made_for") == head]
    curves = [o for o in made if o.type in ("CURVES", "CURVE")]
    assert curves, [(o.name, o.type) for o in made]
    bpy.context.scene.frame_set(4)
    data = curves[0].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    count = len(data.curves) if curves[0].type == "CURVES" else len(data.splines)
    assert count == 60


def test_hair_curves_go_in_as_guides_and_come_out_as_curves(blend):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=0.1, location=(0, 0, 1.5))
    head = bpy.context.object
    data = bpy.data.hair_curves.new("groom")
    data.add_curves([8] * 6)
    angles = np.linspace(0, 2 * np.pi, 6, endpoint=False)
    roots = np.stack([0.07 * np.cos(angles), 0.07 * np.sin(angles), np.full(6, np.sqrt(0.1**2 - 0.07**2))], axis=-1)
    outwards = roots / np.linalg.norm(roots, axis=1, keepdims=True)
    points = roots[:, None] + np.linspace(0, 0.12, 8)[None, :, None] * outwards[:, None]
    data.position_data.foreach_set("vector", points.astype(np.float32).ravel())
    groom = bpy.data.objects.new("groom", data)
    groom.location = (0, 0, 1.5)
    bpy.context.scene.collection.objects.link(groom)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = head
    bpy.ops.frisson.add(kind="hair")
    hair = head.frisson.layers[0].hair
    hair.p_at = groom
    hair.p_style.p_guides = groom
    hair.p_length, hair.p_particles, hair.p_radius = 0.12, 8, 0.001
    hair.p_strands.p_per_wisp = 1
    bpy.context.scene.frame_end = 3
    folder = bake(head)
    (out,) = [o for o in bpy.data.objects if o.get("frisson_made_for") == head and o.type == "CURVES"]
    bpy.context.scene.frame_set(2)
    evaluated = out.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert len(evaluated.data.curves) == 6
    found = np.array([tuple(evaluated.matrix_world @ c.points[0].position) for c in evaluated.data.curves])
    wanted = roots + (0, 0, 1.5)
    apart = np.linalg.norm(found[:, None] - wanted[None], axis=-1).min(axis=1)
    assert apart.max() < 0.005, "hairs grow where the groom has them"
    import frisson

    (strands,) = frisson.Cache(folder / "bake.frisson")[1].curves.values()
    engine = np.stack([strands.positions[:, 0], -strands.positions[:, 2], strands.positions[:, 1]], axis=-1)
    flat = np.empty(3 * len(engine), dtype=np.float32)
    evaluated.data.attributes["position"].data.foreach_get("vector", flat)
    world = np.array(evaluated.matrix_world)
    back = flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    assert np.abs(back - engine).max() < 1e-5


def test_a_loop_closes(cat):
    """Up and down: with rounds before it, the last frame runs on into the first."""
    armature = cat.find_armature()
    armature.animation_data_clear()
    period = 15
    for frame in range(1, period + 2):
        armature.location = (0, 0, 0.05 * np.sin(2 * np.pi * (frame - 1) / period))
        armature.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = period
    layer = add_flesh(cat)
    layer.flesh.p_damping_ratio = 0.3
    plain = {f: shown(cat, f) for f in (1, 8)}

    def swing(rounds, frame):
        cat.frisson.rounds = rounds
        bake(cat)
        moved = shown(cat, frame) - plain[frame]
        bpy.ops.frisson.clear()
        return moved

    large = np.abs(swing(4, 8)).max()
    settled = np.abs(swing(4, 1) - swing(5, 1)).max()
    first = np.abs(swing(0, 1) - swing(4, 1)).max()
    assert large > 1e-4 and settled < 0.01 * large, (settled, large)
    assert first > 5 * settled, "without rounds it would jump"


def test_shape_keys_are_the_bake_and_keep_the_rig(cat, tmp_path):
    add_flesh(cat)
    bake(cat)
    baked = {f: shown(cat, f) for f in (1, 7, 16)}
    assert bpy.ops.frisson.shapes() == {"FINISHED"}, cat.frisson.status
    made = bpy.data.objects[f"{cat.name} shapes"]
    assert len(made.data.shape_keys.key_blocks) == 17 and made.find_armature() == cat.find_armature()
    size = np.ptp(baked[1], axis=0).max()
    for frame in (1, 7, 16):
        assert np.abs(shown(made, frame) - baked[frame]).max() < 1e-4 * size, frame
    # Half as many: between two of them they blend.
    bpy.data.objects.remove(made)
    bpy.ops.frisson.shapes(every=3)
    made = bpy.data.objects[f"{cat.name} shapes"]
    assert len(made.data.shape_keys.key_blocks) == 7
    # As an engine gets it.
    for obj in bpy.data.objects:
        obj.select_set(obj in (made, cat.find_armature()))
    path = tmp_path / "engine.glb"
    bpy.ops.export_scene.gltf(filepath=str(path), use_selection=True, export_animation_mode="SCENE")
    import json

    raw = path.read_bytes()
    document = json.loads(raw[20 : 20 + int.from_bytes(raw[12:16], "little")])
    assert len(document["meshes"][0]["primitives"][0]["targets"]) == 6 and document["skins"]
    bpy.ops.frisson.clear()
    assert f"{cat.name} shapes" not in bpy.data.objects


def test_a_character_of_a_library_is_overridden(cat, tmp_path):
    library, names = str(tmp_path / "library.blend"), (cat.name, cat.find_armature().name)
    bpy.data.libraries.write(library, {cat, cat.find_armature()}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    path = str(tmp_path / "uses.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.context.scene.render.fps = 30
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 8
    with bpy.data.libraries.load(library, link=True) as (_, to):
        to.objects = list(names)
    for obj in to.objects:
        bpy.context.scene.collection.objects.link(obj)
    linked = bpy.data.objects[names[0]]
    bpy.context.view_layer.objects.active = linked
    with pytest.raises(RuntimeError, match="override"):
        bpy.ops.frisson.add(kind="flesh")
    made = {o: o.override_create(remap_local_usages=True) for o in to.objects}
    cat = made[linked]
    assert cat.library is None and cat.override_library is not None and cat.data.library is not None
    add_flesh(cat)
    bake(cat)
    baked = shown(cat, 8)
    assert [m.type for m in cat.modifiers].count("MESH_CACHE") == 1
    # Saved as an override, it is there again.
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    cat = next(o for o in bpy.data.objects if o.name == names[0] and o.library is None)
    assert [(x.kind, x.flesh.p_from, x.flesh.p_frequency_hz) for x in cat.frisson.layers] == [("flesh", "pelvis", 2.5)]
    assert np.abs(shown(cat, 8) - baked).max() < 1e-6
    # Live without writing into the library's mesh.
    bpy.context.view_layer.objects.active = cat
    bpy.ops.frisson.clear()
    cat.frisson.live = True
    assert cat.frisson.live, cat.frisson.status
    (stand_in,) = [o for o in bpy.data.objects if o.get("frisson_live") == cat]
    size = np.ptp(baked, axis=0).max()
    assert np.abs(shown(stand_in, 8) - baked).max() < 1e-5 * size
    cat.frisson.live = False


def test_undo_takes_back_layers_results_and_live(cat, extension):
    live = sys.modules[f"{extension.__name__}.live"]
    name = cat.name
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="start")
    add_flesh(cat)
    bpy.ops.ed.undo_push(message="flesh")
    cat = bpy.data.objects[name]
    cat.frisson.layers[0].flesh.p_frequency_hz = 5.0
    bpy.ops.ed.undo_push(message="frequency")
    bpy.ops.ed.undo()
    cat = bpy.data.objects[name]
    assert cat.frisson.layers[0].flesh.p_frequency_hz == 2.5
    cat.frisson.live = True
    assert cat.frisson.live, cat.frisson.status
    bpy.ops.ed.undo_push(message="live")
    bpy.ops.ed.undo()
    cat = bpy.data.objects[name]
    assert not cat.frisson.live and not live.SESSIONS and not [m for m in cat.modifiers if m.name.startswith("Frisson")]
    bpy.ops.ed.undo()
    assert not len(bpy.data.objects[name].frisson.layers)


@pytest.mark.parametrize(("fps", "base", "said"), [(24, 1.0, 24), (25, 1.0, 25), (30, 1.001, "30000/1001"), (60, 1.0, 60)])
def test_rates_are_exact(blend, extension, fps, base, said):
    scenes = sys.modules[f"{extension.__name__}.scenes"]
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps, base
    assert scenes.rate(scene) == said
    sheet = grid(cells=4)
    group(sheet, "hung", lambda co: co.x < -0.39)
    bpy.ops.frisson.add(kind="cloth")
    sheet.frisson.layers[0].cloth.p_pins.vertex_group = "hung"
    scene.frame_start, scene.frame_end = 5, 5 + round(fps / base * 0.1)
    bake(sheet)
    # A tenth of a second of falling, whatever the frames.
    fallen = 1.0 - shown(sheet, scene.frame_end)[:, 2].min()
    seconds = (scene.frame_end - 5) * base / fps
    assert fallen == pytest.approx(0.5 * 9.81 * seconds**2, rel=0.35)
    assert np.abs(shown(sheet, 5)[:, 2] - 1.0).max() < 1e-3, "it begins at the shot's own first frame"


def test_materials_and_vertices_keep_their_order(blend):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=0.1)
    ball = bpy.context.object
    for name in ("a", "b", "c"):
        ball.data.materials.append(bpy.data.materials.new(name))
    for index, polygon in enumerate(ball.data.polygons):
        polygon.material_index = (index * 7) % 3
    slots = [p.material_index for p in ball.data.polygons]
    rng = np.random.default_rng(1)
    own = np.array([v.co[:] for v in ball.data.vertices]) + rng.normal(scale=0.002, size=(len(ball.data.vertices), 3))
    ball.data.vertices.foreach_set("co", own.astype(np.float32).ravel())
    group(ball, "all", lambda co: 1.0)
    bpy.ops.frisson.add(kind="cloth")
    ball.frisson.layers[0].cloth.p_pins.vertex_group = "all"
    bpy.context.scene.frame_end = 3
    bake(ball)
    assert np.abs(shown(ball, 3) - own).max() < 1e-5, "every vertex is in its own place"
    mesh = ball.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    assert [p.material_index for p in mesh.polygons] == slots


def test_drops_run_from_an_empty(blend):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=24, radius=0.1, location=(0, 0, 1))
    head = bpy.context.object
    start = bpy.data.objects.new("tear", None)
    start.location = (0.0, -0.08, 1.06)
    bpy.context.scene.collection.objects.link(start)
    bpy.context.view_layer.update()
    bpy.ops.frisson.add(kind="drops")
    drops = head.frisson.layers[0].drops
    source = drops.p_sources.add()
    source.variant = "single"
    source.p_single.p_at = start
    source.p_single.p_mass = 3e-5
    drops.p_shape.p_points, drops.p_shape.p_mesh = True, False
    bake(head)
    made = [o for o in bpy.data.objects if o.get("frisson_made_for") == head]
    (points,) = [o for o in made if o.type == "POINTCLOUD"]
    assert [m.type for m in points.modifiers][-1] == "NODES"
    bpy.context.scene.frame_set(6)
    radius = points.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes["radius"].data[0].value
    import frisson

    folder = Path(bpy.data.filepath).parent / "frisson" / "Sphere"
    (drop,) = frisson.Cache(folder / "bake.frisson")[5].points.values()
    assert radius == pytest.approx(drop.attributes["drop_radius"][0], rel=1e-5) and 1e-4 < radius < 1e-2
    # The same as small meshes, by a switch of the modifier.
    switch = next(i for i in points.modifiers[-1].node_group.interface.items_tree if i.name == "Spheres")
    points.modifiers[-1][switch.identifier] = True
    points.update_tag()
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    found = (i for i in graph.object_instances if i.is_instance and i.parent and i.parent.original == points)
    assert [i.matrix_world.to_scale()[0] for i in found] == [pytest.approx(radius, rel=1e-4)]
    bpy.ops.frisson.clear()
    assert "Frisson drops" not in bpy.data.node_groups


def test_soft_bodies_come_as_objects_of_their_own(blend):
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0, 0, -1))
    obj = bpy.context.object
    bpy.ops.frisson.add(kind="soft")
    body = obj.frisson.layers[0].soft.p_objects.add()
    body.p_name, body.p_thickness = "blob", 0.1
    for x in (-0.05, 0.05):
        primitive = body.p_primitives.add()
        primitive.p_point = (x, 0.0, 0.5)
    bpy.context.scene.frame_end = 4
    bake(obj)
    made = [o for o in bpy.data.objects if o.get("frisson_made_for") == obj]
    blob = next(o for o in made if o.type == "MESH")
    points = shown(blob, 2)
    assert len(points) > 50 and abs(points[:, 2].mean() - 0.5) < 0.1, "it is where it was put, Z up"


def test_zz_uninstalled_it_leaves_nothing(extension, profile):
    bpy.ops.wm.read_homefile(use_empty=True)
    repos = bpy.context.preferences.extensions.repos
    index = next(i for i, r in enumerate(repos) if r.module == "user_default")
    bpy.ops.extensions.package_uninstall(repo_index=index, pkg_id="frisson")
    assert not hasattr(bpy.types.Object, "frisson") and not hasattr(bpy.types, "FRISSON_PT_sidebar")
    left = [p for p in profile.rglob("*frisson*") if p.is_file() and "__pycache__" not in p.parts]
    assert not left, left

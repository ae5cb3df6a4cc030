"""The door: live actors, parameters, states."""

import gc
import sys

import frisson
import numpy as np
import pytest
from frisson import params


def test_stepping_shows_what_a_bake_stores(cache, scene):
    simulator = frisson.Simulator(scene)
    for number in range(13):
        assert np.array_equal(simulator.positions("cat"), cache[number].meshes["cat"].positions), number
        if number < 12:
            simulator.step()
    assert simulator.frame_number == 12 and simulator.time == pytest.approx(0.4)


def pushed_cat(scene, poses=None):
    cat = frisson.Character.load("builtin:cat")
    simulator = frisson.Simulator(scene, live=["cat"])
    pose = poses or (lambda t: cat.pose("leap", t))
    simulator.push_pose("cat", 0.0, pose(0.0))
    simulator.start()
    return simulator, pose


def test_a_pushed_pose_is_that_of_the_clip(scene):
    cat = frisson.Character.load("builtin:cat")
    still = scene.with_layer("belly", amount=0)
    simulator = frisson.Simulator(still, live=["cat"])
    simulator.push_pose("cat", 0.0, cat.pose("leap", 0.0))
    simulator.start()
    simulator.push_pose("cat", 0.4, cat.pose("leap", 0.4))
    played = frisson.Simulator(still).advance_to(0.4).positions()
    assert np.abs(simulator.advance_to(0.4).positions() - played).max() < 1e-5


def test_positions_are_pushed_in_place_and_held_to_their_form(scene):
    simulator, pose = pushed_cat(scene)
    rest = simulator.positions("cat")
    moved = rest + np.float32(0.5)
    simulator.push_positions("cat", 0.0, moved)
    for wrong in (moved.astype(np.float64), moved[::-1], moved[:, :2].copy(), [[0, 0, 0]]):
        with pytest.raises(frisson.InputError, match="float32"):
            simulator.push_positions("cat", 0.1, wrong)
    with pytest.raises(frisson.InputError, match="vertices"):
        simulator.push_positions("cat", 0.1, moved[:5].copy())
    bad = moved.copy()
    bad[7, 1] = np.nan
    with pytest.raises(frisson.InputError, match="finite"):
        simulator.push_positions("cat", 0.1, bad)
    with pytest.raises(frisson.InputError, match="nodes"):
        simulator.push_pose("cat", 0.1, pose(0.0)[:3].copy())
    with pytest.raises(frisson.InputError, match="did you mean"):
        frisson.Simulator(scene, live=["cats"])


def test_a_state_taken_back_repeats_every_bit(scene):
    simulator = frisson.Simulator(scene)
    simulator.advance_to(0.1)
    state = simulator.save()
    first = simulator.advance_to(0.37).positions()
    other = frisson.Simulator(scene).load(state)
    assert np.array_equal(other.advance_to(0.37).positions(), first)
    with pytest.raises(frisson.InputError, match="before the present"):
        simulator.advance_to(0.1)
    with pytest.raises(frisson.InputError):
        simulator.load(b"no state")


def test_parameters_change_while_it_runs(scene):
    simulator = frisson.Simulator(scene)
    simulator.advance_to(0.1)
    assert simulator.set("belly", frequency_hz=5.0) == "live"
    assert simulator["belly"].frequency_hz == 5.0
    simulator["belly"].frequency_hz = 1.5
    assert simulator["belly"].frequency_hz == 1.5 and simulator.set("belly") == "none"
    assert "frequency_hz" in dir(simulator["belly"])
    with pytest.raises(frisson.InputError, match="frequency_hz"):
        simulator.set("belly", frequenzy_hz=2.0)
    with pytest.raises(KeyError, match="belly"):
        simulator["bely"]
    other = frisson.Simulator(scene)
    assert not np.array_equal(simulator.advance_to(0.4).positions(), other.advance_to(0.4).positions())


def test_layers_come_and_go(scene):
    simulator = frisson.Simulator(scene)
    neck = params.Flesh(name="neck", on="cat", from_="chest", to=["head"], frequency_hz=4)
    simulator.add(neck)
    assert simulator.layers == ["belly", "neck"]
    assert simulator.reorder(["neck", "belly"]).layers == ["neck", "belly"]
    assert simulator.remove("neck").layers == ["belly"]
    simulator.set_forces((0, 0, 0), [{"wind": {"direction": [1, 0, 0], "speed": 3}}])


def tube(clip=None):
    """A tube around a spine of two joints, from numpy only."""
    rings, sides = 13, 16
    height, angle = np.meshgrid(np.linspace(0, 0.5, rings), np.arange(sides) * 2 * np.pi / sides, indexing="ij")
    positions = np.stack([0.2 * np.cos(angle), 1 + height, 0.2 * np.sin(angle)], -1).reshape(-1, 3)
    at = np.arange(rings * sides).reshape(rings, sides)
    a, b = at[:-1], np.roll(at[:-1], -1, axis=1)
    c, d = at[1:], np.roll(at[1:], -1, axis=1)
    triangles = np.concatenate([np.stack([a, c, b], -1).reshape(-1, 3), np.stack([b, c, d], -1).reshape(-1, 3)])
    share = (height / 0.5).reshape(-1, 1)
    rest = np.stack([np.eye(4)] * 2)
    rest[0, 1, 3], rest[1, 1, 3] = 1.0, 1.5
    return frisson.Character(
        {"body": {"positions": positions, "triangles": triangles, "weights": np.hstack([1 - share, share])}},
        joints=[("hip", None), ("chest", 0)],
        rest=rest,
        clip=clip,
    ), rest.astype(np.float32)


def test_a_character_of_arrays_swings_and_comes_to_rest():
    hero, rest = tube()
    belly = params.Flesh(name="belly", on="hero", from_="hip", to=["chest"], frequency_hz=3, damping_ratio=0.1)
    scene = frisson.Scene.of(fps=60, frames=(0, 600), actors={"hero": hero}, layers=[belly])
    simulator = frisson.Simulator(scene, actors={"hero": hero})
    simulator.push_pose("hero", 0.0, rest)
    simulator.start()
    still = simulator.positions("hero")
    swing = []
    for step in range(1, 301):
        pose = rest.copy()
        pose[:, 1, 3] += 0.1 * np.sin(min(step / 60, 0.5) * 2 * np.pi)
        simulator.push_pose("hero", step / 60, pose)
        moved = simulator.step(1 / 60).positions("hero")
        swing.append(np.abs(moved - still - (pose[0, :3, 3] - rest[0, :3, 3])).max())
    assert max(swing) > 0.005, "it swings"
    assert swing[-1] < 0.02 * max(swing), "and comes to rest"


def test_pushed_motion_swings_like_a_clip_of_the_same_samples():
    times = np.arange(61) / 60
    height = 0.1 * np.sin(np.clip(times - 0.2, 0, 0.5) * 2 * np.pi) ** 2
    hero, rest = tube()
    poses = np.repeat(rest[None], len(times), axis=0)
    poses[:, :, 1, 3] += height[:, None]
    belly = params.Flesh(name="belly", on="hero", from_="hip", to=["chest"], frequency_hz=3, damping_ratio=0.1)
    known, _ = tube(clip=(times, poses))
    scene = frisson.Scene.of(fps=60, frames=(0, 60), actors={"hero": known}, layers=[belly])
    played = frisson.Simulator(scene, actors={"hero": known}, live=[])
    pushed = frisson.Simulator(scene, actors={"hero": known})
    pushed.push_pose("hero", 0.0, poses[0])
    pushed.start()
    rest_positions, swing, apart = pushed.positions(), 0.0, 0.0
    for time, pose, up in zip(times[1:], poses[1:], height[1:], strict=True):
        pushed.push_pose("hero", time, pose)
        pushed.advance_to(time)
        a, b = pushed.positions(), played.advance_to(time).positions()
        swing = max(swing, np.abs(b - rest_positions - [0, up, 0]).max())
        apart = max(apart, np.abs(a - b).max())
    assert swing > 0.005 and apart < 0.05 * swing, (swing, apart)


def test_a_character_survives_its_file(tmp_path):
    hero, rest = tube()
    read = frisson.Character.load(hero.save(tmp_path / "hero.glb"))
    assert np.array_equal(read.meshes["body"][0], hero.meshes["body"][0]), "order and place of every vertex"
    assert np.array_equal(read.meshes["body"][1], hero.meshes["body"][1])
    names = dict((n, i) for i, (n, _) in enumerate(read.joints))
    assert np.allclose(read.pose()[[names["hip"], names["chest"]]], rest, atol=1e-6)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_simulators_leave_no_memory_behind():
    hero, rest = tube()
    belly = params.Flesh(name="belly", on="hero", from_="hip", to=["chest"], frequency_hz=3)
    scene = frisson.Scene.of(fps=60, frames=(0, 60), actors={"hero": hero}, layers=[belly])

    def live_and_die():
        simulator = frisson.Simulator(scene, actors={"hero": hero})
        simulator.push_pose("hero", 0.0, rest)
        simulator.start().step(1 / 60)
        simulator.frame()
        simulator.save()

    for _ in range(200):
        live_and_die()
    gc.collect()
    before = resident()
    for _ in range(1000):
        live_and_die()
    gc.collect()
    assert resident() - before < 4 << 20


def test_packed_files_are_unpacked_by_a_process_of_their_own():
    from pathlib import Path

    packed = Path(__file__).parents[2] / "crates/frisson-io/tests/data/grid_draco.glb"
    if not packed.exists():
        pytest.skip("the repository's data are not there")
    (positions, triangles), *_ = frisson.Character.load(packed).meshes.values()
    assert len(positions) > 3 and triangles.max() < len(positions)

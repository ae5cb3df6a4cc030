"""What the tests share: a small scene, baked once."""

import frisson
import pytest

SCENE = """\
frisson = 2
fps = 30
frames = [0, 12]

[actors.cat]
source = "builtin:cat"
clip = "leap"

[[layers]]
flesh = { name = "belly", on = "cat", from = "pelvis", to = ["chest"], frequency_hz = 2.5, damping_ratio = 0.15 }
"""


@pytest.fixture(scope="session")
def scene_text():
    return SCENE


@pytest.fixture
def scene():
    return frisson.Scene.parse(SCENE, "cat.toml")


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    path = tmp_path_factory.mktemp("bake") / "cat.frisson"
    return frisson.bake(frisson.Scene.parse(SCENE, path.with_suffix(".toml")), path)

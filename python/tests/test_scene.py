"""Scenes: read, made of objects, refused with their place."""

import frisson
import pytest
from frisson import params


def test_a_mistake_has_file_line_column_and_a_suggestion(scene_text):
    broken = scene_text.replace("frequency_hz", "frequenzy_hz")
    with pytest.raises(frisson.SceneError) as caught:
        frisson.Scene.parse(broken, "shots/cat.toml")
    error = caught.value
    assert (error.path, error.line) == ("shots/cat.toml", 10)
    assert error.column > 1 and "frequency_hz" in (error.help or "")
    assert "frequenzy_hz" in str(error) and "^^^" in str(error)
    assert isinstance(error, ValueError)


def test_what_only_building_finds_has_its_place_too(scene_text):
    with pytest.raises(frisson.SceneError) as caught:
        frisson.Scene.parse(scene_text.replace("pelvis", "pelviz")).check()
    assert caught.value.line == 10 and "pelvis" in str(caught.value)


def test_objects_make_the_same_scene(scene_text):
    read = frisson.Scene.parse(scene_text)
    belly = params.Flesh(name="belly", on="cat", from_="pelvis", to=["chest"], frequency_hz=2.5, damping_ratio=0.15)
    made = frisson.Scene.of(
        fps=30, frames=(0, 12), actors={"cat": params.Actor(source="builtin:cat", clip="leap")}, layers=[belly]
    )
    assert made.to_dict() == read.to_dict()
    assert read.with_layer("belly", frequency_hz=4).to_dict()["layers"][0]["flesh"]["frequency_hz"] == 4
    assert read.replaced(fps=24).to_dict()["fps"] == 24
    with pytest.raises(KeyError, match="belly"):
        read.with_layer("bely", frequency_hz=4)


def test_a_file_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(frisson.InputError, match=r"none\.toml"):
        frisson.Scene.load(tmp_path / "none.toml")


def test_the_parameter_classes_are_those_of_the_schema():
    import importlib.util
    from pathlib import Path

    tool = Path(__file__).parent.parent / "tools" / "params.py"
    spec = importlib.util.spec_from_file_location("tool", tool)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = Path(params.__file__).read_text()
    assert written == module.generate(frisson.schema()), f"run {tool}"
    # Every parameter can be completed and says what it means.
    assert set(params.kinds()) == {"flesh", "wrinkles", "cloth", "folds", "hair", "drops", "soft"}


def test_the_stubs_name_everything_that_is_there():
    import ast
    from pathlib import Path

    from frisson import _native

    stub = ast.parse((Path(frisson.__file__).parent / "_native.pyi").read_text())
    functions = {n.name for n in stub.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in stub.body if isinstance(n, ast.ClassDef)}
    there = {n for n in dir(_native) if not n.startswith("_")}
    assert functions | set(classes) == there
    for name, node in classes.items():
        stubbed = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} - {"__init__"}
        real = {n for n in dir(getattr(_native, name)) if not n.startswith("_")}
        assert stubbed == real, name


def test_everything_public_is_documented():
    for name in frisson.__all__:
        thing = getattr(frisson, name)
        assert isinstance(thing, str) or (thing.__doc__ or "").strip(), name


def test_a_first_scene_is_proposed():
    scene = frisson.init("builtin:cat", clip="leap")
    assert "flesh" in scene.text
    scene.check()


def test_a_scene_shows_itself(scene):
    assert "belly" in repr(scene) and "<table>" in scene._repr_html_()


def test_names_are_explained():
    assert frisson.explain("flesh.frequency_hz")[0]["unit"] == "Hz"
    with pytest.raises(frisson.InputError, match="frequency_hz"):
        frisson.explain("frequenzy_hz")


def test_proposals_that_would_be_comments_are_switched_on_by_name(tmp_path):
    kinds = lambda scene: [next(iter(layer)) for layer in scene.to_dict()["layers"]]  # noqa: E731
    plain = frisson.init("builtin:cat", path=tmp_path / "cat.toml")
    with_sweat = frisson.init("builtin:cat", path=tmp_path / "cat.toml", with_layers=["sweat"])
    assert "drops" not in kinds(plain) and "drops" in kinds(with_sweat)
    with pytest.raises(frisson.InputError):
        frisson.init("builtin:cat", path=tmp_path / "cat.toml", with_layers=["beard"])


def test_what_to_do_is_said_in_the_words_of_python(tmp_path):
    scene = frisson.Scene.of(fps=30, frames=(0, 1), actors={"ball": "builtin:sphere"}, layers=[])
    frisson.bake(scene, tmp_path / "ball.frisson")
    with pytest.raises(frisson.InputError, match="force=True"):
        frisson.bake(scene, tmp_path / "ball.frisson")

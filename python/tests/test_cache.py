"""Baking and reading back."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import frisson
import numpy as np
import pytest


def test_frames_are_arrays(cache):
    assert (cache.first, cache.last, cache.fps, len(cache)) == (0, 12, 30.0, 13)
    assert cache.is_finished and cache.layers == [("flesh", "belly")]
    frame = cache[5]
    cat = frame.meshes["cat"]
    assert cat.positions.dtype == np.float32 and cat.positions.shape[1] == 3
    assert cat.triangles.max() == len(cat.positions) - 1
    assert cat.normals.shape == cat.positions.shape
    assert np.allclose(np.linalg.norm(cat.normals, axis=1), 1, atol=1e-4)
    assert cache[6].meshes["cat"].triangles is cat.triangles, "one array for all frames"
    every = cache.positions("cat")
    assert every.shape == (13, *cat.positions.shape) and np.array_equal(every[5], cat.positions)
    assert not np.array_equal(every[5], every[6])
    with pytest.raises(IndexError, match="0 to 12"):
        cache[13]
    with pytest.raises(frisson.InputError, match="its meshes: cat"):
        cache.positions("dog")


def test_same_bits_as_the_command(cache, scene_text, tmp_path):
    """The wheel's own command, in a process of its own."""
    scene = tmp_path / "cat.toml"
    scene.write_text(scene_text)
    command = [sys.executable, "-m", "frisson", "bake", str(scene), "--no-judge", "--quiet"]
    subprocess.run(command, check=True)
    assert (tmp_path / "cat.frisson").read_bytes() == cache.path.read_bytes()


def test_the_installed_command_is_there(tmp_path):
    command = Path(sys.executable).parent / "frisson"
    if not command.exists():
        pytest.skip("the package is not installed with its command")
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert frisson.__version__ in said
    failed = subprocess.run([command, "check", tmp_path / "none.toml"], capture_output=True, check=False)
    assert failed.returncode == 1 and b"none.toml" in failed.stderr


def test_the_command_starts_by_its_folder(tmp_path):
    """As the Draco helper and Blender start it: from anywhere, without the package on the path."""
    folder = Path(frisson.__file__).parent
    said = subprocess.run(
        [sys.executable, folder, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert frisson.__version__ in said.stdout


def test_a_stopped_bake_goes_on_to_the_same_bytes(cache, scene, tmp_path):
    seen = []

    def stop(done, total):
        seen.append((done, total))
        return done < 5

    path = tmp_path / "cat.frisson"
    with pytest.raises(frisson.Stopped) as caught:
        frisson.bake(scene, path, progress=stop)
    assert caught.value.last_frame == 4 and seen[-1] == (5, 13)
    assert len(frisson.Cache(path)) == 5
    with pytest.raises(frisson.InputError, match="unfinished"):
        frisson.bake(scene, path)
    baked = frisson.bake(scene, path, resume=True)
    assert baked.report["resumed_after"] == 4
    assert path.read_bytes() == cache.path.read_bytes()
    with pytest.raises(frisson.InputError, match="already there"):
        frisson.bake(scene, path)


def test_an_error_in_the_progress_function_comes_out(scene, tmp_path):
    def fail(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        frisson.bake(scene, tmp_path / "cat.frisson", progress=fail)


@pytest.mark.skipif(not hasattr(signal, "raise_signal") or os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_stops_a_bake(scene, tmp_path):
    def press(done, total):
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        frisson.bake(scene, tmp_path / "cat.frisson", progress=press)
    assert len(frisson.Cache(tmp_path / "cat.frisson")) >= 3


def test_other_threads_run_while_it_bakes(scene, tmp_path):
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            done.wait(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    frisson.bake(scene.replaced(frames=(0, 40)), tmp_path / "cat.frisson")
    done.set()
    thread.join()
    assert counted[0] > 20


def test_the_judge_answers_with_place_and_frame(cache):
    findings = cache.judge({"travel": 0.0})
    assert all(isinstance(f, frisson.Finding) for f in findings)
    strict = cache.judge({"pop": 0.0})
    assert strict and strict[0].shape == "cat" and cache.first <= strict[0].frame <= cache.last
    with pytest.raises(frisson.InputError, match="no measure"):
        cache.judge({"pops": 1.0})


def test_pictures_are_arrays(cache):
    picture = cache.render(4, size=(96, 54), samples=1)
    assert picture.shape == (54, 96, 4) and picture.dtype == np.uint8
    assert picture[..., :3].std() > 5, "something is to be seen"
    both = cache.render([0, 6], size=(96, 54), samples=1)
    assert both.shape == (2, 54, 96, 4) and not np.array_equal(both[0], both[1])
    assert cache.sheet(2, size=(96, 54), samples=1)._repr_png_()[:4] == b"\x89PNG"
    with pytest.raises(frisson.InputError):
        cache.render(4, size=(32, 18), no_such_camera_key=1)


def test_measures_and_exports(cache, tmp_path):
    series = cache.measures()
    assert series and all(len(v) == len(cache) for v in series.values())
    (written,) = cache.export(tmp_path, pc2="cat.pc2")
    body = np.fromfile(written, dtype="<f4", offset=32).reshape(len(cache), -1, 3)
    assert np.array_equal(body, cache.positions("cat"))


def test_a_notebook_shows_caches_and_scenes(cache, scene):
    assert cache._repr_png_()[:4] == b"\x89PNG"
    movie = cache.movie(size=(64, 36), every=6, samples=1)
    assert movie.data[8:12] == b"WEBP" and movie._repr_html_().startswith("<img ")
    page = scene._repr_html_()
    assert "data:image/png;base64," in page and "belly" in page
    assert "data:image" in frisson.demo("cat")._repr_html_(), "without frames, too"
    missing = frisson.Scene.parse(scene.text.replace("builtin:cat", "gone.glb"), "gone/cat.toml")
    page = missing._repr_html_()
    assert "<img" not in page and "gone.glb" in page, "what cannot be read is still told"

# SPDX-License-Identifier: GPL-3.0-or-later
"""A clean profile of Blender with the extension installed from its zip.

  FRISSON_EXTENSION=dist/frisson-0.1.0.zip pytest blender/tests     (in an environment with bpy, without frisson)
"""

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

PROFILE = Path(tempfile.mkdtemp(prefix="frisson-profile-"))
# Read when bpy is imported: no other profile is touched.
os.environ["BLENDER_USER_RESOURCES"] = str(PROFILE)
ZIP = os.environ.get("FRISSON_EXTENSION", "")
MODULE = "bl_ext.user_default.frisson"

if importlib.util.find_spec("bpy") is None or not ZIP:
    collect_ignore_glob = ["test_*.py"]
    print("SKIPPED: needs bpy and FRISSON_EXTENSION=the built zip", file=sys.stderr)


def pytest_sessionfinish(session, exitstatus):
    shutil.rmtree(PROFILE, ignore_errors=True)


@pytest.fixture(scope="session")
def profile():
    return PROFILE


@pytest.fixture(scope="session")
def extension(profile):
    """The extension, installed once."""
    import bpy

    assert importlib.util.find_spec("frisson") is None, "the wheel of the extension would not be tested"
    bpy.ops.extensions.package_install_files(filepath=ZIP, repo="user_default", enable_on_install=True)
    return sys.modules[MODULE]


@pytest.fixture
def blend(extension, tmp_path):
    """An empty file beside which caches may be kept."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.context.scene.render.fps = 30
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    return bpy


@pytest.fixture
def cat(blend, tmp_path):
    """The cat of the cast, as a rigged and animated object."""
    import bpy
    import frisson

    path = frisson.Character.load("builtin:cat").save(tmp_path / "cat.glb")
    bpy.ops.import_scene.gltf(filepath=str(path))
    mesh = next(o for o in bpy.data.objects if o.type == "MESH" and o.find_armature())
    for other in [o for o in bpy.data.objects if o.type == "MESH" and o != mesh]:
        bpy.data.objects.remove(other)
    action = next(a for a in bpy.data.actions if "leap" in a.name)
    animation = mesh.find_armature().animation_data
    animation.action = action
    if hasattr(animation, "action_slot") and animation.action_slot is None:
        animation.action_slot = action.slots[0]
    for track in animation.nla_tracks:
        track.mute = True
    bpy.context.view_layer.objects.active = mesh
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 16
    return mesh

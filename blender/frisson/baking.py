# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, cancel, resume, clear. The bake is a process of its own: Blender's interface stays free."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import bpy

from . import motion, results, scenes

# Seconds between two looks at the process.
LOOK = 0.2


class Job:
    """A bake that runs."""

    def __init__(self, obj: bpy.types.Object, folder: Path, how: str):
        import frisson

        # Renaming must not matter: the object is found again by its session id.
        self.uid, self.folder, self.cache = obj.session_uid, folder, folder / "bake.frisson"
        old = () if how == "resume" else ("bake.frisson", "bake.frisson.part")
        for name in ("stop", "progress.json", *old):
            (folder / name).unlink(missing_ok=True)
        packages = str(Path(frisson.__file__).parent.parent)
        worker = str(Path(__file__).parent / "worker.py")
        command = [sys.executable, worker, packages, str(folder / "scene.toml"), str(self.cache), how]
        with open(folder / "bake.log", "w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    @property
    def object(self) -> bpy.types.Object | None:
        return next((o for o in bpy.data.objects if o.session_uid == self.uid), None)

    def said(self) -> dict:
        try:
            return json.loads((self.folder / "progress.json").read_text())
        except (OSError, json.JSONDecodeError):
            return {}

    def stop(self) -> None:
        """Asks for a clean end."""
        (self.folder / "stop").touch()


JOBS: dict[int, Job] = {}


def stop_all() -> None:
    for job in list(JOBS.values()):
        job.stop()
    JOBS.clear()


def look_at(job: Job, context: bpy.types.Context) -> bool:
    """Shows how far a job is; whether it goes on."""
    obj, said, code = job.object, job.said(), job.process.poll()
    if obj is None:
        job.stop()
        JOBS.pop(job.uid, None)
        return False
    if code is None:
        total = said.get("total", 0)
        obj.frisson.progress = said.get("done", 0) / total if total else 0.0
        obj.frisson.status = f"Frame {said.get('done', 0)} of {total}" if total else "Building the layers"
        return True
    JOBS.pop(job.uid, None)
    obj.frisson.progress = -1.0
    if said.get("finished"):
        made = results.show(context, obj, job.cache)
        obj.frisson.status = f"Baked: {', '.join(made)}"
    elif "stopped" in said:
        obj.frisson.status = "Stopped; Resume goes on"
    else:
        log = (job.folder / "bake.log").read_text().strip().splitlines()
        obj.frisson.status = said.get("error") or (log[-1] if log else f"The bake ended with code {code}")
    return False


def watch():
    """Blender's timer."""
    for job in list(JOBS.values()):
        look_at(job, bpy.context)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()
    return LOOK if JOBS else None


def record(context: bpy.types.Context, obj: bpy.types.Object) -> dict:
    """All frames of the shot, at once."""
    scene, frame = context.scene, context.scene.frame_current
    recorder = motion.Recorder(context, scenes.participants(scene, obj))
    manager = context.window_manager
    manager.progress_begin(scene.frame_start, scene.frame_end)
    try:
        scene.frame_set(scene.frame_start)
        recorder.begin(context)
        for number in range(scene.frame_start, scene.frame_end + 1):
            recorder.frame(context, number)
            manager.progress_update(number)
    finally:
        recorded = recorder.end()
        scene.frame_set(frame)
        manager.progress_end()
    return recorded


def begin(context: bpy.types.Context, obj: bpy.types.Object, resume: bool) -> Job:
    """Records, writes the folder and starts the process."""
    import frisson

    folder = Path(obj.frisson.place) if resume and obj.frisson.place else scenes.folder_of(obj)
    if not resume:
        results.clear(context, obj)
        obj.frisson.place = str(folder)
        path = scenes.write_folder(context, obj, folder, record(context, obj))
        frisson.Scene.load(path).check()
    job = Job(obj, folder, "resume" if resume else "force")
    JOBS[obj.session_uid] = job
    obj.frisson.status, obj.frisson.progress = "Building the layers", 0.0
    return job


class FRISSON_OT_bake(bpy.types.Operator):
    """Record the motion and simulate the layers in the background"""

    bl_idname = "frisson.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER"}

    resume: bpy.props.BoolProperty(name="Resume", description="Go on where a bake was stopped", options={"SKIP_SAVE"})
    wait: bpy.props.BoolProperty(name="Wait", description="Return when it is done", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        obj = results.owner(context)
        return obj is not None and obj.type == "MESH" and len(obj.frisson.layers) and obj.session_uid not in JOBS

    def execute(self, context):
        obj = results.owner(context)
        try:
            job = begin(context, obj, self.resume)
        except (ValueError, OSError) as error:
            obj.frisson.status = str(error)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not self.wait and not bpy.app.background:
            bpy.app.timers.register(watch, first_interval=LOOK)
            return {"FINISHED"}
        job.process.wait()
        look_at(job, context)
        if not job.said().get("finished"):
            self.report({"ERROR"}, obj.frisson.status)
            return {"CANCELLED"}
        return {"FINISHED"}


class FRISSON_OT_cancel(bpy.types.Operator):
    """Stop the bake; finished frames are kept and Resume goes on"""

    bl_idname = "frisson.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        obj = results.owner(context)
        return obj is not None and obj.session_uid in JOBS

    def execute(self, context):
        JOBS[results.owner(context).session_uid].stop()
        return {"FINISHED"}


class FRISSON_OT_clear(bpy.types.Operator):
    """Remove what a bake shows; layers and files stay"""

    bl_idname = "frisson.clear"
    bl_label = "Clear"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return results.owner(context) is not None

    def execute(self, context):
        obj = results.owner(context)
        results.clear(context, obj)
        obj.frisson.status = ""
        return {"FINISHED"}


CLASSES = (FRISSON_OT_bake, FRISSON_OT_cancel, FRISSON_OT_clear)


def register():
    for made in CLASSES:
        bpy.utils.register_class(made)


def unregister():
    if bpy.app.timers.is_registered(watch):
        bpy.app.timers.unregister(watch)
    for made in reversed(CLASSES):
        bpy.utils.unregister_class(made)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that bakes, so that Blender stays free: `python worker.py PACKAGES SCENE CACHE resume|force`.

Says how far it is in `progress.json` beside the scene; a file named `stop` there ends it cleanly, and it goes on later.
"""

import json
import os
import sys
from pathlib import Path


def main() -> int:
    packages, scene, cache, how = sys.argv[1:]
    sys.path.insert(0, packages)
    import frisson

    folder = Path(scene).parent

    def say(**what):
        beside = folder / "progress.json.new"
        beside.write_text(json.dumps(what))
        os.replace(beside, folder / "progress.json")

    def progress(done, total):
        say(done=done, total=total)
        return not (folder / "stop").exists()

    try:
        frisson.bake(scene, cache, progress=progress, resume=how == "resume", force=how == "force")
    except frisson.Stopped as stopped:
        say(stopped=stopped.last_frame if stopped.last_frame is not None else -1)
        return 3
    except (frisson.FrissonError, OSError) as error:
        say(error=str(error))
        return 1
    say(finished=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Scenes for tests/presets.sh: a character that stands for five seconds, with each of the named hair styles.

  preset_scenes.py FRISSON CHARACTER FOLDER     prints the scenes it wrote
"""

import re
import subprocess
import sys
from pathlib import Path

PRESETS = ["long_straight", "bob", "ponytail", "curly", "braid", "short", "afro", "fringe"]
# Curls lengthen when they are pulled; all others keep their length.
SPRINGY = {"curly", "afro"}

PROMISES = """
[[expect]]
measure = "travel"
shape = "hair"
of = "max"
at_most = 1
why = "Nothing sags in five seconds."

[[expect]]
measure = "inside"
shape = "hair"
body = "{body}"
frames = [0, 0]
part = "segments"
at_most = 0.5
why = "No hair goes through the head, as it was styled."

[[expect]]
measure = "inside"
shape = "hair"
body = "{body}"
frames = [150, 150]
part = "segments"
at_most = 0.5
why = "Nor later."
"""

LENGTH = """
[[expect]]
measure = "stretch"
shape = "hair"
of = "max"
at_most = 1.01
why = "Straight hairs keep their length."
"""


def only_hair(text):
    """The proposed scene without its other layers and exports."""
    head, *layers = re.split(r"(?=^\[\[layers\]\])", text, flags=re.M)
    layer = next(part for part in layers if "[layers.hair]" in part)
    # A blank line ends a layer; what follows are words about the next.
    return head.split("# What follows")[0] + layer.split("\n\n")[0] + "\n"


def standing(text):
    """The same without a clip, for five seconds."""
    text = re.sub(r"^(# )?(clip|loop|frames) = .*\n", "", text, flags=re.M)
    text = text.replace("fps = 30\n", "fps = 30\nframes = [0, 150]\n")
    return re.sub(r"^(source = .*\n)", r"\1static = true\n", text, flags=re.M)


def main():
    frisson, character, folder = sys.argv[1:4]
    name = Path(character.removeprefix("builtin:")).stem
    first = Path(folder) / f"{name}.toml"
    command = [frisson, "init", character, "-o", first, "--with", "hair", "--force", "--quiet"]
    subprocess.run(command, check=True)
    text = standing(only_hair(first.read_text()))
    first.unlink()
    body = re.search(r'^on = "(.*)"', text, flags=re.M)[1]
    for preset in PRESETS:
        scene = re.sub(r'preset = "\w+"', f'preset = "{preset}"', text)
        scene += PROMISES.format(body=body) + ("" if preset in SPRINGY else LENGTH)
        path = first.with_name(f"{name}-{preset}.toml")
        path.write_text(scene)
        print(path)


if __name__ == "__main__":
    main()

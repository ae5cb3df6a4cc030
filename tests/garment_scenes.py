"""Scenes for tests/garments.sh: a dressed character standing, and in each of its clips.

  garment_scenes.py FRISSON CHARACTER.glb KIND MOST_CLIPS     prints the scenes it wrote
"""

import json
import re
import subprocess
import sys
from pathlib import Path

STRETCH = """
[[expect]]
measure = "stretch"
shape = "{shape}"
of = "p99"
at_most = 1.025
why = "Cloth is not rubber."
"""

CROSSINGS = """
[[expect]]
measure = "crossings"
shape = "{shape}"
body = "{body}"
worn_on = {worn_on}
at_most = 0
why = "Nothing of the cloth goes through the body."

[[expect]]
measure = "crossings"
shape = "{body}"
body = "{shape}"
worn_on = {worn_on}
at_most = 0
why = "Nothing of the body goes through the cloth."
"""

REST = """
[[expect]]
measure = "rest"
shape = "{shape}"
frames = [{first}, {last}]
at_most = {speed}
why = "It comes to rest."
"""


def only_garment(text, kind):
    """The proposed scene without its other layers and exports."""
    head, *layers = re.split(r"(?=^\[\[layers\]\])", text, flags=re.M)
    layer = next(part for part in layers if "[layers.cloth]" in part and f'name = "{kind}"' in part)
    # A blank line ends a layer; what follows are words about the next.
    return head.split("# What follows")[0] + layer.split("\n\n")[0] + "\n"


def main():
    frisson, character, kind, most = sys.argv[1:5]
    character = Path(character)
    first = character.with_suffix(".toml")
    command = [frisson, "init", character, "-o", first, "--with", kind, "--force", "--quiet"]
    subprocess.run(command, check=True)
    proposed = only_garment(first.read_text(), kind)
    first.unlink()
    shape = re.search(r'^on = "(.*)"', proposed, flags=re.M)[1]
    bodies = json.loads(re.search(r"^bodies = (\[.*\])", proposed, flags=re.M)[1])
    promises = STRETCH.format(shape=shape)
    promises += "".join(CROSSINGS.format(shape=shape, body=body, worn_on=json.dumps(bodies)) for body in bodies)
    clips = re.findall(r'^(?:# )?clip = "(.*?)" .*\n', proposed, flags=re.M)
    still = re.sub(r"^(# )?(clip|loop|frames) = .*\n", "", proposed, flags=re.M)
    standing = still.replace("fps = 30\n", "fps = 30\nframes = [0, 150]\n")
    standing = re.sub(r"^(source = .*\n)", r"\1static = true\n", standing, flags=re.M) + promises
    standing += REST.format(shape=shape, first=60, last=119, speed=10)
    standing += REST.format(shape=shape, first=120, last=150, speed=3)
    scenes = {"stand": standing}
    for clip in clips[: int(most)]:
        scenes[clip] = re.sub(r"^(source = .*\n)", rf'\1clip = "{clip}"\n', still, flags=re.M) + promises
    for name, text in scenes.items():
        name = re.sub(r"[^A-Za-z0-9_-]", "_", name)
        path = character.with_name(f"{character.stem}-{name}.toml")
        path.write_text(text)
        print(path)


if __name__ == "__main__":
    main()

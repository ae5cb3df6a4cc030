"""Ours beside Blender, in one run on one machine: medians of alternating runs, and their ratio.

usage: compare.py FRISSON PYTHON [--full]    PYTHON has bpy; FRISSON is the command
"""

import json
import statistics
import subprocess
import sys

REPEATS = 3
HERE = __file__.rsplit("/", 1)[0]


def ours(frisson, full):
    """(N, self-collision) to (ms a frame, 99th percentile of the stretch) of `frisson bench cloth`."""
    command = [frisson, "bench", "cloth", "--json"] + ([] if full else ["--quick"])
    table = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[0]
    columns = {name: i for i, name in enumerate(table["columns"])}
    found = {}
    for row in table["rows"]:
        key = (int(row[columns["N"]]), row[columns["self"]] == "yes")
        p99 = float(row[columns["p99"]].rstrip("%")) / 100
        found[key] = (float(row[columns["ms/frame"]]), p99)
    return found


def blender(python, n, self_collision):
    command = [python, f"{HERE}/cloth_blender.py", str(n)] + (["--self"] if self_collision else [])
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(run.stdout.strip().splitlines()[-1])


def say(what):
    """Progress; some minutes pass without it."""
    print(f"peers: {what}", file=sys.stderr, flush=True)


def main():
    frisson, python, full = sys.argv[1], sys.argv[2], "--full" in sys.argv
    cases = [(n, s) for n in ([32, 64, 128] if full else [32, 64]) for s in (False, True)]
    times, stretch, version = {}, {}, ""
    for repeat in range(REPEATS):
        say(f"run {repeat + 1} of {REPEATS}: frisson")
        for case, (ms, p99) in ours(frisson, full).items():
            times.setdefault(("frisson", *case), []).append(ms)
            stretch["frisson", *case] = p99
        for case in cases:
            n, self_collision = case
            say(f"run {repeat + 1} of {REPEATS}: Blender {n} x {n}{', self-collision' if self_collision else ''}")
            result = blender(python, *case)
            times.setdefault(("blender", *case), []).append(result["ms"])
            stretch["blender", *case] = result["p99"]
            version = result["version"]
    print(f"Cloth: 2 m sheet on a ball, 60 frames; medians of {REPEATS} alternating runs; ms a frame")
    print(f"{'N':>4} {'self':>5} {'Blender ' + version:>16} {'stretch':>8} {'frisson':>9} {'stretch':>8} {'ratio':>6}")
    for case in cases:
        n, self_collision = case
        theirs = statistics.median(times["blender", *case])
        mine = statistics.median(times["frisson", *case])
        print(f"{n:>4} {'yes' if self_collision else 'no':>5} {theirs:>16.1f}"
              f" {100 * stretch['blender', *case]:>7.1f}% {mine:>9.1f}"
              f" {100 * stretch['frisson', *case]:>7.1f}% {theirs / mine:>6.1f}")


main()

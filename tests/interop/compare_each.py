"""Compares one file, or every file of a folder: each in a process of its own, as libraries of others end the whole
process on what they dislike.
"""

import subprocess
import sys
from pathlib import Path

WORDS = ("ok", "DIFFERS", "refused")


def dump(program, *arguments):
    """What our program writes for some arguments."""
    command = [program, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def compare_each(script, usage, endings, compare):
    """Ends the program; `compare(program, path, tolerance)` gives 0 where a file is as it should be."""
    if len(sys.argv) < 3:
        sys.exit(usage)
    program, target = sys.argv[1], Path(sys.argv[2])
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-4
    if target.is_file():
        sys.exit(compare(program, target, tolerance))
    failed = 0
    for path in sorted(p for p in target.iterdir() if p.suffix in endings):
        command = [sys.executable, script, program, str(path), str(tolerance)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [l for l in done.stdout.splitlines() if l.startswith(WORDS)]
        print("\n".join(lines) or f"DIFFERS {path.name}: {done.stderr.strip().splitlines()[-1:]}")
        failed += done.returncode != 0
    sys.exit(1 if failed else 0)

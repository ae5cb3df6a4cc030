"""A character driven by numpy only: no file, no clip; the program poses it, Frisson adds what follows.

  python driven_by_numpy.py [--quick]

The same loop serves a game, a puppet, a robot or a physics engine: push the pose, step, take the positions.
"""

import sys
import time

import frisson
import numpy as np
from frisson import params


def main():
    cat = frisson.Character.load("builtin:cat")
    scene = frisson.Scene.of(
        fps=60,
        frames=(0, 100000),
        actors={"cat": "builtin:cat"},
        layers=[params.Flesh(name="belly", on="cat", from_="pelvis", to=["chest"], frequency_hz=2.5)],
    )
    simulator = frisson.Simulator(scene, live=["cat"])
    rest = cat.pose()
    simulator.push_pose("cat", 0.0, rest)
    simulator.start()
    frames, swing, started = 60 if "--quick" in sys.argv else 600, 0.0, time.perf_counter()
    for frame in range(1, frames + 1):
        now = frame / 60
        pose = rest.copy()
        # A hop every half second.
        pose[:, 1, 3] += 0.15 * abs(np.sin(2 * np.pi * now))
        simulator.push_pose("cat", now, pose)
        simulator.step(1 / 60)
        moved = simulator.positions("cat")
        swing = max(swing, float(np.ptp(moved[:, 1])))
    each = 1000 * (time.perf_counter() - started) / frames
    print(f"{frames} frames of {len(moved)} vertices, {each:.2f} ms each; tallest {swing:.3f} m")


if __name__ == "__main__":
    main()

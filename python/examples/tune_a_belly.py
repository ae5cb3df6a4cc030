"""Tune a belly's frequency and damping to a reference: a curve measured on film, or drawn by hand.

  python tune_a_belly.py [--quick]

The reference here is a decaying swing of 2.2 Hz after a stop; the search runs the scene with other parameters and
compares how the belly's lowest point moves. No gradient is needed: two numbers, a few dozen short simulations.
"""

import sys

import frisson
import numpy as np
from frisson import params

FPS = 60
SECONDS = 1.2


def tube():
    """A trunk of two joints, made of numpy only."""
    rings, sides = 17, 24
    height, angle = np.meshgrid(np.linspace(0, 0.5, rings), np.arange(sides) * 2 * np.pi / sides, indexing="ij")
    positions = np.stack([0.2 * np.cos(angle), 1 + height, 0.2 * np.sin(angle)], -1).reshape(-1, 3)
    at = np.arange(rings * sides).reshape(rings, sides)
    a, b, c, d = at[:-1], np.roll(at[:-1], -1, 1), at[1:], np.roll(at[1:], -1, 1)
    triangles = np.concatenate([np.stack(t, -1).reshape(-1, 3) for t in ((a, c, b), (b, c, d))])
    share = (height / 0.5).reshape(-1, 1)
    rest = np.stack([np.eye(4, dtype=np.float32)] * 2)
    rest[:, 1, 3] = 1.0, 1.5
    mesh = {"positions": positions, "triangles": triangles, "weights": np.hstack([1 - share, share])}
    return frisson.Character({"body": mesh}, [("hip", None), ("chest", 0)], rest), rest


HERO, REST = tube()
BELLY = params.Flesh(name="belly", on="hero", from_="hip", to=["chest"], frequency_hz=2.0, damping_ratio=0.2)
SCENE = frisson.Scene.of(fps=FPS, frames=(0, 600), actors={"hero": HERO}, layers=[BELLY], gravity=(0, 0, 0))


def pose(time):
    """Walks forward and stops within a tenth of a second."""
    moved = REST.copy()
    moved[:, 2, 3] += 0.8 * min(time, 0.1)
    return moved


def swing(frequency_hz, damping_ratio):
    """How far the belly is ahead of the trunk, frame by frame [m]."""
    simulator = frisson.Simulator(SCENE, actors={"hero": HERO})
    simulator.set("belly", frequency_hz=frequency_hz, damping_ratio=damping_ratio)
    simulator.push_pose("hero", 0.0, pose(0.0))
    simulator.start()
    rest = simulator.positions("hero")
    front = int(np.argmax(rest[:, 2] - 10 * abs(rest[:, 1] - 1.25)))
    curve = []
    for frame in range(1, round(SECONDS * FPS) + 1):
        simulator.push_pose("hero", frame / FPS, pose(frame / FPS))
        moved = simulator.step(1 / FPS).positions("hero")[front]
        curve.append(moved[2] - rest[front, 2] - 0.8 * min(frame / FPS, 0.1))
    return np.array(curve)


def main():
    quick = "--quick" in sys.argv
    reference = swing(2.2, 0.12)
    best, step = np.array([3.5, 0.4]), np.array([0.8, 0.15])

    def error(at):
        return float(np.sqrt(np.mean((swing(max(at[0], 0.2), max(at[1], 0.0)) - reference) ** 2)))

    least, tried = error(best), 1
    while tried < (40 if quick else 160) and step[0] > 0.01:
        around = [best + step * d for d in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        errors = [error(a) for a in around]
        tried += 4
        if min(errors) < least:
            least, best = min(errors), around[int(np.argmin(errors))]
        else:
            step /= 2
    print(f"{tried} simulations: {best[0]:.2f} Hz, damping ratio {best[1]:.3f}, off by {1000 * least:.3f} mm")
    assert abs(best[0] - 2.2) < 0.3


if __name__ == "__main__":
    main()

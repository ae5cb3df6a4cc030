"""A sweep: the same shot with several frequencies, their measures on one plot and their pictures side by side.

  python sweep.py [--quick]        writes sweep.png (and sweep-plot.png where matplotlib is installed)
"""

import sys
import tempfile
from pathlib import Path

import frisson
import numpy as np


def main():
    quick = "--quick" in sys.argv
    scene = frisson.demo("cat").replaced(frames=(0, 10 if quick else 45))
    size = (160, 90) if quick else (480, 270)
    frequencies = (1.5, 3.0) if quick else (1.5, 2.5, 4.0, 6.0)
    name = scene.to_dict()["layers"][0]["flesh"]["name"]
    pictures, curves = [], {}
    with tempfile.TemporaryDirectory() as folder:
        plain = None
        for frequency in frequencies:
            changed = scene.with_layer(name, frequency_hz=frequency)
            cache = frisson.bake(changed, Path(folder) / f"{frequency}.frisson")
            still = frisson.bake(changed.with_layer(name, amount=0), Path(folder) / "plain.frisson", force=True)
            plain = still.positions("cat") if plain is None else plain
            curves[frequency] = 1000 * np.abs(cache.positions("cat") - plain).max(axis=(1, 2))
            pictures.append(cache.render(cache.last, size=size))
    frisson.Picture(np.ascontiguousarray(np.concatenate(pictures, axis=1))).save("sweep.png")
    for frequency, curve in curves.items():
        print(f"{frequency:4.1f} Hz: swings up to {curve.max():.1f} mm")
    try:
        import matplotlib.pyplot as plot
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    for frequency, curve in curves.items():
        plot.plot(curve, label=f"{frequency} Hz")
    plot.xlabel("frame")
    plot.ylabel("largest swing [mm]")
    plot.legend()
    plot.savefig("sweep-plot.png")


if __name__ == "__main__":
    main()

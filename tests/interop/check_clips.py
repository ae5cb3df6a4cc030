"""Compares a USD file that puts parts together by value clips with one written whole, by OpenUSD.

usage: check_clips.py WHOLE PARTS

Every attribute of every prim must have the same value at every frame and between frames, at the seams too.
"""

import sys

import numpy
from pxr import Usd, UsdGeom


def values(attribute, time):
    value = attribute.Get(time)
    if value is None:
        return "nothing"
    try:
        return numpy.array(value, dtype=float)
    except (TypeError, ValueError):
        return str(value)


def same(a, b, exact):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    if a.shape != b.shape:
        return False
    return bool((a == b).all()) if exact else bool(numpy.allclose(a, b, atol=1e-6))


def main():
    whole, parts = (Usd.Stage.Open(path) for path in sys.argv[1:3])
    first, last = whole.GetStartTimeCode(), whole.GetEndTimeCode()
    assert (first, last) == (parts.GetStartTimeCode(), parts.GetEndTimeCode())
    for name in ("GetTimeCodesPerSecond", "GetFramesPerSecond"):
        assert getattr(whole, name)() == getattr(parts, name)(), name
    assert UsdGeom.GetStageMetersPerUnit(whole) == UsdGeom.GetStageMetersPerUnit(parts)
    paths = [p.GetPath() for p in whole.Traverse()]
    assert paths == [p.GetPath() for p in parts.Traverse()], "other prims"
    frames = [first + i for i in range(int(last - first) + 1)]
    times = [(t, True) for t in frames] + [(t + 0.5, False) for t in frames[:-1]]
    compared, moving = 0, 0
    for path in paths:
        a, b = whole.GetPrimAtPath(path), parts.GetPrimAtPath(path)
        assert a.GetTypeName() == b.GetTypeName(), path
        for attribute in a.GetAuthoredAttributes():
            other = b.GetAttribute(attribute.GetName())
            assert other, f"{path}.{attribute.GetName()} is missing"
            assert attribute.GetConnections() == other.GetConnections(), attribute.GetPath()
            samples = attribute.GetNumTimeSamples() > 1
            moving += samples
            for time, exact in times:
                x, y = values(attribute, time), values(other, time)
                assert same(x, y, exact), f"{attribute.GetPath()} differs at {time}"
                compared += 1
    assert moving > 0, "nothing moves"
    print(f"{sys.argv[2]}: {len(paths)} prims, {compared} values, {moving} moving attributes: as in one file")


main()

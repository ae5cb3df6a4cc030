"""Reads the Alembic file with the reference library.

usage: check_alembic.py FOLDER
"""

import sys

import numpy as np
from alembic3d.Abc import IArchive, ISampleSelector
from alembic3d.AbcGeom import GeometryScope, ICurves, IPoints, IPolyMesh
from shot import Shot, check, done, same


def array(values):
    return np.array([[v[0], v[1], v[2]] for v in values], dtype=np.float64).reshape(-1, 3)


def find(archive, name):
    top = archive.getTop()
    for i in range(top.getNumChildren()):
        if top.getChild(i).getName() == name:
            return top.getChild(i).getChild(0)
    check(False, "no object", name)


def at(shot, frame):
    """By time: the binding takes an index for a time as well."""
    return ISampleSelector(frame / shot.fps, ISampleSelector.TimeIndexType.kNearIndex)


def check_times(schema, shot, what):
    sampling = schema.getTimeSampling()
    check(schema.getNumSamples() == len(shot.numbers()), what, "samples")
    for index, frame in enumerate(shot.numbers()):
        time = sampling.getSampleTime(index)
        check(abs(time - frame / shot.fps) < 1e-9, what, "time of frame", frame, time)


def check_mesh(archive, shot, name, expected):
    schema = IPolyMesh(find(archive, name).getParent(), name + "Shape").getSchema()
    check_times(schema, shot, name)
    for frame in shot.numbers():
        sample = schema.getValue(at(shot, frame))
        points = shot.points(expected, frame)
        same(array(sample.getPositions()), points, f"{name} {frame}")
        triangles = shot.get(expected, frame, "triangles")
        turned = [i for a, b, c in triangles for i in (a, c, b)]
        check(list(sample.getFaceIndices()) == turned, name, "indices", frame)
        check(list(sample.getFaceCounts()) == [3] * len(triangles), name, "counts", frame)
        if len(points):
            check(len(sample.getVelocities()) == len(points), name, "velocities", frame)
            bounds = sample.getSelfBounds()
            same([bounds.min()[i] for i in range(3)], points.min(axis=0), f"{name} bounds")
            same([bounds.max()[i] for i in range(3)], points.max(axis=0), f"{name} bounds")
    return schema


def check_sheet(archive, shot):
    expected = "actor/wave sheet"
    schema = check_mesh(archive, shot, "actor_wave sheet", expected)
    frame = shot.first + 3
    selector = at(shot, frame)
    velocities = array(schema.getValue(selector).getVelocities())
    central = (shot.points(expected, frame + 1) - shot.points(expected, frame - 1)) * shot.fps / 2
    same(velocities, central, "velocities", 1e-4)
    uvs = schema.getUVsParam()
    check(uvs.valid() and uvs.isIndexed(), "indexed uvs")
    check(uvs.getScope() == GeometryScope.kFacevaryingScope, "uv scope", uvs.getScope())
    values = uvs.getExpandedValue(selector).getVals()
    corners = [i for a, b, c in shot.get(expected, frame, "triangles") for i in (a, c, b)]
    wanted = [shot.get(expected, frame, "uvs")[i] for i in corners]
    same([[v[0], v[1]] for v in values], [[u, 1 - v] for u, v in wanted], "uvs")
    check(len(schema.getNormalsParam().getExpandedValue(selector).getVals()) == 96, "normals")
    params = schema.getArbGeomParams()
    names = {params.getPropertyHeader(i).getName() for i in range(params.getNumProperties())}
    check({"wetness", "drift", "Cd"} <= names, "attributes", names)
    check(sorted(schema.getFaceSetNames()) == ["blue", "red cloth"], "face sets")


def check_hair(archive, shot):
    schema = ICurves(find(archive, "hair").getParent(), "hairShape").getSchema()
    check_times(schema, shot, "hair")
    for frame in shot.numbers():
        selector = at(shot, frame)
        sample = schema.getValue(selector)
        same(array(sample.getPositions()), shot.points("hair", frame), f"hair {frame}")
        check(list(sample.getCurvesNumVertices()) == [6, 4, 5], "hair counts")
        widths = schema.getWidthsParam().getExpandedValue(selector).getVals()
        same(list(widths), shot.get("hair", frame, "widths"), "hair widths")


def check_spray(archive, shot):
    schema = IPoints(find(archive, "spray").getParent(), "sprayShape").getSchema()
    check_times(schema, shot, "spray")
    for frame in shot.numbers():
        sample = schema.getValue(at(shot, frame))
        same(array(sample.getPositions()), shot.points("spray", frame), f"spray {frame}")
        check(list(sample.getIds()) == list(shot.get("spray", frame, "ids")), "spray ids", frame)


def main():
    shot = Shot(sys.argv[1])
    archive = IArchive(str(shot.folder / "shot.abc"))
    check(archive.valid(), "archive")
    check_sheet(archive, shot)
    check_mesh(archive, shot, "ball", "ball")
    check_mesh(archive, shot, "drop", "drop")
    check_hair(archive, shot)
    check_spray(archive, shot)
    done("Alembic")


main()

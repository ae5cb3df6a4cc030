"""Reads the USD files with OpenUSD: validation, topology, metadata, values.

usage: check_usd.py FOLDER
"""

import sys

from pxr import Usd, UsdGeom, UsdShade, UsdValidation
from shot import Shot, check, done, same


def check_metadata(stage, shot):
    check(stage.GetDefaultPrim().GetName() == "World", "default prim")
    check(UsdGeom.GetStageUpAxis(stage) == "Y", "up axis")
    check(UsdGeom.GetStageMetersPerUnit(stage) == 1.0, "metres per unit")
    check(stage.GetTimeCodesPerSecond() == shot.fps, "time codes per second")
    check(stage.GetFramesPerSecond() == shot.fps, "frames per second")
    check(stage.GetStartTimeCode() == shot.first, "start")
    check(stage.GetEndTimeCode() == shot.last, "end")


def check_validators(stage):
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    bad = [e for e in errors if e.GetType() in (UsdValidation.ValidationErrorType.Error,
                                               UsdValidation.ValidationErrorType.Warn)]
    for error in bad:
        print(error.GetName(), error.GetMessage(), [s.GetPrim() for s in error.GetSites()])
    check(not bad, len(bad), "complaints of", len(validators), "validators")


def check_mesh(stage, shot, path, name):
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
    check(bool(mesh), path)
    check(mesh.GetSubdivisionSchemeAttr().Get() == "none", path, "subdivision")
    for frame in shot.numbers():
        points = mesh.GetPointsAttr().Get(frame)
        counts = mesh.GetFaceVertexCountsAttr().Get(frame)
        indices = mesh.GetFaceVertexIndicesAttr().Get(frame)
        same(points, shot.points(name, frame).reshape(len(points), 3), f"{path} points {frame}")
        triangles = shot.get(name, frame, "triangles")
        check(list(indices) == [i for t in triangles for i in t], path, "indices", frame)
        valid, why = UsdGeom.Mesh.ValidateTopology(indices, counts, len(points))
        check(valid, path, frame, why)
        extent = mesh.GetExtentAttr().Get(frame)
        if len(points):
            same(extent, UsdGeom.Mesh.ComputeExtent(points), f"{path} extent {frame}")
            check(len(mesh.GetVelocitiesAttr().Get(frame)) == len(points), path, "velocities")
    return mesh


def check_sheet(stage, shot):
    name = "actor/wave sheet"
    mesh = check_mesh(stage, shot, "/World/actor_wave_sheet", name)
    frame = shot.first + 3
    velocities = mesh.GetVelocitiesAttr().Get(frame)
    central = (shot.points(name, frame + 1) - shot.points(name, frame - 1)) * shot.fps / 2
    same(velocities, central, "velocities", 1e-4)
    primvars = UsdGeom.PrimvarsAPI(mesh)
    uvs = [[u, 1 - v] for u, v in shot.get(name, frame, "uvs")]
    same(primvars.GetPrimvar("st").Get(frame), uvs, "uvs")
    check(primvars.GetPrimvar("st").GetInterpolation() == "vertex", "uv interpolation")
    same(primvars.GetPrimvar("wetness").Get(frame), shot.points(name, frame)[:, 1], "wetness")
    check(len(primvars.GetPrimvar("displayColor").Get(frame)) == 96, "display colour")
    check(len(mesh.GetNormalsAttr().Get(frame)) == 96, "normals")
    subsets = UsdShade.MaterialBindingAPI(mesh).GetMaterialBindSubsets()
    check(len(subsets) == 2, "subsets")
    faces = sorted(i for s in subsets for i in s.GetIndicesAttr().Get(frame))
    check(faces == list(range(len(shot.get(name, frame, "triangles")))), "every face in a subset")
    bound = UsdShade.MaterialBindingAPI(subsets[0]).ComputeBoundMaterial()[0]
    shader = bound.ComputeSurfaceSource()[0]
    check(shader.GetIdAttr().Get() == "UsdPreviewSurface", "surface")
    same(shader.GetInput("diffuseColor").Get(), (0.8, 0.1, 0.1), "base colour")


def check_hair(stage, shot):
    hair = UsdGeom.BasisCurves(stage.GetPrimAtPath("/World/hair"))
    check(hair.GetTypeAttr().Get() == "linear", "curve type")
    for frame in shot.numbers():
        same(hair.GetPointsAttr().Get(frame), shot.points("hair", frame), f"hair {frame}")
        check(list(hair.GetCurveVertexCountsAttr().Get(frame)) == [6, 4, 5], "hair counts")
        same(hair.GetWidthsAttr().Get(frame), shot.get("hair", frame, "widths"), "hair widths")
    check(hair.GetWidthsInterpolation() == "vertex", "width interpolation")


def check_spray(stage, shot):
    spray = UsdGeom.Points(stage.GetPrimAtPath("/World/spray"))
    for frame in shot.numbers():
        points = shot.points("spray", frame)
        same(spray.GetPointsAttr().Get(frame) or points[:0], points, f"spray {frame}")
        ids = shot.get("spray", frame, "ids")
        check(list(spray.GetIdsAttr().Get(frame) or []) == list(ids), "spray ids", frame)
        widths = spray.GetWidthsAttr().Get(frame)
        same(widths if widths else [], shot.get("spray", frame, "widths"), "spray widths")


def main():
    shot = Shot(sys.argv[1])
    for name in ("shot.usdc", "shot.usda"):
        stage = Usd.Stage.Open(str(shot.folder / name))
        check_metadata(stage, shot)
        check_validators(stage)
        check_sheet(stage, shot)
        check_mesh(stage, shot, "/World/ball", "ball")
        check_mesh(stage, shot, "/World/drop", "drop")
        check_hair(stage, shot)
        check_spray(stage, shot)
    done("USD")


main()

"""Files as OpenUSD writes them, for our reader: every kind of thing that it promises to read.

usage: usd_files.py FOLDER

Needs `usd-core`.
"""

import sys
from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, UsdUtils, Vt


def new_stage(path, up="Y", unit=1.0, rate=24.0):
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, unit)
    stage.SetTimeCodesPerSecond(rate)
    return stage


def prism(stage, path, sides=7, rings=3):
    """A tube of quads with an n-gon at each end; the n-gon is concave."""
    mesh = UsdGeom.Mesh.Define(stage, path)
    points, counts, indices = [], [], []
    for ring in range(rings):
        for side in range(sides):
            turn = Gf.Rotation(Gf.Vec3d(0, 1, 0), 360.0 * side / sides)
            radius = 0.35 if side == 2 else 1.0
            points.append(Gf.Vec3f(turn.TransformDir(Gf.Vec3d(radius, 0, 0)) + Gf.Vec3d(0, ring, 0)))
    for ring in range(rings - 1):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            counts.append(4)
            indices += [a, b, b + sides, a + sides]
    counts += [sides, sides]
    indices += list(reversed(range(sides))) + list(range(sides * (rings - 1), sides * rings))
    mesh.CreatePointsAttr(points)
    mesh.CreateFaceVertexCountsAttr(counts)
    mesh.CreateFaceVertexIndicesAttr(indices)
    mesh.CreateSubdivisionSchemeAttr("none")
    st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "faceVarying")
    st.Set([Gf.Vec2f(0, 0), Gf.Vec2f(1, 0), Gf.Vec2f(1, 1), Gf.Vec2f(0, 1)])
    st.SetIndices(Vt.IntArray([k % 4 for k in range(len(indices))]))
    return mesh


def transforms(folder, name):
    """Every operation, moving, below each other, Z up, in centimetres, at 30 codes a second."""
    stage = new_stage(folder / name, "Z", 0.01, 30.0)
    world = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    world.AddTranslateOp().Set(Gf.Vec3d(3, 2, 1))
    arm = UsdGeom.Xform.Define(stage, "/World/arm")
    turn = arm.AddRotateXYZOp()
    for code in (0, 10, 20):
        turn.Set(Gf.Vec3f(3 * code, -2 * code, code), code)
    arm.AddScaleOp(UsdGeom.XformOp.PrecisionHalf).Set(Gf.Vec3h(1.0, 2.0, 0.5))
    for order in ("XZY", "YXZ", "YZX", "ZXY", "ZYX"):
        part = prism(stage, f"/World/arm/{order}")
        pivot = part.AddTranslateOp(opSuffix="pivot")
        pivot.Set(Gf.Vec3d(1, 2, 3))
        getattr(part, f"AddRotate{order}Op")().Set(Gf.Vec3f(20, 30, 40))
        part.AddTranslateOp(opSuffix="pivot", isInverseOp=True)
    single = prism(stage, "/World/single")
    single.AddRotateXOp().Set(30.0)
    single.AddRotateYOp().Set(40.0)
    orient = single.AddOrientOp()
    orient.Set(Gf.Quatf(0.5, 0.5, 0.5, 0.5), 0)
    orient.Set(Gf.Quatf(0.9, 0.1, -0.3, 0.3).GetNormalized(), 20)
    full = prism(stage, "/World/arm/full")
    full.AddTransformOp().Set(Gf.Matrix4d(1, 2, 0, 0, -1, 1, 0.5, 0, 0.2, 0, 1, 0, 5, 6, 7, 1))
    free = prism(stage, "/World/arm/free")
    free.SetResetXformStack(True)
    free.AddTranslateOp().Set(Gf.Vec3d(-9, 0, 0))
    left = prism(stage, "/World/left")
    left.CreateOrientationAttr("leftHanded")
    hidden = prism(stage, "/World/hidden")
    hidden.CreateVisibilityAttr().Set("invisible", 0)
    hidden.CreateVisibilityAttr().Set("inherited", 10)
    stage.GetRootLayer().Save()


def deforming(folder, name):
    """Points at uneven times, topology that changes, curves of every kind, points that come and go."""
    stage = new_stage(folder / name)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    mesh = prism(stage, "/World/tube")
    rest = mesh.GetPointsAttr().Get()
    for code in (1, 2, 4, 7.5):
        mesh.GetPointsAttr().Set([p * (1 + 0.1 * code) + Gf.Vec3f(0, 0.3 * code, 0) for p in rest], code)
    grow = UsdGeom.Mesh.Define(stage, "/World/grow")
    for code in (1, 2, 3):
        count = 3 + code
        grow.CreatePointsAttr().Set([Gf.Vec3f(k, k * k * 0.1, code) for k in range(count)], code)
        grow.CreateFaceVertexCountsAttr().Set([3] * (count - 2), code)
        grow.CreateFaceVertexIndicesAttr().Set([k for t in range(count - 2) for k in (0, t + 1, t + 2)], code)
    for kind, basis, wrap in (
        ("linear", None, "nonperiodic"),
        ("cubic", "catmullRom", "pinned"),
    ):
        curves = UsdGeom.BasisCurves.Define(stage, f"/World/{basis or kind}")
        curves.CreateTypeAttr(kind)
        curves.CreateWrapAttr(wrap)
        if basis:
            curves.CreateBasisAttr(basis)
        curves.CreateCurveVertexCountsAttr([4, 7])
        for code in (1, 5):
            curves.CreatePointsAttr().Set([Gf.Vec3f(k, code * 0.5, (k * 7) % 5) for k in range(11)], code)
        curves.CreateWidthsAttr([0.1])
        curves.SetWidthsInterpolation("constant")
    spray = UsdGeom.Points.Define(stage, "/World/spray")
    for code in (1, 2, 3):
        spray.CreatePointsAttr().Set([Gf.Vec3f(k, code, 0) for k in range(code + 2)], code)
        spray.CreateIdsAttr().Set(Vt.Int64Array(list(range(code, 2 * code + 2))), code)
        spray.CreateWidthsAttr().Set(Vt.FloatArray([0.01] * (code + 2)), code)
    stage.GetRootLayer().Save()


def composed(folder):
    """A scene of several files: sublayer with times, reference, payload, variants, inherits, an override."""
    asset = new_stage(folder / "parts" / "asset.usdc", rate=48.0)
    root = UsdGeom.Xform.Define(asset, "/Asset")
    asset.SetDefaultPrim(root.GetPrim())
    tube = prism(asset, "/Asset/tube")
    move = tube.AddTranslateOp()
    for code in (0, 48):
        move.Set(Gf.Vec3d(0.1 * code, 0, 0), code)
    material = UsdShade.Material.Define(asset, "/Asset/looks/red")
    shader = UsdShade.Shader.Define(asset, "/Asset/looks/red/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(0.8, 0.1, 0.1))
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    UsdShade.MaterialBindingAPI.Apply(tube.GetPrim()).Bind(material)
    sets = root.GetPrim().GetVariantSets().AddVariantSet("size")
    for variant, scale in (("small", 0.5), ("large", 2.0)):
        sets.AddVariant(variant)
        sets.SetVariantSelection(variant)
        with sets.GetVariantEditContext():
            extra = prism(asset, f"/Asset/{variant}")
            extra.AddScaleOp().Set(Gf.Vec3f(scale))
    sets.SetVariantSelection("small")
    asset.GetRootLayer().Save()

    below = new_stage(folder / "parts" / "below.usda")
    base = below.CreateClassPrim("/_base")
    held = UsdGeom.Xform(below.DefinePrim("/World", "Xform"))
    UsdGeom.Xformable(base).AddTranslateOp().Set(Gf.Vec3d(0, 5, 0))
    heir = prism(below, "/World/heir")
    heir.GetPrim().GetInherits().AddInherit("/_base")
    lift = held.AddTranslateOp()
    for code in (0, 10):
        lift.Set(Gf.Vec3d(0, 0, 0.2 * code), code)
    below.GetRootLayer().Save()

    stage = new_stage(folder / "composed.usda")
    layer = stage.GetRootLayer()
    layer.subLayerPaths.append("./parts/below.usda")
    layer.subLayerOffsets[0] = Sdf.LayerOffset(2.0, 0.5)
    first = stage.DefinePrim("/World/first", "Xform")
    first.GetReferences().AddReference("./parts/asset.usdc", layerOffset=Sdf.LayerOffset(4.0))
    second = stage.DefinePrim("/World/second", "Xform")
    second.GetPayloads().AddPayload("./parts/asset.usdc", "/Asset")
    second.GetVariantSet("size").SetVariantSelection("large")
    UsdGeom.Xformable(second).AddTranslateOp().Set(Gf.Vec3d(-4, 0, 0))
    copy = stage.DefinePrim("/World/copy")
    copy.GetReferences().AddInternalReference("/World/heir")
    UsdGeom.Xform(copy).AddTranslateOp(opSuffix="away").Set(Gf.Vec3d(0, 0, 9))
    off = stage.OverridePrim("/World/second/large")
    UsdGeom.Xformable(off).ClearXformOpOrder()
    gone = prism(stage, "/World/gone")
    gone.GetPrim().SetActive(False)
    layer.Save()
    UsdUtils.CreateNewUsdzPackage(str(folder / "composed.usda"), str(folder / "composed.usdz"))


def skinned(folder, name, unit):
    """A bent tube of five joints, three influences a point, bound askew, with a blend shape."""
    stage = new_stage(folder / name, "Z" if unit == 1.0 else "Y", unit)
    top = UsdSkel.Root.Define(stage, "/Top")
    stage.SetDefaultPrim(top.GetPrim())
    walk = top.AddTranslateOp()
    for code in (1, 9):
        walk.Set(Gf.Vec3d(0.5 * code, 0, 0), code)
    skeleton = UsdSkel.Skeleton.Define(stage, "/Top/rig")
    joints = ["a", "a/b", "a/b/c", "a/b/c/d", "a/e"]
    skeleton.CreateJointsAttr(joints)
    step = Gf.Matrix4d(1).SetTranslate(Gf.Vec3d(0, 0.5, 0))
    lean = Gf.Matrix4d(1).SetRotate(Gf.Rotation(Gf.Vec3d(1, 0, 1), 15.0))
    rest = [lean, step, lean * step, step, step * lean]
    parents = [None, 0, 1, 2, 0]
    bind = []
    for local, parent in zip(rest, parents):
        bind.append(local if parent is None else local * bind[parent])
    skeleton.CreateRestTransformsAttr(rest)
    skeleton.CreateBindTransformsAttr(bind)
    # Other joints in another order than the skeleton's.
    animation = UsdSkel.Animation.Define(stage, "/Top/rig/move")
    order = [3, 0, 2]
    animation.CreateJointsAttr([joints[k] for k in order])
    for code in (1, 4, 9):
        turns = [Gf.Rotation(Gf.Vec3d(k, 1, 0.3), 6.0 * code * (1 + k)).GetQuat() for k in range(3)]
        animation.CreateRotationsAttr().Set([Gf.Quatf(t) for t in turns], code)
        animation.CreateTranslationsAttr().Set([Gf.Vec3f(0.02 * code, 0.5, 0.1 * k) for k in range(3)], code)
    animation.CreateScalesAttr([Gf.Vec3h(1, 1.25, 1)] * 3)
    animation.CreateBlendShapesAttr(["unused", "swell"])
    for code in (1, 9):
        animation.CreateBlendShapeWeightsAttr().Set([0.3, 0.1 * code], code)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    UsdGeom.Xform.Define(stage, "/Top/body").AddTranslateOp().Set(Gf.Vec3d(7, 7, 7))
    mesh = prism(stage, "/Top/body/skin", rings=5)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    points = mesh.GetPointsAttr().Get()
    names = ["a/b/c", "a", "a/b", "a/e"]
    binding.CreateJointsAttr(names)
    indices, weights = [], []
    for k in range(len(points)):
        indices += [k % 4, (k + 1) % 4, (3 * k) % 4]
        weights += [0.5, 0.25, 0.25]
    binding.CreateJointIndicesPrimvar(False, 3).Set(indices)
    binding.CreateJointWeightsPrimvar(False, 3).Set(weights)
    binding.CreateGeomBindTransformAttr(
        Gf.Matrix4d(1).SetRotate(Gf.Rotation(Gf.Vec3d(0, 0, 1), 25.0)) * Gf.Matrix4d(1).SetTranslate(Gf.Vec3d(0, -1, 0.4))
    )
    shape = UsdSkel.BlendShape.Define(stage, "/Top/body/skin/swell")
    shape.CreateOffsetsAttr([Gf.Vec3f(0.3, 0, 0.1 * k) for k in range(6)])
    shape.CreatePointIndicesAttr([1, 3, 5, 7, 11, 13])
    binding.CreateBlendShapesAttr(["swell"])
    binding.CreateBlendShapeTargetsRel().SetTargets([shape.GetPath()])
    rigid = prism(stage, "/Top/body/hat")
    binding = UsdSkel.BindingAPI.Apply(rigid.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.SetRigidJointInfluence(3)
    stage.GetRootLayer().Save()


def main():
    folder = Path(sys.argv[1])
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    for old in folder.rglob("*.usd*"):
        old.unlink()
    for ending in ("usda", "usdc"):
        transforms(folder, f"transforms.{ending}")
        deforming(folder, f"deforming.{ending}")
        skinned(folder, f"skinned.{ending}", 1.0)
    skinned(folder, "skinned_cm.usdc", 0.01)
    composed(folder)
    print(f"written: {len(list(folder.glob('*.usd*')))} USD files")


main()

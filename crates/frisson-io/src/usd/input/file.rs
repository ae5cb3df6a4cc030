//! A USD file: its shapes at any time.

use std::path::Path;

use frisson::geometry::Mesh;
use frisson::stage::{Curves, Points};
use glam::{DMat3, DMat4, DVec3, Vec2, Vec3};

use super::assets::Assets;
use super::attribute::{Attribute, single};
use super::layer::Layer;
use super::look::Looks;
use super::shapes::MeshParts;
use super::stage::Stage;
use super::strands::Basis;
use super::transform::{Placement, Space};
use super::{Result, UsdError};
use crate::faces::Shape;
use crate::inputs::{InputSet, check_count};
use crate::shape_file::{ShapeInfo, sign_shape_file};

/// Diameter of strands and points whose file has none [m]: a thick hair.
const DEFAULT_WIDTH: f32 = 1e-4;

/// A shape in the scene.
pub(super) struct Placed {
    pub info: ShapeInfo,
    pub prim: usize,
    pub placement: Placement,
    visibility: Vec<Attribute>,
    pub points: Attribute,
}

/// A USD file, open for reading. Samples of binary files are read when they are asked for: memory does
/// not grow with the length of the shot.
///
/// All shapes come in metres with Y up, transforms applied. Time code 0 is time 0.
pub struct UsdFile {
    pub(super) stage: Stage,
    pub(super) space: Space,
    /// Time codes a second.
    pub(super) rate: f64,
    pub(super) meshes: Vec<(Placed, MeshParts)>,
    curves: Vec<(Placed, Basis)>,
    points: Vec<Placed>,
}

sign_shape_file!(UsdFile, UsdError);

impl UsdFile {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, &InputSet::new())
    }

    /// Opens a file, and those it names in its folder, through an input set.
    pub fn open_with(path: &Path, inputs: &InputSet) -> Result<Self> {
        let (assets, root) = Assets::open(path, inputs)?;
        Self::compose(assets, root)
    }

    /// Reads a file that is in memory and names no other.
    pub fn parse(bytes: Vec<u8>) -> Result<Self> {
        let (assets, root) = Assets::parse(bytes, &InputSet::new())?;
        Self::compose(assets, root)
    }

    fn compose(assets: Assets, root: Layer) -> Result<Self> {
        let mut stage = Stage::new(assets, root)?;
        let space = Space::read(&mut stage)?;
        let rate = stage.rate()?;
        let (meshes, curves, points) = (Vec::new(), Vec::new(), Vec::new());
        let mut file = Self { stage, space, rate, meshes, curves, points };
        let mut looks = Looks::default();
        let roots: Vec<usize> =
            (0..file.stage.prims.len()).filter(|&p| file.stage.prims[p].parent.is_none()).collect();
        for prim in roots {
            file.gather(prim, &mut looks)?;
        }
        Ok(file)
    }

    fn gather(&mut self, prim: usize, looks: &mut Looks) -> Result<()> {
        let (path, kind) = {
            let found = &self.stage.prims[prim];
            (found.path.clone(), found.type_name.clone())
        };
        let left_out = |what: &str| format!("{path}: {what} is left out");
        if let Some(purpose) = self.stage.token(prim, "purpose")?
            && ["proxy", "guide"].contains(&&*purpose)
        {
            self.stage.warn(left_out(&format!("what serves as {purpose}")));
            return Ok(());
        }
        if self.stage.prims[prim]
            .opinions
            .iter()
            .any(|o| self.stage.spec(o).field("clips").is_some())
        {
            self.stage.warn(left_out("motion from value clips"));
        }
        match &*kind {
            "Mesh" => {
                if let Some(placed) = self.placed(prim)? {
                    let limit = self.stage.assets.inputs.limits().placed_meshes;
                    check_count("meshes", self.meshes.len() as u64 + 1, limit)?;
                    let parts = MeshParts::read(&mut self.stage, prim, looks)?;
                    let mut placed = placed;
                    placed.info.constant_topology = parts.has_constant_topology();
                    self.meshes.push((placed, parts));
                }
            }
            "BasisCurves" => {
                if let Some(mut placed) = self.placed(prim)? {
                    let counts = self.stage.attribute(prim, "curveVertexCounts")?;
                    placed.info.constant_topology = counts.is_none_or(|c| c.is_constant());
                    self.curves.push((placed, Basis::read(&self.stage, prim)?));
                }
            }
            "Points" => self.points.extend(self.placed(prim)?),
            "PointInstancer" => {
                self.stage.warn(left_out("an instancer"));
                return Ok(());
            }
            "Cube" | "Sphere" | "Cylinder" | "Capsule" | "Cone" | "Plane" | "NurbsPatch"
            | "NurbsCurves" | "HermiteCurves" | "TetMesh" | "Volume" => {
                self.stage.warn(left_out(&format!("a {kind}")));
            }
            _ => {}
        }
        for child in self.stage.prims[prim].children.clone() {
            self.gather(child, looks)?;
        }
        Ok(())
    }

    fn placed(&self, prim: usize) -> Result<Option<Placed>> {
        let Some(points) = self.stage.attribute(prim, "points")? else { return Ok(None) };
        let placement = Placement::read(&self.stage, prim)?;
        let mut visibility = Vec::new();
        let mut at = Some(prim);
        while let Some(prim) = at {
            visibility.extend(self.stage.attribute(prim, "visibility")?);
            at = self.stage.prims[prim].parent;
        }
        let times = points.times.iter().copied().chain(placement.times());
        let span = times.fold(None, |span: Option<(f64, f64)>, t| {
            let t = t / self.rate;
            Some(span.map_or((t, t), |(a, b)| (a.min(t), b.max(t))))
        });
        let info = ShapeInfo {
            name: self.shape_name(prim),
            path: self.stage.prims[prim].path.clone(),
            samples: points.samples() as u64,
            span: span.unwrap_or((0.0, 0.0)),
            constant_topology: true,
        };
        Ok(Some(Placed { info, prim, placement, visibility, points }))
    }

    /// Programs put a shape below a transform of its own: people know the transform's name.
    fn shape_name(&self, prim: usize) -> String {
        let prims = &self.stage.prims;
        let lone = prims[prim]
            .parent
            .map(|p| &prims[p])
            .filter(|p| p.children.len() == 1 && p.parent.is_some() && &*p.type_name == "Xform");
        lone.unwrap_or(&prims[prim]).name.to_string()
    }

    /// The meshes.
    pub fn meshes(&self) -> impl ExactSizeIterator<Item = &ShapeInfo> {
        self.meshes.iter().map(|(p, _)| &p.info)
    }

    /// The sets of curves.
    pub fn curves(&self) -> impl ExactSizeIterator<Item = &ShapeInfo> {
        self.curves.iter().map(|(p, _)| &p.info)
    }

    /// The sets of points.
    pub fn points(&self) -> impl ExactSizeIterator<Item = &ShapeInfo> {
        self.points.iter().map(|p| &p.info)
    }

    /// What was left out, for people.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.stage.warnings
    }

    /// First and last time of any sample of a shape that moves [s].
    #[must_use]
    pub fn span(&self) -> (f64, f64) {
        let all = self.meshes().chain(self.curves()).chain(self.points());
        let moving = all.filter(|i| i.span != (0.0, 0.0)).map(|i| i.span);
        moving.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 0.0))
    }

    /// Whether any mesh changes its place or its shape by samples.
    #[must_use]
    pub fn is_animated(&self) -> bool {
        let moves = |p: &Placed| !p.points.is_constant() || !p.placement.is_constant();
        self.meshes.iter().any(|(p, _)| moves(p))
    }

    fn found<'a, T>(kind: &str, all: &'a [T], index: usize) -> Result<&'a T> {
        let none = || UsdError::damaged("scene", format!("there is no {kind} {index}"));
        all.get(index).ok_or_else(none)
    }

    fn world(&self, placed: &Placed, code: f64) -> Result<DMat4> {
        Ok(self.space.matrix() * placed.placement.matrix(&self.stage, code)?)
    }

    fn is_visible(&self, placed: &Placed, code: f64) -> Result<bool> {
        for attribute in &placed.visibility {
            let data = attribute.held(&self.stage, code)?;
            if data.text().is_some_and(|t| &**t == "invisible") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Points in metres at a time code: on straight lines between samples of as many, else held.
    fn world_points(&self, placed: &Placed, code: f64, hold: bool) -> Result<Vec<Vec3>> {
        let points = placed.points.vectors(&self.stage, code, hold)?;
        let world = self.world(placed, code)?;
        let far = self.stage.assets.inputs.limits().coordinate;
        let carry = |p: DVec3| single(world.transform_point3(p));
        let points: Vec<Vec3> = points.into_iter().map(carry).collect();
        match points.iter().position(|p| !p.is_finite() || p.abs().max_element() > far) {
            Some(at) => {
                let problem = format!("point {at} at time code {code} is farther than {far:e} m");
                Err(UsdError::damaged(placed.info.path.clone(), problem))
            }
            None => Ok(points),
        }
    }

    /// Times of a mesh's samples [s].
    pub(super) fn sample_times(&self, index: usize) -> Result<Vec<f64>> {
        let (placed, _) = Self::found("mesh", &self.meshes, index)?;
        let mut times: Vec<f64> =
            placed.points.times.iter().copied().chain(placed.placement.times()).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        Ok(times.into_iter().map(|t| t / self.rate).collect())
    }

    /// Triangles of a mesh at a time.
    pub(super) fn shape_at(&self, index: usize, time: f64) -> Result<Shape> {
        let (placed, parts) = Self::found("mesh", &self.meshes, index)?;
        let code = time * self.rate;
        let points = placed.points.vectors(&self.stage, code, true)?;
        let shape = parts.shape(&self.stage, code, &points)?;
        shape.map_err(|problem| UsdError::damaged(placed.info.path.clone(), problem))
    }

    /// World positions of the vertices of a shape at a time.
    pub(super) fn positions_at(&self, index: usize, shape: &Shape, time: f64) -> Result<Vec<Vec3>> {
        let (placed, _) = Self::found("mesh", &self.meshes, index)?;
        let hold = !placed.info.constant_topology;
        let points = self.world_points(placed, time * self.rate, hold)?;
        let position = |&p: &u32| points.get(p as usize).copied();
        shape.points.iter().map(position).collect::<Option<_>>().ok_or_else(|| {
            let problem = format!("it has {} points at {time} s, fewer than before", points.len());
            UsdError::damaged(placed.info.path.clone(), problem)
        })
    }

    /// A mesh at a time, triangulated, whatever its topology then is. Hidden meshes are empty.
    pub fn mesh_at(&self, index: usize, time: f64) -> Result<Mesh> {
        let (placed, _) = Self::found("mesh", &self.meshes, index)?;
        let name = placed.info.name.clone();
        if !self.is_visible(placed, time * self.rate)? {
            return Ok(Mesh { name, ..Mesh::default() });
        }
        let shape = self.shape_at(index, time)?;
        let positions = self.positions_at(index, &shape, time)?;
        Ok(Mesh { name, topology: shape.topology, positions, ..Mesh::default() })
    }

    /// Whether a mesh is shown at a time.
    pub fn mesh_is_visible(&self, index: usize, time: f64) -> Result<bool> {
        self.is_visible(&Self::found("mesh", &self.meshes, index)?.0, time * self.rate)
    }

    /// Curves at a time, splines as points along them; none where they are hidden.
    pub fn curves_at(&self, index: usize, time: f64) -> Result<Curves> {
        let (placed, basis) = Self::found("set of curves", &self.curves, index)?;
        let code = time * self.rate;
        let mut out = Curves { name: placed.info.name.clone(), ..Curves::default() };
        if !self.is_visible(placed, code)? {
            return Ok(out);
        }
        let points = self.world_points(placed, code, !placed.info.constant_topology)?;
        let counts = self.stage.value(placed.prim, "curveVertexCounts", code)?;
        let counts = counts.map_or_else(Vec::new, |c| c.ints());
        let sum = counts.iter().map(|c| (*c).max(0)).fold(0i64, i64::saturating_add);
        if sum != points.len() as i64 {
            let problem = format!("curves of {sum} points in all, {} are there", points.len());
            return Err(UsdError::damaged(placed.info.path.clone(), problem));
        }
        let widths = self.widths(placed, code, &counts, points.len())?;
        let mut first = 0;
        for count in counts.iter().map(|&c| c.max(0) as usize) {
            let weights = basis.weights(count);
            out.counts.push(weights.len() as u32);
            for shares in weights {
                let sum = |all: &mut dyn FnMut(usize, f32)| {
                    shares.iter().for_each(|&(i, w)| all(first + i, w as f32));
                };
                let (mut point, mut width) = (Vec3::ZERO, 0.0);
                sum(&mut |i, w| point += w * points[i]);
                sum(&mut |i, w| width += w * widths[i]);
                out.points.push(point);
                out.widths.push(width);
            }
            first += count;
        }
        let ids = self.stage.value(placed.prim, "primvars:id", code)?;
        let ids = ids.map_or_else(Vec::new, |d| d.ints());
        // Ids of another number than the curves are of something else.
        let fit = ids.len() == out.counts.len();
        out.ids = match fit {
            true => ids.into_iter().map(|id| id as u64).collect(),
            false => (0..out.counts.len() as u64).collect(),
        };
        out.root_uvs = self.root_uvs(placed, code, out.counts.len())?;
        let color = self.stage.value(placed.prim, "primvars:displayColor", code)?;
        let color = color.map_or_else(Vec::new, |c| c.numbers());
        let color = color.get(..3).map(|c| DVec3::from_slice(c).as_vec3());
        out.color = color.filter(|c| c.is_finite()).unwrap_or(Vec3::splat(0.5));
        Ok(out)
    }

    fn root_uvs(&self, placed: &Placed, code: f64, curves: usize) -> Result<Vec<Vec2>> {
        let uvs = self.stage.value(placed.prim, "primvars:st", code)?;
        let uvs = uvs.map_or_else(Vec::new, |u| u.numbers());
        let uv = |c: &[f64]| Vec2::new(c[0] as f32, 1.0 - c[1] as f32);
        let uvs: Vec<Vec2> = uvs.chunks_exact(2).map(uv).collect();
        let fit = uvs.len() == curves && uvs.iter().all(|uv| uv.is_finite());
        Ok(if fit { uvs } else { Vec::new() })
    }

    /// Points at a time; none where they are hidden.
    pub fn points_at(&self, index: usize, time: f64) -> Result<Points> {
        let placed = Self::found("set of points", &self.points, index)?;
        let code = time * self.rate;
        let mut out = Points { name: placed.info.name.clone(), ..Points::default() };
        if !self.is_visible(placed, code)? {
            return Ok(out);
        }
        // Points come and go: between samples their order means nothing unless ids say so.
        out.positions = self.world_points(placed, code, true)?;
        let total = out.positions.len();
        let ids = self.stage.value(placed.prim, "ids", code)?.map_or_else(Vec::new, |d| d.ints());
        out.ids = match ids.len() == total {
            true => ids.into_iter().map(|id| id as u64).collect(),
            false => (0..total as u64).collect(),
        };
        out.widths = self.widths(placed, code, &[], total)?;
        if let Some(velocities) = self.stage.attribute(placed.prim, "velocities")? {
            let turn = DMat3::from_mat4(self.world(placed, code)?);
            let found = velocities.vectors(&self.stage, code, true)?;
            if found.len() == total {
                out.velocities = found.into_iter().map(|v| single(turn * v)).collect();
            }
        }
        Ok(out)
    }

    /// Diameters per point [m], spread from one for all or one a curve where the file is short.
    fn widths(&self, placed: &Placed, code: f64, counts: &[i64], total: usize) -> Result<Vec<f32>> {
        let mut found = self.stage.value(placed.prim, "primvars:widths", code)?;
        if found.is_none() {
            found = self.stage.value(placed.prim, "widths", code)?;
        }
        let world = DMat3::from_mat4(self.world(placed, code)?);
        let scale = world.determinant().abs().cbrt();
        let numbers = found.map_or_else(Vec::new, |d| d.numbers());
        let clean = |n: f64| if n.is_finite() { (scale * n) as f32 } else { DEFAULT_WIDTH };
        let widths: Vec<f32> = numbers.into_iter().map(clean).collect();
        Ok(if widths.len() == total {
            widths
        } else if widths.len() == counts.len() && !counts.is_empty() {
            let spread = counts.iter().zip(widths);
            spread.flat_map(|(&n, w)| std::iter::repeat_n(w, n.max(0) as usize)).collect()
        } else {
            vec![widths.first().copied().unwrap_or(DEFAULT_WIDTH); total]
        })
    }
}

//! An Alembic file: its shapes at any time.

use std::path::Path;

use frisson::geometry::{Material, Mesh};
use frisson::stage::{Curves, Points};
use glam::{DMat4, DVec3, Vec2, Vec3};

use super::archive::read_tree;
use super::bytes::Bytes;
use super::gather::Branch;
use super::sampling::{Place, TimeSampling};
use super::transform::{TransformTrack, sampling};
use super::values::Values;
use super::{AlembicError, Result};
use crate::faces::{CornerValues, Faces, Places, Shape, build_shape};
use crate::inputs::InputSet;
use crate::shape_file::{ShapeInfo, sign_shape_file};

/// Diameter of strands and points whose file has none [m]: a thick hair.
const DEFAULT_WIDTH: f32 = 1e-4;

/// A shape in the tree.
pub(super) struct Placed {
    pub(super) info: ShapeInfo,
    /// Its transforms, outermost first.
    pub(super) chain: Vec<usize>,
    pub(super) visibility: Vec<Values>,
    pub(super) points: Values,
    /// What else the schema holds.
    pub(super) geometry: Vec<(String, Values, String)>,
    pub(super) sets: Vec<(String, Values)>,
}

/// An Alembic file, open for reading. Samples are read when they are asked for: memory does not grow
/// with the length of the shot.
///
/// All shapes come in the file's world, transforms applied; Alembic has no unit of length.
pub struct AlembicFile {
    pub(super) bytes: Bytes,
    pub(super) samplings: Vec<TimeSampling>,
    pub(super) transforms: Vec<TransformTrack>,
    pub(super) meshes: Vec<Placed>,
    pub(super) curves: Vec<Placed>,
    pub(super) points: Vec<Placed>,
    pub(super) warnings: Vec<String>,
}

sign_shape_file!(AlembicFile, AlembicError);

impl AlembicFile {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, &InputSet::new())
    }

    /// Opens a file through an input set.
    pub fn open_with(path: &Path, inputs: &InputSet) -> Result<Self> {
        Self::from_bytes_of(Bytes::open(path, inputs)?)
    }

    /// Reads a file that is in memory.
    pub fn parse(bytes: Vec<u8>) -> Result<Self> {
        Self::from_bytes_of(Bytes::from_memory(bytes))
    }

    fn from_bytes_of(bytes: Bytes) -> Result<Self> {
        let tree = read_tree(&bytes)?;
        let mut file = Self {
            bytes,
            samplings: tree.samplings,
            transforms: Vec::new(),
            meshes: Vec::new(),
            curves: Vec::new(),
            points: Vec::new(),
            warnings: Vec::new(),
        };
        file.gather(&tree.top, &Branch::default())?;
        Ok(file)
    }

    /// The meshes.
    pub fn meshes(&self) -> impl ExactSizeIterator<Item = &ShapeInfo> {
        self.meshes.iter().map(|p| &p.info)
    }

    /// The sets of curves.
    pub fn curves(&self) -> impl ExactSizeIterator<Item = &ShapeInfo> {
        self.curves.iter().map(|p| &p.info)
    }

    /// The sets of points.
    pub fn points(&self) -> impl ExactSizeIterator<Item = &ShapeInfo> {
        self.points.iter().map(|p| &p.info)
    }

    /// What was left out, for people.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// First and last time of any sample of a shape [s].
    #[must_use]
    pub fn span(&self) -> (f64, f64) {
        let all = self.meshes().chain(self.curves()).chain(self.points()).map(|i| i.span);
        all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 0.0))
    }

    fn placed<'a>(kind: &str, all: &'a [Placed], index: usize) -> Result<&'a Placed> {
        let none = || AlembicError::damaged("archive", format!("there is no {kind} {index}"));
        all.get(index).ok_or_else(none)
    }

    fn world(&self, placed: &Placed, time: f64) -> Result<DMat4> {
        let mut world = DMat4::IDENTITY;
        for &index in &placed.chain {
            let track = &self.transforms[index];
            if !track.inherits(&self.bytes, &self.samplings, time)? {
                // What is above counts no longer.
                world = DMat4::IDENTITY;
            }
            world *= track.matrix(&self.bytes, &self.samplings, time)?;
        }
        Ok(world)
    }

    fn is_visible(&self, placed: &Placed, time: f64) -> Result<bool> {
        for flags in &placed.visibility {
            let place = sampling(&self.samplings, flags)?.locate(time, flags.samples);
            if flags.integers(&self.bytes, place.before)?.first() == Some(&0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn place(&self, values: &Values, time: f64) -> Result<Place> {
        Ok(sampling(&self.samplings, values)?.locate(time, values.samples))
    }

    /// Sample of another property that belongs to a time.
    fn sample_at(&self, values: &Values, time: f64) -> Result<u64> {
        Ok(self.place(values, time)?.before)
    }

    /// Points at a time: on straight lines between samples of as many points, else held.
    fn points_between(&self, placed: &Placed, time: f64, hold: bool) -> Result<Vec<Vec3>> {
        let place = self.place(&placed.points, time)?;
        let mut points = placed.points.vectors(&self.bytes, place.before)?;
        if place.before != place.after && !hold {
            let later = placed.points.vectors(&self.bytes, place.after)?;
            if later.len() == points.len() {
                let move_towards = |(a, b): (&mut Vec3, Vec3)| *a = a.lerp(b, place.fraction);
                points.iter_mut().zip(later).for_each(move_towards);
            }
        }
        let world = self.world(placed, time)?;
        if world != DMat4::IDENTITY {
            let carry = |p: &mut Vec3| *p = world.transform_point3(DVec3::from(*p)).as_vec3();
            points.iter_mut().for_each(carry);
        }
        match points.iter().position(|p| !p.is_finite()) {
            Some(at) => {
                let problem = format!("point {at} at {time} s is not finite");
                Err(AlembicError::damaged(placed.info.path.clone(), problem))
            }
            None => Ok(points),
        }
    }

    /// Times of a mesh's samples [s].
    pub(super) fn sample_times(&self, index: usize) -> Result<Vec<f64>> {
        let placed = Self::placed("mesh", &self.meshes, index)?;
        let points = &placed.points;
        let times = sampling(&self.samplings, points)?;
        // Samples that only repeat need not be looked at again.
        let stored = points.stored_index(points.samples - 1);
        if stored >= points.stored.len() as u64 {
            let problem = format!("{stored} samples are promised, fewer are there");
            return Err(AlembicError::damaged(placed.info.path.clone(), problem));
        }
        // The last sample that is still the first one.
        let first = points.changes.0.max(1) - 1;
        Ok((first..=first + stored).map(|s| times.time(s)).collect())
    }

    /// Triangles of a mesh at a time.
    pub(super) fn shape_at(&self, index: usize, time: f64) -> Result<Shape> {
        let placed = Self::placed("mesh", &self.meshes, index)?;
        let place = self.place(&placed.points, time)?;
        let points = placed.points.vectors(&self.bytes, place.before)?;
        let integers = |name: &str| match placed.values(name) {
            Some((values, _)) => values.integers(&self.bytes, self.sample_at(values, time)?),
            None => Ok(Vec::new()),
        };
        let counts = integers(".faceCounts")?;
        let (face_materials, materials) = self.materials(placed, counts.len(), time)?;
        let pair = |v: &[f64]| Vec2::new(v[0] as f32, v[1] as f32);
        let vector = |v: &[f64]| Vec3::new(v[0] as f32, v[1] as f32, v[2] as f32);
        let faces = Faces {
            counts,
            indices: integers(".faceIndices")?,
            uvs: self.corner_values(placed, "uv", 2, time, pair)?,
            normals: self.corner_values(placed, "N", 3, time, vector)?,
            // Alembic's faces are clockwise seen from outside.
            is_clockwise: true,
            face_materials,
            materials,
            ..Faces::default()
        };
        let damaged = |problem| AlembicError::damaged(&placed.info.path, problem);
        build_shape(faces, &points).map_err(damaged)
    }

    /// Sets of faces as materials: the file has no more of them than the name.
    fn materials(
        &self,
        placed: &Placed,
        faces: usize,
        time: f64,
    ) -> Result<(Vec<u16>, Vec<Material>)> {
        let named = |name: &str| Material { name: name.to_owned(), ..Material::default() };
        let (mut of_face, mut materials) = (vec![0; faces], vec![named("default")]);
        for (name, set) in placed.sets.iter().take(usize::from(u16::MAX - 1)) {
            for face in set.integers(&self.bytes, self.sample_at(set, time)?)? {
                let found = usize::try_from(face).ok().and_then(|f| of_face.get_mut(f));
                if let Some(material) = found {
                    *material = materials.len() as u16;
                }
            }
            materials.push(named(name));
        }
        Ok((of_face, materials))
    }

    /// Values with or without indices.
    fn corner_values<T>(
        &self,
        placed: &Placed,
        name: &str,
        width: usize,
        time: f64,
        convert: impl Fn(&[f64]) -> T,
    ) -> Result<CornerValues<T>> {
        let places = Places::ByCount;
        let none = CornerValues { values: Vec::new(), indices: Vec::new(), places };
        let indexed = placed.values(&format!("{name}/.vals"));
        let Some((values, _)) = indexed.or_else(|| placed.values(name)) else { return Ok(none) };
        if values.extent != width || values.samples == 0 {
            return Ok(none);
        }
        let numbers = values.floats(&self.bytes, self.sample_at(values, time)?)?;
        let indices = match placed.values(&format!("{name}/.indices")) {
            Some((indices, _)) if indices.samples > 0 => {
                indices.integers(&self.bytes, self.sample_at(indices, time)?)?
            }
            _ => Vec::new(),
        };
        let values = numbers.chunks_exact(width).map(convert).collect();
        Ok(CornerValues { values, indices, places })
    }

    /// World positions of the vertices of a shape at a time.
    pub(super) fn positions_at(&self, index: usize, shape: &Shape, time: f64) -> Result<Vec<Vec3>> {
        let placed = Self::placed("mesh", &self.meshes, index)?;
        let points = self.points_between(placed, time, !placed.info.constant_topology)?;
        let position = |&p: &u32| points.get(p as usize).copied();
        shape.points.iter().map(position).collect::<Option<_>>().ok_or_else(|| {
            let problem = format!("it has {} points at {time} s, fewer than before", points.len());
            AlembicError::damaged(placed.info.path.clone(), problem)
        })
    }

    /// A mesh at a time, triangulated, whatever its topology then is. Hidden meshes are empty.
    pub fn mesh_at(&self, index: usize, time: f64) -> Result<Mesh> {
        let placed = Self::placed("mesh", &self.meshes, index)?;
        let name = placed.info.name.clone();
        if !self.is_visible(placed, time)? {
            return Ok(Mesh { name, ..Mesh::default() });
        }
        let shape = self.shape_at(index, time)?;
        let positions = self.positions_at(index, &shape, time)?;
        Ok(Mesh { name, topology: shape.topology, positions, ..Mesh::default() })
    }

    /// Whether a mesh is shown at a time.
    pub fn mesh_is_visible(&self, index: usize, time: f64) -> Result<bool> {
        self.is_visible(Self::placed("mesh", &self.meshes, index)?, time)
    }

    /// Curves at a time; none where they are hidden. Control points of splines come as they are.
    pub fn curves_at(&self, index: usize, time: f64) -> Result<Curves> {
        let placed = Self::placed("set of curves", &self.curves, index)?;
        let mut out = Curves { name: placed.info.name.clone(), ..Curves::default() };
        if !self.is_visible(placed, time)? {
            return Ok(out);
        }
        out.points = self.points_between(placed, time, !placed.info.constant_topology)?;
        let total = out.points.len();
        let counts = match placed.values("nVertices") {
            Some((counts, _)) => {
                let sample = self.sample_at(counts, time)?;
                counts.integers(&self.bytes, sample)?
            }
            None => vec![total as i64],
        };
        let sum = counts.iter().map(|c| (*c).max(0)).fold(0i64, i64::saturating_add);
        if sum != total as i64 {
            let problem = format!("curves of {sum} points in all, {total} are there");
            return Err(AlembicError::damaged(placed.info.path.clone(), problem));
        }
        out.counts = counts.iter().filter_map(|&c| u32::try_from(c).ok()).collect();
        out.widths = self.widths(placed, "width", time, &out.counts, total)?;
        let mut ids = self.ids(placed, "id", time)?;
        if ids.is_empty() {
            ids = self.ids(placed, "groom_id", time)?;
        }
        // Ids of another number than the curves are of something else.
        let fit = ids.len() == out.counts.len();
        out.ids = if fit { ids } else { (0..out.counts.len() as u64).collect() };
        out.color = Vec3::splat(0.5);
        Ok(out)
    }

    /// Points at a time; none where they are hidden.
    pub fn points_at(&self, index: usize, time: f64) -> Result<Points> {
        let placed = Self::placed("set of points", &self.points, index)?;
        let mut out = Points { name: placed.info.name.clone(), ..Points::default() };
        if !self.is_visible(placed, time)? {
            return Ok(out);
        }
        // Points come and go: between samples their order means nothing unless ids say so.
        out.positions = self.points_between(placed, time, true)?;
        let total = out.positions.len();
        let ids = self.ids(placed, ".pointIds", time)?;
        out.ids = if ids.len() == total { ids } else { (0..total as u64).collect() };
        out.widths = self.widths(placed, ".widths", time, &[], total)?;
        if let Some((velocities, _)) = placed.values(".velocities").filter(|(v, _)| v.samples > 0) {
            let world = self.world(placed, time)?;
            let found = velocities.vectors(&self.bytes, self.sample_at(velocities, time)?)?;
            // Velocities turn and scale with the points, and are not moved.
            let turn = |v: Vec3| world.transform_vector3(DVec3::from(v)).as_vec3();
            if found.len() == total {
                out.velocities = found.into_iter().map(turn).collect();
            }
        }
        Ok(out)
    }

    fn ids(&self, placed: &Placed, name: &str, time: f64) -> Result<Vec<u64>> {
        let found = placed.values(name).filter(|(v, _)| v.samples > 0 && v.pod < 9);
        let Some((values, _)) = found else { return Ok(Vec::new()) };
        let ids = values.integers(&self.bytes, self.sample_at(values, time)?)?;
        Ok(ids.into_iter().map(|id| id as u64).collect())
    }

    /// Diameters per point, spread from one for all or one a curve where the file is short.
    fn widths(
        &self,
        placed: &Placed,
        name: &str,
        time: f64,
        counts: &[u32],
        total: usize,
    ) -> Result<Vec<f32>> {
        let numbers = self.corner_values(placed, name, 1, time, |v| v[0] as f32)?;
        let indexed = |i: &i64| usize::try_from(*i).ok().and_then(|i| numbers.values.get(i));
        let widths: Vec<f32> = match numbers.indices.is_empty() {
            true => numbers.values,
            false => numbers.indices.iter().filter_map(indexed).copied().collect(),
        };
        Ok(if widths.len() == total {
            widths
        } else if widths.len() == counts.len() && !counts.is_empty() {
            let spread = counts.iter().zip(widths);
            spread.flat_map(|(&n, w)| std::iter::repeat_n(w, n as usize)).collect()
        } else {
            vec![widths.first().copied().unwrap_or(DEFAULT_WIDTH); total]
        })
    }
}

impl Placed {
    /// Values and metadata by path below the geometry.
    fn values(&self, path: &str) -> Option<(&Values, &str)> {
        let found = self.geometry.iter().find(|(name, _, _)| name == path)?;
        Some((&found.1, &found.2))
    }
}

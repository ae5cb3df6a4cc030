//! Files of shapes over time: what a reader of one signs, and its meshes as an actor.
//!
//! ```text
//! AlembicFile ┐
//!             ├─ ShapeFile ─► FileMeshes (an actor), given::shapes (meshes, guides, points)
//! UsdFile     ┘
//! ```

use std::sync::Arc;

use frisson::geometry::Mesh;
use frisson::stage::{Curves, MeshSequence, Points};
use glam::Vec3;

use crate::faces::Shape;

/// What is known of a shape before it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeInfo {
    /// Name: the shape's, or its parent's where that carries nothing else.
    pub name: String,
    /// Path in the file.
    pub path: String,
    /// Samples of its points.
    pub samples: u64,
    /// Time of the first and of the last sample [s].
    pub span: (f64, f64),
    /// Whether its faces (or counts) are the same in all samples.
    pub constant_topology: bool,
}

/// A file whose meshes, curves and points can be asked for at any time. Shapes of each kind are numbered from 0.
pub(crate) trait ShapeFile: Send + Sync + 'static {
    /// Why something cannot be read.
    type Error;

    /// That a shape cannot be used, and why.
    fn refused(path: &str, problem: &str) -> Self::Error;
    fn mesh_infos(&self) -> Vec<ShapeInfo>;
    fn curve_infos(&self) -> Vec<ShapeInfo>;
    fn point_infos(&self) -> Vec<ShapeInfo>;
    /// What was left out, for people.
    fn remarks(&self) -> &[String];
    /// Times of the first and of the last sample [s].
    fn times(&self) -> (f64, f64);
    fn shows_mesh(&self, index: usize, time: f64) -> Result<bool, Self::Error>;
    fn shape(&self, index: usize, time: f64) -> Result<Shape, Self::Error>;
    /// Times at which the points of a mesh are given [s].
    fn times_of(&self, index: usize) -> Result<Vec<f64>, Self::Error>;
    fn positions(&self, index: usize, shape: &Shape, time: f64) -> Result<Vec<Vec3>, Self::Error>;
    fn strands(&self, index: usize, time: f64) -> Result<Curves, Self::Error>;
    fn beads(&self, index: usize, time: f64) -> Result<Points, Self::Error>;
}

/// Signs the contract for a reader whose own functions have these names.
macro_rules! sign_shape_file {
    ($file:ty, $error:ty) => {
        impl crate::shape_file::ShapeFile for $file {
            type Error = $error;

            fn refused(path: &str, problem: &str) -> $error {
                <$error>::damaged(path, problem)
            }
            fn mesh_infos(&self) -> Vec<crate::shape_file::ShapeInfo> {
                self.meshes().cloned().collect()
            }
            fn curve_infos(&self) -> Vec<crate::shape_file::ShapeInfo> {
                self.curves().cloned().collect()
            }
            fn point_infos(&self) -> Vec<crate::shape_file::ShapeInfo> {
                self.points().cloned().collect()
            }
            fn remarks(&self) -> &[String] {
                self.warnings()
            }
            fn times(&self) -> (f64, f64) {
                self.span()
            }
            fn shows_mesh(&self, index: usize, time: f64) -> Result<bool> {
                self.mesh_is_visible(index, time)
            }
            fn shape(&self, index: usize, time: f64) -> Result<crate::faces::Shape> {
                self.shape_at(index, time)
            }
            fn times_of(&self, index: usize) -> Result<Vec<f64>> {
                self.sample_times(index)
            }
            fn positions(
                &self,
                index: usize,
                shape: &crate::faces::Shape,
                time: f64,
            ) -> Result<Vec<glam::Vec3>> {
                self.positions_at(index, shape, time)
            }
            fn strands(&self, index: usize, time: f64) -> Result<frisson::stage::Curves> {
                self.curves_at(index, time)
            }
            fn beads(&self, index: usize, time: f64) -> Result<frisson::stage::Points> {
                self.points_at(index, time)
            }
        }
    };
}
pub(crate) use sign_shape_file;

/// Meshes of constant topology, played as they are stored: straight lines between samples, held at
/// both ends.
pub struct FileMeshes<F> {
    file: Arc<F>,
    meshes: Vec<Mesh>,
    /// Mesh of the file and its triangles.
    shapes: Vec<(usize, Shape)>,
}

#[expect(private_bounds, reason = "who reads files is decided in this crate")]
impl<F: ShapeFile> FileMeshes<F> {
    /// The meshes of a file that are shown at its start. All samples are read once, so that nothing
    /// can fail while they play; a mesh whose topology changes is an error.
    #[expect(private_interfaces, reason = "it is the file's own error")]
    pub fn new(file: Arc<F>) -> Result<Self, F::Error> {
        let mut out = Self { file: Arc::clone(&file), meshes: Vec::new(), shapes: Vec::new() };
        let start = file.times().0;
        let mut names = crate::gltf::UniqueNames::default();
        for (index, info) in file.mesh_infos().iter().enumerate() {
            if !file.shows_mesh(index, start)? {
                continue;
            }
            if !info.constant_topology {
                let problem = "its topology changes: layers need the same vertices at all times";
                return Err(F::refused(&info.path, problem));
            }
            let shape = file.shape(index, start)?;
            if shape.topology.triangles.is_empty() {
                continue;
            }
            for time in file.times_of(index)? {
                file.positions(index, &shape, time)?;
            }
            let positions = file.positions(index, &shape, start)?;
            let topology = Arc::clone(&shape.topology);
            let name = names.make_unique(&info.name);
            out.meshes.push(Mesh { name, topology, positions, ..Mesh::default() });
            out.shapes.push((index, shape));
        }
        Ok(out)
    }

    /// Time of the last sample [s].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.file.times().1
    }
}

impl<F: ShapeFile> MeshSequence for FileMeshes<F> {
    fn meshes(&self) -> &[Mesh] {
        &self.meshes
    }

    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>) {
        let (index, shape) = &self.shapes[mesh];
        out.clear();
        match self.file.positions(*index, shape, time) {
            Ok(positions) => out.extend(positions),
            // Only a file that changed under our hands comes here.
            Err(_) => out.extend_from_slice(&self.meshes[mesh].positions),
        }
    }
}

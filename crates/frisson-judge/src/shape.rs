//! One shape of a frame, whatever it is, and which of its points are the same as in another frame.

use std::sync::Arc;

use frisson::geometry::{Bounds, Mesh, MeshTopology, TriangleBvh};
use frisson::stage::{Curves, Frame, Points};
use glam::Vec3;

/// No counterpart.
pub const NONE: u32 = u32::MAX;

/// A mesh, curves or points.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// A triangle mesh.
    Mesh(&'a Mesh),
    /// Strands.
    Curves(&'a Curves),
    /// Drops, spray, beads.
    Points(&'a Points),
}

impl<'a> Shape<'a> {
    /// The shape of that name.
    #[must_use]
    pub fn find(frame: &'a Frame, name: &str) -> Option<Self> {
        Self::all(frame).find(|shape| shape.name() == name)
    }

    /// All shapes of a frame: meshes, then curves, then points.
    pub fn all(frame: &'a Frame) -> impl Iterator<Item = Self> {
        let meshes = frame.meshes.iter().map(Self::Mesh);
        let curves = frame.curves.iter().map(Self::Curves);
        meshes.chain(curves).chain(frame.points.iter().map(Self::Points))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        match self {
            Self::Mesh(m) => &m.name,
            Self::Curves(c) => &c.name,
            Self::Points(p) => &p.name,
        }
    }

    /// Vertices, points of all curves, or points [m].
    #[must_use]
    pub fn points(&self) -> &'a [Vec3] {
        match self {
            Self::Mesh(m) => &m.positions,
            Self::Curves(c) => &c.points,
            Self::Points(p) => &p.positions,
        }
    }

    /// Number of vertices, curves or points.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Curves(c) => c.counts.len(),
            other => other.points().len(),
        }
    }

    /// What an element of `points` is called.
    #[must_use]
    pub fn element_name(&self) -> &'static str {
        match self {
            Self::Mesh(_) => "vertex",
            Self::Curves(_) => "curve point",
            Self::Points(_) => "point",
        }
    }

    /// Length of the diagonal of its box [m].
    #[must_use]
    pub fn size(&self) -> f32 {
        Bounds::of(self.points()).diagonal()
    }
}

/// What is remembered of a shape, to find its points again.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Points [m].
    pub points: Vec<Vec3>,
    ids: Vec<u64>,
    counts: Vec<u32>,
    topology: Option<Arc<MeshTopology>>,
}

impl Snapshot {
    /// Remembers a shape, reusing storage.
    pub fn take(&mut self, shape: Shape) {
        self.points.clear();
        self.points.extend_from_slice(shape.points());
        self.ids.clear();
        self.counts.clear();
        self.topology = None;
        match shape {
            Shape::Mesh(m) => self.topology = Some(m.topology.clone()),
            Shape::Curves(c) => {
                self.ids.extend_from_slice(&c.ids);
                self.counts.extend_from_slice(&c.counts);
            }
            Shape::Points(p) => self.ids.extend_from_slice(&p.ids),
        }
    }

    /// A remembered shape.
    #[must_use]
    pub fn of(shape: Shape) -> Self {
        let mut snapshot = Self::default();
        snapshot.take(shape);
        snapshot
    }

    /// The remembered surface, if it was one.
    #[must_use]
    pub fn surface(&self) -> Option<TriangleBvh> {
        let topology = self.topology.as_ref()?;
        Some(TriangleBvh::build(&self.points, &topology.triangles))
    }

    /// Which remembered point each point of `shape` is; nothing where the shapes cannot be compared
    /// point by point.
    #[must_use]
    pub fn match_points(&self, shape: Shape) -> Option<Match> {
        match shape {
            Shape::Mesh(mesh) => {
                let known = self.topology.as_ref()?;
                same_topology(known, &mesh.topology).then_some(Match::Same)
            }
            Shape::Curves(c) if c.ids == self.ids && c.counts == self.counts => Some(Match::Same),
            Shape::Curves(c) => Some(Match::Map(self.match_curves(c))),
            Shape::Points(p) if p.ids == self.ids => Some(Match::Same),
            Shape::Points(p) => Some(Match::Map(self.match_ids(&p.ids))),
        }
    }

    fn match_ids(&self, ids: &[u64]) -> Vec<u32> {
        let order = sorted(&self.ids);
        ids.iter().map(|id| find(&order, *id).unwrap_or(NONE)).collect()
    }

    fn match_curves(&self, curves: &Curves) -> Vec<u32> {
        let (order, starts) = (sorted(&self.ids), starts(&self.counts));
        let mut map = Vec::with_capacity(curves.points.len());
        for (index, &count) in curves.counts.iter().enumerate() {
            let known = curves.ids.get(index).and_then(|id| find(&order, *id));
            let same = known.filter(|&k| self.counts[k as usize] == count);
            map.extend((0..count).map(|i| same.map_or(NONE, |k| starts[k as usize] + i)));
        }
        map
    }
}

/// Which remembered point each point is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// The one of the same index.
    Same,
    /// By index; `u32::MAX` where it is new.
    Map(Vec<u32>),
}

impl Match {
    /// The remembered point of a point.
    #[must_use]
    pub fn of(&self, index: usize) -> Option<usize> {
        match self {
            Self::Same => Some(index),
            Self::Map(map) => map.get(index).filter(|&&k| k != NONE).map(|&k| k as usize),
        }
    }
}

/// Whether vertices of one mean those of the other.
pub(crate) fn same_topology(a: &Arc<MeshTopology>, b: &Arc<MeshTopology>) -> bool {
    Arc::ptr_eq(a, b) || a.vertex_count == b.vertex_count && a.triangles == b.triangles
}

fn sorted(ids: &[u64]) -> Vec<(u64, u32)> {
    let mut order: Vec<(u64, u32)> = ids.iter().copied().zip(0..).collect();
    order.sort_unstable();
    order
}

fn find(order: &[(u64, u32)], id: u64) -> Option<u32> {
    let at = order.partition_point(|&(k, _)| k < id);
    order.get(at).filter(|(k, _)| *k == id).map(|&(_, index)| index)
}

/// Index of the first point of each curve.
#[must_use]
pub fn starts(counts: &[u32]) -> Vec<u32> {
    counts
        .iter()
        .scan(0, |at, &count| {
            let start = *at;
            *at += count;
            Some(start)
        })
        .collect()
}

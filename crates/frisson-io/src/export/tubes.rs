//! Strands as thin tubes or flat ribbons, for programs that know no curves.
//!
//! ```text
//!   o──────o──────o     a strand: rings of `sides` vertices around its points, carried along it
//!   │╲     │╲     │     with the least turning, joined by triangles
//!   o──────o──────o
//! ```

use std::sync::Arc;

use frisson::geometry::{Material, Mesh, MeshTopology};
use frisson::math::frames::CurveFrame;
use frisson::stage::{Curves, Frame};
use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Diameter of strands that have none [m]: a thick hair.
const DEFAULT_WIDTH: f32 = 1.0e-4;

/// How strands become triangles, where a format has no curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TubeParams {
    /// Corners of a strand's cross-section: 2 is a flat ribbon seen from both sides.
    #[schemars(range(min = 2, max = 12))]
    pub sides: u32,
    /// Vertices that all strands of a shape may take; beyond it only every second, third, … strand is
    /// written, twice, three times, … as thick.
    #[schemars(range(min = 12, max = 100_000_000))]
    pub most_vertices: u32,
}

impl Default for TubeParams {
    fn default() -> Self {
        Self { sides: 3, most_vertices: 60_000 }
    }
}

/// Turns the curves of frames into meshes, remembering what does not move.
#[derive(Default)]
pub(super) struct Tubes {
    shapes: Vec<Shape>,
}

struct Shape {
    name: String,
    counts: Vec<u32>,
    topology: Arc<MeshTopology>,
}

impl Tubes {
    /// Replaces the curves of a frame by meshes of the same name.
    pub fn convert(&mut self, params: &TubeParams, frame: &mut Frame) {
        for curves in std::mem::take(&mut frame.curves) {
            let every = thinning(params, &curves);
            let shape = self.shape(params, &curves, every);
            let positions = positions(params, &curves, every);
            frame.meshes.push(Mesh {
                name: curves.name,
                topology: shape,
                positions,
                ..Mesh::default()
            });
        }
    }

    fn shape(&mut self, params: &TubeParams, curves: &Curves, every: usize) -> Arc<MeshTopology> {
        let known = self.shapes.iter().find(|s| s.name == curves.name && s.counts == curves.counts);
        if let Some(shape) = known {
            return Arc::clone(&shape.topology);
        }
        let topology = Arc::new(topology(params, curves, every));
        self.shapes.retain(|s| s.name != curves.name);
        self.shapes.push(Shape {
            name: curves.name.clone(),
            counts: curves.counts.clone(),
            topology: Arc::clone(&topology),
        });
        topology
    }
}

/// One strand of how many is written.
fn thinning(params: &TubeParams, curves: &Curves) -> usize {
    let total = curves.points.len() * params.sides as usize;
    // By points, not by strands: long hair takes more.
    total.div_ceil(params.most_vertices as usize).max(1)
}

/// Ranges of points of the strands that are written.
fn strands(curves: &Curves, every: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut start = 0;
    let ranges = curves.counts.iter().map(move |&count| {
        let range = start..start + count as usize;
        start = range.end;
        range
    });
    ranges.step_by(every).filter(|range| range.len() >= 2)
}

fn topology(params: &TubeParams, curves: &Curves, every: usize) -> MeshTopology {
    let sides = params.sides;
    let mut out = MeshTopology {
        materials: vec![Material {
            name: curves.name.clone(),
            base_color: curves.color.extend(1.0).to_array(),
            roughness: 0.45,
            ..Material::default()
        }],
        ..MeshTopology::default()
    };
    for range in strands(curves, every) {
        let last = (range.len() - 1) as f32;
        for ring in 0..range.len() as u32 {
            let first = out.vertex_count as u32;
            let uv = |k: u32| Vec2::new(k as f32 / sides as f32, ring as f32 / last);
            out.uvs.extend((0..sides).map(uv));
            out.vertex_count += sides as usize;
            if ring == 0 {
                continue;
            }
            // A ribbon has two sides, and so a tube of two corners.
            for k in 0..sides {
                let next = (k + 1) % sides;
                let (a, b) = (first - sides + k, first - sides + next);
                let (c, d) = (first + k, first + next);
                out.triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
    }
    out
}

fn positions(params: &TubeParams, curves: &Curves, every: usize) -> Vec<Vec3> {
    let sides = params.sides as usize;
    let mut out = Vec::with_capacity(curves.points.len() * sides / every + sides);
    // What is left covers as much as all did.
    let thicker = every as f32;
    for range in strands(curves, every) {
        let points = &curves.points[range.clone()];
        let width = |k: usize| curves.widths.get(range.start + k).copied().unwrap_or(DEFAULT_WIDTH);
        // Any direction across: what counts is that the rings do not twist from here on.
        let mut frame = CurveFrame::new(points[1] - points[0], Vec3::ZERO);
        for (k, &p) in points.iter().enumerate() {
            let (before, after) =
                (points[k.saturating_sub(1)], points[(k + 1).min(points.len() - 1)]);
            frame = frame.transported(after - before);
            let radius = 0.5 * thicker * width(k);
            out.extend((0..sides).map(|corner| {
                let (sine, cosine) =
                    (std::f32::consts::TAU * corner as f32 / sides as f32).sin_cos();
                p + radius * (cosine * frame.normal + sine * frame.binormal)
            }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> Curves {
        let strand = |k: u32| {
            (0..8u32).map(move |i| {
                let (s, c) = (0.4 * i as f32 + k as f32).sin_cos();
                Vec3::new(c, 0.3 * i as f32, s)
            })
        };
        Curves {
            name: "hair".to_owned(),
            counts: vec![8; 10],
            points: (0..10).flat_map(strand).collect(),
            widths: vec![0.02; 80],
            color: Vec3::new(0.2, 0.1, 0.05),
            ..Curves::default()
        }
    }

    #[test]
    fn rings_have_the_width_of_the_strand_and_triangles_face_outwards() {
        for sides in [2, 3, 6] {
            let params = TubeParams { sides, ..TubeParams::default() };
            let mut frame = Frame { curves: vec![curves()], ..Frame::default() };
            Tubes::default().convert(&params, &mut frame);
            assert!(frame.curves.is_empty());
            let mesh = &frame.meshes[0];
            assert_eq!(mesh.positions.len(), 80 * sides as usize);
            for (ring, &center) in mesh.positions.chunks(sides as usize).zip(&curves().points) {
                assert!(ring.iter().all(|p| (p.distance(center) - 0.01).abs() < 1e-5));
            }
            if sides < 3 {
                continue;
            }
            for t in &mesh.topology.triangles {
                let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                let axis =
                    t.map(|v| curves().points[(v / sides) as usize]).iter().sum::<Vec3>() / 3.0;
                let out = (a + b + c) / 3.0 - axis;
                assert!((b - a).cross(c - a).dot(out) > 0.0, "{t:?} faces inwards");
            }
        }
    }

    #[test]
    fn too_many_strands_are_thinned_and_thickened() {
        let params = TubeParams { sides: 3, most_vertices: 100 };
        let mut frame = Frame { curves: vec![curves()], ..Frame::default() };
        let mut tubes = Tubes::default();
        tubes.convert(&params, &mut frame);
        let mesh = frame.meshes.pop().unwrap();
        assert!(mesh.positions.len() <= 100 && mesh.positions.len() >= 48);
        let every = 240usize.div_ceil(100);
        assert!(
            (mesh.positions[0].distance(curves().points[0]) - 0.01 * every as f32).abs() < 1e-5
        );
        // The next frame has the same topology, not an equal one.
        frame.curves.push(curves());
        tubes.convert(&params, &mut frame);
        assert!(Arc::ptr_eq(&frame.meshes[0].topology, &mesh.topology));
    }
}

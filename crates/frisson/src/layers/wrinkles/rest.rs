//! What never changes: where the tools lie, which points they move, how the mesh is refined.

use std::sync::Arc;

use glam::Vec3;

use super::curve::ControlCurve;
use super::params::WrinkleTool;
use super::region::Line;
use crate::geometry::butterfly::{Emission, LiftedPoints, PatchSurface, Refined, RefinedMesh};
use crate::geometry::{MeshTopology, Topology};
use crate::tolerances::wrinkles as tolerances;

/// Counter of the noise of leaning folds: knots have 1, heights 2 and one more for every level of detail.
const LEAN: u64 = 9;

/// A point moved by a tool. Points count the coarse ones first, then the refined ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// Coarse or refined point.
    pub point: u32,
    /// Place along the curve, in its finest segments.
    pub parameter: f32,
    /// Attenuation across the region times the mask.
    pub weight: f32,
}

/// One tool on the mesh.
#[derive(Clone, Debug)]
pub struct ToolRest {
    /// Points the line runs through, first and last included.
    pub anchors: Vec<u32>,
    /// Full length [m]; where the future is not known, as long as the line was when it was measured.
    pub full: f64,
    /// Whether the full length is the longest so far, because the future is not known.
    pub grows: bool,
    /// Whether the region is found anew in every frame.
    pub live: bool,
    /// The control curve.
    pub curve: ControlCurve,
    /// Points it moves, ascending.
    pub influences: Vec<Influence>,
    /// Coarse triangles it covers.
    pub triangles: Vec<u32>,
    /// Refined points in those, which turn from flat to smooth with the tool.
    pub refined: Vec<u32>,
    /// Level those are refined to.
    pub level: u8,
    /// Mask value of each coarse vertex; empty without a mask.
    pub mask: Vec<f32>,
}

/// Everything that does not change during a bake.
pub struct WrinklesRest {
    /// Index of the mesh in the frame.
    pub mesh: usize,
    /// The mesh as it comes.
    pub base: Arc<MeshTopology>,
    /// Its connectivity.
    pub topology: Topology,
    /// Stencils of the union of all regions.
    pub refined: Refined,
    /// The tools.
    pub tools: Vec<ToolRest>,
    /// The coarse surface under them, still empty: frames are worked out in copies.
    pub surface: PatchSurface,
    /// Points that some tool moves, ascending.
    pub moved: Vec<u32>,
    /// The same as the guard reads them, to be copied too.
    pub lifted: LiftedPoints,
    /// Coarse vertices that some tool may move, with their points.
    pub moved_vertices: Vec<(u32, u32)>,
    /// The mesh with all tools refined, where it stays the same over the shot.
    pub emitted: Option<RefinedMesh>,
    /// What was left out, in words.
    pub warnings: Vec<String>,
}

impl WrinklesRest {
    /// Whether anything about a tool depends on what was before.
    #[must_use]
    pub fn evolves(&self) -> bool {
        self.tools.iter().any(|t| t.grows || t.live)
    }

    /// The mesh with some tools refined.
    #[must_use]
    pub fn emit(&self, active: &[bool]) -> RefinedMesh {
        let mut levels = vec![0u8; self.base.triangles.len()];
        for (tool, _) in self.tools.iter().zip(active).filter(|(_, on)| **on) {
            // The finest wins where regions overlap: a mesh cannot be of two levels at once.
            for &t in &tool.triangles {
                levels[t as usize] = levels[t as usize].max(tool.level);
            }
        }
        let emission = Emission::new(&self.refined, &self.topology, &self.base, &levels);
        RefinedMesh::new(&emission, &self.base)
    }
}

/// Place along the curve and attenuation of a point, if it is inside the region and looks the same
/// way.
pub fn influence(
    tool: &WrinkleTool,
    curve: &ControlCurve,
    line: &Line,
    position: Vec3,
    normal: Vec3,
) -> Option<(f32, f32)> {
    let place = line.place(position)?;
    // The other side of a limb is within reach, too, but looks away.
    if place.normal.dot(normal) <= 0.0 {
        return None;
    }
    let z = place.across / tool.width;
    if z.abs() >= 1.0 {
        return None;
    }
    let skew = skew(tool, line, f64::from(place.along)) * f64::from(place.across) / line.length();
    let parameter = curve.parameter(f64::from(place.along) + skew);
    Some((parameter as f32, tool.attenuation.at(z)))
}

/// Slope of the folds across the line at a place along it: smooth noise from the seed. On a region wide
/// against its folds it is less than asked for: beyond, neighbours would run into each other.
fn skew(tool: &WrinkleTool, line: &Line, along: f64) -> f64 {
    if tool.jitter.angle_deg == 0.0 {
        return 0.0;
    }
    let at = along * f64::from(tool.folds);
    let (cell, t) = (at.floor(), at - at.floor());
    let noise = |k: f64| crate::math::random::signed(tool.jitter.seed, k as u64, LEAN);
    let blend = t * t * (3.0 - 2.0 * t);
    // Noise at every fold and a smooth step between, so that neighbours lean nearly alike.
    let value = noise(cell) + (noise(cell + 1.0) - noise(cell)) * blend;
    // From -1 to 1 by a smooth step, whose slope is at most 1.5.
    const STEEPEST_NOISE: f64 = 3.0;
    let steepest = line.length() / (STEEPEST_NOISE * f64::from(tool.folds) * f64::from(tool.width));
    let wanted = f64::from(tool.jitter.angle_deg).to_radians().tan();
    wanted.min(tolerances::MOST_CONVERGENCE * steepest) * value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_that_lean_never_run_into_each_other() {
        let (ends, normals) = ([Vec3::ZERO, 0.06 * Vec3::X], [Vec3::Y; 2]);
        let line = Line::new(&[0, 1], &ends, &normals);
        for seed in 0..40 {
            for (folds, angle_deg, width) in [(5, 8.0, 0.05), (12, 60.0, 0.1), (3, 30.0, 0.01)] {
                let mut tool = WrinkleTool::new("lines", 0, 1, width);
                (tool.folds, tool.jitter.angle_deg, tool.jitter.seed) = (folds, angle_deg, seed);
                let curve = ControlCurve::new(&tool);
                for side in [-0.98, -0.5, 0.0, 0.7, 0.98] {
                    let at = |k: u16| {
                        let place = Vec3::new(1.2e-4 * f32::from(k), 0.0, side * width);
                        influence(&tool, &curve, &line, place, Vec3::Y).map_or(0.0, |i| i.0)
                    };
                    let ahead = (1..=500).all(|k| at(k) >= at(k - 1));
                    assert!(ahead, "seed {seed}, {folds} folds, {angle_deg} degrees at {side}");
                }
            }
        }
    }
}

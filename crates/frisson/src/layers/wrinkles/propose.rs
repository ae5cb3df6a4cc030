//! Tools that a clip suggests: where the mesh is compressed, and along which direction.
//!
//! Every edge has a full length, the longest over the clip. A point's score is the mean compression
//! of its edges at the worst instant; the edges' directions, weighted by compression, give the axis
//! along which the surface is pushed together. Lines start at the highest scores and run along that
//! axis as far as the surface is compressed.

use glam::{Mat3, Vec3};

use super::params::{Jitter, WrinkleTool};
use crate::geometry::{Mesh, Topology, TriangleBvh};
use crate::tolerances::wrinkles as tolerances;

/// Score at which a line ends, beside that of its seed [-].
const LINE_ENDS: f64 = 0.3;
/// Points of half a line at most: a ring around a limb has no end of its own.
const MOST_POINTS: usize = 64;
/// Edges away from the straight line that count as much as turning back [-].
const DRIFT_EDGES: f32 = 8.0;
/// Least cosine between normals that are on one side of a limb [-], and of a step that goes on.
const SAME_SIDE: f32 = 0.2;
const AHEAD: f32 = 0.4;
/// Fewest and most folds of a tool: two look like a mistake, more than twelve are finer than skin's.
const FOLDS: [f64; 2] = [3.0, 12.0];
/// Depth below the surface from which a limb is looked through, in edges [-].
const LEAST_LIMB: f32 = 0.05;
/// Narrowest and widest region, in lengths of its line [-].
const WIDTHS: [f32; 2] = [0.25, 0.6];

/// A suggested tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolProposal {
    /// The line, enough folds that none stands out, and some irregularity; else as by default.
    pub tool: WrinkleTool,
    /// Shortening of the line at the worst instant, as a fraction of its full length [-].
    pub compression: f64,
    /// That instant [s].
    pub time: f64,
}

/// Suggests at most `most` tools for a mesh in its bind pose from its positions at some times.
#[must_use]
pub fn propose_tools(mesh: &Mesh, samples: &[(f64, Vec<Vec3>)], most: usize) -> Vec<ToolProposal> {
    let topology = Topology::build(&mesh.positions, &mesh.topology.triangles);
    if samples.is_empty() || topology.edges.is_empty() {
        return Vec::new();
    }
    let survey = Survey::new(&topology, mesh, samples);
    let mut taken = vec![false; topology.point_count()];
    let mut proposals: Vec<ToolProposal> = Vec::new();
    while proposals.len() < most {
        let free = |p: &usize| !taken[*p] && survey.scores[*p] > tolerances::PROPOSED_COMPRESSION;
        let Some(seed) = (0..topology.point_count())
            .filter(free)
            .max_by(|a, b| survey.scores[*a].total_cmp(&survey.scores[*b]))
        else {
            break;
        };
        let line = survey.trace(seed as u32);
        let center = survey.bind[seed];
        // As far as the line is long: tools side by side would fold each other's folds.
        let reach = survey.length(&line, &survey.bind).max(2.0 * survey.edge_length);
        for (p, taken) in taken.iter_mut().enumerate() {
            // Also where no tool came of it: the next seed must lie elsewhere.
            *taken |= survey.bind[p].distance(center) < reach;
        }
        if let Some(proposal) = survey.propose(&line, proposals.len() + 1, mesh, samples) {
            proposals.push(proposal);
        }
    }
    proposals
}

/// The mesh over the clip, seen from its points.
struct Survey<'a> {
    topology: &'a Topology,
    bind: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Compression at the worst instant, and its axis in the bind pose.
    scores: Vec<f64>,
    axes: Vec<Vec3>,
    edge_length: f32,
    /// The mesh in its bind pose, to look through it.
    surface: TriangleBvh,
}

impl<'a> Survey<'a> {
    fn new(topology: &'a Topology, mesh: &Mesh, samples: &[(f64, Vec<Vec3>)]) -> Self {
        let vertex = |p: u32| topology.vertex_of_point[p as usize] as usize;
        let length = |positions: &[Vec3], [a, b]: [u32; 2]| {
            f64::from(positions[vertex(a)].distance(positions[vertex(b)]))
        };
        // The bind pose counts as one of the poses: an arm that is bent in the whole clip is compressed, too.
        let full: Vec<f64> = topology
            .edges
            .iter()
            .map(|&e| {
                samples.iter().map(|(_, s)| length(s, e)).fold(length(&mesh.positions, e), f64::max)
            })
            .collect();
        let count = topology.point_count();
        let (mut scores, mut worst) = (vec![0.0f64; count], vec![0usize; count]);
        for (index, (_, positions)) in samples.iter().enumerate() {
            let short: Vec<f64> = topology
                .edges
                .iter()
                .zip(&full)
                .map(|(&e, &l)| if l > 0.0 { 1.0 - length(positions, e) / l } else { 0.0 })
                .collect();
            for p in 0..count {
                let edges = topology.point_edges(p as u32);
                let sum: f64 = edges.iter().map(|&e| short[e as usize]).sum();
                let mean = sum / edges.len().max(1) as f64;
                // The instant too: the axis is read there, as elsewhere in the clip the same skin may be pressed another way.
                if mean > scores[p] {
                    (scores[p], worst[p]) = (mean, index);
                }
            }
        }
        let bind: Vec<Vec3> = (0..count as u32).map(|p| mesh.positions[vertex(p)]).collect();
        let normals: Vec<Vec3> =
            (0..count as u32).map(|p| topology.point_normal(&bind, p)).collect();
        let axes = (0..count)
            .map(|p| {
                let mut tensor = Mat3::ZERO;
                for &e in topology.point_edges(p as u32) {
                    let [a, b] = topology.edges[e as usize];
                    let d = (bind[b as usize] - bind[a as usize]).normalize_or_zero();
                    let now = length(&samples[worst[p]].1, [a, b]);
                    let short = (full[e as usize] - now).max(0.0) as f32;
                    // By outer products, as a direction and its opposite say the same.
                    tensor += Mat3::from_cols(d * d.x, d * d.y, d * d.z) * short;
                }
                principal_axis(tensor, normals[p])
            })
            .collect();
        let edge_length = (topology
            .edges
            .iter()
            .map(|&[a, b]| f64::from(bind[a as usize].distance(bind[b as usize])))
            .sum::<f64>()
            / topology.edges.len() as f64) as f32;
        let scores = smooth(topology, scores);
        let surface = TriangleBvh::build(&bind, &topology.triangles);
        Self { topology, bind, normals, scores, axes, edge_length, surface }
    }

    /// Points of a line through a seed, along the axis, as far as the surface is compressed.
    fn trace(&self, seed: u32) -> Vec<u32> {
        let axis = self.axes[seed as usize];
        let mut line = self.walk(seed, -axis);
        line.reverse();
        line.pop();
        line.extend(self.walk(seed, axis));
        line
    }

    /// From point to point, always on by the neighbour that goes furthest along the axis.
    fn walk(&self, seed: u32, axis: Vec3) -> Vec<u32> {
        let (mut line, mut at, mut heading) = (vec![seed], seed, axis);
        let least = LINE_ENDS * self.scores[seed as usize];
        while line.len() < MOST_POINTS {
            let on = |q: &u32| {
                let step = self.bind[*q as usize] - self.bind[at as usize];
                // Straight on, and not drifting away from the line through the seed.
                let offset = self.bind[*q as usize] - self.bind[seed as usize];
                let aside = (offset - axis * offset.dot(axis)).length();
                step.normalize_or_zero().dot(heading) - aside / (DRIFT_EDGES * self.edge_length)
            };
            let next = self.topology.neighbours(at).max_by(|a, b| on(a).total_cmp(&on(b)));
            let Some(next) = next else { break };
            let step = (self.bind[next as usize] - self.bind[at as usize]).normalize_or_zero();
            let turned = self.normals[next as usize].dot(self.normals[seed as usize]) < SAME_SIDE;
            if self.scores[next as usize] < least || step.dot(heading) < AHEAD || turned {
                break;
            }
            let normal = self.normals[next as usize];
            heading = (heading - normal * heading.dot(normal)).normalize_or(heading);
            line.push(next);
            at = next;
        }
        line
    }

    fn length(&self, line: &[u32], positions: &[Vec3]) -> f32 {
        line.windows(2).map(|w| positions[w[0] as usize].distance(positions[w[1] as usize])).sum()
    }

    /// The tool along a line, if the line is long enough and its ends come nearer.
    fn propose(
        &self,
        line: &[u32],
        number: usize,
        mesh: &Mesh,
        samples: &[(f64, Vec<Vec3>)],
    ) -> Option<ToolProposal> {
        let (&a, &b) = (line.first()?, line.last()?);
        // Two points are one edge: the mesh is too coarse there to show a fold.
        if line.len() < 3 {
            return None;
        }
        let vertex = |p: u32| self.topology.vertex_of_point[p as usize];
        let chord = |s: &[Vec3]| f64::from(s[vertex(a) as usize].distance(s[vertex(b) as usize]));
        let full = samples.iter().map(|(_, s)| chord(s)).fold(chord(&mesh.positions), f64::max);
        let (least, time) =
            samples.iter().map(|(t, s)| (chord(s), *t)).min_by(|x, y| x.0.total_cmp(&y.0))?;
        let compression = 1.0 - least / full.max(f64::MIN_POSITIVE);
        if compression < tolerances::PROPOSED_COMPRESSION {
            return None;
        }
        let length = self.length(line, &self.bind);
        let mut tool = WrinkleTool::new(
            &format!("fold_{number}"),
            vertex(a),
            vertex(b),
            self.width(line, length),
        );
        // A fold of n takes compression x length / n over flanks of length / 3n: it stands
        // length / n x sqrt(compression / 3) high.
        let alone = f64::from(length) * (compression / 3.0).sqrt();
        let most = (tolerances::PROPOSED_HEIGHT * f64::from(length))
            .min(tolerances::PROPOSED_LIMB_SHARE * self.thickness(line));
        tool.folds = (alone / most).ceil().clamp(FOLDS[0], FOLDS[1]) as u32;
        let height = alone / f64::from(tool.folds);
        if height > most {
            // No finer ones are left to take the length: on a thin limb it is lost rather than shown.
            tool.amount = (most / height).into();
        }
        tool.jitter = Jitter { spacing: 0.4, height: 0.3, angle_deg: 8.0, seed: number as u64 };
        Some(ToolProposal { tool, compression, time })
    }

    /// How thick the limb is under a line: the median of the ways through it [m]; infinite for an open sheet.
    fn thickness(&self, line: &[u32]) -> f64 {
        let through = |&p: &u32| {
            let (place, inwards) = (self.bind[p as usize], -self.normals[p as usize]);
            // From a little below the surface: the triangles of the point itself are no other side.
            let skin = LEAST_LIMB * self.edge_length;
            let hit = self.surface.raycast(place + skin * inwards, inwards, f32::MAX);
            hit.map_or(f64::INFINITY, |hit| f64::from(hit.distance + skin))
        };
        let mut ways: Vec<f64> = line.iter().map(through).collect();
        ways.sort_unstable_by(f64::total_cmp);
        ways[ways.len() / 2]
    }

    /// How far the compressed surface reaches to the sides of a line.
    fn width(&self, line: &[u32], length: f32) -> f32 {
        let [a, b] = [line[0], line[line.len() - 1]].map(|p| self.bind[p as usize]);
        let along = (b - a).normalize_or(Vec3::X);
        let peak = line.iter().map(|&p| self.scores[p as usize]).fold(0.0, f64::max);
        let normal = self.normals[line[line.len() / 2] as usize];
        let across = along.cross(normal).normalize_or(Vec3::X);
        let mut widest = 0.0f32;
        for (p, &place) in self.bind.iter().enumerate() {
            let offset = place - a;
            let x = offset.dot(along);
            let near = (0.0..a.distance(b)).contains(&x) && self.normals[p].dot(normal) > SAME_SIDE;
            let aside = offset.dot(across).abs();
            // Half the peak: beyond, folds would stand where nothing is pressed together.
            if near && aside < length && self.scores[p] > 0.5 * peak {
                widest = widest.max(aside);
            }
        }
        widest.clamp(WIDTHS[0] * length, WIDTHS[1] * length)
    }
}

/// The direction in the tangent plane along which a tensor is greatest.
fn principal_axis(tensor: Mat3, normal: Vec3) -> Vec3 {
    let u = crate::math::frames::any_perpendicular(normal);
    let v = normal.cross(u);
    let (a, b, c) = (u.dot(tensor * u), u.dot(tensor * v), v.dot(tensor * v));
    // Eigenvector of a symmetric 2x2 matrix, in closed form.
    let angle = 0.5 * (2.0 * b).atan2(a - c);
    (u * angle.cos() + v * angle.sin()).normalize_or(Vec3::X)
}

/// Means over neighbours, twice: single slivers don't make folds.
fn smooth(topology: &Topology, mut scores: Vec<f64>) -> Vec<f64> {
    for _ in 0..2 {
        let mean = |p: usize| {
            let (mut sum, mut count) = (scores[p], 1.0);
            for q in topology.neighbours(p as u32) {
                sum += scores[q as usize];
                count += 1.0;
            }
            sum / count
        };
        scores = (0..scores.len()).map(mean).collect();
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::moved::grid;
    use crate::stage::Anchor;

    /// A 1 m sheet of 24 by 24 squares; a band around x = 0.5 is pressed to half its width.
    fn sheet(squeeze: f32) -> Mesh {
        let squeezed = |x: f32| x + (x.clamp(0.35, 0.65) - 0.35) * (squeeze - 1.0);
        let at = |i: usize| i as f32 / 24.0;
        grid("sheet", 24, 24, |x, z| Vec3::new(squeezed(at(x)), 0.0, at(z)))
    }

    #[test]
    fn lines_run_across_the_band_that_is_pressed() {
        let mesh = sheet(1.0);
        let samples: Vec<(f64, Vec<Vec3>)> = [1.0, 0.8, 0.5, 0.9]
            .iter()
            .enumerate()
            .map(|(i, &s)| (i as f64, sheet(s).positions))
            .collect();
        let found = propose_tools(&mesh, &samples, 2);
        assert!(!found.is_empty());
        for proposal in &found {
            let end = |anchor: &Anchor| match anchor {
                Anchor::Vertex(v) => mesh.positions[*v as usize],
                other => panic!("{other:?} is no vertex"),
            };
            let (a, b) = (end(&proposal.tool.a), end(&proposal.tool.b));
            assert!((b - a).x.abs() > 3.0 * (b - a).z.abs(), "along x: {a} {b}");
            assert!(a.x.min(b.x) > 0.2 && a.x.max(b.x) < 0.8, "in the band: {a} {b}");
            assert!(proposal.compression > 0.2, "{}", proposal.compression);
            assert_eq!(proposal.time, 2.0, "at the narrowest");
        }
    }

    /// A tube of a radius along x, pressed to half its length in the middle.
    fn tube(radius: f32, squeeze: f32) -> Mesh {
        let squeezed = |x: f32| x + (x.clamp(0.35, 0.65) - 0.35) * (squeeze - 1.0);
        grid("tube", 48, 24, |x, z| {
            let turn = std::f32::consts::TAU * (z % 24) as f32 / 24.0;
            let (sin, cos) = turn.sin_cos();
            Vec3::new(squeezed(x as f32 / 48.0), radius * cos, radius * sin)
        })
    }

    #[test]
    fn folds_of_a_thin_limb_are_as_fine_as_the_limb() {
        let heights = [0.2, 0.03].map(|radius| {
            let mesh = tube(radius, 1.0);
            let samples = [(0.0, mesh.positions.clone()), (1.0, tube(radius, 0.5).positions)];
            let found = propose_tools(&mesh, &samples, 1);
            assert_eq!(found.len(), 1, "of radius {radius}");
            let (tool, compression) = (&found[0].tool, found[0].compression);
            let place = |anchor: &Anchor| match anchor {
                Anchor::Vertex(v) => mesh.positions[*v as usize],
                other => panic!("{other:?} is no vertex"),
            };
            let length = f64::from(place(&tool.a).distance(place(&tool.b)));
            let amount = tool.amount.at(0.0);
            amount * length / f64::from(tool.folds) * (compression / 3.0).sqrt()
        });
        assert!(heights[1] <= 1.05 * tolerances::PROPOSED_LIMB_SHARE * 0.06, "{heights:?}");
        assert!(heights[0] > 2.0 * heights[1], "a thick one is not held down: {heights:?}");
    }

    #[test]
    fn a_mesh_that_keeps_its_shape_needs_no_tool() {
        let mesh = sheet(1.0);
        let moved: Vec<Vec3> = mesh.positions.iter().map(|p| *p + Vec3::ONE).collect();
        assert!(propose_tools(&mesh, &[(0.0, moved)], 4).is_empty());
        assert!(propose_tools(&mesh, &[], 4).is_empty());
    }
}

//! What is computed once: where the tools lie, which points they move, how the mesh is refined.

use std::sync::Arc;

use glam::Vec3;

use super::curve::ControlCurve;
use super::params::{RestLength, WrinkleTool, WrinklesParams};
use super::region::{Line, Region};
use crate::geometry::butterfly::{PatchSurface, Refined};
use crate::geometry::{MeshTopology, NONE, Topology};
use crate::stage::{Anchor, BuildContext, LayerError, PrimaryMotion, polyline_length};
use crate::tolerances::wrinkles as tolerances;

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
    /// Full length [m].
    pub full: f64,
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
    /// The coarse surface under them.
    pub surface: PatchSurface,
    /// Points that some tool moves, ascending.
    pub moved: Vec<u32>,
    /// What was left out, in words.
    pub warnings: Vec<String>,
}

impl WrinklesRest {
    /// Resolves the tools and refines the mesh under them.
    pub fn build(params: &WrinklesParams, context: &BuildContext) -> Result<Self, LayerError> {
        let motion = PrimaryMotion::new(&params.on, context)?;
        let base = Arc::clone(&context.frame.meshes[motion.mesh].topology);
        let topology = Topology::build(motion.bind_positions(), &base.triangles);
        let rest = motion.rest_positions();
        let mut warnings = Vec::new();

        let mut drafts = Vec::new();
        for (index, tool) in params.tools.iter().enumerate() {
            drafts.push(draft_tool(tool, index, &motion, &topology, params.max_level, context)?);
        }
        let mut levels = vec![0u8; base.triangles.len()];
        for draft in &drafts {
            for &t in &draft.rest.triangles {
                levels[t as usize] = levels[t as usize].max(draft.rest.level);
            }
        }
        let refined = Refined::build(&topology, &levels);
        if !refined.left_out.is_empty() {
            warnings.push(format!(
                "{}: {} triangles under the tools are not manifold and stay coarse (first: {})",
                params.name,
                refined.left_out.len(),
                refined.left_out[0]
            ));
        }
        let mut tools = Vec::new();
        for (tool, mut draft) in params.tools.iter().zip(drafts) {
            draft.rest.influences = find_influences(tool, &draft, &topology, &refined);
            draft.rest.refined = points_inside(&draft.rest.triangles, &refined);
            if draft.rest.influences.is_empty() {
                warnings.push(format!("{}: tool {:?} covers no vertex", params.name, tool.name));
            }
            tools.push(draft.rest);
        }
        let mut moved: Vec<u32> =
            tools.iter().flat_map(|t| t.influences.iter().map(|i| i.point)).collect();
        moved.sort_unstable();
        moved.dedup();
        let coarse = topology.point_count() as u32;
        let points: Vec<Vec3> =
            topology.vertex_of_point.iter().map(|&v| rest[v as usize]).collect();
        let wanted = tools.iter().flat_map(|t| &t.anchors).chain(&moved).copied();
        let reach = tools.iter().map(|t| t.full as f32).fold(0.0, f32::max);
        let wanted = wanted.filter(|&p| p < coarse);
        let surface = PatchSurface::new(&topology, &refined, wanted, &points, reach);
        Ok(Self { mesh: motion.mesh, base, topology, refined, tools, surface, moved, warnings })
    }
}

/// A tool with the pose in which its region is measured.
struct Draft {
    rest: ToolRest,
    /// Point positions and normals in the full-length pose.
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

fn draft_tool(
    tool: &WrinkleTool,
    index: usize,
    motion: &PrimaryMotion,
    topology: &Topology,
    max_level: u8,
    context: &BuildContext,
) -> Result<Draft, LayerError> {
    let key = |name: &str| format!("tools[{index}].{name}");
    let anchors = find_anchors(tool, &key, context, motion, topology)?;
    let (full, time) = full_length(tool, &anchors, motion, topology, context);
    if full <= 0.0 {
        return Err(LayerError::parameter(
            key("b"),
            format!("tool {:?}: both ends are at the same place", tool.name),
        ));
    }
    let vertex_positions = match time {
        Some(time) => motion.positions_at(time),
        None => motion.rest_positions(),
    };
    let positions: Vec<Vec3> =
        topology.vertex_of_point.iter().map(|&v| vertex_positions[v as usize]).collect();
    let normals = point_normals(topology, &positions);
    let line = Line::new(&anchors, &positions, &normals);
    let region = Region::find(&line, tool.width, &anchors, topology, &positions, &normals);
    let curve = ControlCurve::new(tool);
    let segment = full / curve.finest_segments() as f64;
    let level = level_for(topology, &positions, &region.triangles, segment as f32).min(max_level);
    let mask = match &tool.mask {
        None => Vec::new(),
        Some(mask) => context.select(&key("mask"), motion.mesh, mask)?,
    };
    let triangles = region.triangles;
    let rest = ToolRest {
        anchors,
        full,
        curve,
        influences: Vec::new(),
        triangles,
        refined: Vec::new(),
        level,
        mask,
    };
    Ok(Draft { rest, positions, normals })
}

fn find_anchors(
    tool: &WrinkleTool,
    key: &dyn Fn(&str) -> String,
    context: &BuildContext,
    motion: &PrimaryMotion,
    topology: &Topology,
) -> Result<Vec<u32>, LayerError> {
    let reference = context.reference_mesh(motion.mesh);
    let through = tool.through.iter().map(|a| ("through", a));
    let all = std::iter::once(("a", &tool.a)).chain(through).chain(std::iter::once(("b", &tool.b)));
    let mut anchors = Vec::new();
    for (name, anchor) in all {
        let vertex = match anchor {
            Anchor::Vertex(v) if (*v as usize) < reference.positions.len() => *v,
            _ => {
                let place = context.place_on(&key(name), motion.mesh, &reference, anchor)?;
                nearest(&reference.positions, place)
            }
        };
        let point = topology.point_of_vertex[vertex as usize];
        if topology.point_edges(point).is_empty() {
            return Err(LayerError::parameter(
                key(name),
                format!("tool {:?}: vertex {vertex} is on no triangle", tool.name),
            ));
        }
        anchors.push(point);
    }
    if anchors.windows(2).any(|w| w[0] == w[1]) {
        return Err(LayerError::parameter(
            key("b"),
            format!("tool {:?}: two ends of the line are the same vertex", tool.name),
        ));
    }
    let (component, _) = topology.components();
    if anchors.iter().any(|&p| component[p as usize] != component[anchors[0] as usize]) {
        return Err(LayerError::parameter(
            key("b"),
            format!(
                "tool {:?}: its ends are on parts of the mesh that are not connected",
                tool.name
            ),
        ));
    }
    Ok(anchors)
}

fn nearest(positions: &[Vec3], p: Vec3) -> u32 {
    let distance = |v: &u32| positions[*v as usize].distance_squared(p);
    (0..positions.len() as u32).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Full length of a tool and the time at which its region is measured (`None`: the bind pose).
fn full_length(
    tool: &WrinkleTool,
    anchors: &[u32],
    motion: &PrimaryMotion,
    topology: &Topology,
    context: &BuildContext,
) -> (f64, Option<f64>) {
    let vertices: Vec<u32> =
        anchors.iter().map(|&p| topology.vertex_of_point[p as usize]).collect();
    let clock = context.clock;
    let at_frame = |frame: i64| motion.line_length(&vertices, clock.frame_time(frame));
    let longest = || {
        (clock.first_frame..=clock.last_frame.max(clock.first_frame))
            .map(|frame| (at_frame(frame), frame))
            .fold((0.0, clock.first_frame), |best, now| if now.0 > best.0 { now } else { best })
    };
    match tool.rest {
        RestLength::Longest => {
            let (length, frame) = longest();
            (length, Some(clock.frame_time(frame)))
        }
        RestLength::Bind => {
            let rest = motion.rest_positions();
            let places: Vec<Vec3> = vertices.iter().map(|&v| rest[v as usize]).collect();
            (polyline_length(&places), None)
        }
        RestLength::Frame(frame) => (at_frame(frame), Some(clock.frame_time(frame))),
        RestLength::Length(length) => {
            let (_, frame) = longest();
            (f64::from(length), Some(clock.frame_time(frame)))
        }
    }
}

/// Area-weighted unit normals of points.
fn point_normals(topology: &Topology, positions: &[Vec3]) -> Vec<Vec3> {
    (0..topology.point_count() as u32).map(|p| topology.point_normal(positions, p)).collect()
}

/// Level at which edges are short enough to draw a fold's flank.
fn level_for(topology: &Topology, positions: &[Vec3], triangles: &[u32], segment: f32) -> u8 {
    let mut lengths: Vec<f32> = triangles
        .iter()
        .flat_map(|&t| topology.triangle_edges[t as usize])
        .filter(|&e| e != NONE)
        .map(|e| {
            let [a, b] = topology.edges[e as usize];
            positions[a as usize].distance(positions[b as usize])
        })
        .collect();
    if lengths.is_empty() || segment <= 0.0 {
        return 0;
    }
    lengths.sort_unstable_by(f32::total_cmp);
    let typical = lengths[lengths.len() * 3 / 4];
    let wanted = segment / tolerances::SAMPLES_PER_FLANK;
    (typical / wanted).log2().ceil().max(0.0) as u8
}

/// Coordinates of every point of the tool's triangles that lies in its region.
fn find_influences(
    tool: &WrinkleTool,
    draft: &Draft,
    topology: &Topology,
    refined: &Refined,
) -> Vec<Influence> {
    let line = Line::new(&draft.rest.anchors, &draft.positions, &draft.normals);
    let coarse = topology.point_count() as u32;
    let mut in_region = vec![false; topology.triangles.len()];
    draft.rest.triangles.iter().for_each(|&t| in_region[t as usize] = true);
    let mut points: Vec<u32> =
        draft.rest.triangles.iter().flat_map(|&t| topology.triangles[t as usize]).collect();
    points.sort_unstable();
    points.dedup();
    let of_coarse = points.into_iter().map(|p| {
        let vertex = topology.vertex_of_point[p as usize] as usize;
        let mask = draft.rest.mask.get(vertex).copied().unwrap_or(1.0);
        (p, draft.positions[p as usize], draft.normals[p as usize], mask)
    });
    let of_refined = (0..refined.point_count()).filter_map(|i| {
        let place = refined.places[i];
        if !in_region[place.triangle as usize] {
            return None;
        }
        let corners = topology.triangles[place.triangle as usize];
        let mask = |p: u32| {
            let vertex = topology.vertex_of_point[p as usize] as usize;
            draft.rest.mask.get(vertex).copied().unwrap_or(1.0)
        };
        let mask = corners.iter().zip(place.barycentric).map(|(&p, w)| w * mask(p)).sum();
        let position = refined.stencils.evaluate(i, &draft.positions);
        let normal = refined.stencils.evaluate(i, &draft.normals).normalize_or(Vec3::Y);
        Some((coarse + i as u32, position, normal, mask))
    });
    of_coarse
        .chain(of_refined)
        .filter_map(|(point, position, normal, mask)| {
            let (parameter, weight) = influence(tool, &draft.rest.curve, &line, position, normal)?;
            (weight * mask > 0.0).then_some(Influence { point, parameter, weight: weight * mask })
        })
        .collect()
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
    if place.normal.dot(normal) <= 0.0 {
        return None;
    }
    let z = place.across / tool.width;
    if z.abs() >= 1.0 {
        return None;
    }
    let skew = skew(tool, f64::from(place.along)) * f64::from(place.across) / line.length();
    let parameter = curve.parameter(f64::from(place.along) + skew);
    Some((parameter as f32, tool.attenuation.at(z)))
}

/// Slope of the folds across the line at a place along it: smooth noise from the seed.
fn skew(tool: &WrinkleTool, along: f64) -> f64 {
    if tool.jitter.angle_deg == 0.0 {
        return 0.0;
    }
    let at = along * f64::from(tool.folds);
    let (cell, t) = (at.floor(), at - at.floor());
    let noise = |k: f64| crate::math::random::signed(tool.jitter.seed, k as u64, 9);
    let blend = t * t * (3.0 - 2.0 * t);
    let value = noise(cell) + (noise(cell + 1.0) - noise(cell)) * blend;
    (f64::from(tool.jitter.angle_deg).to_radians() * value).tan()
}

/// Refined points that lie in some coarse triangles (ascending).
fn points_inside(triangles: &[u32], refined: &Refined) -> Vec<u32> {
    let inside = |&i: &u32| triangles.binary_search(&refined.places[i as usize].triangle).is_ok();
    (0..refined.point_count() as u32).filter(inside).collect()
}

//! From parameters to rest data: finds the lines on the mesh, their full lengths and regions, and
//! refines the mesh under them.

use std::sync::Arc;

use glam::Vec3;

use super::curve::ControlCurve;
use super::length::{FullLength, full_lengths};
use super::params::{Emit, WrinkleTool, WrinklesParams};
use super::region::{Line, Region};
use super::rest::{Influence, ToolRest, WrinklesRest, influence};
use crate::geometry::butterfly::{LiftedPoints, PatchSurface, Refined, vertices_of};
use crate::geometry::{NONE, Topology};
use crate::stage::{Anchor, BuildContext, LayerError, PrimaryMotion};
use crate::tolerances::wrinkles as tolerances;

impl WrinklesRest {
    /// Resolves the tools and refines the mesh under them.
    pub fn build(params: &WrinklesParams, context: &BuildContext) -> Result<Self, LayerError> {
        let motion = PrimaryMotion::new(&params.on, context)?;
        let base = Arc::clone(&context.frame.meshes[motion.mesh].topology);
        // In the bind pose: in a posed one, lips that are shut would be welded.
        let topology = Topology::build(motion.bind_positions(), &base.triangles);
        let rest = motion.rest_positions();
        let mut warnings = Vec::new();

        let site = Site { motion: &motion, topology: &topology, context };
        let mut lines = Vec::new();
        for (index, tool) in params.tools.iter().enumerate() {
            lines.push(find_anchors(tool, index, &site)?);
        }
        let lengths = full_lengths(&params.tools, &lines, &motion, &topology, context.clock);
        let mut drafts = Vec::new();
        for (index, (anchors, full)) in lines.into_iter().zip(lengths).enumerate() {
            drafts.push(draft_tool(params, index, anchors, full, &site)?);
        }
        // One refinement for all tools, so that regions that meet fit together.
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
        // What is farther along the surface than a line is long never comes to face its folds.
        let reach = tools.iter().map(|t| t.full as f32).fold(0.0, f32::max);
        let wanted = wanted.filter(|&p| p < coarse);
        let surface = PatchSurface::new(&topology, &refined, wanted, &points, reach);
        let moved_vertices = vertices_of(&topology, &moved);
        let lifted = LiftedPoints::new(&topology, &refined, &moved, |p| p);
        let mut built = Self {
            mesh: motion.mesh,
            base,
            topology,
            refined,
            tools,
            surface,
            moved,
            lifted,
            moved_vertices,
            emitted: None,
            warnings,
        };
        if params.emit == Emit::Static {
            // One topology for the whole shot, whatever folds: some files and programs take no other.
            built.emitted = Some(built.emit(&vec![true; params.tools.len()]));
        }
        Ok(built)
    }
}

/// A tool with the pose in which its region is measured.
struct Draft {
    rest: ToolRest,
    /// Point positions and normals in the full-length pose.
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

/// Where tools are drawn.
struct Site<'a> {
    motion: &'a PrimaryMotion<'a>,
    topology: &'a Topology,
    context: &'a BuildContext<'a>,
}

fn draft_tool(
    params: &WrinklesParams,
    index: usize,
    anchors: Vec<u32>,
    full: FullLength,
    site: &Site,
) -> Result<Draft, LayerError> {
    let (tool, Site { motion, topology, context }) = (&params.tools[index], site);
    let key = |name: &str| format!("tools[{index}].{name}");
    if full.length <= 0.0 {
        return Err(LayerError::parameter(
            key("b"),
            format!("tool {:?}: both ends are at the same place", tool.name),
        ));
    }
    let vertex_positions = match full.time {
        Some(time) => motion.positions_at(time),
        None => motion.rest_positions(),
    };
    let positions: Vec<Vec3> =
        topology.vertex_of_point.iter().map(|&v| vertex_positions[v as usize]).collect();
    let normals = point_normals(topology, &positions);
    let line = Line::new(&anchors, &positions, &normals);
    let region = Region::find(&line, tool.width, &anchors, topology, &positions, &normals);
    let curve = ControlCurve::new(tool);
    // By the finest details: what the mesh cannot show would flicker from frame to frame.
    let segment = full.length / curve.finest_segments() as f64;
    let level =
        level_for(topology, &positions, &region.triangles, segment as f32).min(params.max_level);
    let mask = match &tool.mask {
        None => Vec::new(),
        Some(mask) => context.select(&key("mask"), motion.mesh, mask)?,
    };
    let triangles = region.triangles;
    let rest = ToolRest {
        anchors,
        full: full.length,
        grows: full.grows,
        live: tool.live,
        curve,
        influences: Vec::new(),
        triangles,
        refined: Vec::new(),
        level,
        mask,
    };
    Ok(Draft { rest, positions, normals })
}

fn find_anchors(tool: &WrinkleTool, index: usize, site: &Site) -> Result<Vec<u32>, LayerError> {
    let Site { motion, topology, context } = site;
    let key = |name: &str| format!("tools[{index}].{name}");
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
    // Of the longer ones: most edges must be short enough, and a few long ones must not refine all the rest.
    let typical = lengths[lengths.len() * 3 / 4];
    let wanted = segment / tolerances::SAMPLES_PER_FLANK;
    // Every level halves the edges.
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
    // Found along the line and across it, but only on triangles that hang together with it.
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

/// Refined points that lie in some coarse triangles (ascending).
fn points_inside(triangles: &[u32], refined: &Refined) -> Vec<u32> {
    let inside = |&i: &u32| triangles.binary_search(&refined.places[i as usize].triangle).is_ok();
    (0..refined.point_count() as u32).filter(inside).collect()
}

//! Connects triangles into a [`Surface`]: welding, twins, T-junctions, fans.

use glam::{DVec3, Vec3};

use super::surface::{BORDER, FLIPPED, Findings, Link, PointSource, SEVERAL, Spoke, Surface};
use crate::geometry::{Grid, Lists, Topology};
use crate::tolerances;
use crate::tolerances::drops::{TEE_DISTANCE, TEE_LEAST_OVERLAP};

pub(super) fn build(meshes: &[(&[Vec3], &[[u32; 3]])]) -> Surface {
    let mut positions = Vec::new();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    let mut origin = Vec::new();
    let mut first_triangle = vec![0u32];
    for (mesh, (points, tris)) in meshes.iter().enumerate() {
        let base = positions.len() as u32;
        positions.extend_from_slice(points);
        triangles.extend(tris.iter().map(|t| t.map(|v| v + base)));
        first_triangle.push(triangles.len() as u32);
        let sources = (0..points.len() as u32).map(|vertex| (mesh as u32, vertex));
        origin.extend(sources.map(|(mesh, vertex)| PointSource { mesh, vertex }));
    }
    // Seams of texture coordinates split vertices; drops must not notice.
    let welded = Topology::build(&positions, &triangles);
    let sources: Vec<PointSource> =
        welded.vertex_of_point.iter().map(|&v| origin[v as usize]).collect();
    let points: Vec<DVec3> =
        welded.vertex_of_point.iter().map(|&v| positions[v as usize].as_dvec3()).collect();
    let triangles = welded.triangles;
    // At rest only: a triangle that is flattened later keeps its place in the mesh.
    let live: Vec<bool> = triangles.iter().map(|t| has_area(t, &points)).collect();
    let axes = vec![[1.0, 0.0]; triangles.len()];
    let mut surface = Surface {
        sources,
        previous: points.clone(),
        points,
        live,
        first_triangle,
        axes,
        twins: vec![BORDER; 3 * triangles.len()],
        triangles,
        ..Surface::default()
    };
    surface.refresh();
    connect(&mut surface);
    match_tees(&mut surface);
    mark_points(&mut surface);
    orient(&mut surface);
    // Whoever looks first has to look at all of it.
    surface.moved = true;
    surface
}

fn has_area(t: &[u32; 3], points: &[DVec3]) -> bool {
    let [a, b, c] = t.map(|p| points[p as usize]);
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    let area = 0.5 * (b - a).cross(c - a).length();
    longest > 0.0 && area > f64::from(tolerances::DEGENERATE_AREA_FRACTION) * longest
}

/// Pairs half-edges that join the same two points.
fn connect(surface: &mut Surface) {
    let mut half_edges: Vec<(u32, u32, u32)> = Vec::with_capacity(surface.twins.len());
    for (t, corners) in surface.triangles.iter().enumerate().filter(|(t, _)| surface.live[*t]) {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            half_edges.push((a.min(b), a.max(b), (3 * t + k) as u32));
        }
    }
    // Sorted, not hashed: the same order, and so the same links, every time.
    half_edges.sort_unstable();
    let mut findings = Findings {
        flat_triangles: surface.live.iter().filter(|l| !**l).count(),
        ..Findings::default()
    };
    for group in half_edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        match group {
            [_] => {}
            [a, b] => {
                let flipped = surface.start_point(a.2) == surface.start_point(b.2);
                let mark = if flipped { FLIPPED } else { 0 };
                findings.flipped_edges += usize::from(flipped);
                surface.twins[a.2 as usize] = b.2 | mark;
                surface.twins[b.2 as usize] = a.2 | mark;
            }
            _ => {
                findings.crowded_edges += 1;
                link_all(surface, group);
            }
        }
    }
    surface.findings = findings;
}

/// Links every pair of an edge with more than two triangles.
fn link_all(surface: &mut Surface, group: &[(u32, u32, u32)]) {
    for a in group {
        surface.twins[a.2 as usize] = SEVERAL;
        for b in group.iter().filter(|b| b.2 != a.2) {
            let same = surface.start_point(a.2) == surface.start_point(b.2);
            let theirs = if same { [0.0, 1.0] } else { [1.0, 0.0] };
            surface.links.push((a.2, Link { half: b.2, mine: [0.0, 1.0], theirs }));
        }
    }
}

/// Matches border edges that lie on each other over part of their length.
fn match_tees(surface: &mut Surface) {
    let border: Vec<u32> = (0..surface.twins.len() as u32)
        .filter(|&h| surface.live[h as usize / 3] && surface.twins[h as usize] == BORDER)
        .collect();
    let ends = |h: u32| {
        let corners = surface.triangles[h as usize / 3];
        let k = h as usize % 3;
        (surface.points[corners[k] as usize], surface.points[corners[(k + 1) % 3] as usize])
    };
    let lengths: Vec<f64> = border.iter().map(|&h| ends(h).0.distance(ends(h).1)).collect();
    let longest = lengths.iter().fold(0.0, |a: f64, &b| a.max(b));
    let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
    // A few long edges among many short ones must not fill the grid with their cells.
    let cell = mean.max(longest / 64.0) as f32;
    let mut found: Vec<(u32, Link)> = Vec::new();
    if border.len() > 1 && cell > 0.0 {
        let grown = |h: u32| {
            let (a, b) = ends(h);
            let margin = DVec3::splat(2.0 * TEE_DISTANCE * a.distance(b));
            ((a.min(b) - margin).as_vec3(), (a.max(b) + margin).as_vec3())
        };
        let mut grid = Grid::default();
        grid.build_boxes(border.iter().map(|&h| grown(h)), cell);
        let mut near = Vec::new();
        for &h in &border {
            let (low, high) = grown(h);
            near.clear();
            grid.query(low, high, |i| near.push(border[i as usize]));
            // A long edge is in many cells and comes up once for each.
            near.sort_unstable();
            near.dedup();
            let others = near.iter().filter(|&&o| o / 3 != h / 3);
            found.extend(others.filter_map(|&o| overlap(ends(h), ends(o), o)).map(|l| (h, l)));
        }
    }
    for &(h, _) in &found {
        surface.twins[h as usize] = SEVERAL;
    }
    surface.findings.tee_edges = found.len();
    surface.links.extend(found);
    surface.links.sort_by_key(|(h, l)| (*h, l.half));
    surface.findings.border_edges =
        border.len() - border.iter().filter(|&&h| surface.twins[h as usize] == SEVERAL).count();
}

fn overlap((a, b): (DVec3, DVec3), (c, d): (DVec3, DVec3), half: u32) -> Option<Link> {
    let along = b - a;
    let length_sq = along.length_squared();
    // By the longer of both: rounding grows with the coordinates, and those with the edge.
    let reach = TEE_DISTANCE * length_sq.sqrt().max(c.distance(d));
    let place = |p: DVec3| (p - a).dot(along) / length_sq;
    let off = |p: DVec3| (p - a - along * place(p)).length();
    if length_sq == 0.0 || off(c) > reach || off(d) > reach {
        return None;
    }
    let (sc, sd) = (place(c), place(d));
    let (low, high) = (sc.min(sd).max(0.0), sc.max(sd).min(1.0));
    // Edges that only touch at their ends are neighbours by their point already.
    if high - low < TEE_LEAST_OVERLAP || (sd - sc).abs() < TEE_LEAST_OVERLAP {
        return None;
    }
    let there = |s: f64| ((s - sc) / (sd - sc)).clamp(0.0, 1.0);
    Some(Link { half, mine: [low, high], theirs: [there(low), there(high)] })
}

fn mark_points(surface: &mut Surface) {
    let count = surface.points.len();
    let live = &surface.live;
    let corners = surface.triangles.iter().enumerate().filter(|(t, _)| live[*t]);
    let pairs = corners.flat_map(|(t, c)| [0, 1, 2].map(|k| (c[k], (3 * t + k) as u32)));
    surface.fans = Lists::from_pairs(count, pairs);
    surface.border_points = vec![false; count];
    surface.tee_points = vec![false; count];
    for half in 0..surface.twins.len() {
        if !surface.live[half / 3] {
            continue;
        }
        let ends = [half % 3, (half + 1) % 3].map(|k| surface.triangles[half / 3][k] as usize);
        let marks = match surface.twins[half] {
            BORDER => &mut surface.border_points,
            SEVERAL => &mut surface.tee_points,
            _ => continue,
        };
        ends.iter().for_each(|&p| marks[p] = true);
    }
    list_tees(surface);
}

/// Ends of linked edges that lie on another's edge, but not at a corner of it that is the same point.
fn list_tees(surface: &mut Surface) {
    let mut tees: Vec<(u32, Spoke)> = Vec::new();
    for &(half, link) in &surface.links {
        let (t, k) = (half / 3, half % 3);
        for (end, corner) in [(0.0, half), (1.0, 3 * t + (k + 1) % 3)] {
            let Some(i) = (0..2).find(|&i| link.mine[i] == end) else { continue };
            let (point, s) = (surface.start_point(corner), link.theirs[i]);
            let (first, last) = (link.half, 3 * (link.half / 3) + (link.half % 3 + 1) % 3);
            let known = [first, last].map(|c| surface.start_point(c)).contains(&point);
            if !known {
                tees.push((point, Spoke { half: link.half, s }));
            }
        }
    }
    tees.sort_by_key(|(point, spoke)| (*point, spoke.half));
    tees.dedup_by_key(|(point, spoke)| (*point, spoke.half));
    surface.tees = tees;
}

/// Gives each triangle the winding it has against the first of its component.
fn orient(surface: &mut Surface) {
    let count = surface.triangles.len();
    surface.parity = vec![0; count];
    let mut stack = Vec::new();
    for start in 0..count {
        if surface.parity[start] != 0 {
            continue;
        }
        surface.parity[start] = 1;
        surface.findings.components += usize::from(surface.live[start]);
        // Depth first with a list of its own: a mesh of a million triangles would overflow the stack of calls.
        stack.push(start);
        while let Some(t) = stack.pop() {
            for k in 0..3 {
                let half = (3 * t + k) as u32;
                let parity = surface.parity[t];
                let mut reach = |other: u32, flipped: bool| {
                    let o = other as usize / 3;
                    if surface.parity[o] == 0 {
                        surface.parity[o] = if flipped { -parity } else { parity };
                        stack.push(o);
                    }
                };
                match surface.twins[half as usize] {
                    BORDER => {}
                    SEVERAL => {
                        let first = surface.links.partition_point(|l| l.0 < half);
                        for (_, l) in surface.links[first..].iter().take_while(|l| l.0 == half) {
                            reach(l.half, l.theirs[1] > l.theirs[0]);
                        }
                    }
                    twin => reach(twin & !FLIPPED, twin & FLIPPED != 0),
                }
            }
        }
    }
}

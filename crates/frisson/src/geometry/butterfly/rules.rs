//! The stencil of one new point: the middle of an edge.

use crate::geometry::Topology;

/// Weights of the scheme (see the module's figure) [-]: the points across an edge, the wings, the ends of
/// an edge on the border, and the end of a valence other than six. All are exact in binary.
const ACROSS: f64 = 1.0 / 8.0;
const WING: f64 = -1.0 / 16.0;
const BORDER_END: f64 = 9.0 / 16.0;
const END: f64 = 3.0 / 4.0;

/// Points and weights of an edge's middle; weights sum to 1.
pub type Stencil = Vec<(u32, f64)>;

/// The modified butterfly stencil of an edge. Where the neighbourhood is not manifold, the plain
/// middle.
pub fn compute_edge_stencil(topology: &Topology, edge: u32, out: &mut Stencil) {
    out.clear();
    let [a, b] = topology.edges[edge as usize];
    match *topology.edge_triangles(edge) {
        [_] => border(topology, edge, a, b, out),
        [left, right] => {
            let (ring_a, ring_b) = (ring(topology, a, edge), ring(topology, b, edge));
            // Ends on a border have no ring: they count as regular, which mirrors what is missing.
            let odd = |r: &Ring| matches!(r, Ring::Closed(points) if points.len() != 6);
            match (odd(&ring_a), odd(&ring_b)) {
                (false, false) => regular(topology, edge, [a, b], [left, right], out),
                (true, false) => extraordinary(a, &ring_a, 1.0, out),
                (false, true) => extraordinary(b, &ring_b, 1.0, out),
                (true, true) => {
                    extraordinary(a, &ring_a, 0.5, out);
                    extraordinary(b, &ring_b, 0.5, out);
                }
            }
        }
        _ => out.extend([(a, 0.5), (b, 0.5)]),
    }
}

/// The points around a point, starting with the other end of an edge.
enum Ring {
    /// All around an interior point.
    Closed(Vec<u32>),
    /// A border point, or something that is not a disc.
    Open,
}

fn ring(topology: &Topology, center: u32, first: u32) -> Ring {
    let valence = topology.point_edges(center).len();
    let mut points = Vec::with_capacity(valence);
    let mut edge = first;
    let Some(&start) = topology.edge_triangles(first).first() else { return Ring::Open };
    let mut triangle = start;
    loop {
        points.push(topology.other_end(edge, center));
        // Round and round without closing: more than one fan of triangles meets here.
        if points.len() > valence {
            return Ring::Open;
        }
        // The other edge of this triangle at the centre, then the triangle across it.
        let next = topology.triangle_edges[triangle as usize]
            .into_iter()
            .find(|&e| e != edge && topology.edges[e as usize].contains(&center));
        let Some(next) = next else { return Ring::Open };
        if next == first {
            break;
        }
        let Some(across) = topology.across(triangle, next) else { return Ring::Open };
        (edge, triangle) = (next, across);
    }
    if points.len() == valence { Ring::Closed(points) } else { Ring::Open }
}

/// 3/4 of the end and `k` weights around it, the edge's other end first.
fn extraordinary(center: u32, ring: &Ring, share: f64, out: &mut Stencil) {
    let Ring::Closed(points) = ring else { return };
    let k = points.len();
    out.push((center, END * share));
    for (j, &p) in points.iter().enumerate() {
        let weight = match (k, j) {
            // The paper's formula is for k >= 5; valences 3 and 4 have weights of their own.
            (3, 0) => 5.0 / 12.0,
            (3, _) => -1.0 / 12.0,
            (4, 0) => 3.0 / 8.0,
            (4, 2) => -1.0 / 8.0,
            (4, _) => 0.0,
            _ => {
                let angle = std::f64::consts::TAU * j as f64 / k as f64;
                (0.25 + angle.cos() + 0.5 * (2.0 * angle).cos()) / k as f64
            }
        };
        if weight != 0.0 {
            out.push((p, weight * share));
        }
    }
}

/// The eight-point stencil. A wing beyond a border is the mirror image of the point it would face.
fn regular(topology: &Topology, edge: u32, [a, b]: [u32; 2], sides: [u32; 2], out: &mut Stencil) {
    out.extend([(a, 0.5), (b, 0.5)]);
    for triangle in sides {
        let c = opposite(topology, triangle, edge);
        out.push((c, ACROSS));
        for (near, far) in [(a, b), (b, a)] {
            let side = topology.find_edge(near, c);
            let wing = side.and_then(|s| Some((s, topology.across(triangle, s)?)));
            match wing {
                Some((side, across)) => out.push((opposite(topology, across, side), WING)),
                None => out.extend([(near, WING), (c, WING), (far, -WING)]),
            }
        }
    }
}

/// Four points along the border, or the plain middle where it does not go on.
fn border(topology: &Topology, edge: u32, a: u32, b: u32, out: &mut Stencil) {
    let beyond = |end: u32| {
        // More than one other border edge: two borders meet in a point, and which way to go on is not known.
        let mut others = topology
            .point_edges(end)
            .iter()
            .copied()
            .filter(|&e| e != edge && topology.is_border_edge(e));
        match (others.next(), others.next()) {
            (Some(next), None) => Some(topology.other_end(next, end)),
            _ => None,
        }
    };
    match (beyond(a), beyond(b)) {
        // A border of two edges would name its own ends as what lies beyond.
        (Some(before), Some(after)) if before != b && after != a => {
            out.extend([(before, WING), (a, BORDER_END), (b, BORDER_END), (after, WING)])
        }
        _ => out.extend([(a, 0.5), (b, 0.5)]),
    }
}

/// The corner of a triangle that is not on an edge.
fn opposite(topology: &Topology, triangle: u32, edge: u32) -> u32 {
    let [a, b] = topology.edges[edge as usize];
    let corners = topology.triangles[triangle as usize];
    corners.into_iter().find(|&c| c != a && c != b).unwrap_or(corners[0])
}

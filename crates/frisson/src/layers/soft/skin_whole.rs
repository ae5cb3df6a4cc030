//! A skin that is shown whole: what it connects stays in one piece, and hollows that nobody sees are filled.
//!
//! ```text
//!       ____     ____        skinning pinches a knee to nothing: both sides of it are pieces of
//!      /    \xxx/    \       their own. Along the shortest way over the skin between them (x) goes
//!      \____/   \____/       a rod, as thick as the cells can show
//! ```
//!
//! Parts of a character that share no vertex (eyebrows that float, a hat) are not tied to each other.

use std::collections::VecDeque;

use glam::{IVec3, Vec3};

use super::fracture::Components;
use super::skin_field::SkinSurface;
use crate::geometry::{BandRegions, NONE, Topology};

/// Share of the whole below which a piece of a skin is a flake, and left out [-]: slivers in the crease of an armpit
/// have some 1e-5 of a character, an eyebrow 1e-3.
pub const FLAKE: f64 = 1e-4;
/// Radius of a rod, in cells [-]: half the diagonal of a cell and a little, so that the points within it follow each
/// other along the edges of the lattice.
const ROD: f32 = 1.0;
/// Rounds in which a skin is mended: what a round changes of the volume moves the whole a little, and may open or
/// pinch something else.
const ROUNDS: usize = 3;

/// A point of the skin on its way to a piece.
#[derive(Clone, Copy)]
struct Way {
    /// The piece; [`NONE`] if none has been found.
    piece: u32,
    /// The next point towards it; itself when it is there.
    next: u32,
    /// Points to go.
    length: u32,
}

/// Where two pieces come closest to each other over the skin: the points, and how many lie between.
type Meeting = (u32, [u32; 2]);

impl SkinSurface {
    /// Fills hollows and ties what the skin connects. `keep_volume` moves the surface after every change.
    pub(super) fn make_whole(&mut self, keep_volume: impl Fn(&mut Self)) {
        for _ in 0..ROUNDS {
            let shift = self.shift;
            let Self { band, regions, .. } = self;
            band.find_regions(|p| p.signed - p.kept.max(shift), regions);
            let has_hollows = regions.has_hollows();
            if has_hollows {
                band.fill_hollows(regions);
            }
            // After the hollows: a rod through one would be swallowed.
            let rods = self.find_rods();
            for rod in &rods {
                self.band.add_rod(*rod, ROD * self.cell, 0, |p| p.signed - p.kept.max(shift));
                self.most_lacking = self.most_lacking.max(ROD * self.cell);
            }
            if !has_hollows && rods.is_empty() {
                return;
            }
            keep_volume(self);
        }
    }

    /// Rods along the skin that tie pieces of a connected part.
    fn find_rods(&self) -> Vec<[Vec3; 2]> {
        let (regions, cell) = (&self.regions, self.cell);
        let whole: u64 = regions.pieces().map(|p| p.1).sum();
        let is_flake = |count: u64| (count as f64) < FLAKE * whole as f64;
        let pieces: Vec<u32> = regions.pieces().filter(|p| !is_flake(p.1)).map(|p| p.0).collect();
        // One piece: nothing to tie, and the search over the skin is spared.
        if pieces.len() < 2 {
            return Vec::new();
        }
        let topology = &self.solid.topology;
        let place =
            |p: u32| self.surface.positions()[topology.vertex_of_point[p as usize] as usize];
        let points = 0..topology.point_count() as u32;
        let near: Vec<Option<(u32, IVec3)>> =
            points.map(|p| piece_around(regions, &pieces, place(p) / cell)).collect();
        let ways = find_ways(topology, &near);
        let mut rods = Vec::new();
        for [a, b] in shortest(meetings(topology, &ways), &ways, &pieces) {
            rods.push([place(a), place(b)]);
            for start in [a, b] {
                let mut at = start;
                while ways[at as usize].next != at {
                    rods.push([place(at), place(ways[at as usize].next)]);
                    at = ways[at as usize].next;
                }
                // And into the piece: its nearest point may be a cell off the skin.
                rods.extend(near[at as usize].map(|(_, p)| [place(at), p.as_vec3() * cell]));
            }
        }
        rods
    }
}

/// The piece of the nearest of the eight points around a place, given in cells, that belongs to one; and the point.
fn piece_around(regions: &BandRegions, pieces: &[u32], at: Vec3) -> Option<(u32, IVec3)> {
    let first = at.floor().as_ivec3();
    let corners = (0..8).map(|c| first + IVec3::new(c & 1, c >> 1 & 1, c >> 2));
    let known = corners.map(|p| (regions.piece(p), p));
    known
        .filter(|(piece, _)| pieces.binary_search(piece).is_ok())
        .min_by(|a, b| at.distance(a.1.as_vec3()).total_cmp(&at.distance(b.1.as_vec3())))
}

/// From every point the shortest way over the skin to a piece, breadth first.
fn find_ways(topology: &Topology, near: &[Option<(u32, IVec3)>]) -> Vec<Way> {
    let start = |(p, near): (usize, &Option<(u32, IVec3)>)| {
        let piece = near.map_or(NONE, |n| n.0);
        Way { piece, next: p as u32, length: 0 }
    };
    let mut ways: Vec<Way> = near.iter().enumerate().map(start).collect();
    // All pieces at once, so that every point of the skin comes to the piece that is nearest.
    let mut waiting: VecDeque<u32> =
        (0..ways.len() as u32).filter(|p| ways[*p as usize].piece != NONE).collect();
    while let Some(point) = waiting.pop_front() {
        let Way { piece, length, .. } = ways[point as usize];
        for beside in topology.neighbours(point) {
            if ways[beside as usize].piece == NONE {
                ways[beside as usize] = Way { piece, next: point, length: length + 1 };
                waiting.push_back(beside);
            }
        }
    }
    ways
}

/// Edges at which ways to different pieces meet, the shortest first.
fn meetings(topology: &Topology, ways: &[Way]) -> Vec<Meeting> {
    let mut meetings: Vec<Meeting> = Vec::new();
    for &[a, b] in &topology.edges {
        let [from, to] = [a, b].map(|p| ways[p as usize]);
        if from.piece != to.piece && from.piece != NONE && to.piece != NONE {
            meetings.push((from.length + to.length, [a, b]));
        }
    }
    // Shortest first, then by number: the same rods whatever the order of the edges.
    meetings.sort_unstable();
    meetings
}

/// Those of the meetings that tie pieces which shorter ones do not.
fn shortest(meetings: Vec<Meeting>, ways: &[Way], pieces: &[u32]) -> Vec<[u32; 2]> {
    let mut tied = Components::default();
    tied.reset(pieces.len());
    let rank = |p: u32| pieces.partition_point(|q| *q < ways[p as usize].piece) as u32;
    let mut kept = Vec::new();
    for (_, [a, b]) in meetings {
        if tied.root(rank(a)) != tied.root(rank(b)) {
            tied.join(rank(a), rank(b));
            kept.push([a, b]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::fit::tests::limb;
    use super::super::rest::SkinRest;
    use super::*;
    use crate::geometry::Mesh;
    use crate::stage::Frame;

    /// The skin of a mesh that was at rest as another; and how many pieces it has.
    fn shown(resting: Mesh, posed: Mesh, cell: f32) -> (SkinSurface, SkinRest, usize) {
        let frame = |mesh: Mesh| Frame { meshes: vec![mesh], ..Frame::default() };
        let (resting, posed) = (frame(resting), frame(posed));
        let rest = SkinRest::build((0, 0.05), vec![0], (&resting, &resting, cell), &[]).unwrap();
        let mut skin = SkinSurface::default();
        skin.update(&rest, &posed, cell, 1.0).unwrap();
        let shift = skin.shift;
        let SkinSurface { band, regions, .. } = &mut skin;
        band.find_regions(|p| p.signed - p.kept.max(shift), regions);
        let pieces = regions.pieces().count();
        (skin, rest, pieces)
    }

    /// A limb along x whose far half is moved away and turned by half a turn: what is between passes through the
    /// axis, as at a joint that skinning wrings.
    fn wrung() -> Mesh {
        let mut mesh = limb();
        for p in mesh.positions.iter_mut().filter(|p| p.x > 0.3) {
            *p = Vec3::new(p.x + 0.3, -p.y, -p.z);
        }
        // The axis between the points of the lattice.
        mesh.positions.iter_mut().for_each(|p| *p += Vec3::new(0.0, 0.003, 0.003));
        mesh
    }

    #[test]
    fn a_limb_that_is_wrung_to_a_point_stays_in_one_piece() {
        let (mut skin, _, pieces) = shown(limb(), wrung(), 0.006);
        assert_eq!(pieces, 1);
        // It is the rods that tie it.
        let shift = skin.shift;
        skin.measure(0.02).unwrap();
        let SkinSurface { band, regions, .. } = &mut skin;
        band.find_regions(|p| p.signed - p.kept.max(shift), regions);
        assert_eq!(regions.pieces().count(), 2);
    }

    /// Meshes as one, whose parts share no vertex.
    fn joined(parts: &[Mesh]) -> Mesh {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for part in parts {
            let first = positions.len() as u32;
            positions.extend_from_slice(&part.positions);
            triangles.extend(part.topology.triangles.iter().map(|t| t.map(|v| v + first)));
        }
        Mesh::new("parts", positions, triangles)
    }

    #[test]
    fn parts_that_share_no_vertex_are_not_tied() {
        let mut other = limb();
        other.positions.iter_mut().for_each(|p| p.y += 0.5);
        let two = joined(&[limb(), other]);
        assert_eq!(shown(two.clone(), two, 0.01).2, 2);
    }

    #[test]
    fn a_hollow_is_filled_and_the_volume_is_that_at_rest() {
        // Six walls around an empty room; at rest they stand apart.
        let walls = |apart: f32| {
            let wall = |axis: usize, side: f32| {
                let (mut half, mut middle) = (Vec3::splat(0.2), Vec3::ZERO);
                (half[axis], middle[axis]) = (0.05, side * (0.15 + apart));
                // No wall through points of the lattice.
                cuboid(middle + Vec3::new(0.0037, 0.0051, 0.0023), half)
            };
            let all = [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0), (2, -1.0), (2, 1.0)];
            joined(&all.map(|(axis, side)| wall(axis, side)))
        };
        let (skin, _, pieces) = shown(walls(0.3), walls(0.3), 0.02);
        assert_eq!((pieces, skin.regions.has_hollows()), (6, false));
        let (mut skin, rest, pieces) = shown(walls(0.0), walls(0.0), 0.02);
        assert_eq!((pieces, skin.regions.has_hollows()), (1, false));
        // The room counts.
        let [full, room] = [0.4f64, 0.2].map(|a| a.powi(3));
        assert!(rest.volume > full - 0.5 * room && rest.volume < full, "{}", rest.volume);
        let shift = skin.shift;
        let volume = skin.band.volume_and_area(|p| p.signed - p.kept.max(shift)).0;
        assert!((volume / rest.volume - 1.0).abs() < 0.005, "{volume} {}", rest.volume);
        skin.measure(0.04).unwrap();
        let SkinSurface { band, regions, .. } = &mut skin;
        band.find_regions(|p| p.signed - p.kept.max(shift), regions);
        assert!(regions.has_hollows());
    }

    fn cuboid(middle: Vec3, half: Vec3) -> Mesh {
        let corner = |c: u32| {
            let side = |axis: u32| if c >> axis & 1 == 1 { 1.0 } else { -1.0 };
            middle + half * Vec3::new(side(0), side(1), side(2))
        };
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        Mesh::new("wall", (0..8).map(corner).collect(), triangles.collect())
    }
}

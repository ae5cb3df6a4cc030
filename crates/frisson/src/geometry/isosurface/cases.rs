//! How the surface passes through one cube, for each of the 256 sign patterns of its corners.
//!
//! Corner `c` sits at `(c & 1, c >> 1 & 1, c >> 2)`. Edge `4 a + u + 2 v` runs along axis `a`, at
//! offsets `u`, `v` along the next two axes (cyclically). On every face the crossed edges are linked
//! in pairs; following the links gives closed loops of edges, and each loop is one sheet of surface.

/// Loops of crossed edges of one sign pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sheets {
    /// Number of sheets, 0 to 4.
    pub count: u8,
    /// Sheet of each crossed edge; [`NO_SHEET`] on the others.
    pub of_edge: [u8; 12],
}

/// Marks an edge that the surface does not cross.
pub const NO_SHEET: u8 = u8::MAX;

/// The table, built once per extractor.
#[derive(Clone, Debug)]
pub struct Cases {
    /// Faces with two inside corners on a diagonal keep those apart.
    pub apart: Vec<Sheets>,
    /// The same, except on the pattern's [`Cases::twice_face`], where the inside corners are joined.
    pub joined: Vec<Sheets>,
    /// The face that one sheet crosses twice under `apart` (`2 axis + side`), if there is one.
    ///
    /// When both cubes at that face cross it twice with a single sheet each, the two sheets would
    /// share two edges and the dual surface would not be a manifold: both then use `joined`.
    pub twice_face: Vec<Option<u8>>,
}

/// The two corners of an edge, low end first.
pub const fn edge_corners(edge: usize) -> (usize, usize) {
    let (axis, u, v) = (edge / 4, edge & 1, edge >> 1 & 1);
    let low = (u << ((axis + 1) % 3)) | (v << ((axis + 2) % 3));
    (low, low | 1 << axis)
}

/// Edge between two neighbouring corners.
fn edge_between(a: usize, b: usize) -> usize {
    (0..12).find(|&e| edge_corners(e) == (a.min(b), a.max(b))).unwrap_or(0)
}

/// Corners of a face in circular order.
fn face_corners(face: usize) -> [usize; 4] {
    let (axis, side) = (face / 2, face & 1);
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let base = side << axis;
    [base, base | u, base | u | v, base | v]
}

/// Pairs of crossed edges that a face links.
fn face_links(pattern: usize, face: usize, join_inside: bool) -> Vec<(usize, usize)> {
    let corners = face_corners(face);
    let inside = |i: usize| pattern >> corners[i % 4] & 1 == 1;
    let edge = |i: usize| edge_between(corners[i % 4], corners[(i + 1) % 4]);
    let crossed: Vec<usize> = (0..4).filter(|&i| inside(i) != inside(i + 1)).collect();
    match crossed.len() {
        2 => vec![(edge(crossed[0]), edge(crossed[1]))],
        // The ambiguous face: cut off the inside corners one by one, or the outside ones.
        4 => (0..4).filter(|&i| inside(i) != join_inside).map(|i| (edge(i + 3), edge(i))).collect(),
        _ => Vec::new(),
    }
}

fn sheets(pattern: usize, joined_face: Option<usize>) -> Sheets {
    let mut group: [usize; 12] = std::array::from_fn(|e| e);
    for face in 0..6 {
        for (a, b) in face_links(pattern, face, joined_face == Some(face)) {
            // The least edge names its loop, so that numbers do not depend on the order of links.
            let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    }
    let mut out = Sheets { count: 0, of_edge: [NO_SHEET; 12] };
    let crossed = |e: usize| {
        let (a, b) = edge_corners(e);
        (pattern >> a ^ pattern >> b) & 1 == 1
    };
    for leader in (0..12).filter(|&e| crossed(e) && group[e] == e) {
        for e in (0..12).filter(|&e| group[e] == leader) {
            out.of_edge[e] = out.count;
        }
        out.count += 1;
    }
    out
}

impl Cases {
    /// Builds the table.
    pub fn build() -> Self {
        let apart: Vec<Sheets> = (0..256).map(|p| sheets(p, None)).collect();
        let twice = |pattern: usize| {
            (0..6usize).find(|&face| {
                let links = face_links(pattern, face, false);
                let sheet = |l: usize| apart[pattern].of_edge[links[l].0];
                links.len() == 2 && sheet(0) == sheet(1)
            })
        };
        let faces: Vec<Option<usize>> = (0..256).map(twice).collect();
        let joined = (0..256).map(|p| sheets(p, faces[p])).collect();
        Self { apart, joined, twice_face: faces.iter().map(|f| f.map(|f| f as u8)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sheet_is_a_loop_of_at_least_three_edges() {
        let cases = Cases::build();
        for table in [&cases.apart, &cases.joined] {
            for sheets in table {
                for sheet in 0..sheets.count {
                    let edges = sheets.of_edge.iter().filter(|&&s| s == sheet).count();
                    assert!((3..=12).contains(&edges));
                }
            }
        }
        assert_eq!(cases.apart[0b0000_0001].count, 1);
        assert_eq!(cases.apart[0b1000_0001].count, 2);
        assert_eq!(cases.apart[0b0110_1001].count, 4);
    }

    #[test]
    fn joining_always_separates_the_sheet_that_crosses_a_face_twice() {
        let cases = Cases::build();
        let mut found = 0;
        for pattern in 0..256 {
            let ambiguous = |f: &usize| face_links(pattern, *f, false).len() == 2;
            let Some(face) = cases.twice_face[pattern].map(usize::from) else { continue };
            found += 1;
            assert_eq!((0..6).filter(ambiguous).count(), 1, "{pattern:08b}");
            let links = face_links(pattern, face, true);
            let of = &cases.joined[pattern].of_edge;
            assert_ne!(of[links[0].0], of[links[1].0], "{pattern:08b}");
        }
        assert!(found > 0);
    }
}

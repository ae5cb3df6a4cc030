//! Where the vertices and triangles of a refined mesh come from, so that what was chosen, painted or
//! placed on the mesh before refinement is found again after it.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::MeshTopology;

/// A refined mesh's memory of the mesh it was made from. Coarse vertices keep their numbers; new
/// vertices follow them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ancestry {
    /// Number of vertices before refinement.
    pub vertex_count: usize,
    /// Triangles before refinement.
    pub triangles: Arc<[[u32; 3]]>,
    /// For each new vertex: the coarse vertices around it and their shares.
    pub made_of: Vec<([u32; 3], [f32; 3])>,
    /// Coarse triangle that each refined triangle is a part of, ascending.
    pub sources: Vec<u32>,
    /// The coarse mesh's own ancestry, if it was refined from something itself.
    pub older: Option<Arc<Ancestry>>,
}

impl Ancestry {
    /// Values per vertex of the coarse mesh, mixed for the new vertices.
    #[must_use]
    pub fn spread<T: Mix>(&self, coarse: &[T]) -> Vec<T> {
        let mut all = coarse.to_vec();
        self.extend(coarse, &mut all);
        all
    }

    /// Appends the mixed values of the new vertices to `out`, which holds those of the coarse ones.
    pub fn extend<T: Mix>(&self, coarse: &[T], out: &mut Vec<T>) {
        out.extend(self.made_of.iter().map(|(corners, shares)| {
            let [a, b, c] = corners.map(|v| coarse[v as usize]);
            T::mix([a, b, c], *shares)
        }));
    }

    /// The refined triangles that make up a coarse one, as a range of their indices.
    #[must_use]
    pub fn parts(&self, coarse_triangle: u32) -> std::ops::Range<usize> {
        let first = self.sources.partition_point(|&s| s < coarse_triangle);
        let last = self.sources.partition_point(|&s| s <= coarse_triangle);
        first..last
    }

    /// Where a place on a coarse triangle lies on the refined mesh: triangle and shares of its
    /// corners. `refined` are the refined mesh's triangles.
    #[must_use]
    pub fn locate(
        &self,
        refined: &[[u32; 3]],
        coarse_triangle: u32,
        shares: [f32; 3],
    ) -> (u32, [f32; 3]) {
        let corners = self.triangles[coarse_triangle as usize];
        let at = Vec2::new(shares[1], shares[2]);
        let parts = self.parts(coarse_triangle);
        // If every part is degenerate, the first one's first corner.
        let mut best = (parts.start as u32, [1.0, 0.0, 0.0], f32::NEG_INFINITY);
        for index in parts {
            let places = refined[index].map(|v| self.place_in(v, corners));
            let inside = barycentric(at, places);
            let least = inside.into_iter().fold(f32::INFINITY, f32::min);
            // Rounding leaves places on an inner edge outside of every part: the nearest takes them.
            if least > best.2 {
                best = (index as u32, inside, least);
            }
            if least >= 0.0 {
                break;
            }
        }
        // On the part's rim, where rounding put the place a little outside.
        let positive = best.1.map(|s| s.max(0.0));
        let sum: f32 = positive.iter().sum();
        (best.0, positive.map(|s| s / sum))
    }

    /// The place on the coarse triangle where a place on a refined one lies.
    #[must_use]
    pub fn source_of(&self, refined: [u32; 3], triangle: u32, shares: [f32; 3]) -> (u32, [f32; 3]) {
        let source = self.sources[triangle as usize];
        let corners = self.triangles[source as usize];
        let [a, b, c] = refined.map(|v| self.place_in(v, corners));
        let at = shares[0] * a + shares[1] * b + shares[2] * c;
        (source, [1.0 - at.x - at.y, at.x, at.y])
    }

    /// A vertex in the plane of a coarse triangle: the shares of its second and third corner.
    fn place_in(&self, vertex: u32, corners: [u32; 3]) -> Vec2 {
        let share = |wanted: u32| match (vertex as usize).checked_sub(self.vertex_count) {
            None => f32::from(u8::from(vertex == wanted)),
            Some(new) => {
                let (of, shares) = self.made_of[new];
                // A sum of nothing where the vertex belongs to a neighbour: no share.
                of.iter().zip(shares).filter(|(v, _)| **v == wanted).map(|(_, s)| s).sum()
            }
        };
        Vec2::new(share(corners[1]), share(corners[2]))
    }
}

impl MeshTopology {
    /// Number of vertices of the mesh that this one was refined from in the end; its own if it was not.
    /// They come first here, under the same numbers.
    #[must_use]
    pub fn root_vertex_count(&self) -> usize {
        let mut count = self.vertex_count;
        let mut at = self.ancestry.as_deref();
        while let Some(ancestry) = at {
            count = ancestry.vertex_count;
            at = ancestry.older.as_deref();
        }
        count
    }

    /// Triangles of the root mesh; its own if it was not refined.
    #[must_use]
    pub fn root_triangles(&self) -> &[[u32; 3]] {
        let mut triangles: &[[u32; 3]] = &self.triangles;
        let mut at = self.ancestry.as_deref();
        while let Some(ancestry) = at {
            triangles = &ancestry.triangles;
            at = ancestry.older.as_deref();
        }
        triangles
    }

    /// The vertex of the root mesh that a vertex is, or that has the largest share in it.
    #[must_use]
    pub fn root_vertex(&self, vertex: usize) -> usize {
        let mut vertex = vertex;
        let mut at = self.ancestry.as_deref();
        while let Some(ancestry) = at {
            if let Some(new) = vertex.checked_sub(ancestry.vertex_count) {
                let (corners, shares) = ancestry.made_of[new];
                let most = shares.iter().copied().fold(0.0, f32::max);
                let largest = shares.iter().position(|s| *s == most).unwrap_or(0);
                vertex = corners[largest] as usize;
            }
            at = ancestry.older.as_deref();
        }
        vertex
    }

    /// Values per vertex of the root mesh, mixed for all vertices that refinement made since.
    #[must_use]
    pub fn spread_from_root<T: Mix>(&self, root: &[T]) -> Vec<T> {
        fn spread<T: Mix>(ancestry: &Ancestry, root: &[T]) -> Vec<T> {
            match &ancestry.older {
                Some(older) => ancestry.spread(&spread(older, root)),
                None => ancestry.spread(root),
            }
        }
        self.ancestry.as_ref().map_or_else(|| root.to_vec(), |a| spread(a, root))
    }

    /// The place of the root mesh where a place on this one lies.
    #[must_use]
    pub fn to_root(&self, triangle: u32, shares: [f32; 3]) -> (u32, [f32; 3]) {
        let mut place = (triangle, shares);
        let mut triangles: &[[u32; 3]] = &self.triangles;
        let mut at = self.ancestry.as_deref();
        while let Some(ancestry) = at {
            place = ancestry.source_of(triangles[place.0 as usize], place.0, place.1);
            triangles = &ancestry.triangles;
            at = ancestry.older.as_deref();
        }
        place
    }

    /// The place on this mesh where a place of its root mesh lies.
    #[must_use]
    pub fn from_root(&self, triangle: u32, shares: [f32; 3]) -> (u32, [f32; 3]) {
        fn descend(
            ancestry: &Ancestry,
            refined: &[[u32; 3]],
            place: (u32, [f32; 3]),
        ) -> (u32, [f32; 3]) {
            let place = match &ancestry.older {
                Some(older) => descend(older, &ancestry.triangles, place),
                None => place,
            };
            ancestry.locate(refined, place.0, place.1)
        }
        match &self.ancestry {
            Some(ancestry) => descend(ancestry, &self.triangles, (triangle, shares)),
            None => (triangle, shares),
        }
    }
}

/// Shares of a triangle's corners at a place of its plane.
fn barycentric(at: Vec2, [a, b, c]: [Vec2; 3]) -> [f32; 3] {
    let (u, v, w) = (b - a, c - a, at - a);
    let area = u.perp_dot(v);
    if area.abs() <= f32::MIN_POSITIVE {
        // Never the best part: no place is inside a triangle without area.
        return [1.0, f32::NEG_INFINITY, 0.0];
    }
    let (second, third) = (w.perp_dot(v) / area, u.perp_dot(w) / area);
    [1.0 - second - third, second, third]
}

/// What can be mixed from three values by their shares.
pub trait Mix: Copy {
    /// The mixture.
    fn mix(values: [Self; 3], shares: [f32; 3]) -> Self;
}

impl Mix for f32 {
    fn mix([a, b, c]: [Self; 3], [u, v, w]: [f32; 3]) -> Self {
        u * a + v * b + w * c
    }
}

impl Mix for Vec3 {
    fn mix([a, b, c]: [Self; 3], [u, v, w]: [f32; 3]) -> Self {
        u * a + v * b + w * c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::butterfly::{Emission, Refined};
    use crate::geometry::{Mesh, Topology};
    use proptest::prelude::*;

    /// Two triangles of which the first is refined twice, the second only joined to it.
    fn refined() -> (Mesh, Ancestry, Vec<[u32; 3]>) {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)];
        let mesh = Mesh::new("flat", positions, vec![[0, 2, 1], [1, 2, 3]]);
        let topology = Topology::build(&mesh.positions, &mesh.topology.triangles);
        let made = Refined::build(&topology, &[2, 0]);
        let emission = Emission::new(&made, &topology, &mesh.topology, &[2, 0]);
        let fine = emission.build_topology(&mesh.topology);
        let ancestry = fine.ancestry.as_ref().map(|a| (**a).clone()).unwrap();
        (mesh, ancestry, fine.triangles)
    }

    proptest! {
        #[test]
        fn places_are_found_again(triangle in 0u32..2, u in 0.0f32..1.0, v in 0.0f32..1.0) {
            let (mesh, ancestry, fine) = refined();
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let shares = [1.0 - u - v, u, v];
            let corners = mesh.topology.triangles[triangle as usize];
            let wanted = Vec3::mix(corners.map(|c| mesh.positions[c as usize]), shares);
            let positions = ancestry.spread(&mesh.positions);
            let (found, shares) = ancestry.locate(&fine, triangle, shares);
            prop_assert_eq!(ancestry.sources[found as usize], triangle);
            let corners = fine[found as usize].map(|c| positions[c as usize]);
            prop_assert!(Vec3::mix(corners, shares).distance(wanted) < 1e-5);
            let (back, there) = ancestry.source_of(fine[found as usize], found, shares);
            let corners = mesh.topology.triangles[back as usize].map(|c| mesh.positions[c as usize]);
            prop_assert!(Vec3::mix(corners, there).distance(wanted) < 1e-5);
        }
    }

    #[test]
    fn twice_refined_meshes_know_their_root() {
        let (mesh, ..) = refined();
        let refine = |mesh: &Mesh| {
            let topology = Topology::build(&mesh.positions, &mesh.topology.triangles);
            let levels = vec![1; mesh.topology.triangles.len()];
            let made = Refined::build(&topology, &levels);
            let emission = Emission::new(&made, &topology, &mesh.topology, &levels);
            let fine = emission.build_topology(&mesh.topology);
            let positions = fine.ancestry.as_ref().unwrap().spread(&mesh.positions);
            Mesh { topology: Arc::new(fine), positions, ..mesh.clone() }
        };
        let twice = refine(&refine(&mesh));
        let topology = &twice.topology;
        assert_eq!(topology.root_vertex_count(), 4);
        assert_eq!(topology.root_triangles(), &*mesh.topology.triangles);
        assert_eq!(topology.spread_from_root(&mesh.positions), twice.positions);
        for vertex in 0..topology.vertex_count {
            let root = topology.root_vertex(vertex);
            let away = mesh.positions[root].distance(twice.positions[vertex]);
            // No farther than the longest side.
            assert!(root < 4 && away < 1.42, "{vertex} is {away} m from {root}");
        }
        for shares in [[0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [0.0, 0.5, 0.5]] {
            let (fine, there) = topology.from_root(1, shares);
            let (coarse, back) = topology.to_root(fine, there);
            assert_eq!(coarse, 1);
            assert!(shares.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-5), "{back:?}");
        }
    }

    #[test]
    fn painted_weights_are_mixed_linearly() {
        let (mesh, ancestry, _) = refined();
        let painted: Vec<f32> = mesh.positions.iter().map(|p| p.x + 2.0 * p.z).collect();
        let (all, places) = (ancestry.spread(&painted), ancestry.spread(&mesh.positions));
        assert!(all.len() > 4);
        for (w, p) in all.iter().zip(&places) {
            assert!((w - p.x - 2.0 * p.z).abs() < 1e-6);
        }
    }
}

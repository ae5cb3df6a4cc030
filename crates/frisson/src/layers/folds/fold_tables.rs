//! What a frame reads of the folds: flat tables, made once from what was drawn.
//!
//! Lengths across a fold are quadratic in the edges of the coarse triangles: a unit vector
//! `a e1 + b e2` is `sqrt(a² e1·e1 + 2ab e1·e2 + b² e2·e2)` long after any motion. So a frame computes
//! three products per coarse triangle (its metric), and each member of a fold takes its own mix of
//! them. How the normals turn across the fold is read in the same way. Members inside a triangle, nearly
//! all of them, are read four at a time.

use glam::{Mat4, Vec3A, Vec4};

use super::params::Fold;
use super::rest::FoldRest;
use super::stretch_response::{ResponseScratch, StretchResponse};
use crate::geometry::Topology;
use crate::tolerances::folds as tolerances;

/// The coarse triangles under the folds.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    /// Their indices, ascending.
    pub triangles: Vec<u32>,
    corners: Vec<[u32; 3]>,
    drawn: Vec<Forms>,
    /// Change of the metric since the folds were drawn, and the bending as it is now. Never empty.
    now: Vec<Forms>,
}

/// Two quadratic forms over the edges of a triangle: lengths, and how normals turn along them. The fourth
/// component is not used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Forms {
    metric: Vec4,
    bending: Vec4,
}

impl Faces {
    /// The triangles that some term reads, as the surface is drawn.
    pub fn new(topology: &Topology, mut triangles: Vec<u32>, surface: &[[Vec3A; 2]]) -> Self {
        triangles.sort_unstable();
        triangles.dedup();
        let corners: Vec<[u32; 3]> =
            triangles.iter().map(|&t| topology.triangles[t as usize]).collect();
        let drawn: Vec<Forms> = corners.iter().map(|&c| Forms::measure(c, surface)).collect();
        // At least one, as lanes without a member read the first.
        let now = vec![Forms::default(); drawn.len().max(1)];
        Self { triangles, corners, now, drawn }
    }

    /// Measures the triangles on the surface as it is now.
    pub fn update(&mut self, surface: &[[Vec3A; 2]]) {
        for ((&corners, drawn), now) in self.corners.iter().zip(&self.drawn).zip(&mut self.now) {
            let forms = Forms::measure(corners, surface);
            // The change and not the metric: a mesh at rest has exactly 0 here, and a fold exactly its drawn height.
            *now = Forms { metric: forms.metric - drawn.metric, ..forms };
        }
    }
}

impl Forms {
    fn measure(corners: [u32; 3], surface: &[[Vec3A; 2]]) -> Self {
        let [a, b, c] = corners.map(|p| surface[p as usize]);
        let (e1, e2, n1, n2) = (b[0] - a[0], c[0] - a[0], b[1] - a[1], c[1] - a[1]);
        Self {
            metric: Vec4::new(e1.dot(e1), e1.dot(e2), e2.dot(e2), 0.0),
            bending: Vec4::new(n1.dot(e1), 0.5 * (n1.dot(e2) + n2.dot(e1)), n2.dot(e2), 0.0),
        }
    }
}

/// A member's share of a triangle's forms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Term {
    face: u32,
    mix: [f32; 3],
}

impl Term {
    fn of(&self, form: Vec4) -> f32 {
        self.mix[0] * form.x + self.mix[1] * form.y + self.mix[2] * form.z
    }
}

/// Four members with one term each, side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Four {
    faces: [u32; 4],
    mix: [Vec4; 3],
    bending: Vec4,
    arms: Vec4,
}

impl Four {
    /// What the four take of a form each.
    #[inline(always)]
    fn of(&self, [a, b, c, d]: [Vec4; 4]) -> Vec4 {
        let forms = Mat4::from_cols(a, b, c, d).transpose();
        self.mix[0] * forms.x_axis + self.mix[1] * forms.y_axis + self.mix[2] * forms.z_axis
    }
}

/// A member, and where its terms end among all.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    end: u32,
    /// Bending across the fold when drawn [1/m].
    bending: f32,
    /// Stretch that one unit of bending stands for [m].
    arm: f32,
}

/// One fold, member by member.
#[derive(Clone, Debug, Default)]
pub struct FoldTables {
    /// The members with one term, four by four.
    fours: Vec<Four>,
    /// How many they are: the first ones of the fold.
    single: usize,
    /// The others, and their terms.
    several: Vec<Member>,
    terms: Vec<Term>,
    /// Bending changes beyond this count; infinite without `curvature`.
    least_bending: f32,
    response: StretchResponse,
}

impl FoldTables {
    /// Flattens a drawn fold.
    pub fn new(fold: &Fold, drawn: &FoldRest, faces: &Faces) -> Self {
        let mut table = Self::default();
        let range = |m: usize| drawn.term_offsets[m] as usize..drawn.term_offsets[m + 1] as usize;
        let count = drawn.points.len();
        // Members come sorted, refined ones first, and those lie in one triangle each.
        table.single = (0..count).take_while(|&m| range(m).len() < 2).count();
        for m in 0..count {
            // The mean of squared lengths and not of lengths: it is linear in the forms, so one root per member is enough.
            let share = 1.0 / range(m).len().max(1) as f32;
            let mut member = Member { arm: fold.curvature * drawn.heights[m], ..Member::default() };
            let mut last = None;
            for term in &drawn.terms[range(m)] {
                let Ok(face) = faces.triangles.binary_search(&term.triangle) else { continue };
                let (a, b) = (term.first, term.second);
                let mix = [share * a * a, share * 2.0 * a * b, share * b * b];
                let term = Term { face: face as u32, mix };
                member.bending += term.of(faces.drawn[face].bending);
                last = Some(term);
                if m >= table.single {
                    table.terms.push(term);
                }
            }
            if m >= table.single {
                member.end = table.terms.len() as u32;
                table.several.push(member);
            } else {
                table.push_single(m, member, last.unwrap_or_default());
            }
        }
        let curved = fold.curvature != 0.0;
        table.least_bending =
            if curved { tolerances::SAME_BENDING / fold.width } else { f32::INFINITY };
        table.response = StretchResponse::new(drawn);
        table
    }

    fn push_single(&mut self, index: usize, member: Member, term: Term) {
        let lane = index % 4;
        if lane == 0 {
            self.fours.push(Four::default());
        }
        let four = &mut self.fours[index / 4];
        (four.bending[lane], four.arms[lane]) = (member.bending, member.arm);
        four.faces[lane] = term.face;
        four.mix.iter_mut().zip(term.mix).for_each(|(all, one)| all[lane] = one);
    }

    /// Stretches of the coarse mesh across the fold at all members; exactly 1 as drawn. Where the mesh
    /// has bent meanwhile, the fold's own height makes it longer or shorter.
    pub fn compute_stretches(&self, faces: &Faces, out: &mut Vec<f32>) {
        out.clear();
        // Whole fours, and the lanes without a member are cut off again.
        out.resize(4 * self.fours.len(), 1.0);
        for (four, out) in self.fours.iter().zip(out.chunks_exact_mut(4)) {
            let now = four.faces.map(|f| faces.now[f as usize]);
            let change = four.of(now.map(|n| n.metric));
            let bending = four.of(now.map(|n| n.bending));
            let r = self.stretches(change, bending, four.bending, four.arms);
            out.copy_from_slice(&r.to_array());
        }
        out.truncate(self.single);
        let mut start = 0;
        for member in &self.several {
            let (mut change, mut bending) = (0.0, 0.0);
            let terms = &self.terms[start..member.end as usize];
            start = member.end as usize;
            for term in terms {
                let now = &faces.now[term.face as usize];
                change += term.of(now.metric);
                bending += term.of(now.bending);
            }
            let of = Vec4::splat;
            let r = self.stretches(of(change), of(bending), of(member.bending), of(member.arm));
            out.push(r.x);
        }
    }

    /// Four stretches from the changes of the squared lengths, the bending now and as drawn.
    #[inline(always)]
    fn stretches(&self, change: Vec4, bending: Vec4, drawn: Vec4, arms: Vec4) -> Vec4 {
        // A triangle that has turned inside out may give less than nothing.
        let square = (Vec4::ONE + change).max(Vec4::ZERO);
        let r = Vec4::from_array(square.to_array().map(f32::sqrt));
        // The form counts bending per drawn length; what bends is as long as it is now.
        let bent = bending / square.max(Vec4::splat(1e-12)) - drawn;
        let counts = bent.abs().cmpgt(Vec4::splat(self.least_bending));
        let r = r + Vec4::select(counts, bent * arms, Vec4::ZERO);
        // Rounding must not flicker between rising and flattening, which have speeds of their own.
        let same = (r - Vec4::ONE).abs().cmplt(Vec4::splat(tolerances::SAME_LENGTH as f32));
        Vec4::select(same, Vec4::ONE, r)
    }

    /// Factors by the least-squares law, from the stretches and the fold's speeds.
    pub fn compute_factors(
        &self,
        fold: &Fold,
        stretches: &[f32],
        scratch: &mut ResponseScratch,
        out: &mut [f32],
    ) {
        let [flat, rise] = [fold.k_flat as f32, fold.k_rise as f32];
        let push = |&r: &f32| (r - 1.0) * if r >= 1.0 { flat } else { rise };
        scratch.pushes.clear();
        scratch.pushes.extend(stretches.iter().map(push));
        self.response.compute_factors(scratch, out);
    }
}

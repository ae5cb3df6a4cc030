//! Four hairs of one wisp at a time, from the planes to the points that are seen.

use glam::{Mat4, Vec3, Vec4};

use super::beneath::{Guess, NO_GUESS};
use super::chain::MAX_PARTICLES;
use super::curve::{arc_lengths, around, place_on};
use super::detail::Detail;
use super::lanes::Lanes;
use super::laying::{Guesses, InReach, Laying};
use super::strand_planes::Planes;
use super::strands::StrandInput;
use crate::tolerances::nothing;

/// Points of a hair whose places are kept from the first pass over them to the second; those beyond are found
/// twice.
const KEPT: usize = 32;

/// Four hairs and their curves.
pub(super) struct FourHairs {
    /// Which hairs they are.
    pub ids: [usize; 4],
    count: usize,
    /// Where they go through each plane; the first is the root on the skin.
    control: [Lanes; MAX_PARTICLES],
    /// The same hair by hair, both ends doubled (see `unfold`).
    hairs: [[Vec4; MAX_PARTICLES + 2]; 4],
    /// Length of each segment of the curves [m].
    lengths: [Vec4; MAX_PARTICLES],
    /// Curve parameter at which each hair ends.
    tips: [f32; 4],
}

impl FourHairs {
    pub fn new() -> Self {
        Self {
            ids: [0; 4],
            count: 0,
            control: [Lanes::default(); MAX_PARTICLES],
            hairs: [[Vec4::ZERO; MAX_PARTICLES + 2]; 4],
            lengths: [Vec4::ZERO; MAX_PARTICLES],
            tips: [0.0; 4],
        }
    }

    /// Points of the hairs: the roots on the skin, then one in every plane from the second on.
    pub fn set(&mut self, input: &StrandInput, planes: &Planes, skin: &[Vec3]) {
        let rest = input.rest;
        let samples = rest.directions.len();
        self.count = planes.count;
        self.control[0] = Lanes::each(|k| skin[self.ids[k]]);
        let pairs = rest.place_pairs();
        let [a, b, c, d] = self.ids.map(|id| &rest.places[id * pairs..(id + 1) * pairs]);
        for k in 0..pairs {
            let t = Mat4::from_cols(a[k], b[k], c[k], d[k]).transpose();
            let plane = 2 * k + 1;
            self.control[plane] = planes.points(plane, t.x_axis, t.y_axis, samples);
            if plane + 1 < self.count {
                self.control[plane + 1] = planes.points(plane + 1, t.z_axis, t.w_axis, samples);
            }
        }
    }

    /// The same hair by hair: for those that are written one by one.
    pub fn unfold(&mut self) {
        for i in 0..self.count {
            let points = self.control[i].to_points();
            for (hair, p) in self.hairs.iter_mut().zip(points) {
                hair[i + 1] = p;
            }
        }
        // Doubled ends make the first and last segments leave straight.
        for hair in &mut self.hairs {
            hair[0] = hair[1];
            hair[self.count + 1] = hair[self.count];
        }
    }

    /// Where each hair ends: at its own length by arc, or by rest parameter.
    pub fn measure(&mut self, input: &StrandInput, root: usize) {
        let own = self.ids.map(|id| input.rest.shares[id]);
        if !input.by_length {
            self.tips = own.map(|share| share * (self.count - 1) as f32);
            return;
        }
        self.measure_segments();
        let mut left = Vec4::from_array(own) * input.rest.roots[root].length;
        let mut passed = Vec4::ZERO;
        let mut on_the_way = Vec4::ZERO.cmpeq(Vec4::ZERO);
        for length in &self.lengths[..self.count - 1] {
            on_the_way &= left.cmpgt(*length);
            left -= Vec4::select(on_the_way, *length, Vec4::ZERO);
            passed += Vec4::select(on_the_way, Vec4::ONE, Vec4::ZERO);
        }
        for hair in 0..4 {
            let segment = passed[hair] as usize;
            // Which segment a hair ends on differs from hair to hair, so this part goes one by one.
            let share = if segment + 1 < self.count {
                self.fraction(hair, segment, left[hair])
            } else {
                // Where the wisp is too short for it a hair goes straight on.
                left[hair] / self.lengths[self.count - 2][hair].max(nothing::NO_DIRECTION)
            };
            self.tips[hair] = passed[hair] + share;
        }
    }

    /// Arc length of every segment: its chord, and eight thirds of its bulge squared over the chord;
    /// by quadrature where it bends a lot.
    fn measure_segments(&mut self) {
        let last = self.count - 1;
        for i in 0..last {
            let (a, b) = (self.control[i.saturating_sub(1)], self.control[i]);
            let (c, d) = (self.control[i + 1], self.control[(i + 2).min(last)]);
            let chord = c - b;
            let length_sq = chord.length_squared().max(Vec4::splat(1.0e-18));
            // From the middle of the chord to the middle of the arc.
            let bulge = (chord + (b - a) + (b - d)) * (1.0 / 16.0);
            let along = bulge.dot_each(&chord);
            let bulge_sq = bulge.length_squared();
            let across_sq = bulge_sq - along * along / length_sq;
            let length = length_sq.sqrt();
            let flat = bulge_sq.cmplt(2.0e-3 * length_sq);
            let nearly = length + (8.0 / 3.0) * across_sq / length;
            self.lengths[i] = if flat.all() {
                nearly
            } else {
                Vec4::select(flat, nearly, arc_lengths([a, b, c, d]))
            };
        }
    }

    /// Parameter inside a segment after a length of arc: one secant step on the halved segment.
    fn fraction(&self, hair: usize, segment: usize, length: f32) -> f32 {
        let [a, b, c, d] = self.curve(hair, segment);
        let middle = (9.0 * (b + c) - (a + d)) * (1.0 / 16.0);
        let (first, second) = (b.distance(middle), middle.distance(c));
        let scaled =
            length * (first + second) / self.lengths[segment][hair].max(nothing::NO_DIRECTION);
        if scaled <= first {
            0.5 * scaled / first.max(nothing::NO_DIRECTION)
        } else {
            0.5 + 0.5 * (scaled - first) / second.max(nothing::NO_DIRECTION)
        }
    }

    /// Segment of the curve at a parameter, and the fraction of it.
    fn segment(&self, at: f32) -> (usize, f32) {
        let segment = (at as i32 as usize).min(self.count - 2);
        (segment, at - segment as f32)
    }

    /// The four points that shape a segment of one of the curves, without unfolding them all.
    fn curve(&self, hair: usize, segment: usize) -> [Vec4; 4] {
        let last = self.count - 1;
        let four = [segment.saturating_sub(1), segment, segment + 1, (segment + 2).min(last)];
        four.map(|i| self.control[i].lane(hair).extend(0.0))
    }

    /// Place on one of the curves.
    fn place(&self, hair: usize, (segment, t): (usize, f32)) -> Vec4 {
        place_on(around(&self.hairs[hair], segment), t)
    }

    /// Writes the points of the first `count` of the hairs, out of bodies and meshes. `points` begins
    /// with those of the hair `first`, and so do `guesses`: the triangles that may lie beneath each point and
    /// beneath the middle of the way to it (or none at all).
    pub fn write(
        &self,
        input: &StrandInput,
        planes: &Planes,
        root: usize,
        (count, first): (usize, usize),
        (points, guesses): (&mut [Vec3], &mut [[Guess; 2]]),
    ) {
        let each = input.params.points as usize;
        let starts = self.ids.map(|id| (id - first) * each);
        let starts = &starts[..count];
        let plain = input.params.curl_radius <= 0.0 && input.params.frizz <= 0.0;
        if plain && input.by_length {
            self.write_straight(input, planes, root, starts, (points, guesses));
        } else {
            self.write_springy(input, planes, root, starts, (points, guesses));
        }
    }

    /// Straight hairs keep their own length and lead around bodies. `starts`: where each one's points
    /// begin.
    fn write_straight(
        &self,
        input: &StrandInput,
        planes: &Planes,
        root: usize,
        starts: &[usize],
        (points, guesses): (&mut [Vec3], &mut [[Guess; 2]]),
    ) {
        let each = input.params.points as usize;
        let steps = Vec4::from_array(self.tips) / (each - 1) as f32;
        let mut before = self.control[0];
        let mut chords = Vec4::ZERO;
        let mut kept = [Lanes::default(); KEPT];
        // Twice over the points: how long the chords are together must be known before the first is laid.
        for k in 1..each {
            let wanted = self.places(steps * k as f32);
            chords += (wanted - before).length_squared().sqrt();
            before = wanted;
            if let Some(slot) = kept.get_mut(k) {
                *slot = wanted;
            }
        }
        // Chords are shorter than arcs: by so much is each of them lengthened, so that the hair is as long as it is.
        let own = Vec4::from_array(self.ids.map(|id| input.rest.shares[id]));
        let longer = own * input.rest.roots[root].length / chords.max(Vec4::splat(1.0e-9));
        let mut laying = Laying::new(input, self.control[0]);
        before = self.control[0];
        write_lanes(points, starts, 0, &before);
        for k in 1..each {
            let in_reach = self.in_reach(planes, steps * k as f32);
            let again = || self.places(steps * k as f32);
            let wanted = kept.get(k).copied().unwrap_or_else(again);
            let segments = longer * (wanted - before).length_squared().sqrt();
            before = wanted;
            // Guesses go with the hairs, not with the lanes: the order of four may change when a wisp splits.
            let mut known = read_guesses(guesses, starts, k);
            let at = laying.next(&wanted, segments, in_reach, &mut known);
            write_guesses(guesses, starts, k, &known);
            write_lanes(points, starts, k, &at);
        }
    }

    /// Places on the four curves, each at its own parameter.
    fn places(&self, at: Vec4) -> Lanes {
        // Hairs of one wisp are about as long as each other: mostly the four are on one segment or two.
        let (first, _) = self.segment(at.min_element());
        let (last, _) = self.segment(at.max_element());
        let mut out = self.places_on(first, at - first as f32);
        for segment in first + 1..=last {
            let fractions = at - segment as f32;
            let here = fractions.cmpge(Vec4::ZERO);
            out = Lanes::select(here, self.places_on(segment, fractions), out);
        }
        // Straight on beyond the end.
        let beyond = at - (self.count - 1) as f32;
        let longer = beyond.cmpgt(Vec4::ZERO);
        if longer.any() {
            let (b, c) = (self.control[self.count - 2], self.control[self.count - 1]);
            out = Lanes::select(longer, c + (c - b) * beyond, out);
        }
        out
    }

    /// Places on one segment of the four curves, as `catmull_rom` has them.
    fn places_on(&self, segment: usize, t: Vec4) -> Lanes {
        let a = self.control[segment.saturating_sub(1)];
        let (b, c) = (self.control[segment], self.control[segment + 1]);
        let d = self.control[(segment + 2).min(self.count - 1)];
        let from_a = t * (-0.5 + t * (1.0 + t * -0.5));
        let from_b = 1.0 + t * (t * (-2.5 + t * 1.5));
        let from_c = t * (0.5 + t * (2.0 + t * -1.5));
        let from_d = t * (t * (-0.5 + t * 0.5));
        a * from_a + b * from_b + c * from_c + d * from_d
    }

    /// What the four hairs may touch on the way to their parameters.
    fn in_reach(&self, planes: &Planes, at: Vec4) -> InReach {
        let mut in_reach = InReach::default();
        if !planes.touched {
            return in_reach;
        }
        let (first, _) = self.segment(at.min_element());
        let (last, _) = self.segment(at.max_element());
        for plane in first + 1..=last + 1 {
            in_reach.bodies |= planes.near[plane];
            in_reach.meshes |= planes.near_meshes[plane];
        }
        in_reach
    }

    /// Springy hairs go through their planes, curls and frizz around that. `starts`: where each one's points begin.
    fn write_springy(
        &self,
        input: &StrandInput,
        planes: &Planes,
        root: usize,
        starts: &[usize],
        (points, guesses): (&mut [Vec3], &mut [[Guess; 2]]),
    ) {
        let each = input.params.points as usize;
        let steps = Vec4::from_array(self.tips) / (each - 1) as f32;
        let per_parameter = 1.0 / (self.count - 1) as f32;
        let apart = steps * per_parameter * input.rest.roots[root].length;
        let mut details: [Option<Detail>; 4] = std::array::from_fn(|hair| {
            Detail::new(input, root as u64, self.ids[hair] as u64, apart[hair])
        });
        let mut offset = |hair: usize, k: usize, at: f32| {
            let Some(detail) = &mut details[hair] else { return Vec3::ZERO };
            let (segment, t) = self.segment(at);
            planes.across(segment, t.min(1.0), detail.next(k as f32 * steps[hair] * per_parameter))
        };
        let mut laying = Laying::new(input, self.control[0]);
        write_lanes(points, starts, 0, &self.control[0]);
        // The root stays on the skin; its turn passes all the same.
        for hair in 0..4 {
            offset(hair, 0, 0.0);
        }
        for k in 1..each {
            let at = steps * k as f32;
            let offsets = [0, 1, 2, 3].map(|hair| offset(hair, k, at[hair]).extend(0.0));
            let wanted = self.places(at) + Lanes::from_points(offsets);
            let in_reach = self.in_reach(planes, at);
            let mut known = read_guesses(guesses, starts, k);
            let at = laying.next_springy(&wanted, in_reach, &mut known);
            write_guesses(guesses, starts, k, &known);
            write_lanes(points, starts, k, &at);
        }
    }

    /// Writes the velocities of one of the hairs' points: those of its points in the planes, along
    /// the same curve. `past` are the same hairs a time `dt` earlier.
    pub fn write_velocities(&self, past: &Self, dt: f32, hair: usize, out: &mut [Vec3]) {
        let step = self.tips[hair] / (out.len() - 1) as f32;
        for (k, out) in out.iter_mut().enumerate() {
            let at = self.segment(step * k as f32);
            *out = ((self.place(hair, at) - past.place(hair, at)) / dt).truncate();
        }
    }

    /// Points of one of the hairs in the planes.
    #[cfg(test)]
    pub fn control_points(&self, hair: usize) -> Vec<Vec3> {
        self.control[..self.count].iter().map(|p| p.lane(hair)).collect()
    }
}

/// Puts one point of each of several hairs where it belongs.
fn write_lanes(points: &mut [Vec3], starts: &[usize], k: usize, at: &Lanes) {
    let four = at.to_points();
    for (start, p) in starts.iter().zip(four) {
        points[start + k] = p.truncate();
    }
}

/// What may lie beneath one point of each of several hairs; nothing is known where there are no guesses.
fn read_guesses(guesses: &[[Guess; 2]], starts: &[usize], k: usize) -> Guesses {
    if guesses.is_empty() {
        return Guesses { start: [NO_GUESS; 4], end: [NO_GUESS; 4], middle: [NO_GUESS; 4] };
    }
    let of = |hair: usize, k: usize| starts.get(hair).and_then(|start| guesses.get(start + k));
    let four = |k: usize, part: usize| {
        std::array::from_fn(|hair| of(hair, k).map_or(NO_GUESS, |both| both[part]))
    };
    Guesses { start: four(k - 1, 0), end: four(k, 0), middle: four(k, 1) }
}

/// Keeps it for the next frame.
fn write_guesses(guesses: &mut [[Guess; 2]], starts: &[usize], k: usize, known: &Guesses) {
    if guesses.is_empty() {
        return;
    }
    for (hair, start) in starts.iter().enumerate() {
        if let Some([before, here]) = guesses.get_mut(start + k - 1..=start + k) {
            before[0] = known.start[hair];
            *here = [known.end[hair], known.middle[hair]];
        }
    }
}

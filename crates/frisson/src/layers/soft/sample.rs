//! Where every seed is: surface, border, contact; and what its territory weighs.

use std::sync::Arc;

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;

use super::field::{BULGE_ZONE, Kind, bulge_shape};
use super::field_scratch::{FieldQuery, FieldScratch, Seen};
use super::neighbourhood::Neighbourhood;
use super::primitive_fields::{NOBODY, Primitive, PrimitiveFields};
use super::seeds::{ContactSeeds, Piece, Ray, Seed, compute_pieces};
use super::slide::{medial, slide};
use super::tool::Tools;
use crate::geometry::Grid;
use crate::tolerances::soft as tolerances;

/// Who presses on a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presser {
    /// A primitive that does not blend with the seed's.
    Primitive(u32),
    /// A tool of the scene, by its place in the list.
    Tool(u32),
}

/// A seed on a contact surface.
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint {
    /// Who is on the other side.
    pub presser: Presser,
    /// Place [m].
    pub point: DVec3,
    /// Unit normal towards the other side.
    pub normal: DVec3,
    /// Pressure there [Pa].
    pub pressure: f64,
    /// Share of the contact surface [m²].
    pub area: f64,
    /// How far the two sides are welded here, from 0 to 1 [-].
    pub fused: f64,
    /// How far the coat is pressed in here, as a share of its thickness [-].
    pub depth: f64,
}

/// What the seeds of one primitive have found.
#[derive(Clone, Debug, Default)]
pub struct Territory {
    /// Volume of its territory [m³].
    pub volume: f64,
    /// Change of that volume per metre of its own coat's thickness, by free surface and by borders
    /// that move [m²].
    pub gain: f64,
    /// Change of its volume per metre by which all coats around thicken together [m²]: its free
    /// surface, and more in necks.
    pub common_gain: f64,
    /// Contacts.
    pub contacts: Vec<ContactPoint>,
    /// Primitive that holds this one's own place although it does not blend with it, and how far it
    /// does not.
    pub buried_by: Option<(u32, f64)>,
    /// Whether nobody is near to whom it would make a difference where its seeds are.
    pub quiet: bool,
    pub(super) near: Neighbourhood,
    /// Primitives of the grid's cells around.
    around: Vec<u32>,
    /// Tools in reach.
    tools: Vec<u32>,
    pub(super) scratch: FieldScratch,
    pieces: Vec<Piece>,
}

impl Territory {
    /// Finds the primitives and welds that can matter to a primitive.
    pub fn gather(&mut self, fields: &PrimitiveFields, grid: &Grid, index: usize) {
        let (low, high) = support_box(fields, index);
        let found = &mut self.around;
        found.clear();
        grid.query(low, high, |other| {
            let (a, b) = support_box(fields, other as usize);
            if a.cmple(high).all() && b.cmpge(low).all() {
                found.push(other);
            }
        });
        found.push(index as u32);
        found.sort_unstable();
        found.dedup();
        self.near.set(fields, found.iter().copied());
        self.near.limit_spots(fields, low, high);
    }

    /// Primitives whose supports meet this one's.
    #[must_use]
    pub fn near(&self) -> &[u32] {
        &self.near.members
    }

    /// Welds that may matter to it.
    #[must_use]
    pub fn spots(&self) -> &[u32] {
        &self.near.spots
    }
}

/// Everything that stays the same while the seeds slide.
pub struct Sampling<'a> {
    /// The coats.
    pub fields: &'a PrimitiveFields,
    /// Seeds of each primitive.
    pub seeds: &'a [Vec<Seed>],
    /// Finer seeds for contacts.
    pub contact_seeds: &'a [Arc<ContactSeeds>],
    /// Axes of each primitive, stretched where a particle is flattened.
    pub axes: &'a [DMat3],
    /// Tools.
    pub tools: Tools<'a>,
    /// Balls under skins, by their object: among themselves they are quiet.
    pub balls: Option<&'a [Option<u32>]>,
}

/// What a primitive finds at a place.
pub(super) struct Found {
    /// Positive inside its territory [Pa].
    pub inside: f64,
    /// Positive inside its side, whichever of those that blend owns the place [Pa].
    pub surface: f64,
    /// Fields there.
    pub seen: Seen,
    /// Distance of the nearest tool [m].
    pub tool_distance: f64,
    /// That tool.
    pub tool: u32,
}

/// The box of a primitive's support.
pub fn support_box(fields: &PrimitiveFields, index: usize) -> (Vec3, Vec3) {
    let reach = fields.span(index);
    let points = fields.points_of(index);
    let low = points.iter().fold(DVec3::INFINITY, |m, p| m.min(*p)) - reach;
    let high = points.iter().fold(DVec3::NEG_INFINITY, |m, p| m.max(*p)) + reach;
    (low.as_vec3(), high.as_vec3())
}

/// Fills a grid with the supports of all primitives.
pub fn fill_grid(fields: &PrimitiveFields, grid: &mut Grid) {
    let count = fields.primitives.len();
    let mut sizes = 0.0f64;
    for i in 0..count {
        let (low, high) = support_box(fields, i);
        sizes += f64::from((high - low).max_element());
    }
    let cell = (sizes / count.max(1) as f64).max(1e-9) as f32;
    grid.build_boxes((0..count).map(|i| support_box(fields, i)), cell);
}

impl Sampling<'_> {
    /// Slides every seed to its place. Each primitive is done by one thread, from data that nobody
    /// changes meanwhile: same bits for any number of threads.
    pub fn run(&self, grid: &Grid, distances: &mut [Vec<f64>], territories: &mut [Territory]) {
        territories
            .par_iter_mut()
            .zip(distances.par_iter_mut())
            .enumerate()
            // Four primitives a task: stealing single ones costs more than the seeds of a point.
            .with_min_len(4)
            .for_each(|(index, (territory, distances))| {
                territory.gather(self.fields, grid, index);
                self.sample(index, distances, territory);
            });
    }

    fn sample(&self, index: usize, distances: &mut [f64], territory: &mut Territory) {
        let fields = self.fields;
        let primitive = &fields.primitives[index];
        let points = fields.points_of(index);
        compute_pieces(primitive.kind, points, self.axes[index], &mut territory.pieces);
        territory.contacts.clear();
        (territory.volume, territory.gain, territory.common_gain) = (0.0, 0.0, 0.0);
        territory.buried_by = None;
        let reach = fields.reach(index);
        // Seeds go on from where they were: no further than half a thickness beyond the furthest.
        let furthest = distances.iter().copied().fold(0.0, f64::max);
        // A coat cannot have grown by more within a step; what is beyond would be found by searching in vain.
        let limit = reach.min(furthest + 0.5 * primitive.profile.thickness);
        let middle = fields.middle(index);
        let span = fields.span(index);
        let size = points.iter().map(|p| p.distance(middle)).fold(span, |m, d| m.max(d + span));
        // A ball around the primitive: tools beyond it cannot stop any of its seeds.
        let in_reach = |i: &u32| self.tools.get(*i as usize).contact(middle).0 < size;
        territory.tools.clear();
        territory.tools.extend((0..self.tools.len() as u32).filter(in_reach));
        territory.quiet = self.is_quiet(index, territory);
        if territory.quiet {
            return;
        }
        territory.buried_by = self.buried_by(index, territory);
        for (i, (seed, distance)) in self.seeds[index].iter().zip(distances).enumerate() {
            let ray = seed.ray(points, &territory.pieces);
            territory.scratch.begin_ray(fields, &territory.near, &ray, limit);
            *distance = self.slide(index, &ray, (*distance, limit), territory);
            // Also of seeds that a border has stopped: the volume up to it is theirs.
            territory.volume += ray.weight * distance.powi(ray.power) / f64::from(ray.power);
            let first = territory.contacts.len();
            let near = self.classify(index, &ray, (*distance, limit), territory);
            let Some(fine) = self.contact_seeds[index].of(i).filter(|_| near) else { continue };
            territory.contacts.truncate(first);
            territory.scratch.end_ray();
            // Finer seeds are for contacts: what the territory gains is counted by the seed itself.
            let gains = (territory.gain, territory.common_gain);
            for seed in fine {
                let ray = seed.ray(points, &territory.pieces);
                let d = self.slide(index, &ray, (*distance, limit), territory);
                self.classify(index, &ray, (d, limit), territory);
            }
            (territory.gain, territory.common_gain) = gains;
        }
        territory.scratch.end_ray();
    }

    /// Whether a ball under a skin has only such balls of its own object around: these are carried and not pushed,
    /// and what is shown is the skin.
    fn is_quiet(&self, index: usize, territory: &Territory) -> bool {
        let Some(balls) = self.balls else { return false };
        let own = balls[index];
        let alike = |&other: &u32| balls[other as usize] == own;
        own.is_some() && territory.tools.is_empty() && territory.near().iter().all(alike)
    }

    /// Where a seed that starts at some distance arrives, within a limit.
    fn slide(
        &self,
        index: usize,
        ray: &Ray,
        (start, limit): (f64, f64),
        territory: &mut Territory,
    ) -> f64 {
        let profile = &self.fields.primitives[index].profile;
        slide(start, limit, tolerances::SEED * profile.thickness, profile.stiffness, |d| {
            let at = ray.origin + d * ray.direction;
            self.look(index, territory, at, d).inside
        })
    }

    /// What a primitive finds at a place and a distance from it.
    pub(super) fn look(
        &self,
        index: usize,
        territory: &mut Territory,
        at: DVec3,
        distance: f64,
    ) -> Found {
        let Territory { near, scratch, tools, .. } = territory;
        let primitive = &self.fields.primitives[index];
        let seen = scratch.see(FieldQuery { fields: self.fields, near, index: index as u32, at });
        let (mut tool_distance, mut tool) = (f64::INFINITY, 0);
        for &i in tools.iter() {
            let d = self.tools.get(i as usize).contact(at).0;
            if d < tool_distance {
                (tool_distance, tool) = (d, i);
            }
        }
        let bulge =
            if primitive.bulge > 0.0 { self.bulge(primitive, &seen, tool_distance) } else { 0.0 };
        let surface = (seen.side + bulge - self.fields.level).min(seen.alone + bulge - seen.other);
        let surface = surface.min(primitive.profile.stiffness * tool_distance);
        // Those that blend share a border: where their own fields are equal.
        let mut least = surface.min(seen.own - seen.rival);
        if primitive.kind == Kind::Polyline && primitive.count > 2 {
            let slack = tolerances::MEDIAL * primitive.profile.thickness;
            let beyond = medial(primitive.kind, self.fields.points_of(index), at, distance);
            least = least.min(primitive.profile.stiffness * (beyond + slack));
        }
        Found { inside: least, surface, seen, tool_distance, tool }
    }

    /// What a bulge adds beside a contact with another mesh or a tool [Pa].
    fn bulge(&self, primitive: &Primitive, seen: &Seen, tool_distance: f64) -> f64 {
        let zone = BULGE_ZONE * self.fields.level;
        let others = self.fields.primitives.get(seen.other_primitive as usize);
        let other = others.filter(|o| o.label != primitive.label).map_or(0.0, |_| seen.other);
        let beside_other = bulge_shape((self.fields.level - other) / zone).0;
        let beside_tool = bulge_shape(primitive.profile.stiffness * tool_distance / zone).0;
        primitive.bulge * beside_other.max(beside_tool)
    }

    /// What stopped the seed, and what follows from it. Whether a contact is within its cell.
    fn classify(
        &self,
        index: usize,
        ray: &Ray,
        (d, limit): (f64, f64),
        territory: &mut Territory,
    ) -> bool {
        let fields = self.fields;
        let profile = &fields.primitives[index].profile;
        let at = ray.origin + d * ray.direction;
        let Found { seen, tool_distance, .. } = self.look(index, territory, at, d);
        let close = tolerances::STOPPED * profile.thickness;
        // A tenth: a seed on a border is stopped by it more exactly than by the slower field of a whole side.
        let border = seen.own - seen.rival < profile.stiffness * close * 0.1;
        let on_tool = tool_distance < close;
        let pressed = seen.other > fields.level;
        let cone = ray.weight * d.powi(ray.power - 1);
        // Half as wide again as what the seed stands for: the next seed over may be in the contact although this is not.
        let cell = 1.5 * cone.sqrt();
        let near_contact =
            tool_distance < cell || seen.other > fields.level - profile.stiffness * cell;
        if on_tool {
            self.touch(index, ray, d, territory);
            return near_contact;
        }
        let above = (seen.side - fields.level) / profile.stiffness;
        let gap = above.min((seen.alone - seen.other) / profile.stiffness);
        if gap > close {
            // A border, or beyond the medial axis.
            if border && seen.rival_primitive != NOBODY {
                territory.gain += self.border_gain(index, &seen, (at, ray.direction), cone);
                if near_contact {
                    let end = (d + cell).min(limit);
                    self.touch_beyond(index, ray, (d, end), territory);
                }
            }
            return near_contact;
        }
        if pressed {
            self.touch(index, ray, d, territory);
        } else if !border && above <= close {
            let query = FieldQuery { fields, near: &territory.near, index: index as u32, at };
            let (own, lengths) = territory.scratch.side_gradient(query);
            let slope = own.length().max(f64::MIN_POSITIVE);
            let cosine = (-own / slope).dot(ray.direction).max(tolerances::LEAST_COSINE);
            let area = cone / cosine;
            // Where fields oppose each other (a neck) thickening moves the surface far.
            territory.common_gain += area * (lengths / slope).min(tolerances::MOST_GAIN);
            // What its own coat alone would move: others around do not thicken with it.
            let single = fields.field_of(index, at).1.abs();
            territory.gain += area * single / slope;
        }
        near_contact
    }

    /// How much volume a border at a place and a way gives per metre of thickness: much where two fields are
    /// nearly alike.
    fn border_gain(
        &self,
        index: usize,
        seen: &Seen,
        (at, direction): (DVec3, DVec3),
        cone: f64,
    ) -> f64 {
        let own = self.fields.gradient_of(index, at);
        let between = own - self.fields.gradient_of(seen.rival_primitive as usize, at);
        let slope = between.length().max(1e-6 * own.length()).max(f64::MIN_POSITIVE);
        let cosine = (between / slope).dot(direction).abs().max(tolerances::LEAST_COSINE);
        cone / cosine * self.fields.field_of(index, at).1.abs() / slope
    }

    /// Whether another side holds the primitive's own place: no seed can leave it then.
    fn buried_by(&self, index: usize, territory: &mut Territory) -> Option<(u32, f64)> {
        let middle = self.fields.middle(index);
        let (fields, near) = (self.fields, &territory.near);
        let query = FieldQuery { fields, near, index: index as u32, at: middle };
        let seen = territory.scratch.see(query);
        let held = seen.other > seen.alone && seen.other > self.fields.level && seen.fused < 1.0;
        held.then_some((seen.other_primitive, 1.0 - seen.fused))
    }
}

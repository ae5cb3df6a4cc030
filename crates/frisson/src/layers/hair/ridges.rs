//! Ways of hairs that would go into a mesh between their ends: over the rim of an ear, not through it.
//!
//! The planes beneath the end and the middle of a way know nothing of what is thinner than the way is
//! long, and inside a thin part the nearest place may be on its far side. But the start of a way is
//! outside, so the first triangle that the way enters by tells which side to stay on:
//!
//! ```text
//!                  _
//!     last o──────|─|──► at       turned about `last` until it is above the plane that it entered by,
//!                 | |             and above those before it
//!     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//! ```

use glam::{BVec4A, Vec3, Vec4};

use super::beneath::{Beneath, Guess};
use super::lanes::Lanes;
use crate::stage::SurfaceMotion;

/// Planes that one way is kept above, at most.
const MOST: usize = super::limits::RIDGE_ROUNDS;

/// Sine of the angle between two walls from which on there is an edge between them [-]: 10 degrees.
const LEAST_EDGE: f32 = 0.17;

/// A plane to stay above.
#[derive(Clone, Copy, Default)]
struct Plane {
    normal: Vec3,
    /// Least share of the normal in a direction [-].
    rise: f32,
}

impl Plane {
    /// Turns a unit direction up to the plane; tells whether it had to be. `ahead`: where the hair came along.
    ///
    /// A way that leads nearly straight into a wall says little about where to go along it, and would go another way
    /// for the slightest change: the steeper it is, the more the hair goes on as it came.
    fn turn(&self, direction: &mut Vec3, ahead: Vec3) -> bool {
        let own = direction.dot(self.normal);
        if self.rise - own < super::limits::LEAST_TURN {
            return false;
        }
        let across = |v: Vec3| v - self.normal * v.dot(self.normal);
        let wanted = across(*direction) + own.abs() * across(ahead);
        let flat = wanted.try_normalize().unwrap_or_else(|| self.normal.any_orthonormal_vector());
        let run = (1.0 - self.rise * self.rise).max(0.0).sqrt();
        *direction = self.normal * self.rise + flat * run;
        true
    }
}

/// The ways from the points of four hairs to the next.
pub(super) struct FourWays {
    /// The points before, and at least how high they are above meshes [m].
    pub last: Lanes,
    pub heights: Vec4,
    /// Where the next would be.
    pub at: Lanes,
    /// Lengths of the ways [m].
    pub segments: Vec4,
    /// Those of which only the first half may cross anything.
    pub half: BVec4A,
}

impl FourWays {
    /// Which of those that are asked for may cross a triangle, one bit each: nearly none does, and only those
    /// are looked at one by one. `guesses`: what may lie beneath their starts.
    pub fn crossing(
        &self,
        meshes: &[SurfaceMotion],
        bits: u8,
        asked: BVec4A,
        guesses: &mut [Guess; 4],
    ) -> u32 {
        let from = self.starts(meshes, bits, asked, guesses);
        let length = self.segments.max(Vec4::splat(crate::tolerances::MIN_LENGTH));
        // As far as `clear` looks: what is passed over here is never asked again.
        let reach = Vec4::select(self.half, 0.5 * self.segments, self.segments);
        let reach = reach + super::limits::LIFT;
        let way = self.last + (self.at - self.last) * (reach / length) - from;
        let (from, way) = ([from.x, from.y, from.z], [way.x, way.y, way.z]);
        let chosen = meshes.iter().enumerate().take(8).filter(|(k, _)| bits >> k & 1 == 1);
        chosen.fold(0, |crossed, (_, mesh)| crossed | mesh.bvh().crossed_by_four(from, way, asked))
    }

    /// Where to look along them from, as `HairWay::start`.
    fn starts(
        &self,
        meshes: &[SurfaceMotion],
        bits: u8,
        asked: BVec4A,
        guesses: &mut [Guess; 4],
    ) -> Lanes {
        let low = asked & self.heights.cmple(Vec4::splat(super::limits::LIFT));
        if !low.any() {
            return self.last;
        }
        let reaches = Vec4::select(low, Vec4::splat(super::limits::GROUND), Vec4::NEG_ONE);
        let nothing = Beneath::nothing();
        let found = Beneath::find(meshes, bits, &self.last, reaches, &nothing, guesses);
        let mut starts = self.last;
        for lane in (0..4).filter(|lane| low.bitmask() >> lane & 1 == 1) {
            let lift = (super::limits::LIFT - found.heights[lane]).max(0.0);
            let up = found.up(meshes, lane);
            starts.set(lane, starts.lane(lane) + lift * up);
        }
        starts
    }
}

/// The way from one point of a hair to the next.
pub(super) struct HairWay {
    /// The point before, and at least how high it is above meshes [m].
    pub last: Vec3,
    pub height: f32,
    /// The way to it from the one before that.
    pub along: Vec3,
    /// Where the next would be.
    pub at: Vec3,
    /// Its length [m].
    pub segment: f32,
    /// How high its end stays above what it would have entered [m].
    pub margin: f32,
}

impl HairWay {
    /// Where it ends when it enters none of the meshes whose bits are set.
    pub fn clear(&self, meshes: &[SurfaceMotion], bits: u8) -> Vec3 {
        let start = self.start(meshes, bits);
        // A little beyond the end: a hair that ended on a wall would start inside of it.
        let reach = self.segment + super::limits::LIFT;
        let enters = |along: Vec3| entered(meshes, bits, start, self.last + along * reach - start);
        let wanted = (self.at - self.last) / self.segment.max(crate::tolerances::MIN_LENGTH);
        let Some(first) = enters(wanted) else { return self.at };
        let mut walls = [Plane::default(); MOST];
        let (mut direction, is_clear) = self.turned_off(wanted, first, &mut walls, &enters);
        if !is_clear {
            // No way over the walls: on between two of them, as hair lies in the fold behind an ear; else out, or back.
            let up = ground(meshes, bits, self.last).map_or(Vec3::Y, |(up, _)| up);
            let between = ways_between(&walls, wanted).into_iter().flatten();
            let mut ways = between.chain(self.ways_out(direction, up));
            direction = ways.find(|d| enters(*d).is_none()).unwrap_or(up);
        }
        self.last + least_turn(wanted, direction, &enters) * self.segment
    }

    /// A direction turned off the triangle that it enters by, and off those that it would enter by then, and whether
    /// it is clear of all of them.
    fn turned_off(
        &self,
        wanted: Vec3,
        first: Entry,
        planes: &mut [Plane; MOST],
        enters: &impl Enters,
    ) -> (Vec3, bool) {
        let ahead = self.along.normalize_or_zero();
        let mut direction = wanted;
        let mut next = Some(first);
        for count in 1..=MOST {
            let Some((normal, place)) = next else { break };
            let height = normal.dot(self.last - place);
            // How steep the way must be to end at the margin above this wall; a start inside of it would ask for
            // straight up.
            let rise = ((self.margin - height) / self.segment).min(super::limits::STEEPEST);
            planes[count - 1] = Plane { normal, rise };
            for _ in 0..super::limits::TURN_ROUNDS {
                // All of them, not only the first that turns it.
                if !planes[..count].iter().fold(false, |any, p| p.turn(&mut direction, ahead) | any)
                {
                    break;
                }
            }
            next = enters(direction);
        }
        (direction, next.is_none())
    }

    /// Directions to try where none along the walls is free: up, up on either side, back.
    fn ways_out(&self, direction: Vec3, up: Vec3) -> [Vec3; 6] {
        let side = up.cross(direction).normalize_or(up.any_orthonormal_vector());
        let back = -self.along.normalize_or(up);
        [up + direction, up, up + side, up - side, up + back, back].map(|d| d.normalize_or(up))
    }

    /// Where to look along it from: a little outside of what the point before lies on or in, as a root does.
    fn start(&self, meshes: &[SurfaceMotion], bits: u8) -> Vec3 {
        if self.height > super::limits::LIFT { self.last } else { lifted(meshes, bits, self.last) }
    }
}

/// A place a little outside of what it lies on or in.
fn lifted(meshes: &[SurfaceMotion], bits: u8, place: Vec3) -> Vec3 {
    let lift = |(up, height): (Vec3, f32)| up * (super::limits::LIFT - height).max(0.0);
    place + ground(meshes, bits, place).map_or(Vec3::ZERO, lift)
}

/// The normal of the triangle that a way goes in by, and where.
type Entry = (Vec3, Vec3);

/// Tells where a direction enters first.
trait Enters: Fn(Vec3) -> Option<Entry> {}

impl<F: Fn(Vec3) -> Option<Entry>> Enters for F {}

/// The directions in which two of the first three walls both lead on, towards a direction: neither is left or entered.
fn ways_between(walls: &[Plane; MOST], towards: Vec3) -> [Option<Vec3>; 3] {
    [[0, 1], [1, 2], [0, 2]].map(|[a, b]| {
        let along = walls[a].normal.cross(walls[b].normal);
        // Walls that face the same way, or each other, have no edge between them.
        let is_edge = along.length() > LEAST_EDGE;
        is_edge.then(|| along.normalize() * along.dot(towards).signum())
    })
}

/// The least turn from a direction that enters something towards one that is clear. A plane goes on beyond the triangle
/// that it is of: turned off all of it, a hair that only just enters would jump as far as one that goes right through.
fn least_turn(from: Vec3, to: Vec3, enters: &impl Enters) -> Vec3 {
    let turned = |share: f32| from.lerp(to, share).normalize_or(to);
    let (mut inside, mut clear) = (0.0, 1.0);
    for _ in 0..super::limits::TURN_HALVINGS {
        let middle = 0.5 * (inside + clear);
        if enters(turned(middle)).is_some() {
            inside = middle;
        } else {
            clear = middle;
        }
    }
    turned(clear)
}

/// The normal of the first triangle that a way goes in by, and where.
fn entered(meshes: &[SurfaceMotion], bits: u8, from: Vec3, way: Vec3) -> Option<Entry> {
    let mut first = ((f32::INFINITY, 0), None);
    for (_, mesh) in meshes.iter().enumerate().take(8).filter(|(k, _)| bits >> k & 1 == 1) {
        mesh.bvh().raycast_all(from, way, |triangle, t| {
            let normal = mesh.bvh().face_normal(triangle);
            // Of two that share an edge there the lower, whatever the shape of the tree.
            if way.dot(normal) < 0.0 && (t, triangle) < first.0 {
                first = ((t, triangle), Some((normal, from + t * way)));
            }
        });
    }
    first.1
}

/// The outward normal of the nearest mesh beneath a place, and how high the place is above it [m].
fn ground(meshes: &[SurfaceMotion], bits: u8, from: Vec3) -> Option<(Vec3, f32)> {
    let chosen = meshes.iter().enumerate().take(8).filter(|(k, _)| bits >> k & 1 == 1);
    let beneath = chosen.filter_map(|(_, mesh)| {
        let (height, hit) = mesh.signed_distance(from, super::limits::GROUND)?;
        Some((mesh.normal(hit.triangle, hit.barycentric), height))
    });
    beneath.min_by(|a, b| a.1.total_cmp(&b.1))
}

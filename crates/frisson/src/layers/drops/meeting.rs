//! Drops that meet in the air become one: masses and momenta add, at their common centre.

use glam::{DVec3, Vec3};

use super::site::Site;
use super::state::{Droplet, NO_STREAM, Phase, any_drop};
use crate::geometry::Grid;

/// Storage of the search, reused.
#[derive(Default)]
pub struct AirMeetings {
    grid: Grid,
    falling: Vec<Falling>,
    middles: Vec<Vec3>,
    /// Those that one drop may meet, in the order of birth.
    near: Vec<u32>,
}

/// A drop's way in the air during a tick.
#[derive(Clone, Copy)]
struct Falling {
    index: u32,
    end: DVec3,
    velocity: DVec3,
    radius: f64,
    /// Half the side of the box around its way [m].
    extent: f32,
    stream: u64,
}

impl Falling {
    /// Whether two touch within the tick, each moving evenly.
    fn meets(&self, other: &Self, dt: f64) -> bool {
        let (apart, change) = (self.end - other.end, self.velocity - other.velocity);
        let length = change.length_squared();
        // Time before the end of the tick at which they are nearest.
        let back = if length > 0.0 { (apart.dot(change) / length).clamp(0.0, dt) } else { 0.0 };
        let reach = self.radius + other.radius;
        (apart - change * back).length_squared() < reach * reach
    }
}

impl AirMeetings {
    /// Unites the drops that meet; those that are gone have no mass left. Returns how many are.
    pub fn unite(&mut self, drops: &mut [Droplet], site: &Site, (time, dt): (f64, f64)) -> u64 {
        self.list(drops, site, (time, dt));
        if self.falling.len() < 2 {
            return 0;
        }
        let largest = self.falling.iter().fold(0.0f32, |most, f| most.max(f.extent));
        self.middles.clear();
        let middle = |f: &Falling| (f.end - f.velocity * (0.5 * dt)).as_vec3();
        self.middles.extend(self.falling.iter().map(middle));
        let (grid, middles) = (&mut self.grid, &self.middles);
        grid.build_points(middles.len(), |i| middles[i], (2.0 * largest).max(1e-4));
        let mut merges = 0;
        for i in 0..self.falling.len() {
            let reach = Vec3::splat(self.falling[i].extent + largest);
            let (middle, near) = (self.middles[i], &mut self.near);
            near.clear();
            // Each pair once, from its elder.
            self.grid.query(middle - reach, middle + reach, |j| {
                if j as usize > i {
                    near.push(j);
                }
            });
            near.sort_unstable();
            for n in 0..self.near.len() {
                merges += u64::from(self.try_pair(drops, (i, self.near[n] as usize), (time, dt)));
            }
        }
        merges
    }

    /// Lists what falls, except what has just let go or splashed: those start in one place.
    fn list(&mut self, drops: &[Droplet], site: &Site, (time, dt): (f64, f64)) {
        self.falling.clear();
        if !any_drop(drops, |d| !d.is_on_surface()) {
            return;
        }
        for (index, drop) in drops.iter().enumerate() {
            let Phase::Air { position, velocity, since, .. } = drop.phase else { continue };
            if time - since < site.liquid.air_time.max(dt) {
                continue;
            }
            let radius = site.liquid.radius(drop.mass);
            let way = velocity.abs().max_element() * 0.5 * dt;
            self.falling.push(Falling {
                index: index as u32,
                end: position,
                velocity,
                radius,
                extent: (radius + way) as f32,
                stream: drop.stream,
            });
        }
    }

    fn try_pair(&mut self, drops: &mut [Droplet], pair: (usize, usize), now: (f64, f64)) -> bool {
        let (a, b) = (self.falling[pair.0], self.falling[pair.1]);
        let in_one_thread = a.stream == b.stream && a.stream != NO_STREAM;
        let (i, j) = (a.index as usize, b.index as usize);
        if in_one_thread || drops[i].mass <= 0.0 || drops[j].mass <= 0.0 || !a.meets(&b, now.1) {
            return false;
        }
        // The heavier one stays; the elder among equals.
        let (keep, absorbed) = if drops[j].mass > drops[i].mass { (j, i) } else { (i, j) };
        let gone = drops[absorbed];
        join(&mut drops[keep], &gone, now.0);
        drops[absorbed].mass = 0.0;
        drops[absorbed].solute = 0.0;
        true
    }
}

/// Adds one falling drop to another.
pub fn join(heavy: &mut Droplet, light: &Droplet, time: f64) {
    let (Phase::Air { position, velocity, .. }, Phase::Air { position: other, velocity: its, .. }) =
        (&mut heavy.phase, &light.phase)
    else {
        return;
    };
    let mass = heavy.mass + light.mass;
    let share = light.mass / mass;
    *position += (*other - *position) * share;
    *velocity += (*its - *velocity) * share;
    heavy.mass = mass;
    heavy.solute += light.solute;
    heavy.bead = heavy.bead && light.bead;
    heavy.stream = NO_STREAM;
    heavy.spread = 0.0;
    heavy.merged = time;
}

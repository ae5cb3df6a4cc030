//! Threads and streams as they are drawn: tubes through the parcels that hang together.
//!
//! ```text
//!    ___o___ rim         `r` from what each parcel holds and how far apart they are: falling from rest, speed grows and
//!       |                `pi r² v` stays, so it thins downwards
//!      ( )               waves bulge and neck it, at the same volume: `r sqrt(1 + g cos(2 pi s))`, cut where `g` is 1
//!       )                (`stream.rs`)
//!      (_) the head
//! ```
//!
//! Limits: a thread does not pull its parcels up (for honey that delays the fall by some 60 ms), nor do
//! its pieces draw together once it is broken.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

use glam::DVec3;

use super::site::Site;
use super::state::Droplet;
use super::stream::{Parcel, Streams};
use crate::geometry::Mesh;
use crate::tolerances::drops::{THREAD_OHNESORGE, THREAD_VISCOSITY};

/// Points around a thread.
const SLICES: usize = 14;
/// Rings from one parcel to the next.
const RINGS: usize = 4;
/// Rings of a rounded end.
const END_RINGS: usize = 4;
/// Length of a rounded end, in the way to the next parcel [-]: two thirds of its cylinder are half of that way's.
const END_REACH: f64 = 0.75;
/// Most that waves have grown as drawn [-]: a ring has a width.
const MOST_NECKING: f64 = 0.98;

/// Whether a liquid draws threads: its viscosity counts for more than its inertia in a neck
/// (`density_tension_radius`: their product).
#[must_use]
pub fn is_thick(viscosity: f64, density_tension_radius: f64) -> bool {
    viscosity >= THREAD_VISCOSITY && viscosity > THREAD_OHNESORGE * density_tension_radius.sqrt()
}

/// Storage for threads, reused.
#[derive(Default)]
pub struct Threads {
    streams: Streams,
    rings: Vec<Ring>,
    /// The drops that are not part of a thread.
    pub lone: Vec<Droplet>,
    in_thread: Vec<bool>,
}

/// One ring of a tube.
#[derive(Clone, Copy, Debug)]
struct Ring {
    place: DVec3,
    velocity: DVec3,
    /// Radius of a round one of its area [m].
    radius: f64,
    /// Half its width, where it is wider than thick [m].
    spread: f64,
}

impl Threads {
    /// Finds the threads among the drops. Returns whether there are any.
    pub fn find(&mut self, drops: &[Droplet], site: &Site, now: (f64, f64)) -> bool {
        if !self.streams.find(drops, &site.liquid, now) {
            return false;
        }
        self.in_thread.clear();
        self.in_thread.resize(drops.len(), false);
        let parcels = &self.streams.parcels;
        for (n, parcel) in parcels.iter().enumerate() {
            let joined = parcel.joins_next || n > 0 && parcels[n - 1].joins_next;
            self.in_thread[parcel.index as usize] = joined;
        }
        self.lone.clear();
        let alone = drops.iter().zip(&self.in_thread).filter(|(_, t)| !**t);
        self.lone.extend(alone.map(|(d, _)| *d));
        self.lone.len() < drops.len()
    }

    /// Forgets the threads.
    pub fn clear(&mut self) {
        self.streams.parcels.clear();
    }

    /// Writes the threads as tubes.
    pub fn write(&mut self, mesh: &mut Mesh) {
        mesh.positions.clear();
        mesh.normals.clear();
        mesh.velocities.clear();
        let mut triangles = std::mem::take(&mut Arc::make_mut(&mut mesh.topology).triangles);
        triangles.clear();
        let parcels = &self.streams.parcels;
        let mut first = 0;
        while first < parcels.len() {
            let joined = parcels[first..].iter().take_while(|p| p.joins_next).count();
            if joined > 0 {
                cut_rings(&parcels[first..=first + joined], &mut self.rings);
                tube(&self.rings, mesh, &mut triangles);
            }
            first += joined + 1;
        }
        let topology = Arc::make_mut(&mut mesh.topology);
        topology.vertex_count = mesh.positions.len();
        topology.triangles = triangles;
    }
}

/// The rings of a thread through its parcels: rounded ends, half a parcel beyond the first and the last.
fn cut_rings(parcels: &[Parcel], rings: &mut Vec<Ring>) {
    rings.clear();
    let last = parcels.len() - 1;
    for e in (0..END_RINGS).rev() {
        rings.push(end_ring(&parcels[0], &parcels[1], e));
    }
    for i in 0..last {
        for k in 0..RINGS {
            rings.push(ring_between(parcels, i, k as f64 / RINGS as f64));
        }
    }
    rings.push(ring_between(parcels, last - 1, 1.0));
    for e in 0..END_RINGS {
        rings.push(end_ring(&parcels[last], &parcels[last - 1], e));
    }
}

/// How much wider or narrower waves make a thread, at the same volume.
fn waved(necking: f64, phase: f64) -> f64 {
    (1.0 + necking.min(MOST_NECKING) * (TAU * phase).cos()).sqrt()
}

/// One ring of the rounded end at a parcel, away from its neighbour.
fn end_ring(parcel: &Parcel, neighbour: &Parcel, ring: usize) -> Ring {
    let turn = FRAC_PI_2 * (ring + 1) as f64 / (END_RINGS + 1) as f64;
    let out = parcel.place - neighbour.place;
    // Half a parcel in half an ellipsoid; where parcels have hardly parted, half a ball on what else is a blunt end.
    let reach = END_REACH * out.length();
    let reach = if parcel.spread > 0.0 { reach } else { reach.max(parcel.radius) };
    Ring {
        place: parcel.place + out.normalize_or(DVec3::Y) * (reach * turn.sin()),
        velocity: parcel.velocity,
        radius: parcel.radius * waved(parcel.necking, parcel.phase) * turn.cos(),
        spread: parcel.spread * turn.cos(),
    }
}

/// A ring on the way from one parcel to the next.
fn ring_between(parcels: &[Parcel], i: usize, s: f64) -> Ring {
    let (a, b) = (&parcels[i], &parcels[i + 1]);
    let before = parcels[i.saturating_sub(1)].place;
    let after = parcels[(i + 2).min(parcels.len() - 1)].place;
    let mix = |x: f64, y: f64| x + (y - x) * s;
    let necking = mix(a.necking, b.necking);
    Ring {
        place: through([before, a.place, b.place, after], s),
        velocity: a.velocity.lerp(b.velocity, s),
        radius: mix(a.radius, b.radius) * waved(necking, a.phase + s * a.step),
        spread: mix(a.spread, b.spread),
    }
}

/// A curve through four places, from the second to the third (Catmull-Rom).
fn through([p, a, b, q]: [DVec3; 4], s: f64) -> DVec3 {
    let (out, back) = (0.5 * (b - p), 0.5 * (q - a));
    let (s2, s3) = (s * s, s * s * s);
    a * (2.0 * s3 - 3.0 * s2 + 1.0)
        + out * (s3 - 2.0 * s2 + s)
        + b * (3.0 * s2 - 2.0 * s3)
        + back * (s3 - s2)
}

/// A tube through rings, closed at both ends.
fn tube(rings: &[Ring], mesh: &mut Mesh, triangles: &mut Vec<[u32; 3]>) {
    let base = mesh.positions.len() as u32;
    let last = rings.len() - 1;
    let mut side = DVec3::ZERO;
    for (i, ring) in rings.iter().enumerate() {
        let way = rings[(i + 1).min(last)].place - rings[i.saturating_sub(1)].place;
        let along = way.normalize_or(DVec3::Y);
        if i == 0 {
            // What is wider than thick lies across its fall, as the lip did.
            side = DVec3::Y.cross(ring.velocity).normalize_or(along.any_orthonormal_vector());
        }
        // Carried along the thread, so that it does not twist.
        side = (side - along * along.dot(side)).normalize_or(along.any_orthonormal_vector());
        push_ring(ring, [side, along.cross(side)], mesh);
    }
    let at = |i: usize, s: usize| base + (i * SLICES + s % SLICES) as u32;
    for i in 0..last {
        for s in 0..SLICES {
            let (a, b) = (at(i, s), at(i, s + 1));
            let (c, d) = (at(i + 1, s), at(i + 1, s + 1));
            triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    for (i, inner, is_up) in [(0, 1, false), (last, last - 1, true)] {
        let out = rings[i].place - rings[inner].place;
        let tip = mesh.positions.len() as u32;
        mesh.positions.push((rings[i].place + 0.5 * out).as_vec3());
        mesh.normals.push(out.normalize_or(DVec3::Y).as_vec3());
        mesh.velocities.push(rings[i].velocity.as_vec3());
        for s in 0..SLICES {
            let (a, b) = (at(i, s), at(i, s + 1));
            triangles.push(if is_up { [a, b, tip] } else { [b, a, tip] });
        }
    }
}

/// The points of a ring: an ellipse of its area.
fn push_ring(ring: &Ring, [side, other]: [DVec3; 2], mesh: &mut Mesh) {
    let wide = ring.radius.max(ring.spread);
    let thick = ring.radius * ring.radius / wide.max(f64::MIN_POSITIVE);
    for s in 0..SLICES {
        let (sin, cos) = (2.0 * PI * s as f64 / SLICES as f64).sin_cos();
        mesh.positions.push((ring.place + side * (cos * wide) + other * (sin * thick)).as_vec3());
        let out = side * (cos * thick) + other * (sin * wide);
        mesh.normals.push(out.normalize_or(side).as_vec3());
        mesh.velocities.push(ring.velocity.as_vec3());
    }
}

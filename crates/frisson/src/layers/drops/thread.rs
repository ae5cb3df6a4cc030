//! Threads of thick liquids: what a drop pours is a chain of parcels, each falling by itself; neighbours
//! hang together until the thread between them has thinned out.
//!
//! ```text
//!    ___o___ rim         parcels of one tick each, `r` from what each holds and how far apart they are:
//!       |                falling from rest, speed grows and `pi r² v` stays, so it thins downwards
//!       |
//!      ( )  the head     it breaks where it is older than a thread of its radius lives: `6 mu r / sigma`
//! ```
//!
//! Limits: a thread does not pull its parcels up (for honey that delays the fall by some 60 ms), nor do
//! its pieces draw together once it is broken.

use std::f64::consts::PI;
use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::site::Site;
use super::state::{Droplet, NO_STREAM, Phase};
use crate::geometry::Mesh;
use crate::tolerances::drops::{THREAD_OHNESORGE, THREAD_VISCOSITY};
use crate::tolerances::nothing;

/// Points around a thread.
const SLICES: usize = 10;

/// Whether a liquid draws threads: its viscosity counts for more than its inertia in a neck
/// (`density_tension_radius`: their product).
#[must_use]
pub fn is_thick(viscosity: f64, density_tension_radius: f64) -> bool {
    viscosity >= THREAD_VISCOSITY && viscosity > THREAD_OHNESORGE * density_tension_radius.sqrt()
}

/// How long a thread lives before its tension cuts it [s].
#[must_use]
pub fn life(viscosity: f64, tension: f64, radius: f64) -> f64 {
    6.0 * viscosity * radius / tension
}

/// One parcel of a thread.
#[derive(Clone, Copy, Debug)]
struct Bead {
    place: DVec3,
    radius: f64,
    joins_next: bool,
}

/// Storage for threads, reused.
#[derive(Default)]
pub struct Threads {
    order: Vec<(u64, u32)>,
    beads: Vec<Bead>,
    /// The drops that are not part of a thread.
    pub lone: Vec<Droplet>,
    in_thread: Vec<bool>,
}

impl Threads {
    /// Finds the threads among the drops. Returns whether there are any.
    pub fn find(&mut self, drops: &[Droplet], site: &Site, (time, tick): (f64, f64)) -> bool {
        self.order.clear();
        let hangs = |d: &Droplet| d.stream != NO_STREAM && !d.is_on_surface();
        let all = drops.iter().enumerate().filter(|(_, d)| hangs(d));
        self.order.extend(all.map(|(i, d)| (d.stream, i as u32)));
        if self.order.len() < 2 {
            return false;
        }
        // Within a stream in the order of birth: the first has fallen farthest.
        self.order.sort_unstable();
        let place = |i: u32| match drops[i as usize].phase {
            Phase::Air { position, .. } => position,
            _ => DVec3::ZERO,
        };
        self.beads.clear();
        for (n, &(stream, i)) in self.order.iter().enumerate() {
            let drop = &drops[i as usize];
            let next = self.order.get(n + 1).filter(|o| o.0 == stream).map(|o| o.1);
            let next = next.filter(|&j| drops[j as usize].changed - drop.changed < 1.5 * tick);
            let before = self.beads.last().filter(|b: &&Bead| b.joins_next).map(|b| b.place);
            let here = place(i);
            // A parcel fills the half ways to its neighbours.
            let length = 0.5 * next.map_or(0.0, |j| place(j).distance(here))
                + 0.5 * before.map_or(0.0, |p| p.distance(here));
            let ball = site.liquid.radius(drop.mass);
            let volume = drop.mass / site.liquid.density;
            let radius = (volume / (PI * length.max(nothing::NO_WIDTH))).sqrt().min(ball);
            let lives = life(site.liquid.viscosity(), site.liquid.tension, radius);
            let joins_next = next.is_some() && time - drop.changed < lives;
            self.beads.push(Bead { place: here, radius, joins_next });
        }
        self.in_thread.clear();
        self.in_thread.resize(drops.len(), false);
        for (n, &(_, i)) in self.order.iter().enumerate() {
            let joined = self.beads[n].joins_next || n > 0 && self.beads[n - 1].joins_next;
            self.in_thread[i as usize] = joined;
        }
        self.lone.clear();
        let alone = drops.iter().zip(&self.in_thread).filter(|(_, t)| !**t);
        self.lone.extend(alone.map(|(d, _)| *d));
        self.lone.len() < drops.len()
    }

    /// Forgets the threads.
    pub fn clear(&mut self) {
        self.beads.clear();
    }

    /// Writes the threads as tubes.
    pub fn write(&self, mesh: &mut Mesh) {
        mesh.positions.clear();
        mesh.normals.clear();
        mesh.velocities.clear();
        let mut triangles = std::mem::take(&mut Arc::make_mut(&mut mesh.topology).triangles);
        triangles.clear();
        let mut first = 0;
        while first < self.beads.len() {
            let joined = self.beads[first..].iter().take_while(|b| b.joins_next).count();
            if joined > 0 {
                tube(&self.beads[first..=first + joined], mesh, &mut triangles);
            }
            first += joined + 1;
        }
        let topology = Arc::make_mut(&mut mesh.topology);
        topology.vertex_count = mesh.positions.len();
        topology.triangles = triangles;
    }
}

/// A tube through the parcels of a thread, closed at both ends.
fn tube(beads: &[Bead], mesh: &mut Mesh, triangles: &mut Vec<[u32; 3]>) {
    let base = mesh.positions.len() as u32;
    let last = beads.len() - 1;
    let mut side = DVec3::ZERO;
    for (i, bead) in beads.iter().enumerate() {
        // From neighbour to neighbour: rings stand across the thread, not across one of its pieces.
        let way = beads[(i + 1).min(last)].place - beads[i.saturating_sub(1)].place;
        let along = way.normalize_or(DVec3::Y);
        if i == 0 {
            side = along.any_orthonormal_vector();
        }
        // Carried along the thread, so that it does not twist.
        side = (side - along * along.dot(side)).normalize_or(along.any_orthonormal_vector());
        let other = along.cross(side);
        for s in 0..SLICES {
            let (sin, cos) = (2.0 * PI * s as f64 / SLICES as f64).sin_cos();
            let out = side * cos + other * sin;
            mesh.positions.push((bead.place + out * bead.radius).as_vec3());
            mesh.normals.push(out.as_vec3());
        }
    }
    let ring = |i: usize, s: usize| base + (i * SLICES + s % SLICES) as u32;
    for i in 0..last {
        for s in 0..SLICES {
            let (a, b) = (ring(i, s), ring(i, s + 1));
            let (c, d) = (ring(i + 1, s), ring(i + 1, s + 1));
            triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    for (i, up) in [(0, false), (last, true)] {
        let inner = beads[if up { last - 1 } else { 1 }].place;
        let out = (beads[i].place - inner).normalize_or(DVec3::Y);
        let tip = mesh.positions.len() as u32;
        mesh.positions.push((beads[i].place + out * beads[i].radius).as_vec3());
        mesh.normals.push(out.as_vec3());
        for s in 0..SLICES {
            let (a, b) = (ring(i, s), ring(i, s + 1));
            triangles.push(if up { [a, b, tip] } else { [b, a, tip] });
        }
    }
    mesh.velocities.resize(mesh.positions.len(), Vec3::ZERO);
}

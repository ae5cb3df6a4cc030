//! Drops as one mesh: each takes its shape from the table, sits on the surface, wobbles and stretches.

use std::sync::Arc;

use glam::{DMat2, DVec2, DVec3, Vec3};

use super::body_forms::{bottom_of, fix_volume, longer_along, sphere, wobble};
use super::body_grain::{Grain, faces, push_triangles, vertices};
use super::body_mesh::{Base, Out, Pen, Pose};
use super::merge::as_face;
use super::params::{Detail, ShapeParams};
use super::shape::{POINTS, SLICES, Shape, ShapeTable};
use super::site::Site;
use super::state::{Droplet, Phase};
use super::surface::{Facet, Surface};
use super::walk::{Place, walk};
use crate::geometry::{Mesh, MeshTopology, TriangleBvh};
use crate::stage::Forces;
use crate::tolerances::drops::{BASE_SINK, CHUNK, FLAT_GROUND};

/// Tables of shapes and storage, reused.
#[derive(Default)]
pub struct Bodies {
    tables: Vec<ShapeTable>,
    table_of_kind: Vec<usize>,
    normals: Vec<DVec3>,
    units: Vec<Vec3>,
    details: Vec<Grain>,
    shown_details: Vec<Grain>,
    offsets: Vec<usize>,
}

/// What is needed to model drops at one instant.
pub struct BodyContext<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// The ground and the liquid.
    pub site: &'a Site,
    /// Settings.
    pub params: &'a ShapeParams,
    /// Gravity and fields.
    pub forces: &'a Forces,
    /// A finer surface that drops are shown on.
    pub shown: Option<&'a TriangleBvh>,
    /// Time [s].
    pub time: f64,
}

/// How a drop sits on its triangle.
struct Seat<'a> {
    place: Place,
    facet: &'a Facet,
    /// Along the pull, across it, and the smooth normal.
    axes: [DVec3; 3],
    /// Radius of its sphere [m].
    radius: f64,
    /// Velocity on the surface [m/s].
    moving: DVec3,
}

impl Bodies {
    /// One table for each contact angle of the ground.
    #[must_use]
    pub fn new(site: &Site) -> Self {
        let mut angles: Vec<f64> = Vec::new();
        let mut table_of_kind = Vec::new();
        for kind in site.ground.kinds() {
            let angle = kind.contact_angle_deg;
            // Shapes half a degree apart look alike; each table takes 72 solutions.
            let found = angles.iter().position(|a| (a - angle).abs() < 0.5);
            table_of_kind.push(found.unwrap_or(angles.len()));
            if found.is_none() {
                angles.push(angle);
            }
        }
        Self {
            tables: angles.into_iter().map(ShapeTable::new).collect(),
            table_of_kind,
            normals: Vec::new(),
            units: Vec::new(),
            details: Vec::new(),
            shown_details: Vec::new(),
            offsets: Vec::new(),
        }
    }

    /// Writes every drop into a mesh whose topology changes with their number.
    pub fn write(&mut self, context: &BodyContext, drops: &[Droplet], mesh: &mut Mesh) {
        self.details.clear();
        self.details.extend(drops.iter().map(|d| grain(context, d)));
        self.offsets.clear();
        let mut total = 0;
        for d in &self.details {
            self.offsets.push(total);
            total += vertices(*d);
        }
        self.offsets.push(total);
        mesh.positions.resize(total, Vec3::ZERO);
        mesh.velocities.resize(total, Vec3::ZERO);
        mesh.normals.resize(total, Vec3::ZERO);
        // Where drops only move, their faces stay.
        if self.details != self.shown_details || mesh.topology.vertex_count != total {
            self.connect(context, mesh, total);
        }
        let this = &*self;
        let out = Out {
            positions: &mut mesh.positions,
            normals: &mut mesh.normals,
            velocities: &mut mesh.velocities,
        };
        this.fill(context, drops, 0, out);
    }

    /// Halved until they are few: no storage, any number of threads.
    fn fill(&self, context: &BodyContext, drops: &[Droplet], first: usize, mut out: Out) {
        let count = drops.len();
        if count <= CHUNK {
            let mut pen = Pen::default();
            let base = self.offsets[first];
            for (i, drop) in drops.iter().enumerate() {
                let range = self.offsets[first + i] - base..self.offsets[first + i + 1] - base;
                self.model(context, drop, self.details[first + i], &mut pen, out.of(range));
            }
            return;
        }
        let middle = count / 2;
        let cut = self.offsets[first + middle] - self.offsets[first];
        let (drops_a, drops_b) = drops.split_at(middle);
        let (a, b) = out.split(cut);
        rayon::join(
            || self.fill(context, drops_a, first, a),
            || self.fill(context, drops_b, first + middle, b),
        );
    }

    /// Connects the points. Drops up to the first one whose detail has changed keep their faces.
    fn connect(&mut self, context: &BodyContext, mesh: &mut Mesh, total: usize) {
        let topology = Arc::make_mut(&mut mesh.topology);
        let known =
            self.shown_details.iter().zip(&self.details).take_while(|(a, b)| a == b).count();
        topology.vertex_count = total;
        topology.triangles.truncate(self.details[..known].iter().map(|d| faces(*d)).sum());
        for (d, &offset) in self.details.iter().zip(&self.offsets).skip(known) {
            push_triangles(*d, offset as u32, &mut topology.triangles);
        }
        if topology.materials.is_empty() {
            topology.materials = vec![context.site.liquid.material.clone()];
        }
        self.shown_details.clone_from(&self.details);
    }

    /// Area-weighted normals at the points; needed before [`Bodies::write`] and [`Bodies::normal`].
    pub fn smooth_normals(&mut self, surface: &Surface) {
        self.normals.clear();
        self.normals.resize(surface.points.len(), DVec3::ZERO);
        for (t, corners) in surface.triangles.iter().enumerate().filter(|(t, _)| surface.live[*t]) {
            // From the points: a facet's axes may be turned by a trail, and its area rounds with them.
            let [a, b, c] = corners.map(|p| surface.points[p as usize]);
            let n = (b - a).cross(c - a) * f64::from(surface.parity[t]);
            corners.iter().for_each(|&p| self.normals[p as usize] += n);
        }
        self.units.clear();
        self.units.extend(self.normals.iter().map(|n| n.normalize_or_zero().as_vec3()));
    }

    /// Whether [`Bodies::smooth_normals`] was ever called.
    pub fn has_normals(&self) -> bool {
        !self.units.is_empty()
    }

    /// Shapes one drop.
    fn model(&self, context: &BodyContext, drop: &Droplet, grain: Grain, pen: &mut Pen, out: Out) {
        let radius = context.site.liquid.radius(drop.mass);
        let (pose, bottom, velocity) = match drop.phase {
            Phase::Air { position, velocity, .. } => {
                self.falling(context, drop, velocity, &mut pen.shape);
                let axis = -velocity.normalize_or(-DVec3::Y);
                let (ex, ey) = axis.any_orthonormal_pair();
                let pose = Pose::new(position, [ex, ey, axis], radius, DMat2::IDENTITY, 1.0);
                pose.place(pen, None);
                (pose, bottom_of(&pen.shape), velocity.as_vec3())
            }
            _ => match self.sitting(context, drop, radius, pen) {
                Some((pose, velocity)) => (pose, -BASE_SINK, velocity),
                None => return out.velocities.fill(Vec3::ZERO),
            },
        };
        pen.write(&pose, grain, bottom, out.positions, out.normals);
        out.velocities.fill(velocity);
    }

    fn falling(&self, context: &BodyContext, drop: &Droplet, velocity: DVec3, shape: &mut Shape) {
        // However fast: what is longer would look like a thread.
        let stretch = (1.0 + context.params.falling_stretch * velocity.length()).min(1.6);
        let age = (context.time - drop.changed) / context.params.blend.max(1e-6);
        // Just after letting go, a tail still points back.
        let tail = if age < 1.0 { (1.0 - age.max(0.0)) * 0.9 } else { 0.0 };
        sphere(shape, stretch as f32, tail as f32);
        fix_volume(shape, bottom_of(shape));
    }

    /// A drop on the surface: the equilibrium shape for what pulls it, stretched by its motion, on
    /// the ground as it is.
    fn sitting(
        &self,
        context: &BodyContext,
        drop: &Droplet,
        radius: f64,
        pen: &mut Pen,
    ) -> Option<(Pose, Vec3)> {
        let surface = context.surface;
        let (place, velocity) = as_face(drop, surface)?;
        let facet = &surface.facets[place.triangle as usize];
        let origin = surface.point(place.triangle, place.weights);
        let n = self.normal(surface, &place).as_dvec3().normalize();
        // Across the surface the inertia is felt as smoothed (`pull`), as it is by the flow.
        let force = context.forces.acceleration(origin.as_vec3(), context.time).as_dvec3()
            + drop.inertia
            - n * n.dot(drop.inertia)
            + n * drop.pull;
        let tangential = force - n * n.dot(force);
        let size = force.length();
        let fallback = facet.e2 - n * n.dot(facet.e2);
        let ex = if tangential.length() > 1e-6 * size.max(1e-9) { tangential } else { fallback }
            .normalize_or(n.any_orthonormal_vector());
        let ey = n.cross(ex);
        let liquid = &context.site.liquid;
        let bond = liquid.density * size * radius * radius / liquid.tension;
        let angle = if size > 0.0 { (-n.dot(force) / size).clamp(-1.0, 1.0).acos() } else { 0.0 };
        let kind = context.site.ground.kind_index(place.triangle);
        self.tables[self.table_of_kind[kind]].mix(bond, angle, &mut pen.shape);
        let moving = facet.lift(velocity);
        let seat = Seat { place, facet, axes: [ex, ey, n], radius, moving };
        let stretch = animate(context, drop, &seat, &mut pen.shape);
        let angle = context.site.ground.of(place.triangle).contact_angle_deg;
        let height = f64::from(pen.shape.z[POINTS - 1]) * radius;
        let stretch = stretch * liquid.spread(height, -n.dot(force), angle);
        // Interpolation and wobble change the volume; stretching does not.
        let exact = f64::from(pen.shape.volume_factor());
        let mut pose = Pose::new(origin, [ex, ey, n], radius, stretch, exact);
        let base = follow(context, &seat, &mut pose, &pen.shape);
        pose.place(pen, Some(base.as_ref()));
        Some((pose, (moving + drop.carrier).as_vec3()))
    }

    /// Smooth outward normal of a place.
    pub fn normal(&self, surface: &Surface, place: &Place) -> Vec3 {
        let (u, v) = (place.weights.x as f32, place.weights.y as f32);
        self.normals_on(surface, place.triangle, place.side).at(u, v)
    }

    /// Normals on one side of a triangle.
    pub fn normals_on(&self, surface: &Surface, triangle: u32, side: i8) -> Normals {
        let t = triangle as usize;
        let out = f32::from(side) * f32::from(surface.parity[t]);
        Normals {
            corners: surface.triangles[t].map(|p| self.units[p as usize] * out),
            facet: surface.facets[t].normal.as_vec3() * f32::from(side),
        }
    }
}

/// Outward normals of a triangle.
pub struct Normals {
    corners: [Vec3; 3],
    facet: Vec3,
}

impl Normals {
    /// At the weights of corners 1 and 2.
    #[must_use]
    pub fn at(&self, u: f32, v: f32) -> Vec3 {
        let [a, b, c] = self.corners;
        let smooth = (a * (1.0 - u - v) + b * u + c * v).normalize_or(self.facet);
        // At creases the facet's own normal is nearer to what the drop sits on.
        if smooth.dot(self.facet) < 0.5 { self.facet } else { smooth }
    }
}

/// Where the rim of each slice really is, against the flat one; none on flat ground.
fn follow(context: &BodyContext, seat: &Seat, pose: &mut Pose, shape: &Shape) -> Option<Base> {
    let surface = context.surface;
    let Seat { place, facet, axes: [ex, ey, n], .. } = *seat;
    // Most drops are small beside their triangle: no edge is near.
    let middle = facet.flat(place.weights);
    let room = (0..3).fold(f64::INFINITY, |room, k| {
        let edge = facet.edge(k);
        room.min(edge.perp_dot(middle - facet.corner(k)) / edge.length().max(1e-300))
    });
    let rim: [DVec2; SLICES] = std::array::from_fn(|s| {
        pose.plane * DVec2::new(f64::from(shape.x[s]), f64::from(shape.y[s])) * pose.radius
    });
    let widest = rim.iter().fold(0.0, |most: f64, r| most.max(r.length_squared())).sqrt();
    let is_flat = facet.normal.dot(n).abs() > 1.0 - FLAT_GROUND;
    if is_flat && context.shown.is_none() && widest < room {
        return None;
    }
    let origin = pose.origin;
    let mut shift = DVec3::ZERO;
    if let Some(shown) = context.shown
        && let Some(found) = shown.closest_point(origin.as_vec3(), f32::INFINITY)
    {
        shift = found.point.as_dvec3() - origin;
    }
    let (tx, ty) = (facet.tangential(ex), facet.tangential(ey));
    let mut base = Base::default();
    for (slice, flat) in rim.iter().enumerate() {
        let reach = flat.length();
        let way = (tx * flat.x + ty * flat.y).normalize_or_zero() * reach;
        let mut real = if reach < room {
            facet.point(middle + way)
        } else {
            let (reached, _) = walk(surface, place, way, &mut DVec2::ZERO.clone());
            surface.point(reached.triangle, reached.weights)
        };
        if let Some(shown) = context.shown
            && let Some(found) = shown.closest_point(real.as_vec3(), f32::INFINITY)
        {
            real = found.point.as_dvec3() - shift;
        }
        let even = ex * flat.x + ey * flat.y;
        let offset = (real - (origin + even)) / pose.radius.max(f64::MIN_POSITIVE);
        let ring = shape.x[slice] * shape.x[slice] + shape.y[slice] * shape.y[slice];
        base.set(slice, offset.as_vec3(), 1.0 / ring.max(1e-6));
    }
    pose.origin += shift;
    Some(base)
}

/// Blend of a landing, wobble; returns the stretch along the surface by running and merging, which
/// keeps the volume.
fn animate(context: &BodyContext, drop: &Droplet, seat: &Seat, shape: &mut Shape) -> DMat2 {
    let Seat { facet, axes: [ex, ey, _], radius, moving: velocity, .. } = *seat;
    let p = context.params;
    let blend = p.blend.max(1e-6);
    let flat = |v: DVec3| DVec2::new(v.dot(ex), v.dot(ey)).normalize_or(DVec2::X);
    let age = ((context.time - drop.changed) / blend).max(0.0);
    if age < 1.0 {
        let b = (age * age * (3.0 - 2.0 * age)) as f32;
        let mut ball = Shape::default();
        sphere(&mut ball, 1.0, 0.0);
        for i in 0..POINTS {
            shape.x[i] = ball.x[i] + (shape.x[i] - ball.x[i]) * b;
            shape.y[i] = ball.y[i] + (shape.y[i] - ball.y[i]) * b;
            shape.z[i] = (ball.z[i] + 1.0).max(0.0) * (1.0 - b) + shape.z[i] * b;
        }
    }
    let speed = velocity.length();
    let mut stretch = DMat2::IDENTITY;
    // A tail behind a running drop: its base grows longer along the way.
    let longer = (1.0 - (-speed / (4.0 * p.wobble_speed)).exp()) * 0.25;
    if longer > 1e-3 {
        stretch = longer_along(flat(velocity), 1.0 + longer);
    }
    let since = (context.time - drop.merged) / blend;
    if (0.0..6.0).contains(&since) && drop.stretch.y > 0.0 {
        let along = facet.lift(DVec2::from_angle(drop.stretch.x));
        // The lowest mode of a drop: it swings a few times and dies away.
        let swing = drop.stretch.y * (-since).exp() * (4.0 * since).cos();
        stretch = longer_along(flat(along), 1.0 + swing) * stretch;
    }
    let tent = 1.0 - (speed / p.wobble_speed - 1.0).abs();
    if tent > 0.0 && p.wobble > 0.0 {
        wobble(shape, drop.id, drop.distance / radius, (p.wobble * tent) as f32);
    }
    stretch
}

fn grain(context: &BodyContext, drop: &Droplet) -> Grain {
    let p = context.params;
    let radius = context.site.liquid.radius(drop.mass);
    let Some(camera) = p.camera else { return Grain::new(p.detail, radius) };
    let place = match drop.phase {
        Phase::Air { position, .. } => position,
        _ => as_face(drop, context.surface)
            .map_or(DVec3::ZERO, |(q, _)| context.surface.point(q.triangle, q.weights)),
    };
    let away = place.as_vec3().distance(Vec3::from_array(camera)) / (radius as f32).max(1e-9);
    let detail = if away <= p.fine_within {
        Detail::Fine
    } else if away <= p.card_beyond {
        Detail::Coarse
    } else {
        Detail::Card
    };
    Grain::new(detail, radius)
}

/// An empty mesh for drops, with the liquid's material.
#[must_use]
pub fn empty_mesh(name: &str, site: &Site) -> Mesh {
    let topology =
        MeshTopology { materials: vec![site.liquid.material.clone()], ..MeshTopology::default() };
    Mesh { name: name.to_owned(), topology: Arc::new(topology), ..Mesh::default() }
}

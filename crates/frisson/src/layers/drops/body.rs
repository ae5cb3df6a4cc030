//! Drops as one mesh: each takes its shape from the table, sits on the surface, wobbles and stretches.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec3};

use super::params::{Detail, ShapeParams};
use super::rest::Rest;
use super::shape::{POINTS, RINGS, SLICES, Shape, ShapeTable, VOLUME};
use super::state::{Drop, Phase};
use super::surface::{Surface, on_edge};
use super::walk::{Place, walk};
use crate::geometry::{Mesh, MeshTopology, TriangleBvh};
use crate::math::random;
use crate::stage::Forces;
use crate::tolerances::drops::{BASE_SINK, CHUNK, FLAT_GROUND};

/// Rings and slices of a coarse drop, picked from the fine ones.
const COARSE_RINGS: [usize; 3] = [0, 2, 4];
const COARSE_STEP: usize = 2;

/// Tables of shapes and storage, reused.
pub struct Bodies {
    tables: Vec<ShapeTable>,
    table_of_kind: Vec<usize>,
    normals: Vec<DVec3>,
    units: Vec<Vec3>,
    details: Vec<Detail>,
    shown_details: Vec<Detail>,
    offsets: Vec<usize>,
}

/// What is needed to model drops at one instant.
pub struct BodyContext<'a> {
    /// The surface.
    pub surface: &'a Surface,
    /// Rest data.
    pub rest: &'a Rest,
    /// Settings.
    pub params: &'a ShapeParams,
    /// Gravity and fields.
    pub forces: &'a Forces,
    /// A finer surface that drops are shown on.
    pub shown: Option<&'a TriangleBvh>,
    /// Time [s].
    pub time: f64,
}

impl Bodies {
    /// One table for each contact angle of the ground.
    #[must_use]
    pub fn new(rest: &Rest) -> Self {
        let mut angles: Vec<f64> = Vec::new();
        let mut table_of_kind = Vec::new();
        for kind in rest.ground.kinds() {
            let angle = kind.contact_angle_deg;
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
    pub fn write(&mut self, context: &BodyContext, drops: &[Drop], mesh: &mut Mesh) {
        self.details.clear();
        self.details.extend(drops.iter().map(|d| detail(context, d)));
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
    fn fill(&self, context: &BodyContext, drops: &[Drop], first: usize, out: Out) {
        let count = drops.len();
        if count <= CHUNK {
            let mut shape = Shape::default();
            let base = self.offsets[first];
            for (i, drop) in drops.iter().enumerate() {
                let range = self.offsets[first + i] - base..self.offsets[first + i + 1] - base;
                let detail = self.details[first + i];
                let positions = &mut out.positions[range.clone()];
                let velocity = self.model(context, drop, detail, &mut shape, positions);
                cap_normals(detail, positions, &mut out.normals[range.clone()]);
                out.velocities[range].fill(velocity);
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
            topology.materials = vec![context.rest.liquid.material.clone()];
        }
        self.shown_details.clone_from(&self.details);
    }

    /// Area-weighted normals at the points; needed before [`Bodies::write`] and [`Bodies::normal`].
    pub fn smooth_normals(&mut self, surface: &Surface) {
        self.normals.clear();
        self.normals.resize(surface.points.len(), DVec3::ZERO);
        for (t, corners) in surface.triangles.iter().enumerate().filter(|(t, _)| surface.live[*t]) {
            let facet = &surface.facets[t];
            let n = facet.normal * (facet.area() * f64::from(surface.parity[t]));
            corners.iter().for_each(|&p| self.normals[p as usize] += n);
        }
        self.units.clear();
        self.units.extend(self.normals.iter().map(|n| n.normalize_or_zero().as_vec3()));
    }

    /// Whether [`Bodies::smooth_normals`] was ever called.
    pub fn has_normals(&self) -> bool {
        !self.units.is_empty()
    }

    /// Shapes one drop; returns its velocity.
    fn model(
        &self,
        context: &BodyContext,
        drop: &Drop,
        detail: Detail,
        shape: &mut Shape,
        out: &mut [Vec3],
    ) -> Vec3 {
        let radius = context.rest.liquid.radius(drop.mass);
        match drop.phase {
            Phase::Air { position, velocity, .. } => {
                self.falling(context, drop, velocity, shape);
                let axis = -velocity.normalize_or(-DVec3::Y);
                let (ex, ey) = axis.any_orthonormal_pair();
                let bottom = bottom_of(shape);
                let frame = Frame3 { origin: position, ex, ey, n: axis, radius };
                frame.emit(detail, shape, bottom, None, out);
                velocity.as_vec3()
            }
            _ => self.sitting(context, drop, radius, detail, shape, out),
        }
    }

    fn falling(&self, context: &BodyContext, drop: &Drop, velocity: DVec3, shape: &mut Shape) {
        let stretch = (1.0 + context.params.falling_stretch * velocity.length()).min(1.6);
        let age = (context.time - drop.changed) / context.params.blend.max(1e-6);
        // Just after letting go, a tail still points back.
        let tail = if age < 1.0 { (1.0 - age.max(0.0)) * 0.9 } else { 0.0 };
        sphere(shape, stretch as f32, tail as f32);
        fix_volume(shape, bottom_of(shape));
    }

    fn sitting(
        &self,
        context: &BodyContext,
        drop: &Drop,
        radius: f64,
        detail: Detail,
        shape: &mut Shape,
        out: &mut [Vec3],
    ) -> Vec3 {
        let surface = context.surface;
        let Some((place, velocity)) = standing(drop, surface) else { return Vec3::ZERO };
        let facet = &surface.facets[place.triangle as usize];
        let origin = surface.point(place.triangle, place.weights);
        let n = self.normal(surface, &place).as_dvec3().normalize();
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
        let liquid = &context.rest.liquid;
        let bond = liquid.density * size * radius * radius / liquid.tension;
        let angle = if size > 0.0 { (-n.dot(force) / size).clamp(-1.0, 1.0).acos() } else { 0.0 };
        let kind = context.rest.ground.kind_index(place.triangle);
        self.tables[self.table_of_kind[kind]].mix(bond, angle, shape);
        let speed = velocity.length();
        let frame = Frame3 { origin, ex, ey, n, radius };
        let lifted = facet.lift(velocity);
        self.animate(
            context,
            drop,
            speed,
            DVec2::new(lifted.dot(ex), lifted.dot(ey)),
            facet,
            &frame,
            shape,
        );
        let base = self.follow(context, &place, &frame, shape);
        frame.emit(detail, shape, -BASE_SINK, Some(&base), out);
        (facet.lift(velocity) + drop.carrier).as_vec3()
    }

    /// Wobble, stretch of a merge, blend of a landing.
    fn animate(
        &self,
        context: &BodyContext,
        drop: &Drop,
        speed: f64,
        motion: DVec2,
        facet: &super::surface::Facet,
        frame: &Frame3,
        shape: &mut Shape,
    ) {
        let p = context.params;
        let blend = p.blend.max(1e-6);
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
        // A tail behind a running drop: its base grows longer along the way.
        let longer = (1.0 - (-speed / (4.0 * p.wobble_speed)).exp()) * 0.25;
        if longer > 1e-3 {
            stretch(shape, motion.normalize_or(DVec2::X), 1.0 + longer);
        }
        let since = (context.time - drop.merged) / blend;
        if (0.0..6.0).contains(&since) && drop.stretch.y > 0.0 {
            let along = facet.lift(DVec2::from_angle(drop.stretch.x));
            let axis = DVec2::new(along.dot(frame.ex), along.dot(frame.ey)).normalize_or(DVec2::X);
            let swing = drop.stretch.y * (-since).exp() * (4.0 * since).cos();
            stretch(shape, axis, 1.0 + swing);
        }
        let tent = 1.0 - (speed / p.wobble_speed - 1.0).abs();
        if tent > 0.0 && p.wobble > 0.0 {
            wobble(shape, drop.id, drop.distance / frame.radius, (p.wobble * tent) as f32);
        }
        // Interpolation and wobble change the volume.
        shape.fix_volume();
    }

    /// Where the rim of each slice really is, against the flat one.
    fn follow(&self, context: &BodyContext, place: &Place, frame: &Frame3, shape: &Shape) -> Base {
        let surface = context.surface;
        let facet = &surface.facets[place.triangle as usize];
        // Most drops are small beside their triangle: no edge is near.
        let middle = facet.flat(place.weights);
        let room = (0..3).fold(f64::INFINITY, |room, k| {
            let edge = facet.edge(k);
            room.min(edge.perp_dot(middle - facet.corner(k)) / edge.length().max(1e-300))
        });
        let mut base =
            Base { shift: DVec3::ZERO, offsets: [Vec3::ZERO; SLICES], inverse: [0.0; SLICES] };
        if let Some(shown) = context.shown
            && let Some(found) = shown.closest_point(frame.origin.as_vec3(), f32::INFINITY)
        {
            base.shift = found.point.as_dvec3() - frame.origin;
        }
        for slice in 0..SLICES {
            let flat = shape.x[slice] * shape.x[slice] + shape.y[slice] * shape.y[slice];
            base.inverse[slice] = 1.0 / flat.max(1e-6);
        }
        let widest = base.inverse.iter().fold(0.0, |most: f32, i| most.max(1.0 / i)).sqrt();
        let is_flat = facet.normal.dot(frame.n).abs() > 1.0 - FLAT_GROUND;
        if is_flat && context.shown.is_none() && f64::from(widest) * frame.radius < room {
            return base;
        }
        let (tx, ty) = (facet.tangential(frame.ex), facet.tangential(frame.ey));
        for slice in 0..SLICES {
            let flat = DVec2::new(f64::from(shape.x[slice]), f64::from(shape.y[slice]));
            let reach = flat.length() * frame.radius;
            let way = (tx * flat.x + ty * flat.y).normalize_or_zero() * reach;
            let mut real = if reach < room {
                facet.point(middle + way)
            } else {
                let (reached, _) = walk(surface, *place, way, &mut DVec2::ZERO.clone());
                surface.point(reached.triangle, reached.weights)
            };
            if let Some(shown) = context.shown
                && let Some(found) = shown.closest_point(real.as_vec3(), f32::INFINITY)
            {
                real = found.point.as_dvec3() - base.shift;
            }
            let even = (frame.ex * flat.x + frame.ey * flat.y) * frame.radius;
            base.offsets[slice] = (real - (frame.origin + even)).as_vec3();
        }
        base
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

/// What is written for each point.
struct Out<'a> {
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
    velocities: &'a mut [Vec3],
}

impl<'a> Out<'a> {
    fn split(self, at: usize) -> (Self, Self) {
        let (pa, pb) = self.positions.split_at_mut(at);
        let (na, nb) = self.normals.split_at_mut(at);
        let (va, vb) = self.velocities.split_at_mut(at);
        (
            Self { positions: pa, normals: na, velocities: va },
            Self { positions: pb, normals: nb, velocities: vb },
        )
    }
}

/// Normals of the liquid's surface to the air. The base does not count: it would darken the rim.
fn cap_normals(detail: Detail, positions: &[Vec3], normals: &mut [Vec3]) {
    let (rings, slices) = grid_of(detail);
    let apex = rings * slices;
    let top = positions[apex];
    let mut up = Vec3::ZERO;
    for ring in 0..rings {
        let row = &positions[ring * slices..(ring + 1) * slices];
        let below = &positions[ring.saturating_sub(1) * slices..][..slices];
        let above = &positions[(ring + 1) * slices..];
        let out = &mut normals[ring * slices..(ring + 1) * slices];
        for s in 0..slices {
            let (last, next) =
                (if s == 0 { slices } else { s } - 1, if s + 1 == slices { 0 } else { s + 1 });
            let higher = if ring + 1 == rings { top } else { above[s] };
            // Around, times upwards, is outwards.
            let n = (row[next] - row[last]).cross(higher - below[s]);
            out[s] = n.normalize_or(Vec3::Y);
            up += out[s];
        }
        if ring + 1 < rings {
            up = Vec3::ZERO;
        }
    }
    normals[apex] = up.normalize_or(Vec3::Y);
    if detail != Detail::Card {
        normals[apex + 1] = -normals[apex];
    }
}

/// Rings and slices.
fn grid_of(detail: Detail) -> (usize, usize) {
    match detail {
        Detail::Fine => (RINGS, SLICES),
        Detail::Coarse => (COARSE_RINGS.len(), SLICES / COARSE_STEP),
        Detail::Card => (1, SLICES / COARSE_STEP),
    }
}

/// Number of triangles.
fn faces(detail: Detail) -> usize {
    let (rings, slices) = grid_of(detail);
    let base = if detail == Detail::Card { 0 } else { slices };
    (2 * rings - 1) * slices + base
}

/// Place and velocity on a triangle, whatever the phase on the surface.
fn standing(drop: &Drop, surface: &Surface) -> Option<(Place, DVec2)> {
    let at = |triangle, weights| Place { triangle, weights, side: drop.side };
    match drop.phase {
        Phase::Face { triangle, weights, velocity, .. } => Some((at(triangle, weights), velocity)),
        Phase::Edge { half, s, speed } => {
            let k = half as usize % 3;
            let along = surface.facets[half as usize / 3].edge(k).normalize_or_zero();
            Some((at(half / 3, on_edge(k, s)), along * speed))
        }
        Phase::Corner { half } => {
            Some((at(half / 3, on_edge(half as usize % 3, 0.0)), DVec2::ZERO))
        }
        Phase::Air { .. } => None,
    }
}

fn detail(context: &BodyContext, drop: &Drop) -> Detail {
    let p = context.params;
    let Some(camera) = p.camera else { return p.detail };
    let place = match drop.phase {
        Phase::Air { position, .. } => position,
        _ => standing(drop, context.surface)
            .map_or(DVec3::ZERO, |(q, _)| context.surface.point(q.triangle, q.weights)),
    };
    let radius = context.rest.liquid.radius(drop.mass) as f32;
    let away = place.as_vec3().distance(Vec3::from_array(camera)) / radius.max(1e-9);
    if away <= p.fine_within {
        Detail::Fine
    } else if away <= p.card_beyond {
        Detail::Coarse
    } else {
        Detail::Card
    }
}

fn vertices(detail: Detail) -> usize {
    match detail {
        Detail::Fine => POINTS + 1,
        Detail::Coarse => COARSE_RINGS.len() * (SLICES / COARSE_STEP) + 2,
        Detail::Card => SLICES / COARSE_STEP + 1,
    }
}

fn push_triangles(detail: Detail, offset: u32, out: &mut Vec<[u32; 3]>) {
    let (rings, slices) = grid_of(detail);
    let (rings, slices) = (rings as u32, slices as u32);
    let at = |ring: u32, slice: u32| offset + ring * slices + slice % slices;
    let (apex, base) = (offset + rings * slices, offset + rings * slices + 1);
    for ring in 0..rings {
        for slice in 0..slices {
            let (a, b) = (at(ring, slice), at(ring, slice + 1));
            if ring + 1 == rings {
                out.push([a, b, apex]);
            } else {
                out.push([a, b, at(ring + 1, slice + 1)]);
                out.push([a, at(ring + 1, slice + 1), at(ring + 1, slice)]);
            }
        }
    }
    if detail != Detail::Card {
        out.extend((0..slices).map(|s| [at(0, s + 1), at(0, s), base]));
    }
}

/// How the base lies on the ground.
struct Base {
    shift: DVec3,
    offsets: [Vec3; SLICES],
    inverse: [f32; SLICES],
}

/// A drop's own frame.
struct Frame3 {
    origin: DVec3,
    ex: DVec3,
    ey: DVec3,
    n: DVec3,
    radius: f64,
}

impl Frame3 {
    fn emit(
        &self,
        detail: Detail,
        shape: &Shape,
        bottom: f32,
        base: Option<&Base>,
        out: &mut [Vec3],
    ) {
        let origin = (self.origin + base.map_or(DVec3::ZERO, |b| b.shift)).as_vec3();
        let r = self.radius as f32;
        let (ex, ey, n) = (self.ex.as_vec3() * r, self.ey.as_vec3() * r, self.n.as_vec3() * r);
        let point = |i: usize| {
            let p = origin + ex * shape.x[i] + ey * shape.y[i] + n * shape.z[i];
            match base {
                Some(b) if i < POINTS - 1 => {
                    let slice = i % SLICES;
                    let flat = shape.x[i] * shape.x[i] + shape.y[i] * shape.y[i];
                    p + b.offsets[slice] * (flat * b.inverse[slice]).min(1.6)
                }
                _ => p,
            }
        };
        let sink = |p: Vec3| if base.is_some() { p - n * BASE_SINK } else { p };
        let center = origin + n * bottom;
        match detail {
            Detail::Fine => {
                for i in 0..POINTS {
                    out[i] = if i < SLICES { sink(point(i)) } else { point(i) };
                }
                out[POINTS] = center;
            }
            Detail::Coarse => {
                let slices = SLICES / COARSE_STEP;
                let grow = coarse_growth(shape);
                let point = |i: usize| origin + (point(i) - origin) * grow;
                for (r, &ring) in COARSE_RINGS.iter().enumerate() {
                    for s in 0..slices {
                        let p = point(ring * SLICES + s * COARSE_STEP);
                        out[r * slices + s] = if r == 0 { sink(p) } else { p };
                    }
                }
                out[COARSE_RINGS.len() * slices] = point(POINTS - 1);
                out[COARSE_RINGS.len() * slices + 1] = center;
            }
            Detail::Card => {
                let slices = SLICES / COARSE_STEP;
                for s in 0..slices {
                    out[s] = point(s * COARSE_STEP) + n * 0.05;
                }
                out[slices] = origin + n * 0.3;
            }
        }
    }
}

/// A ball with the rings of a sitting drop; `tail` draws its apex out.
fn sphere(shape: &mut Shape, stretch: f32, tail: f32) {
    let across = stretch.sqrt().recip();
    for ring in 0..RINGS {
        let polar = std::f32::consts::PI * (1.0 - (ring as f32 + 0.7) / (RINGS as f32 + 0.7));
        for slice in 0..SLICES {
            let turn = std::f32::consts::TAU * slice as f32 / SLICES as f32;
            let i = ring * SLICES + slice;
            let up = ring as f32 / RINGS as f32;
            shape.x[i] = polar.sin() * turn.cos() * across * (1.0 - 0.4 * tail * up);
            shape.y[i] = polar.sin() * turn.sin() * across * (1.0 - 0.4 * tail * up);
            shape.z[i] = polar.cos() * stretch + tail * up.powi(3);
        }
    }
    shape.x[POINTS - 1] = 0.0;
    shape.y[POINTS - 1] = 0.0;
    shape.z[POINTS - 1] = stretch + tail;
}

fn bottom_of(shape: &Shape) -> f32 {
    // The pole below the lowest ring of a ball.
    let z = shape.z[0];
    let flat = (shape.x[0] * shape.x[0] + shape.y[0] * shape.y[0]).sqrt();
    z - 0.35 * flat
}

/// Scales to the exact volume, base included.
fn fix_volume(shape: &mut Shape, bottom: f32) {
    let mut base = 0.0;
    for s in 0..SLICES {
        let t = (s + 1) % SLICES;
        base += bottom * (shape.x[t] * shape.y[s] - shape.y[t] * shape.x[s]);
    }
    let volume = shape.volume() + base / 6.0;
    let factor = (VOLUME as f32 / volume.max(1e-3)).cbrt().clamp(0.5, 2.0);
    for i in 0..POINTS {
        shape.x[i] *= factor;
        shape.y[i] *= factor;
        shape.z[i] *= factor;
    }
}

/// How much a coarse drop must be larger to hold the volume of the fine one.
fn coarse_growth(shape: &Shape) -> f32 {
    let at =
        |ring: usize, slice: usize| shape.point(COARSE_RINGS[ring], slice * COARSE_STEP).as_vec3();
    let apex = shape.point(RINGS, 0).as_vec3();
    let mut six_volumes = 0.0;
    for ring in 0..COARSE_RINGS.len() {
        for slice in 0..SLICES / COARSE_STEP {
            let (a, b) = (at(ring, slice), at(ring, slice + 1));
            if ring + 1 == COARSE_RINGS.len() {
                six_volumes += a.dot(b.cross(apex));
            } else {
                let (c, d) = (at(ring + 1, slice), at(ring + 1, slice + 1));
                six_volumes += a.dot(b.cross(d)) + a.dot(d.cross(c));
            }
        }
    }
    (6.0 * VOLUME as f32 / six_volumes.max(1e-3)).cbrt().clamp(1.0, 1.5)
}

/// Longer along an axis of the plane, narrower across.
fn stretch(shape: &mut Shape, axis: DVec2, amount: f64) {
    let (a, b) = (amount as f32, (1.0 / amount.sqrt()) as f32);
    let (c, s) = (axis.x as f32, axis.y as f32);
    for i in 0..POINTS {
        let (u, v) = (shape.x[i] * c + shape.y[i] * s, shape.y[i] * c - shape.x[i] * s);
        let (u, v) = (u * a, v * b);
        shape.x[i] = u * c - v * s;
        shape.y[i] = u * s + v * c;
        shape.z[i] *= b;
    }
}

/// Offsets by smooth noise of the distance run: a few waves around the drop.
fn wobble(shape: &mut Shape, id: u64, way: f64, amplitude: f32) {
    let noise = |wave: u64, part: u64| {
        let cell = way.floor();
        let t = way - cell;
        let t = t * t * (3.0 - 2.0 * t);
        let at = |c: f64| random::signed(id ^ 0x30B, wave * 2 + part, c as u64);
        (at(cell) + (at(cell + 1.0) - at(cell)) * t) as f32
    };
    let mut waves = [(0.0f32, 0.0f32); 3];
    for (i, w) in waves.iter_mut().enumerate() {
        *w = (noise(i as u64, 0), noise(i as u64, 1));
    }
    let turns: [(f32, f32); SLICES] = std::array::from_fn(|slice| {
        (std::f32::consts::TAU * slice as f32 / SLICES as f32).sin_cos()
    });
    for slice in 0..SLICES {
        let sum: f32 = waves
            .iter()
            .enumerate()
            .map(|(i, (a, b))| {
                // Multiples of the turn are turns of other slices.
                let (s, c) = turns[(i + 1) * slice % SLICES];
                (a * c + b * s) / (i + 1) as f32
            })
            .sum();
        let factor = 1.0 + amplitude * sum;
        for ring in 0..RINGS {
            let i = ring * SLICES + slice;
            shape.x[i] *= factor;
            shape.y[i] *= factor;
        }
    }
}

/// An empty mesh for drops, with the liquid's material.
#[must_use]
pub fn empty_mesh(name: &str, rest: &Rest) -> Mesh {
    let topology =
        MeshTopology { materials: vec![rest.liquid.material.clone()], ..MeshTopology::default() };
    Mesh { name: name.to_owned(), topology: Arc::new(topology), ..Mesh::default() }
}

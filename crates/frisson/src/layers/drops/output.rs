//! What others see: the drops' mesh, points, trails, wetness, tracks.

use std::sync::Arc;

use glam::Vec3;

use super::body::{BodyContext, empty_mesh};
use super::layer::DropsLayer;
use super::merge::position_on;
use super::pencil::Pencil;
use super::scratch::DropsScratch;
use super::state::{Droplet, DropsState, Phase, any_drop};
use super::strip_mesh::StripGround;
use super::trail::paint;
use crate::geometry::{Attribute, AttributeValues, Material, Mesh, TriangleBvh};
use crate::stage::{Falling, FallingDrop, Frame, Image, Points, StepContext, Work};
use crate::tolerances::drops::THREAD_VISCOSITY;

/// Liquid in cloth at which it is wet to two thirds [kg/m²]: a shirt takes up about its own weight.
const SOAKED: f64 = 0.15;

/// Dried substance that covers the ground completely [kg/m²]: a coat of paint.
const COVERING: f64 = 0.03;

/// Names of what is shown.
#[derive(Default)]
pub struct OutputNames {
    points: String,
    trails: String,
    threads: String,
    pools: String,
    tracks: String,
    wetness: String,
}

impl OutputNames {
    /// Of a layer.
    pub fn new(layer: &str) -> Self {
        let of = |what: &str| format!("{layer}.{what}");
        Self {
            points: of("points"),
            trails: of("trails"),
            threads: of("threads"),
            pools: of("pools"),
            tracks: of("tracks"),
            wetness: of("wetness"),
        }
    }
}

/// A layer that shows its state and changes nothing of it.
pub(super) type Show<'a> = Work<'a, DropsLayer, &'a DropsState>;

impl Show<'_> {
    pub(super) fn show(&mut self, context: &StepContext, frame: &mut Frame) {
        self.scratch.prepare(self.params, self.rest, self.state);
        self.scratch.moved_since_shown |= self.scratch.surface.stand(&self.state.points);
        if self.params.shape.points {
            self.show_points(frame);
        }
        self.show_falling(frame);
        if context.is_output {
            // Normals of the ground are needed only where something is drawn on it.
            let shown = !(self.state.drops.is_empty() && self.state.trail.pieces.is_empty());
            let DropsScratch { surface, bodies, strip_mesh, moved_since_shown, .. } =
                &mut *self.scratch;
            if shown && (*moved_since_shown || !bodies.has_normals()) {
                bodies.smooth_normals(surface);
                strip_mesh.forget();
                *moved_since_shown = false;
            }
            if self.params.shape.mesh {
                self.show_bodies(context, frame);
            }
            if self.params.trails.enabled {
                self.show_trails(context, frame);
            }
            self.show_pools(frame);
            self.show_image(frame);
            if self.params.tracks {
                self.show_tracks(context, frame);
            }
        }
        if self.params.trails.enabled {
            self.show_wetness(frame);
        }
    }

    fn show_points(&self, frame: &mut Frame) {
        let points = find_points(frame, &self.scratch.names.points);
        points.positions.clear();
        points.widths.clear();
        points.ids.clear();
        points.velocities.clear();
        for drop in &self.state.drops {
            let (place, velocity) = match drop.phase {
                Phase::Air { position, velocity, .. } => (position, velocity),
                _ => {
                    let Some((place, t)) = position_on(drop, &self.scratch.surface) else {
                        continue;
                    };
                    let facet = &self.scratch.surface.facets[t as usize];
                    let velocity = match drop.phase {
                        Phase::Face { velocity, .. } => facet.lift(velocity),
                        Phase::Edge { half, speed, .. } => {
                            facet.lift(facet.edge(half as usize % 3).normalize_or_zero() * speed)
                        }
                        _ => glam::DVec3::ZERO,
                    };
                    (place, velocity + drop.carrier)
                }
            };
            points.positions.push(place.as_vec3());
            points.velocities.push(velocity.as_vec3());
            // Where the mesh shows the drop, a ball of its size would be drawn through it.
            let width = if self.params.shape.mesh { 0.0 } else { 2.0 * self.radius(drop) };
            points.widths.push(width);
            points.ids.push(drop.id);
        }
        let drops = &self.state.drops;
        let radius = drops.iter().map(|d| self.radius(d));
        scalar(&mut points.attributes, "drop_radius", radius);
        scalar(&mut points.attributes, "mass", drops.iter().map(|d| d.mass as f32));
        scalar(&mut points.attributes, "held", drops.iter().map(|d| f32::from(u8::from(d.held))));
        let in_air = drops.iter().map(|d| f32::from(u8::from(!d.is_on_surface())));
        scalar(&mut points.attributes, "in_air", in_air);
    }

    /// Drops in the air, for layers that they fall through.
    fn show_falling(&self, frame: &mut Frame) {
        let list = find_falling(frame, &self.params.name);
        list.drops.clear();
        if !any_drop(&self.state.drops, |d| !d.is_on_surface()) {
            return;
        }
        for drop in &self.state.drops {
            if let Phase::Air { position, velocity, .. } = drop.phase {
                let (position, velocity) = (position.as_vec3(), velocity.as_vec3());
                let (mass, radius) = (drop.mass as f32, self.radius(drop));
                list.drops.push(FallingDrop { id: drop.id, position, velocity, mass, radius });
            }
        }
    }

    /// Radius of a ball of a drop's volume [m].
    fn radius(&self, drop: &Droplet) -> f32 {
        self.scratch.site.liquid.radius(drop.mass) as f32
    }

    fn show_bodies(&mut self, context: &StepContext, frame: &mut Frame) {
        let DropsScratch { surface, site, bodies, threads, names, .. } = &mut *self.scratch;
        let now = (context.time, context.clock.tick_seconds());
        let mut drops: &[Droplet] = &self.state.drops;
        if self.rest.may_stream(self.params) || site.liquid.viscosity() >= THREAD_VISCOSITY {
            let name = &names.threads;
            let index = find_mesh(frame, name, || empty_mesh(name, site));
            dress(&mut frame.meshes[index], &site.liquid.material);
            let hang_together = threads.find(drops, site, now);
            if !hang_together {
                threads.clear();
            }
            threads.write(&mut frame.meshes[index]);
            if hang_together {
                drops = &threads.lone;
            }
        }
        let shown = self.rest.shown_on.map(|m| {
            TriangleBvh::build(&frame.meshes[m].positions, &frame.meshes[m].topology.triangles)
        });
        let index = find_mesh(frame, &self.params.name, || empty_mesh(&self.params.name, site));
        let body = BodyContext {
            surface,
            site,
            params: &self.params.shape,
            forces: context.forces,
            shown: shown.as_ref(),
            time: context.time,
        };
        dress(&mut frame.meshes[index], &body.site.liquid.material);
        bodies.write(&body, drops, &mut frame.meshes[index]);
    }

    /// The liquid in pools.
    fn show_pools(&mut self, frame: &mut Frame) {
        if self.rest.pools.is_empty() {
            return;
        }
        let DropsScratch { site, pool_mesh, grounds, names, .. } = &mut *self.scratch;
        let name = &names.pools;
        let index = find_mesh(frame, name, || empty_mesh(name, site));
        dress(&mut frame.meshes[index], &site.liquid.material);
        pool_mesh.clear();
        for (rest, pool) in grounds.iter().zip(&self.state.pools) {
            pool_mesh.add(rest, pool, &site.liquid);
        }
        pool_mesh.write(&mut frame.meshes[index]);
    }

    fn show_trails(&mut self, context: &StepContext, frame: &mut Frame) {
        let params = &self.params.trails;
        if !params.mesh && self.state.image.is_none() {
            return;
        }
        let seed = self.params.seed;
        let DropsScratch { surface, site, bodies, strips, strip_mesh, image, names, .. } =
            &mut *self.scratch;
        let (surface, site) = (&*surface, &*site);
        strips.cut_open(&Pencil { surface, site, params, seed }, &self.state.drops);
        if let Some(laid) = &self.state.image {
            image.clone_from(laid);
            strips.pieces().for_each(|p| paint(image, (&site.uvs, params), p, context.time));
        }
        if params.mesh {
            let name = &names.trails;
            let index = find_mesh(frame, name, || empty_mesh(name, site));
            dress(&mut frame.meshes[index], &site.liquid.film_material);
            let ground = StripGround { surface, bodies };
            strip_mesh.expect(self.state.trail.swept);
            let (pieces, open) = (&self.state.trail.pieces, strips.lists());
            strip_mesh.write(&ground, context.time, pieces, open, &mut frame.meshes[index]);
            if context.clock.tick_before(context.time).1 > 0.0 {
                // A look between ticks: its last pieces are taken back.
                strip_mesh.forget();
            }
        }
    }

    /// Wetness and stain as vertex attributes of the meshes drops run on.
    fn show_wetness(&self, frame: &mut Frame) {
        let relief = self.state.relief.as_deref().unwrap_or(&self.rest.home);
        if !relief.fits(&frame.meshes, &self.rest.meshes) {
            return;
        }
        let (surface, site) = (&self.scratch.surface, &self.scratch.site);
        for (slot, &m) in self.rest.meshes.iter().enumerate() {
            let range =
                surface.first_triangle[slot] as usize..surface.first_triangle[slot + 1] as usize;
            let mesh = &mut frame.meshes[m];
            let topology = Arc::clone(&mesh.topology);
            let wet = &self.state.wet;
            let stained = self.scratch.site.liquid.concentration > 0.0;
            let firsts = &site.firsts[slot];
            // A vertex is as wet as the triangles around it are on average.
            let spread = |values: &mut [f32], t: usize, value: f32| {
                for &v in &topology.triangles[t - range.start] {
                    values[firsts[v as usize] as usize] += value * site.areas[t];
                }
            };
            let even = |values: &mut [f32]| {
                let around = &site.around[slot];
                values.iter_mut().zip(around).for_each(|(v, a)| *v = (*v * a).min(1.0));
                // The first of those at a place comes before the others.
                for v in 0..firsts.len().min(values.len()) {
                    values[v] = values[firsts[v] as usize];
                }
            };
            mesh.set_scalar("wetness", |values| {
                // Only these are not dry.
                for &t in wet.active.iter().filter(|t| range.contains(&(**t as usize))) {
                    let t = t as usize;
                    let [a, b] = wet.wetness[t];
                    // Flattened triangles carry liquid, but no area to share it by.
                    let area = f64::from(site.areas[t]).max(1e-12);
                    let smoothed = a + b + wet.soaked[t] / (area * SOAKED);
                    // Where a film lies it looks wet, however little it smooths.
                    let full = site.liquid.density * site.ground.of(t as u32).film * area;
                    let covered = if full > 0.0 { wet.film[t] / full } else { 0.0 };
                    let wetness = (-(-smoothed).exp_m1()).max(covered.min(1.0));
                    spread(values, t, wetness as f32);
                }
                even(values);
            });
            // Later layers feel what everyone may look at.
            let mut felt = std::mem::take(&mut mesh.channels.wetness);
            felt.clear();
            felt.extend_from_slice(mesh.scalar("wetness").unwrap_or_default());
            mesh.channels.wetness = felt;
            if stained {
                mesh.set_scalar("stain", |values| {
                    for t in range.clone() {
                        let area = surface.facets[t].area().max(1e-12);
                        let stain = (wet.stain[t] + wet.film_solute[t]) / (area * COVERING);
                        if stain > 0.0 {
                            spread(values, t, stain.min(1.0) as f32);
                        }
                    }
                    even(values);
                });
                let [r, g, b, _] = site.liquid.material.base_color;
                mesh.set_vector("stain_color", |values| values.fill(Vec3::new(r, g, b)));
            }
        }
    }

    fn show_image(&self, frame: &mut Frame) {
        if self.state.image.is_none() {
            return;
        }
        let name = &self.scratch.names.wetness;
        let index = frame.images.iter().position(|i| &i.name == name).unwrap_or_else(|| {
            let mesh = frame.meshes[self.rest.meshes[0]].name.clone();
            frame.images.push(Image { name: name.clone(), mesh, ..Image::default() });
            frame.images.len() - 1
        });
        let unevenness = self.params.trails.unevenness;
        self.scratch.image.write(unevenness, Arc::make_mut(&mut frame.images[index].texture));
    }

    fn show_tracks(&self, context: &StepContext, frame: &mut Frame) {
        let points = find_points(frame, &self.scratch.names.tracks);
        // All that say something of the time since the frame before.
        let since = context.time - 1.0 / context.clock.rate.fps() + 1e-9;
        let segments = self.state.segments.iter().filter(|s| s.start + s.duration > since);
        points.positions.clear();
        points.positions.extend(segments.clone().map(|s| s.position.as_vec3()));
        points.velocities.clear();
        points.velocities.extend(segments.clone().map(|s| s.velocity.as_vec3()));
        points.ids.clear();
        points.ids.extend(segments.clone().map(|s| s.id));
        points.widths.clear();
        points.widths.resize(points.ids.len(), 0.0);
        let a = &mut points.attributes;
        vector(a, "acceleration", segments.clone().map(|s| s.acceleration.as_vec3()));
        scalar(a, "drag", segments.clone().map(|s| s.drag as f32));
        scalar(a, "start", segments.clone().map(|s| s.start as f32));
        scalar(a, "duration", segments.clone().map(|s| s.duration as f32));
    }
}

fn find_mesh(frame: &mut Frame, name: &str, new: impl FnOnce() -> Mesh) -> usize {
    frame.mesh_index(name).unwrap_or_else(|| {
        frame.meshes.push(new());
        frame.meshes.len() - 1
    })
}

/// The liquid may look otherwise than in the frame before.
fn dress(mesh: &mut Mesh, material: &Material) {
    if mesh.topology.materials.first() != Some(material) {
        Arc::make_mut(&mut mesh.topology).materials = vec![material.clone()];
    }
}

fn find_points<'a>(frame: &'a mut Frame, name: &str) -> &'a mut Points {
    let index = frame.points.iter().position(|p| p.name == name).unwrap_or_else(|| {
        frame.points.push(Points { name: name.to_owned(), ..Points::default() });
        frame.points.len() - 1
    });
    &mut frame.points[index]
}

fn find_falling<'a>(frame: &'a mut Frame, layer: &str) -> &'a mut Falling {
    let index = frame.falling.iter().position(|f| f.layer == layer).unwrap_or_else(|| {
        frame.falling.push(Falling { layer: layer.to_owned(), ..Falling::default() });
        frame.falling.len() - 1
    });
    &mut frame.falling[index]
}

fn attribute<'a>(
    list: &'a mut Vec<Attribute>,
    name: &str,
    empty: AttributeValues,
) -> &'a mut Attribute {
    let index = list.iter().position(|a| a.name == name).unwrap_or_else(|| {
        list.push(Attribute { name: name.to_owned(), values: empty });
        list.len() - 1
    });
    &mut list[index]
}

fn scalar(list: &mut Vec<Attribute>, name: &str, values: impl Iterator<Item = f32>) {
    let found = attribute(list, name, AttributeValues::Scalar(Vec::new()));
    if let AttributeValues::Scalar(v) = &mut found.values {
        v.clear();
        v.extend(values);
    }
}

fn vector(list: &mut Vec<Attribute>, name: &str, values: impl Iterator<Item = Vec3>) {
    let found = attribute(list, name, AttributeValues::Vector(Vec::new()));
    if let AttributeValues::Vector(v) = &mut found.values {
        v.clear();
        v.extend(values);
    }
}

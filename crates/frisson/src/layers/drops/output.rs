//! What others see: the drops' mesh, points, trails, wetness, tracks.

use std::sync::Arc;

use glam::Vec3;

use super::DropsLayer;
use super::body::{BodyContext, empty_mesh};
use super::merge::position_on;
use super::state::{Drop, Phase};
use super::strip_mesh::StripGround;
use super::trail::{Pencil, paint};
use crate::geometry::{Attribute, AttributeValues, Mesh, TriangleBvh};
use crate::stage::{Frame, Image, Points, StepContext};

impl DropsLayer {
    pub(super) fn show(&mut self, context: &StepContext, frame: &mut Frame) {
        if self.params.shape.points {
            self.show_points(frame);
        }
        if context.is_output {
            let shown = !(self.state.drops.is_empty() && self.state.trail.pieces.is_empty());
            let moved = shown && (self.moved_since_shown || !self.bodies.has_normals());
            if moved {
                self.bodies.smooth_normals(&self.surface);
                self.strip_mesh.forget();
                self.moved_since_shown = false;
            }
            if self.params.shape.mesh {
                self.show_bodies(context, frame);
            }
            if self.params.trails.enabled {
                self.show_trails(context, frame);
            }
            self.show_image(frame);
            if self.params.tracks {
                self.show_tracks(frame);
            }
            if context.dt > 0.0 || self.segments.is_empty() {
                self.segments.clear();
            }
        }
        if self.params.trails.enabled {
            self.show_wetness(frame);
        }
    }

    fn show_points(&self, frame: &mut Frame) {
        let name = format!("{}.points", self.params.name);
        let points = find_points(frame, &name);
        points.positions.clear();
        points.widths.clear();
        points.ids.clear();
        points.velocities.clear();
        for drop in &self.state.drops {
            let (place, velocity) = match drop.phase {
                Phase::Air { position, velocity, .. } => (position, velocity),
                _ => {
                    let Some((place, t)) = position_on(drop, &self.surface) else { continue };
                    let facet = &self.surface.facets[t as usize];
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

    /// Radius of a ball of a drop's volume [m].
    fn radius(&self, drop: &Drop) -> f32 {
        self.rest.liquid.radius(drop.mass) as f32
    }

    fn show_bodies(&mut self, context: &StepContext, frame: &mut Frame) {
        let shown = self.shown_on.map(|m| {
            TriangleBvh::build(&frame.meshes[m].positions, &frame.meshes[m].topology.triangles)
        });
        let index =
            find_mesh(frame, &self.params.name, || empty_mesh(&self.params.name, &self.rest));
        let body = BodyContext {
            surface: &self.surface,
            rest: &self.rest,
            params: &self.params.shape,
            forces: context.forces,
            shown: shown.as_ref(),
            time: context.time,
        };
        self.bodies.write(&body, &self.state.drops, &mut frame.meshes[index]);
    }

    fn show_trails(&mut self, context: &StepContext, frame: &mut Frame) {
        let params = &self.params.trails;
        if !params.mesh && self.state.image.is_none() {
            return;
        }
        let (surface, rest, seed) = (&self.surface, &self.rest, self.params.seed);
        self.strips.cut_open(&Pencil { surface, rest, params, seed }, &self.state.drops);
        if let Some(image) = &mut self.state.image {
            self.strips.pieces().for_each(|p| paint(image, &rest.uvs, p, context.time));
        }
        if params.mesh {
            let name = format!("{}.trails", self.params.name);
            let index = find_mesh(frame, &name, || empty_mesh(&name, rest));
            let ground = StripGround { surface, bodies: &self.bodies };
            let (pieces, open) = (&self.state.trail.pieces, self.strips.lists());
            self.strip_mesh.write(&ground, context.time, pieces, open, &mut frame.meshes[index]);
        }
    }

    /// Wetness and stain as vertex attributes of the meshes drops run on.
    fn show_wetness(&self, frame: &mut Frame) {
        for (slot, &m) in self.meshes.iter().enumerate() {
            let range = self.surface.first_triangle[slot] as usize
                ..self.surface.first_triangle[slot + 1] as usize;
            let mesh = &mut frame.meshes[m];
            let topology = Arc::clone(&mesh.topology);
            let wet = &self.state.wet;
            let stained = self.params.deposit.concentration > 0.0;
            // A vertex is as wet as the triangles around it are on average.
            let spread = |values: &mut [f32], t: usize, value: f32| {
                for &v in &topology.triangles[t - range.start] {
                    values[v as usize] += value * self.rest.areas[t];
                }
            };
            let even = |values: &mut [f32]| {
                let around = &self.rest.around[slot];
                values.iter_mut().zip(around).for_each(|(v, a)| *v = (*v * a).min(1.0));
            };
            mesh.set_scalar("wetness", |values| {
                // Only these are not dry.
                for &t in wet.active.iter().filter(|t| range.contains(&(**t as usize))) {
                    let [a, b] = wet.wetness[t as usize];
                    spread(values, t as usize, -(-(a + b)).exp_m1() as f32);
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
                        let area = self.surface.facets[t].area().max(1e-12);
                        // A tenth of a kilogram per square metre covers completely.
                        let stain = (wet.stain[t] + wet.film_solute[t]) / area * 10.0;
                        if stain > 0.0 {
                            spread(values, t, stain.min(1.0) as f32);
                        }
                    }
                    even(values);
                });
            }
        }
    }

    fn show_image(&self, frame: &mut Frame) {
        let Some(image) = &self.state.image else { return };
        let name = format!("{}.wetness", self.params.name);
        let index = frame.images.iter().position(|i| i.name == name).unwrap_or_else(|| {
            let mesh = frame.meshes[self.meshes[0]].name.clone();
            frame.images.push(Image { name, mesh, ..Image::default() });
            frame.images.len() - 1
        });
        image.write(Arc::make_mut(&mut frame.images[index].texture));
    }

    fn show_tracks(&self, frame: &mut Frame) {
        let name = format!("{}.tracks", self.params.name);
        let points = find_points(frame, &name);
        let segments = &self.segments;
        points.positions.clear();
        points.positions.extend(segments.iter().map(|s| s.position.as_vec3()));
        points.velocities.clear();
        points.velocities.extend(segments.iter().map(|s| s.velocity.as_vec3()));
        points.ids.clear();
        points.ids.extend(segments.iter().map(|s| s.id));
        points.widths.clear();
        points.widths.resize(segments.len(), 0.0);
        let a = &mut points.attributes;
        vector(a, "acceleration", segments.iter().map(|s| s.acceleration.as_vec3()));
        scalar(a, "drag", segments.iter().map(|s| s.drag as f32));
        scalar(a, "start", segments.iter().map(|s| s.start as f32));
        scalar(a, "duration", segments.iter().map(|s| s.duration as f32));
    }
}

fn find_mesh(frame: &mut Frame, name: &str, new: impl FnOnce() -> Mesh) -> usize {
    frame.mesh_index(name).unwrap_or_else(|| {
        frame.meshes.push(new());
        frame.meshes.len() - 1
    })
}

fn find_points<'a>(frame: &'a mut Frame, name: &str) -> &'a mut Points {
    let index = frame.points.iter().position(|p| p.name == name).unwrap_or_else(|| {
        frame.points.push(Points { name: name.to_owned(), ..Points::default() });
        frame.points.len() - 1
    });
    &mut frame.points[index]
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

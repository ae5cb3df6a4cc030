//! What is inside the objects: primitives, rigid bodies, doughs, bones and their joints.

use glam::{DMat3, DVec3};

use super::build_coats::fill;
use super::field::{FieldProfile, Kind};
use super::params::{PrimitiveParams, SoftObject};
use super::rest::{Described, PrimitiveRest, SoftRest};
use super::seeds::{Seed, build_seeds, compute_pieces};
use super::structure::{BodyRest, JointRest, MovedBy};
use crate::stage::LayerError;

/// Colour of what says nothing about it, linear RGB: flesh.
const PLAIN: [f32; 3] = [0.75, 0.55, 0.42];

/// A primitive to be added to the object being built.
pub(super) struct NewPrimitive {
    /// What the scene calls it.
    pub name: String,
    pub kind: Kind,
    /// The body that carries it.
    pub body: usize,
    /// Its points in the body's axes [m].
    pub points: Vec<DVec3>,
    /// Thickness of its coat [m].
    pub thickness: f64,
}

impl SoftRest {
    /// A new primitive of the object being built.
    pub(super) fn push_primitive(
        &mut self,
        object: &SoftObject,
        new: NewPrimitive,
    ) -> &mut PrimitiveRest {
        let NewPrimitive { name, kind, body, points, thickness } = new;
        let profile = FieldProfile {
            thickness,
            support: object.support_for(thickness),
            stiffness: object.stiffness,
            hardening: object.hardening,
            level: 0.0,
        };
        self.primitives.push(PrimitiveRest {
            name,
            kind,
            object: self.objects.len() - 1,
            body,
            points,
            profile,
            color: object.color.unwrap_or(PLAIN),
            uv: None,
            described: Described::WithObject,
            links: None,
            node: None,
            under_skin: false,
        });
        let last = self.primitives.len() - 1;
        &mut self.primitives[last]
    }

    pub(super) fn add_primitives(&mut self, object: &SoftObject) {
        let moves = [object.move_x.clone(), object.move_y.clone(), object.move_z.clone()];
        let first = self.primitives.len();
        for (index, p) in object.primitives.iter().enumerate() {
            let (kind, points) = shape_of(p);
            let own = [p.move_x.clone(), p.move_y.clone(), p.move_z.clone()];
            let start = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
            let body = self.bodies.len();
            if !object.free {
                self.bodies.push(BodyRest {
                    moved_by: MovedBy::Keyed(moves.clone(), own),
                    start,
                    inverse_mass: 0.0,
                    inverse_inertia: DMat3::ZERO,
                });
            }
            // Points of a rigid body stay in the world until its centre of mass is known.
            let center = if object.free { DVec3::ZERO } else { start };
            let points = points.iter().map(|q| *q - center).collect();
            let thickness = p.thickness.unwrap_or(object.thickness);
            let new = NewPrimitive { name: p.name.clone(), kind, body, points, thickness };
            let made = self.push_primitive(object, new);
            made.profile.stiffness = p.stiffness.unwrap_or(made.profile.stiffness);
            made.color = p.color.unwrap_or(made.color);
            made.uv = p.uv;
            made.described = Described::Primitive(index);
        }
        if object.free {
            self.add_rigid_body(object, first);
        }
    }

    /// One rigid body for all primitives from `first` on, whose points are still in the world.
    fn add_rigid_body(&mut self, object: &SoftObject, first: usize) {
        let lumps: Vec<(DVec3, f64)> =
            self.primitives[first..].iter().flat_map(volume_lumps).collect();
        let (mass, center, inertia) = mass_properties(&lumps, object.density);
        let body = self.bodies.len();
        self.bodies.push(free_body(center, mass, inertia));
        for p in &mut self.primitives[first..] {
            p.body = body;
            p.points.iter_mut().for_each(|q| *q -= center);
        }
    }

    pub(super) fn add_dough(&mut self, object: &SoftObject, key: &str) -> Result<(), LayerError> {
        let Some(dough) = &object.dough else { return Ok(()) };
        let spacing = dough.spacing.unwrap_or(1.3 * object.thickness);
        let points = fill(dough, spacing).map_err(|count| {
            let problem = format!("would need {count:.0} particles: take a larger spacing");
            LayerError::parameter(format!("{key}.dough.spacing"), problem)
        })?;
        // A particle's share of a closest packing.
        let mass = object.density * spacing * spacing * spacing * std::f64::consts::FRAC_1_SQRT_2;
        // The object is on the list already: its primitives count up to now.
        if let Some(last) = self.objects.last_mut() {
            (last.spacing, last.particle_mass) = (spacing, mass);
        }
        for (index, point) in points.into_iter().enumerate() {
            let body = self.bodies.len();
            self.bodies.push(BodyRest {
                moved_by: MovedBy::Free,
                start: point,
                inverse_mass: 1.0 / mass,
                inverse_inertia: DMat3::ZERO,
            });
            let new = NewPrimitive {
                name: index.to_string(),
                kind: Kind::Point,
                body,
                points: vec![DVec3::ZERO],
                thickness: object.thickness,
            };
            self.push_primitive(object, new);
        }
        Ok(())
    }

    pub(super) fn add_bones(&mut self, object: &SoftObject, key: &str) -> Result<(), LayerError> {
        let first_body = self.bodies.len();
        for (index, bone) in object.bones.iter().enumerate() {
            let key = format!("{key}.bones[{index}]");
            let (from, to) = (DVec3::from_array(bone.from), DVec3::from_array(bone.to));
            if !from.is_finite() || !to.is_finite() {
                return Err(LayerError::parameter(format!("{key}.from"), "must be finite"));
            }
            if object.bones[..index].iter().any(|b| b.name == bone.name) {
                let problem = format!("two bones are named {:?}", bone.name);
                return Err(LayerError::parameter(format!("{key}.name"), problem));
            }
            // A bone without length has no direction to lay seeds along.
            let ball = from.distance(to) < 1e-9;
            let kind = if ball { Kind::Point } else { Kind::Polyline };
            let points = if ball { vec![from] } else { vec![from, to] };
            let thickness = bone.thickness.unwrap_or(object.thickness);
            let body = self.bodies.len();
            let new = NewPrimitive { name: bone.name.clone(), kind, body, points, thickness };
            let made = self.push_primitive(object, new);
            made.color = bone.color.unwrap_or(made.color);
            made.uv = bone.uv;
            made.described = Described::Bone(index);
            let first = self.primitives.len() - 1;
            self.add_rigid_body(object, first);
            // Mass and joints as any other bone: only nothing moves it.
            if bone.fixed {
                self.bodies[body].inverse_mass = 0.0;
                self.bodies[body].inverse_inertia = DMat3::ZERO;
            }
        }
        self.add_joints(object, key, first_body)
    }

    fn add_joints(
        &mut self,
        object: &SoftObject,
        key: &str,
        first_body: usize,
    ) -> Result<(), LayerError> {
        let listed = self.objects.last().map_or(0, |o| o.listed);
        for (index, bone) in object.bones.iter().enumerate() {
            let Some(parent) = &bone.parent else { continue };
            let names = || object.bones.iter().map(|b| b.name.as_str());
            let found = names().position(|n| n == parent).filter(|p| *p != index);
            let found = found.ok_or_else(|| {
                LayerError::unknown(format!("{key}.bones[{index}].parent"), "bone", parent, names())
            })?;
            let bodies = [first_body + found, first_body + index];
            let at = DVec3::from_array(bone.from);
            let along = DVec3::from_array(bone.to) - at;
            let hinge = bone.hinge.map(|h| DVec3::from_array(h).normalize_or(DVec3::X));
            self.joints.push(JointRest {
                bodies,
                anchors: bodies.map(|b| at - self.bodies[b].start),
                hinge,
                angles: bone
                    .angles_deg
                    .map(|[a, b]| [a.min(b).to_radians(), a.max(b).to_radians()]),
                swing: bone.swing_deg.map(|s| (along.normalize_or(DVec3::NEG_Y), s.to_radians())),
                described: (listed, index),
            });
        }
        Ok(())
    }
}

fn free_body(center: DVec3, mass: f64, inertia: DMat3) -> BodyRest {
    BodyRest {
        moved_by: MovedBy::Free,
        start: center,
        inverse_mass: 1.0 / mass,
        inverse_inertia: inertia.inverse(),
    }
}

/// Kind and points of a primitive; what has no extent is what is left of it: a point, or a line.
fn shape_of(p: &PrimitiveParams) -> (Kind, Vec<DVec3>) {
    let mut points: Vec<DVec3> =
        p.points().unwrap_or_default().into_iter().map(DVec3::from_array).collect();
    if p.triangle.is_some() && points.len() == 3 {
        let [a, b, c] = [points[0], points[1], points[2]];
        let longest = (b - a).length_squared().max((c - a).length_squared());
        if (b - a).cross(c - a).length() > 1e-9 * longest.max((c - b).length_squared()) {
            return (Kind::Triangle, points);
        }
        let sides = [(a, b), (b, c), (c, a)];
        let length = |s: &(DVec3, DVec3)| s.0.distance(s.1);
        let (from, to) = sides
            .into_iter()
            .fold(sides[0], |best, s| if length(&s) > length(&best) { s } else { best });
        points = vec![from, to];
    }
    // A segment between two equal points has no direction; it is a ball.
    points.dedup();
    let kind = if points.len() == 1 { Kind::Point } else { Kind::Polyline };
    (kind, points)
}

/// The volume of a lone primitive as points with volumes, from its seeds.
fn volume_lumps(p: &PrimitiveRest) -> Vec<(DVec3, f64)> {
    let e = p.profile.thickness;
    let mut pieces = Vec::new();
    compute_pieces(p.kind, &p.points, DMat3::IDENTITY, &mut pieces);
    let lump = |s: &Seed| {
        let ray = s.ray(&p.points, &pieces);
        let volume = ray.weight * e.powi(ray.power) / f64::from(ray.power);
        // The point whose square distance is the mean over the cone: keeps second moments.
        let share = (f64::from(ray.power) / f64::from(ray.power + 2)).sqrt();
        (ray.origin + e * share * ray.direction, volume)
    };
    // A fixed number: the mass must not change with the quality that the scene asks for.
    build_seeds(p.kind, &p.points, e, 200).iter().map(lump).collect()
}

/// Mass, centre and inertia of lumps of a density.
fn mass_properties(lumps: &[(DVec3, f64)], density: f64) -> (f64, DVec3, DMat3) {
    let mass: f64 = lumps.iter().map(|l| l.1 * density).sum();
    let center = lumps.iter().map(|l| l.0 * l.1 * density).sum::<DVec3>() / mass;
    let mut inertia = DMat3::ZERO;
    for &(at, volume) in lumps {
        let r = at - center;
        let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        inertia +=
            (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * volume * density;
    }
    (mass, center, inertia)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_has_the_inertia_of_a_ball() {
        let profile = FieldProfile {
            thickness: 0.3,
            support: 0.6,
            stiffness: 1.0,
            hardening: 0.0,
            level: 1.0,
        };
        let p = PrimitiveRest {
            name: String::new(),
            kind: Kind::Point,
            object: 0,
            body: 0,
            points: vec![DVec3::new(1.0, 2.0, 3.0)],
            profile,
            color: [0.0; 3],
            uv: None,
            described: Described::WithObject,
            links: None,
            node: None,
            under_skin: false,
        };
        let (mass, center, inertia) = mass_properties(&volume_lumps(&p), 500.0);
        let expected = 500.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.027;
        assert!((mass / expected - 1.0).abs() < 1e-9);
        assert!(center.distance(p.points[0]) < 1e-3);
        assert!((inertia.x_axis.x / (0.4 * mass * 0.09) - 1.0).abs() < 0.02);
    }
}

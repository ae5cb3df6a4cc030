//! Parameters to rest data.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::coats::{coat_bones, measure_skins};
use super::field::{FieldProfile, Kind, gap};
use super::fit::{next_ancestors, related};
use super::params::{CoatParams, PrimitiveParams, SoftObject, SoftParams};
use super::rest::{Described, ObjectRest, PrimitiveRest, SoftRest};
use super::seeds::{FineSeeds, Seed, build_seeds, compute_pieces};
use super::structure::{BodyRest, Drive, JointRest};
use crate::geometry::Mesh;
use crate::stage::{BuildContext, LayerError};
use crate::tolerances::soft as tolerances;

/// Colour of what says nothing about it, linear RGB: flesh.
const PLAIN: [f32; 3] = [0.75, 0.55, 0.42];

impl SoftRest {
    /// Reads the parameters against the scene.
    pub fn build(params: &SoftParams, context: &BuildContext) -> Result<Self, LayerError> {
        let mut rest = Self::default();
        let mut order: Vec<usize> = (0..params.objects.len()).collect();
        order.sort_by(|&a, &b| params.objects[a].name.cmp(&params.objects[b].name));
        for index in order {
            rest.add_object(&params.objects[index], index, context)?;
        }
        rest.find_tools(params, context)?;
        let width = |p: &PrimitiveRest| p.coat.stiffness * (p.coat.support - p.coat.thickness);
        let softest = rest.primitives.iter().map(width).fold(f64::INFINITY, f64::min);
        rest.level = params.level.unwrap_or(softest);
        for p in &mut rest.primitives {
            p.coat.level = rest.level;
        }
        let thinnest =
            rest.primitives.iter().map(|p| p.coat.thickness).fold(f64::INFINITY, f64::min);
        rest.cell = params.cell.unwrap_or(thinnest / tolerances::CELLS_PER_THICKNESS);
        rest.check_size(context)?;
        measure_skins(&mut rest, context)?;
        let ball = |p: &PrimitiveRest| p.under_skin.then_some(p.object as u32);
        rest.balls = rest.primitives.iter().map(ball).collect();
        rest.seeds = rest
            .primitives
            .iter()
            .map(|p| build_seeds(p.kind, &p.points, p.coat.thickness, params.seeds))
            .collect();
        rest.build_fine_seeds(params.seeds);
        rest.name_meshes(&params.name);
        rest.actors = rest.bodies.iter().filter_map(BodyRest::actor).collect();
        rest.actors.sort_unstable();
        rest.actors.dedup();
        rest.hangs = rest.bodies.iter().any(|b| matches!(b.drive, Drive::Surface { .. }));
        Ok(rest)
    }

    /// A surface of more cells than anyone can look at is a mistake in the numbers, and would be
    /// computed for hours.
    fn check_size(&self, context: &BuildContext) -> Result<(), LayerError> {
        let area = |p: &PrimitiveRest| {
            let around = std::f64::consts::TAU * p.coat.thickness;
            let length: f64 = p.points.windows(2).map(|w| w[0].distance(w[1])).sum();
            let faces = match (p.kind, p.points.as_slice()) {
                (Kind::Triangle, [a, b, c, ..]) => (*b - *a).cross(*c - *a).length(),
                _ => 0.0,
            };
            around * (length + 2.0 * p.coat.thickness) + faces
        };
        // The skin is shown in the place of the balls under it, which lie in each other.
        let shown = self.primitives.iter().filter(|p| !p.under_skin);
        let meshes = self.skins.iter().flat_map(|s| s.meshes.clone());
        let skins = meshes.filter_map(|m| context.frame.meshes.get(m)).map(Mesh::area);
        let cells = (shown.map(area).sum::<f64>() + skins.sum::<f64>()) / (self.cell * self.cell);
        if cells < tolerances::MOST_CELLS {
            return Ok(());
        }
        let problem = format!(
            "the surface would take {cells:.0e} cells of {} m, at most {:.0e}: use larger cells, \
             a thicker coat or smaller primitives",
            self.cell,
            tolerances::MOST_CELLS
        );
        Err(LayerError::parameter("cell", problem))
    }

    /// Doughs have many small contacts that need no finer sampling than their seeds.
    fn build_fine_seeds(&mut self, seeds: usize) {
        let none = Arc::new(FineSeeds::default());
        // A point's seeds do not depend on its thickness.
        let mut of_points: Option<Arc<FineSeeds>> = None;
        for (p, coarse) in self.primitives.iter().zip(&self.seeds) {
            if self.objects[p.object].is_dough {
                self.fine_seeds.push(Arc::clone(&none));
                continue;
            }
            let build =
                || Arc::new(FineSeeds::build(p.kind, &p.points, p.coat.thickness, seeds, coarse));
            let fine = match p.kind {
                Kind::Point => Arc::clone(of_points.get_or_insert_with(build)),
                _ => build(),
            };
            self.fine_seeds.push(fine);
        }
    }

    fn find_tools(
        &mut self,
        params: &SoftParams,
        context: &BuildContext,
    ) -> Result<(), LayerError> {
        let all = context.colliders.all();
        let reach = self.primitives.iter().map(|p| p.coat.support).fold(0.0, f64::max);
        self.toolbox.reach = 4.0 * reach as f32;
        let Some(names) = &params.tools else {
            self.toolbox.colliders = (0..all.len()).collect();
            return Ok(());
        };
        for name in names {
            if let Some(found) = all.iter().position(|c| c.name == *name) {
                self.toolbox.colliders.push(found);
            } else if context.frame.mesh_index(name).is_some() {
                self.toolbox.meshes.push(name.clone());
            } else {
                let meshes = context.frame.meshes.iter().map(|m| m.name.as_str());
                let known = all.iter().map(|c| c.name.as_str()).chain(meshes);
                return Err(LayerError::unknown("tools", "collider or mesh", name, known));
            }
        }
        self.toolbox.colliders.sort_unstable();
        self.toolbox.colliders.dedup();
        Ok(())
    }

    /// One mesh per object; those that can fuse share one.
    fn name_meshes(&mut self, layer: &str) {
        let mut names: Vec<String> = Vec::new();
        let mut fusing = None;
        for object in &mut self.objects {
            let label = match fusing.filter(|_| object.may_fuse) {
                Some(label) => label,
                _ => {
                    names.push(object.name.clone());
                    names.len() - 1
                }
            };
            if object.may_fuse {
                fusing = Some(label);
            }
            object.label = label;
        }
        let single = names.len() == 1;
        self.labels = names
            .into_iter()
            .map(|n| if single { layer.to_owned() } else { format!("{layer}/{n}") })
            .collect();
    }

    fn add_object(
        &mut self,
        object: &SoftObject,
        listed: usize,
        context: &BuildContext,
    ) -> Result<(), LayerError> {
        let key = &format!("objects[{listed}]");
        let first = self.primitives.len();
        self.objects.push(ObjectRest {
            name: object.name.clone(),
            listed,
            is_dough: object.dough.is_some(),
            may_fuse: object.fuse.is_some(),
            density: object.density,
            primitives: first..first,
            label: 0,
            spacing: 0.0,
            particle_mass: 0.0,
        });
        // In a figure only neighbours blend, unless the scene says otherwise.
        let mut jointed = !object.bones.is_empty();
        if object.dough.is_some() {
            self.add_dough(object, key)?;
        } else if !object.bones.is_empty() {
            self.add_bones(object, key)?;
        } else if let Some(coat) = &object.coat {
            jointed = coat_bones(self, object, coat, key, context)?;
        } else {
            self.add_primitives(object);
        }
        let range = first..self.primitives.len();
        if let Some(last) = self.objects.last_mut() {
            last.primitives = range.clone();
        }
        let parents = match &object.coat {
            Some(coat) if jointed && coat.bones.is_empty() => {
                skin_parents(self, coat, &range, context)
            }
            _ => None,
        };
        self.link_primitives(object, key, range, jointed, parents.as_deref())
    }

    /// A new primitive of the object being built.
    pub(super) fn push_primitive(
        &mut self,
        object: &SoftObject,
        name: String,
        kind: Kind,
        body: usize,
        points: Vec<DVec3>,
        thickness: f64,
    ) -> &mut PrimitiveRest {
        let coat = FieldProfile {
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
            coat,
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

    fn add_primitives(&mut self, object: &SoftObject) {
        let moves = [object.move_x.clone(), object.move_y.clone(), object.move_z.clone()];
        let first = self.primitives.len();
        for (index, p) in object.primitives.iter().enumerate() {
            let (kind, points) = shape_of(p);
            let own = [p.move_x.clone(), p.move_y.clone(), p.move_z.clone()];
            let start = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
            let body = self.bodies.len();
            if !object.free {
                self.bodies.push(BodyRest {
                    drive: Drive::Keyed(moves.clone(), own),
                    start,
                    inverse_mass: 0.0,
                    inverse_inertia: DMat3::ZERO,
                });
            }
            let center = if object.free { DVec3::ZERO } else { start };
            let local = points.iter().map(|q| *q - center).collect();
            let thickness = p.thickness.unwrap_or(object.thickness);
            let made = self.push_primitive(object, p.name.clone(), kind, body, local, thickness);
            made.coat.stiffness = p.stiffness.unwrap_or(made.coat.stiffness);
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

    fn add_dough(&mut self, object: &SoftObject, key: &str) -> Result<(), LayerError> {
        let Some(dough) = &object.dough else { return Ok(()) };
        let spacing = dough.spacing.unwrap_or(1.3 * object.thickness);
        let points = super::coats::fill(dough, spacing).map_err(|count| {
            let problem = format!("would need {count:.0} particles: take a larger spacing");
            LayerError::parameter(format!("{key}.dough.spacing"), problem)
        })?;
        // A particle's share of a closest packing.
        let mass = object.density * spacing * spacing * spacing * std::f64::consts::FRAC_1_SQRT_2;
        if let Some(last) = self.objects.last_mut() {
            (last.spacing, last.particle_mass) = (spacing, mass);
        }
        for (index, point) in points.into_iter().enumerate() {
            let body = self.bodies.len();
            self.bodies.push(BodyRest {
                drive: Drive::Free,
                start: point,
                inverse_mass: 1.0 / mass,
                inverse_inertia: DMat3::ZERO,
            });
            let local = vec![DVec3::ZERO];
            self.push_primitive(
                object,
                index.to_string(),
                Kind::Point,
                body,
                local,
                object.thickness,
            );
        }
        Ok(())
    }

    fn add_bones(&mut self, object: &SoftObject, key: &str) -> Result<(), LayerError> {
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
            let ball = from.distance(to) < 1e-9;
            let kind = if ball { Kind::Point } else { Kind::Polyline };
            let points = if ball { vec![from] } else { vec![from, to] };
            let thickness = bone.thickness.unwrap_or(object.thickness);
            let body = self.bodies.len();
            let made =
                self.push_primitive(object, bone.name.clone(), kind, body, points, thickness);
            made.color = bone.color.unwrap_or(made.color);
            made.uv = bone.uv;
            made.described = Described::Bone(index);
            let first = self.primitives.len() - 1;
            self.add_rigid_body(object, first);
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

    /// The blending graph: given pairs, or bones with their parents and with the siblings they touch.
    fn link_primitives(
        &mut self,
        object: &SoftObject,
        key: &str,
        range: std::ops::Range<usize>,
        chains: bool,
        parents: Option<&[Option<usize>]>,
    ) -> Result<(), LayerError> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let names: Vec<String> =
            self.primitives[range.clone()].iter().map(|p| p.name.clone()).collect();
        let find = |name: &String| {
            names.iter().position(|n| n == name).ok_or_else(|| {
                let all = names.iter().map(String::as_str).filter(|n| !n.is_empty());
                LayerError::unknown(format!("{key}.blend"), "primitive", name, all)
            })
        };
        if let Some(given) = &object.blend {
            for (a, b) in given {
                pairs.push((find(a)?, find(b)?));
            }
        }
        if object.blend.is_none() && !chains {
            return Ok(());
        }
        match parents {
            Some(parents) => self.link_fitted(range.clone(), parents, &mut pairs),
            None if chains => self.link_touching(object, range.clone(), &mut pairs),
            None => {}
        }
        for local in 0..names.len() {
            let partner = |&(a, b): &(usize, usize)| match (a == local, b == local) {
                (true, false) => Some((range.start + b) as u32),
                (false, true) => Some((range.start + a) as u32),
                _ => None,
            };
            let mut list: Vec<u32> = pairs.iter().filter_map(partner).collect();
            list.sort_unstable();
            list.dedup();
            self.primitives[range.start + local].links = Some(list.into());
        }
        Ok(())
    }

    /// Balls that were fitted to skin blend with those of the same joint and of its parent that they
    /// reach at the start; muscles with what is on their own joint.
    fn link_fitted(
        &self,
        range: std::ops::Range<usize>,
        parents: &[Option<usize>],
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let start = |i: usize| {
            let p = &self.primitives[i];
            let at = p.points.iter().map(|q| *q + self.bodies[p.body].start);
            (p.kind, at.collect::<Vec<DVec3>>())
        };
        let muscle = |i: usize| !self.primitives[i].name.is_empty();
        for a in range.clone() {
            for b in range.start..a {
                let (pa, pb) = (&self.primitives[a], &self.primitives[b]);
                let (Some(na), Some(nb)) = (pa.node, pb.node) else { continue };
                if na != nb && (muscle(a) || muscle(b) || !related(parents, na, nb)) {
                    continue;
                }
                let reach = pa.coat.support + pb.coat.support;
                let ((kind_a, of_a), (kind_b, of_b)) = (start(a), start(b));
                if gap(kind_a, &of_a, kind_b, &of_b, reach) < reach {
                    pairs.push((b - range.start, a - range.start));
                }
            }
        }
    }

    /// Bones that touch (a parent and its children, siblings at one joint, a muscle beside its bone)
    /// blend.
    fn link_touching(
        &self,
        object: &SoftObject,
        range: std::ops::Range<usize>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        for (index, bone) in object.bones.iter().enumerate() {
            if let Some(parent) = &bone.parent {
                let found = object.bones.iter().position(|b| b.name == *parent);
                pairs.extend(found.map(|p| (p, index)));
            }
        }
        let world = |i: usize| -> (Kind, Vec<DVec3>) {
            let p = &self.primitives[i];
            (p.kind, p.points.iter().map(|q| *q + self.bodies[p.body].start).collect())
        };
        for a in range.clone() {
            for b in range.start..a {
                let near =
                    0.5 * self.primitives[a].coat.thickness.min(self.primitives[b].coat.thickness);
                let ((kind_a, of_a), (kind_b, of_b)) = (world(a), world(b));
                if gap(kind_a, &of_a, kind_b, &of_b, near) < near {
                    pairs.push((b - range.start, a - range.start));
                }
            }
        }
    }
}

/// For every node of the character that carries fitted coats: the next ancestor that does, too.
fn skin_parents(
    rest: &SoftRest,
    coat: &CoatParams,
    range: &std::ops::Range<usize>,
    context: &BuildContext,
) -> Option<Vec<Option<usize>>> {
    let actor = context.actors.find(&coat.on)?;
    let character = context.actors.all()[actor].character()?;
    let carries = |n: usize| rest.primitives[range.clone()].iter().any(|p| p.node == Some(n));
    Some(next_ancestors(character, carries))
}

fn free_body(center: DVec3, mass: f64, inertia: DMat3) -> BodyRest {
    BodyRest {
        drive: Drive::Free,
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
    points.dedup();
    let kind = if points.len() == 1 { Kind::Point } else { Kind::Polyline };
    (kind, points)
}

/// The volume of a lone primitive as points with volumes, from its seeds.
fn volume_lumps(p: &PrimitiveRest) -> Vec<(DVec3, f64)> {
    let e = p.coat.thickness;
    let mut pieces = Vec::new();
    compute_pieces(p.kind, &p.points, DQuat::IDENTITY, &mut pieces);
    let lump = |s: &Seed| {
        let ray = s.ray(&p.points, &pieces);
        let volume = ray.weight * e.powi(ray.power) / f64::from(ray.power);
        // The point whose square distance is the mean over the cone: keeps second moments.
        let share = (f64::from(ray.power) / f64::from(ray.power + 2)).sqrt();
        (ray.origin + e * share * ray.direction, volume)
    };
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
        let coat = FieldProfile {
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
            coat,
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

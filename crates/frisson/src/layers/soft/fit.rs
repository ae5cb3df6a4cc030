//! Fitting coats: to the skin around a skeleton, or to a mesh without one.

use glam::{DMat3, DVec3, Vec3};

use super::field::{Kind, closest};
use super::params::CoatBone;
use crate::character::{Character, Pose};
use crate::geometry::Mesh;
use crate::stage::{BuildContext, SurfaceMotion};

/// A character's skin, to fit coats to.
pub struct SkinFit<'a> {
    /// Who.
    pub character: &'a Character,
    /// The scene at its start.
    pub context: &'a BuildContext<'a>,
    /// Its number.
    pub actor: usize,
    /// Its pose at the start.
    pub pose: &'a Pose,
}

impl SkinFit<'_> {
    /// Every joint and its parent, as thick as the skin around; ends of chains as the balls or sticks
    /// that fill their skin best.
    #[must_use]
    pub fn bones(&self) -> Vec<CoatBone> {
        let skins = &self.character.skins;
        let mut joints: Vec<usize> = skins.iter().flat_map(|s| s.joints.clone()).collect();
        joints.sort_unstable();
        joints.dedup();
        let nodes = self.character.skeleton.nodes();
        let mut bones = Vec::new();
        for &joint in &joints {
            let name = |n: usize| nodes[n].name.clone();
            if let Some(parent) = nodes[joint].parent.filter(|p| joints.contains(p)) {
                let ends = [parent, joint].map(|j| self.pose.origin(j).as_dvec3());
                if ends[0].distance(ends[1]) > 1e-6 {
                    let thickness = fit_thickness(&self.skin_of(parent), &ends);
                    bones.push(CoatBone {
                        from: name(parent),
                        to: Some(name(joint)),
                        thickness,
                        ..CoatBone::default()
                    });
                }
            }
            if joints.iter().all(|&j| nodes[j].parent != Some(joint)) {
                bones.push(CoatBone { from: name(joint), ..self.leaf(joint) });
            }
        }
        bones
    }

    /// Balls that fill the meshes of an actor without joints, at most so many for each.
    #[must_use]
    pub fn balls(&self, most: usize) -> Vec<CoatBone> {
        let mut bones = Vec::new();
        let meshes = self.context.actors.mesh_range(self.actor).zip(&self.character.meshes);
        for (mesh, source) in meshes {
            let node = source.node;
            let local = self.pose.world_from_node[node].inverse();
            let name = &self.character.skeleton.nodes()[node].name;
            for (center, radius) in fill_mesh(&self.context.frame.meshes[mesh], most) {
                let from_origin = center - self.pose.origin(node).as_dvec3();
                bones.push(CoatBone {
                    from: name.clone(),
                    offset: local.transform_vector3(from_origin.as_vec3()).as_dvec3().to_array(),
                    thickness: Some(radius),
                    ..CoatBone::default()
                });
            }
        }
        bones
    }

    /// Skin whose strongest joint is this one, in the world.
    fn skin_of(&self, joint: usize) -> Vec<DVec3> {
        let mut skin_points = Vec::new();
        let meshes = self.context.actors.mesh_range(self.actor).zip(&self.character.meshes);
        for (mesh, source) in meshes {
            let Some(skin) = source.skin.map(|s| &self.character.skins[s]) else { continue };
            for (vertex, p) in self.context.frame.meshes[mesh].positions.iter().enumerate() {
                let strongest = source.influences.of(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
                if strongest.is_some_and(|(j, _)| skin.joints[j as usize] == joint) {
                    skin_points.push(p.as_dvec3());
                }
            }
        }
        skin_points
    }

    /// A stick along the longest direction of a joint's skin, or a ball.
    fn leaf(&self, joint: usize) -> CoatBone {
        let skin = self.skin_of(joint);
        if skin.len() < 4 {
            return CoatBone::default();
        }
        let center = skin.iter().sum::<DVec3>() / skin.len() as f64;
        let axis = longest_direction(&skin, center);
        let along = |p: &DVec3| (*p - center).dot(axis);
        let across = median_distance(&skin, &[center - axis * 1e3, center + axis * 1e3]);
        let half = skin.iter().map(|p| along(p).abs()).fold(0.0, f64::max);
        let across = across.unwrap_or(half);
        let reach = if half < ROUND * across { 0.0 } else { half - across };
        let ends = [center - axis * reach, center + axis * reach];
        let local = self.pose.world_from_node[joint].inverse();
        let origin = self.pose.origin(joint).as_dvec3();
        // In the joint's axes, as `offset` and `tip` are.
        let [offset, tip] =
            ends.map(|e| local.transform_vector3((e - origin).as_vec3()).as_dvec3().to_array());
        let thickness = fit_thickness(&skin, &ends);
        CoatBone { offset, tip: (reach > 1e-6).then_some(tip), thickness, ..CoatBone::default() }
    }
}

/// Where coats meet their fields add and the surface rises: each is made that much thinner.
const FIT_SHARE: f64 = 0.92;

/// Thickness of a coat on a segment whose surface is to pass through points.
fn fit_thickness(points: &[DVec3], ends: &[DVec3; 2]) -> Option<f64> {
    median_distance(points, ends).map(|d| FIT_SHARE * d)
}

/// Median distance of points to a segment, if it is anything.
fn median_distance(points: &[DVec3], ends: &[DVec3; 2]) -> Option<f64> {
    let distance = |p: &DVec3| closest(Kind::Polyline, ends, *p).distance(*p);
    let mut distances: Vec<f64> = points.iter().map(distance).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().filter(|d| *d > 1e-6)
}

/// Direction in which points spread most: power iteration on their scatter.
fn longest_direction(points: &[DVec3], center: DVec3) -> DVec3 {
    let mut scatter = DMat3::ZERO;
    for p in points {
        let r = *p - center;
        scatter += DMat3::from_cols(r * r.x, r * r.y, r * r.z);
    }
    let mut axis = DVec3::new(0.3, 1.0, 0.2).normalize();
    for _ in 0..32 {
        axis = (scatter * axis).normalize_or(axis);
    }
    axis
}

/// Half length in half widths below which a leaf's skin is filled with a ball.
const ROUND: f64 = 1.9;

/// Samples along the longest side of a mesh's box when balls are fitted to it.
const FIT_SAMPLES: f32 = 32.0;

/// Balls inside a closed mesh, largest first; none begins inside another.
fn fill_mesh(mesh: &Mesh, most: usize) -> Vec<(DVec3, f64)> {
    let mut surface = SurfaceMotion::default();
    surface.update(mesh, 0.0);
    let bounds = mesh.bounds();
    let size = bounds.max - bounds.min;
    let step = size.max_element() / FIT_SAMPLES;
    if !(step.is_finite() && step > 0.0) {
        return Vec::new();
    }
    let counts = (size / step).ceil().as_ivec3();
    let mut inside: Vec<(Vec3, f32)> = Vec::new();
    for k in 0..=counts.z {
        for j in 0..=counts.y {
            for i in 0..=counts.x {
                let at = bounds.min + glam::IVec3::new(i, j, k).as_vec3() * step;
                if let Some((distance, _)) = surface.signed_distance(at, bounds.diagonal())
                    && distance < 0.0
                {
                    inside.push((at, -distance));
                }
            }
        }
    }
    let mut balls: Vec<(DVec3, f64)> = Vec::new();
    while balls.len() < most {
        let deepest = inside.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((center, radius)) = deepest.filter(|d| d.1 > step) else { break };
        balls.push((center.as_dvec3(), f64::from(radius)));
        inside.retain(|(p, _)| p.distance(center) > 0.8 * radius);
    }
    balls
}

//! What a VRM (0.x or 1.0) says of its character beyond glTF: which node is which part of a person,
//! and which chains of nodes swing.
//!
//! The swinging itself is defined by an algorithm of fixed steps (the tests hold ours against it);
//! [`SpringJoint::oscillator`] gives the frequency and damping it amounts to, so that
//! a layer which does not depend on the step can take its place.

use std::collections::BTreeMap;

use frisson::character::Skeleton;
use glam::Vec3;
use serde_json::Value;

use super::document::Document;
use super::error::{GltfError, Result};
use super::json::{array, float, floats, whole_number};

/// Least stiffness of a spring bone: with none it would hang and never swing.
const LEAST_PULL: f32 = 1e-4;

/// Shortest bone that swings [m].
const LEAST_BONE: f32 = 1e-4;

/// Greatest drag of a step [-]: with 1 nothing would be left to be damped.
const MOST_DRAG: f32 = 0.99;

/// Radius of a spring bone that says none [m], as the format has it.
const DEFAULT_HIT_RADIUS: f32 = 0.02;

/// Steps a second that viewers run the springs at [Hz]: the numbers mean nothing without it.
pub const SPRING_STEPS_HZ: f32 = 60.0;

/// What a VRM says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vrm {
    /// 0 or 1.
    pub version: u8,
    /// Nodes by the part of a person they are: `hips`, `leftUpperArm`, …
    pub humanoid: BTreeMap<String, usize>,
    /// Chains that swing.
    pub springs: Vec<SpringChain>,
    /// What they bump into.
    pub colliders: Vec<SpringCollider>,
}

/// A chain of nodes that swings.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringChain {
    /// Name; the first node's where there is none.
    pub name: String,
    /// From the root to the tip; the last only marks where the chain ends.
    pub joints: Vec<SpringJoint>,
    /// Indices into [`Vrm::colliders`].
    pub colliders: Vec<usize>,
    /// Node in whose space inertia is felt, if not the world.
    pub center: Option<usize>,
}

/// One joint of a chain, in the format's own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringJoint {
    /// Node.
    pub node: usize,
    /// Radius of its tail against colliders [m].
    pub hit_radius: f32,
    /// Pull back to rest; per step.
    pub stiffness: f32,
    /// Pull along `gravity_dir`; per step.
    pub gravity_power: f32,
    /// Direction of that pull.
    pub gravity_dir: Vec3,
    /// Part of the motion lost in a step, 0 to 1.
    pub drag: f32,
}

/// A sphere, or a capsule where it has a tail, on a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringCollider {
    /// Node.
    pub node: usize,
    /// Centre in the node's space [m].
    pub offset: Vec3,
    /// The capsule's other end [m].
    pub tail: Option<Vec3>,
    /// [m].
    pub radius: f32,
}

/// An oscillator: what a spring amounts to for small swings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillator {
    /// [Hz].
    pub frequency_hz: f32,
    /// Of the critical damping [-].
    pub damping_ratio: f32,
}

impl SpringJoint {
    /// What the joint amounts to with a bone of this length [m].
    ///
    /// A step of `h` adds to the tail's place `(1 - drag)` of its last move and `h · stiffness` along
    /// the bone at rest, then brings the bone back to its length `L`. For a small angle `a` off rest
    /// and `k = h · stiffness / L` that is
    ///
    /// ```text
    ///   (1 + k) a' = a + (1 - drag) (a - a₋)
    /// ```
    /// whose roots per step are those of an oscillator.
    #[must_use]
    pub fn oscillator(&self, length: f32) -> Oscillator {
        let rate = f64::from(SPRING_STEPS_HZ);
        // Gravity along the bone at rest pulls like stiffness.
        let pull = f64::from((self.stiffness + self.gravity_power.max(0.0)).max(LEAST_PULL));
        let k = pull / rate / f64::from(length.max(LEAST_BONE));
        let kept = 1.0 - f64::from(self.drag.clamp(0.0, MOST_DRAG));
        // Roots z of (1 + k) z² - (1 + kept) z + kept = 0.
        let (half, product) = ((1.0 + kept) / (2.0 * (1.0 + k)), kept / (1.0 + k));
        let square = half * half - product;
        let (sum, omega) = if square < 0.0 {
            let decay = -0.5 * product.ln() * rate;
            let turn = (-square).sqrt().atan2(half) * rate;
            (2.0 * decay, decay.hypot(turn))
        } else {
            // Slower than critical: two decays.
            let rates = [half + square.sqrt(), half - square.sqrt()].map(|z| -z.ln() * rate);
            (rates[0] + rates[1], (rates[0] * rates[1]).sqrt())
        };
        Oscillator {
            frequency_hz: (omega / std::f64::consts::TAU) as f32,
            damping_ratio: (sum / (2.0 * omega)) as f32,
        }
    }
}

impl Vrm {
    /// Reads what a document says; nothing if it is no VRM.
    pub fn read(document: &Document, skeleton: &Skeleton) -> Result<Option<Self>> {
        let extension = |name: &str| super::json::extension(&document.json, name);
        let reader = Reader { skeleton };
        let vrm = if let Some(vrm) = extension("VRM") {
            reader.version_0(vrm)
        } else if let Some(vrm) = extension("VRMC_vrm") {
            reader.version_1(vrm, extension("VRMC_springBone"))
        } else {
            return Ok(None);
        };
        vrm.map(Some).map_err(|problem| GltfError::invalid("VRM", problem))
    }
}

type Parsed<T> = std::result::Result<T, String>;

struct Reader<'a> {
    skeleton: &'a Skeleton,
}

fn number(value: &Value, key: &str, default: f32) -> f32 {
    float(value, key).filter(|n| n.is_finite()).unwrap_or(default)
}

/// `{ "x": 0, "y": -1, "z": 0 }`.
fn named_vector(value: Option<&Value>, default: Vec3) -> Vec3 {
    let Some(value) = value else { return default };
    Vec3::new(
        number(value, "x", default.x),
        number(value, "y", default.y),
        number(value, "z", default.z),
    )
}

impl Reader<'_> {
    fn node(&self, value: Option<&Value>) -> Parsed<usize> {
        let node = value.and_then(whole_number).ok_or("a node is missing")?;
        let known = node < self.skeleton.nodes().len();
        known.then_some(node).ok_or_else(|| format!("there is no node {node}"))
    }

    /// -1 stands for none in version 0.
    fn maybe_node(&self, value: Option<&Value>) -> Parsed<Option<usize>> {
        match value.and_then(whole_number) {
            Some(_) => self.node(value).map(Some),
            None => Ok(None),
        }
    }

    fn version_0(&self, vrm: &Value) -> Parsed<Vrm> {
        let mut out = Vrm::default();
        for bone in array(vrm.get("humanoid").unwrap_or(&Value::Null), "humanBones").unwrap_or(&[])
        {
            if let Some(name) = bone.get("bone").and_then(Value::as_str) {
                out.humanoid.insert(name.to_owned(), self.node(bone.get("node"))?);
            }
        }
        let Some(secondary) = vrm.get("secondaryAnimation") else { return Ok(out) };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for group in array(secondary, "colliderGroups")? {
            let node = self.node(group.get("node"))?;
            let mut indices = Vec::new();
            for collider in array(group, "colliders")? {
                let stored = named_vector(collider.get("offset"), Vec3::ZERO);
                indices.push(out.colliders.len());
                out.colliders.push(SpringCollider {
                    node,
                    // Unity's z, whatever the format says.
                    offset: Vec3::new(stored.x, stored.y, -stored.z),
                    tail: None,
                    radius: number(collider, "radius", 0.0).max(0.0),
                });
            }
            groups.push(indices);
        }
        for group in array(secondary, "boneGroups")? {
            self.add_bone_group(group, &groups, &mut out)?;
        }
        Ok(out)
    }

    fn add_bone_group(&self, group: &Value, groups: &[Vec<usize>], out: &mut Vrm) -> Parsed<()> {
        let like = SpringJoint {
            node: 0,
            hit_radius: number(group, "hitRadius", DEFAULT_HIT_RADIUS).max(0.0),
            // Misspelt in the format.
            stiffness: number(group, "stiffiness", 1.0).max(0.0),
            gravity_power: number(group, "gravityPower", 0.0),
            gravity_dir: named_vector(group.get("gravityDir"), -Vec3::Y),
            drag: number(group, "dragForce", 0.4).clamp(0.0, 1.0),
        };
        let colliders = self.colliders_of(group, groups)?;
        let center = self.maybe_node(group.get("center"))?;
        for bone in array(group, "bones")? {
            // Everything below a root swings: one chain to each tip.
            for chain in self.chains_below(self.node(Some(bone))?) {
                let name = self.skeleton.nodes()[chain[0]].name.clone();
                let joints = chain.iter().map(|&node| SpringJoint { node, ..like }).collect();
                out.springs.push(SpringChain {
                    name,
                    joints,
                    colliders: colliders.clone(),
                    center,
                });
            }
        }
        Ok(())
    }

    fn colliders_of(&self, spring: &Value, groups: &[Vec<usize>]) -> Parsed<Vec<usize>> {
        let mut out = Vec::new();
        for group in array(spring, "colliderGroups")? {
            let group = whole_number(group).and_then(|g| groups.get(g));
            out.extend(group.ok_or("a group of colliders is not there")?);
        }
        Ok(out)
    }

    /// The ways from a node to the tips below it; side branches begin where they leave.
    fn chains_below(&self, root: usize) -> Vec<Vec<usize>> {
        let nodes = self.skeleton.nodes();
        let children =
            |node: usize| (0..nodes.len()).filter(move |&c| nodes[c].parent == Some(node));
        let mut out = Vec::new();
        let mut open = vec![root];
        while let Some(start) = open.pop() {
            let mut chain = vec![start];
            let mut at = start;
            loop {
                let mut below = children(at);
                let Some(next) = below.next() else { break };
                open.extend(below);
                chain.push(next);
                at = next;
            }
            out.push(chain);
        }
        out
    }

    fn version_1(&self, vrm: &Value, springs: Option<&Value>) -> Parsed<Vrm> {
        let mut out = Vrm { version: 1, ..Vrm::default() };
        let bones =
            vrm.get("humanoid").and_then(|h| h.get("humanBones")).and_then(Value::as_object);
        for (name, bone) in bones.into_iter().flatten() {
            out.humanoid.insert(name.clone(), self.node(bone.get("node"))?);
        }
        let Some(springs) = springs else { return Ok(out) };
        for collider in array(springs, "colliders")? {
            out.colliders.push(self.collider(collider)?);
        }
        let mut groups = Vec::new();
        for group in array(springs, "colliderGroups")? {
            let indices = array(group, "colliders")?.iter().map(whole_number);
            let known = indices.map(|i| i.filter(|&i| i < out.colliders.len()));
            let known: Option<Vec<usize>> = known.collect();
            groups.push(known.ok_or("a collider is not there")?);
        }
        for spring in array(springs, "springs")? {
            let joints = array(spring, "joints")?.iter().map(|j| self.joint(j));
            let joints: Vec<SpringJoint> = joints.collect::<Parsed<_>>()?;
            let Some(first) = joints.first() else { continue };
            let own = spring.get("name").and_then(Value::as_str).filter(|n| !n.is_empty());
            let name = own.unwrap_or(&self.skeleton.nodes()[first.node].name).to_owned();
            let colliders = self.colliders_of(spring, &groups)?;
            let center = self.maybe_node(spring.get("center"))?;
            out.springs.push(SpringChain { name, joints, colliders, center });
        }
        Ok(out)
    }

    fn joint(&self, joint: &Value) -> Parsed<SpringJoint> {
        let down = [0.0, -1.0, 0.0];
        Ok(SpringJoint {
            node: self.node(joint.get("node"))?,
            hit_radius: number(joint, "hitRadius", 0.0).max(0.0),
            stiffness: number(joint, "stiffness", 1.0).max(0.0),
            gravity_power: number(joint, "gravityPower", 0.0),
            gravity_dir: Vec3::from(floats(joint, "gravityDir")?.unwrap_or(down)),
            drag: number(joint, "dragForce", 0.5).clamp(0.0, 1.0),
        })
    }

    fn collider(&self, collider: &Value) -> Parsed<SpringCollider> {
        let node = self.node(collider.get("node"))?;
        let shape = collider.get("shape").ok_or("a collider has no shape")?;
        let (shape, capsule) = match (shape.get("sphere"), shape.get("capsule")) {
            (Some(sphere), _) => (sphere, false),
            (None, Some(capsule)) => (capsule, true),
            _ => return Err("a collider is neither sphere nor capsule".to_owned()),
        };
        let at = |key: &str| Ok::<_, String>(floats(shape, key)?.map_or(Vec3::ZERO, Vec3::from));
        Ok(SpringCollider {
            node,
            offset: at("offset")?,
            tail: if capsule { Some(at("tail")?) } else { None },
            radius: number(shape, "radius", 0.0).max(0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    /// One bone along x, swung by the format's own algorithm: angle off rest at every step.
    fn spring_angles(joint: &SpringJoint, length: f32, start: f32, steps: usize) -> Vec<f32> {
        let h = 1.0 / SPRING_STEPS_HZ;
        let rest = Vec3::X;
        let mut tail = Quat::from_rotation_z(start) * rest * length;
        let mut last = tail;
        (0..steps)
            .map(|_| {
                let inertia = (tail - last) * (1.0 - joint.drag);
                let pull = rest * joint.stiffness * h;
                let gravity = joint.gravity_dir * joint.gravity_power * h;
                last = tail;
                tail = (tail + inertia + pull + gravity).normalize() * length;
                tail.y.atan2(tail.x)
            })
            .collect()
    }

    fn joint(stiffness: f32, drag: f32) -> SpringJoint {
        SpringJoint {
            node: 0,
            hit_radius: 0.0,
            stiffness,
            gravity_power: 0.0,
            gravity_dir: -Vec3::Y,
            drag,
        }
    }

    /// Time of the first return through rest and the height of the swing beyond it.
    fn swing(angles: &[f32], start: f32) -> (f32, f32) {
        let crossed = angles.iter().position(|&a| a * start < 0.0).unwrap();
        let before = angles[crossed - 1];
        let part = before / (before - angles[crossed]);
        let far = angles.iter().fold(0.0f32, |f, &a| f.max(-a * start.signum()));
        (((crossed as f32) + part) / SPRING_STEPS_HZ, far / start.abs())
    }

    #[test]
    fn the_oscillator_swings_like_the_spring_it_replaces() {
        // Loose to stiff, within what sixty steps a second can follow.
        for (stiffness, drag, length) in [(0.2, 0.02, 0.3), (1.0, 0.05, 0.3), (0.5, 0.1, 0.15)] {
            let spring = joint(stiffness, drag);
            let (quarter, beyond) = swing(&spring_angles(&spring, length, 0.1, 400), 0.1);
            let same = spring.oscillator(length);
            let omega = same.frequency_hz * std::f32::consts::TAU;
            let z = same.damping_ratio;
            let damped = omega * (1.0 - z * z).sqrt();
            // x = e^(-z w t) (cos wd t + z/√(1-z²) sin wd t): first zero, and the peak beyond it.
            let zero = (std::f32::consts::FRAC_PI_2 + (z / (1.0 - z * z).sqrt()).atan()) / damped;
            let peak = (-z * std::f32::consts::PI / (1.0 - z * z).sqrt()).exp();
            // The spring begins with a whole step at rest.
            let late = 1.0 / SPRING_STEPS_HZ;
            assert!((quarter - zero).abs() < late, "{stiffness} {drag}: {quarter} {zero}");
            assert!((beyond - peak).abs() < 0.05, "{stiffness} {drag}: {beyond} {peak}");
        }
    }
}

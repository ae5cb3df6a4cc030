//! First elements for a rig never seen before: where flesh usually is, as deep as the mesh says, with
//! frequencies to match.

use glam::{Mat4, Vec3};

use super::anatomy::Anatomy;
use super::params::{Attenuation, BoneEnd, FleshParams, OffsetEnd};
use super::rest::FleshRest;
use crate::character::{Character, Pose, Sampling};
use crate::stage::{
    Actor, ActorSet, BuildContext, Clock, ColliderSet, Forces, Frame, Motion, Reference,
    ReferencePose, Selection,
};
use crate::tolerances::flesh as tolerances;

/// An element worth trying, and why.
#[derive(Clone, Debug)]
pub struct FleshProposal {
    /// The element.
    pub params: FleshParams,
    /// What it is and how its numbers came about.
    pub reason: String,
}

/// Slowest and fastest frequency that is proposed [Hz]: slower than a step it looks like water, faster than a tenth
/// of a second it is not seen to swing.
const PROPOSED_HZ: [f64; 2] = [1.0, 12.0];

/// Width over which a cheek fades into the face, as a share of the character's size [-].
const CHEEK_EDGE: f32 = 0.06;

/// How a kind of flesh behaves.
struct Kind {
    what: &'static str,
    /// Frequency beside that of slack flesh of the same depth [-].
    tautness: f64,
    damping: f64,
    /// Greatest swing as a fraction of the depth [-].
    limit: f32,
}

/// Elements for an actor: belly, thighs, upper arms, tail, ears, cheeks, where the skeleton shows
/// them and there is flesh around the bone. Every one of them builds.
#[must_use]
pub fn propose(actor: &Actor) -> Vec<FleshProposal> {
    let Some(character) = actor.character() else { return Vec::new() };
    // In the modelled pose: where flesh is does not depend on the clip that happens to play.
    let still = Actor { motion: Motion::Still, ..actor.clone() };
    let mut actors = ActorSet::new(vec![still]);
    actors.set_time(0.0);
    let mut frame = Frame { meshes: actors.all()[0].source_meshes(), ..Frame::default() };
    actors.deform(0.0, &mut frame.meshes);
    let bounds = frame.meshes.iter().flat_map(|m| &m.positions).copied();
    let low = bounds.clone().reduce(Vec3::min).unwrap_or_default();
    let high = bounds.reduce(Vec3::max).unwrap_or_default();
    let mut proposer = Proposer {
        character,
        actor,
        actors: &actors,
        frame: &frame,
        size: (high - low).max_element(),
        proposals: Vec::new(),
    };
    proposer.all(&Anatomy::of(character));
    proposer.proposals
}

struct Proposer<'a> {
    character: &'a Character,
    actor: &'a Actor,
    actors: &'a ActorSet,
    frame: &'a Frame,
    /// Largest extent of the character [m].
    size: f32,
    proposals: Vec<FleshProposal>,
}

impl Proposer<'_> {
    fn all(&mut self, anatomy: &Anatomy) {
        if let Some((pelvis, chest)) = anatomy.spine {
            let path = self.character.skeleton.path(pelvis, chest).unwrap_or_default();
            // With many vertebrae, from the first after the pelvis: the hips stay firm.
            let from = if path.len() >= 4 { path[1] } else { pelvis };
            let belly = if anatomy.lies {
                Kind {
                    what: "Belly, hanging from the spine",
                    tautness: 1.0,
                    damping: 0.2,
                    limit: 0.5,
                }
            } else {
                Kind { what: "Belly, around the spine", tautness: 1.3, damping: 0.25, limit: 0.3 }
            };
            self.between("belly", from, chest, &belly);
        }
        let thigh = Kind { what: "Thigh", tautness: 1.5, damping: 0.3, limit: 0.3 };
        anatomy.thighs.iter().for_each(|&(from, to)| self.between("thigh", from, to, &thigh));
        let arm = Kind { what: "Upper arm", tautness: 1.6, damping: 0.3, limit: 0.25 };
        anatomy.arms.iter().for_each(|&(from, to)| self.between("arm", from, to, &arm));
        if let Some((first, last)) = anatomy.tail {
            let tail = Kind { what: "Tail", tautness: 1.0, damping: 0.2, limit: 0.6 };
            self.between("tail", first, last, &tail);
        }
        if let Some(head) = anatomy.head {
            anatomy.ears.iter().for_each(|&ear| self.ear(head, ear));
            self.cheeks(head, anatomy);
        }
    }

    fn name(&self, node: usize) -> &str {
        &self.character.skeleton.nodes()[node].name
    }

    /// A name of its own: the thigh of `thigh_left` is `thigh_left` where there are two.
    fn own_name(&self, what: &str, joint: usize) -> String {
        let lower = self.name(joint).to_lowercase();
        let word = |side: &str| {
            lower.split(|c: char| !c.is_ascii_alphabetic()).any(|w| w == &side[..1])
                || lower.contains(side)
        };
        let side = ["left", "right"].into_iter().find(|s| word(s));
        let plain = side.map_or_else(|| what.to_owned(), |side| format!("{what}_{side}"));
        let taken = |name: &str| self.proposals.iter().any(|p| p.params.name == name);
        let numbered = (2..).map(|i| format!("{plain}_{i}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        names.find(|n| !taken(n)).unwrap_or(plain)
    }

    fn between(&mut self, what: &str, from: usize, to: usize, kind: &Kind) {
        let name = self.own_name(what, from);
        let params = FleshParams::new(&name, &self.actor.name, self.name(from), &[self.name(to)]);
        self.consider(params, kind);
    }

    /// Keeps an element if there is flesh, with numbers that fit its depth.
    fn consider(&mut self, mut params: FleshParams, kind: &Kind) {
        let (forces, colliders) = (Forces::default(), ColliderSet::default());
        let clock = Clock::default();
        let context = BuildContext {
            clock: &clock,
            actors: self.actors,
            colliders: &colliders,
            forces: &forces,
            frame: self.frame,
            reference: &Reference::new(ReferencePose::Start, &clock, self.actors),
            ridges: &[],
        };
        // The layer itself decides: what it refuses is not proposed.
        let Ok(rest) = FleshRest::build(&params, &context) else { return };
        let vertices: usize = rest.weights.iter().map(|w| w.vertices.len()).sum();
        let shallow = rest.deepest < tolerances::MIN_PROPOSED_DEPTH * self.size;
        if shallow || vertices < tolerances::MIN_PROPOSED_VERTICES {
            return;
        }
        let depth = f64::from(rest.deepest);
        let slack = tolerances::SLACK_FREQUENCY / depth.sqrt();
        let hz = (kind.tautness * slack).clamp(PROPOSED_HZ[0], PROPOSED_HZ[1]);
        // To a twentieth, as a person would write it.
        params.frequency_hz = Some((20.0 * hz).round() / 20.0);
        params.damping_ratio = Some(kind.damping);
        params.limit = kind.limit;
        let reason = format!(
            "{}: {vertices} vertices, {:.1} cm of flesh; swings up to {:.1} cm.",
            kind.what,
            100.0 * depth,
            100.0 * depth * f64::from(kind.limit),
        );
        self.proposals.push(FleshProposal { params, reason });
    }

    /// World matrix of a node in the rest pose, without the placement.
    fn rest(&self, node: usize) -> Mat4 {
        let mut pose = Pose::default();
        pose.set(self.character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
        pose.world_from_node[node]
    }

    /// Lowest and highest place of the flesh that is skinned to a joint.
    fn extent(&self, joint: usize) -> Option<(f32, f32)> {
        let mut pose = Pose::default();
        pose.set(self.character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
        let mut heights: Option<(f32, f32)> = None;
        for (index, mesh) in self.character.meshes.iter().enumerate() {
            let Some(skin) = mesh.skin.map(|s| &self.character.skins[s]) else { continue };
            for v in 0..mesh.mesh.positions.len() {
                let share =
                    |(j, w): (u16, f32)| if skin.joints[j as usize] == joint { w } else { 0.0 };
                if mesh.influences.of(v).map(share).sum::<f32>() > 0.5 {
                    let y = self.character.deform_vertex(index, v, &pose).y;
                    heights = Some(heights.map_or((y, y), |(a, b)| (a.min(y), b.max(y))));
                }
            }
        }
        heights
    }

    /// A bone straight up from a joint, to a height.
    fn upright(&self, name: &str, joint: usize, height: f32) -> FleshParams {
        let rest = self.rest(joint);
        let foot = rest.w_axis.truncate();
        let tip = rest.inverse().transform_point3(Vec3::new(foot.x, height, foot.z));
        // To a tenth of a millimetre, as a person would write it.
        let round = |v: f32| (1e4 * v).round() / 1e4;
        let mut params = FleshParams::new(name, &self.actor.name, self.name(joint), &[]);
        params.to.push(BoneEnd::Offset(OffsetEnd {
            joint: self.name(joint).to_owned(),
            offset: tip.to_array().map(round),
        }));
        params
    }

    /// An ear is carried by the head and swings more the higher it is.
    fn ear(&mut self, head: usize, ear: usize) {
        let Some((_, top)) = self.extent(ear) else { return };
        let foot = self.rest(head).w_axis.y;
        let base = self.rest(ear).w_axis.y;
        let height = top - foot;
        if height <= 0.0 || base <= foot || base >= top {
            return;
        }
        let name = self.own_name("ear", ear);
        // The bone is twice as high as the tip, which therefore lies at its middle.
        let mut params = self.upright(&name, head, foot + 2.0 * height);
        let along = f64::from((100.0 * (1.0 - (base - foot) / height)).round()) / 100.0;
        params.attenuation =
            Attenuation::Keys(vec![(-0.1, 1.0), (0.0, 1.0), (along.max(0.05), 0.0)]);
        params.selection = Some(Selection {
            joints: Some(vec![self.name(ear).to_owned()]),
            ..Selection::default()
        });
        let limp = Kind { what: "Ear", tautness: 1.5, damping: 0.2, limit: 0.3 };
        self.consider(params, &limp);
    }

    /// Cheeks, by their own joints or by regions of the mesh.
    fn cheeks(&mut self, head: usize, anatomy: &Anatomy) {
        let foot = self.rest(head).w_axis.y;
        let Some((_, top)) = self.extent(head).filter(|e| e.1 > foot) else { return };
        let mut choices: Vec<(String, Selection)> = Vec::new();
        for &cheek in &anatomy.cheeks {
            let joints = vec![self.name(cheek).to_owned()];
            choices.push((
                self.own_name("cheek", cheek),
                Selection { joints: Some(joints), ..Selection::default() },
            ));
        }
        let regions = self.character.meshes.iter().flat_map(|m| m.mesh.topology.regions.keys());
        for region in regions.filter(|r| r.starts_with("cheek")) {
            let selection = Selection { region: Some(region.clone()), ..Selection::default() };
            choices.push((region.clone(), selection));
        }
        let soft = Kind { what: "Cheek", tautness: 1.8, damping: 0.25, limit: 0.15 };
        for (name, selection) in choices {
            let mut params = self.upright(&name, head, top);
            params.selection = Some(selection);
            // Whole millimetres, as a person would write it.
            params.edge_falloff = (1e3 * CHEEK_EDGE * self.size).round() / 1e3;
            self.consider(params, &soft);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::character::{CharacterMesh, Influences, Node, Skeleton, Skin, Transform};
    use crate::geometry::Mesh;

    /// A stick figure of tubes: a spine with two legs and two arms of three joints each. The names
    /// are given, the shape is always the same.
    fn figure(names: [&str; 15], scale: f32) -> Actor {
        let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
        let places = [
            (None, at(0.0, 1.0)),
            (Some(0), at(0.0, 1.25)),
            (Some(1), at(0.0, 1.5)),
            (Some(0), at(0.1, 0.9)),
            (Some(3), at(0.1, 0.5)),
            (Some(4), at(0.1, 0.05)),
            (Some(0), at(-0.1, 0.9)),
            (Some(6), at(-0.1, 0.5)),
            (Some(7), at(-0.1, 0.05)),
            (Some(2), at(0.2, 1.45)),
            (Some(9), at(0.5, 1.45)),
            (Some(10), at(0.8, 1.45)),
            (Some(2), at(-0.2, 1.45)),
            (Some(12), at(-0.5, 1.45)),
            (Some(13), at(-0.8, 1.45)),
        ];
        let node = |i: usize| {
            let (parent, place): (Option<usize>, Vec3) = places[i];
            let offset = place - parent.map_or(Vec3::ZERO, |p| places[p].1);
            let rest = Transform::from_translation(scale * offset);
            Node { name: names[i].to_owned(), parent, rest }
        };
        let nodes: Vec<Node> = (0..15).map(node).collect();
        let (mut positions, mut lists) = (Vec::new(), Vec::new());
        for (i, (parent, place)) in places.iter().enumerate() {
            let Some(parent) = parent else { continue };
            let from = places[*parent].1;
            let (side, other) = (*place - from).normalize().any_orthonormal_pair();
            for ring in 0..6 {
                for k in 0..6 {
                    let angle = std::f32::consts::TAU * k as f32 / 6.0;
                    let out = 0.06 * (angle.cos() * side + angle.sin() * other);
                    positions.push(scale * (from.lerp(*place, ring as f32 / 5.0) + out));
                    let owner = if ring == 5 { i } else { *parent };
                    lists.push(vec![(owner as u16, 1.0)]);
                }
            }
        }
        let character = Character {
            name: "figure".to_owned(),
            skeleton: Skeleton::new(nodes).unwrap(),
            skins: vec![Skin {
                name: String::new(),
                joints: (0..15).collect(),
                inverse_bind: places
                    .iter()
                    .map(|(_, p)| Mat4::from_translation(-scale * *p))
                    .collect(),
            }],
            meshes: vec![CharacterMesh::skinned(
                Mesh::new("body", positions, Vec::new()),
                Influences::from_lists(&lists),
            )],
            clips: vec![],
        };
        Actor::character_named("figure", Arc::new(character))
    }

    const NAMED: [&str; 15] = [
        "mixamorig:Hips",
        "mixamorig:Spine",
        "mixamorig:Spine1",
        "mixamorig:LeftUpLeg",
        "mixamorig:LeftLeg",
        "mixamorig:LeftFoot",
        "mixamorig:RightUpLeg",
        "mixamorig:RightLeg",
        "mixamorig:RightFoot",
        "mixamorig:LeftArm",
        "mixamorig:LeftForeArm",
        "mixamorig:LeftHand",
        "mixamorig:RightArm",
        "mixamorig:RightForeArm",
        "mixamorig:RightHand",
    ];
    const UNNAMED: [&str; 15] = [
        "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11", "n12", "n13",
        "n14",
    ];

    fn bones(actor: &Actor) -> Vec<(String, String)> {
        let of = |p: &FleshProposal| (p.params.from.clone(), p.params.to[0].joint().to_owned());
        propose(actor).iter().map(of).collect()
    }

    #[test]
    fn limbs_and_belly_are_found_by_name_and_by_shape() {
        let plain = [(0, 2), (3, 4), (6, 7), (9, 10), (12, 13)];
        for names in [NAMED, UNNAMED] {
            let found = bones(&figure(names, 1.0));
            let expected = plain.map(|(a, b)| (names[a].to_owned(), names[b].to_owned()));
            assert_eq!(found, expected);
        }
        let names: Vec<String> =
            propose(&figure(NAMED, 1.0)).into_iter().map(|p| p.params.name).collect();
        assert_eq!(names, ["belly", "thigh_left", "thigh_right", "arm_left", "arm_right"]);
    }

    #[test]
    fn larger_characters_swing_more_slowly() {
        let hz = |scale: f32| propose(&figure(NAMED, scale))[0].params.frequency_hz.unwrap();
        assert!((hz(1.0) / hz(4.0) - 2.0).abs() < 0.05, "{} {}", hz(1.0), hz(4.0));
    }
}

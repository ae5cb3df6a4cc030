//! Spring bones of a VRM in a first scene file: chains that its author wants to swing.

use std::fmt::Write as _;
use std::sync::Arc;

use frisson::character::{Character, Node, Pose, Sampling, Skeleton};
use frisson::layers::flesh::{BoneEnd, FleshParams, FleshProposal, propose};
use frisson::stage::{Actor, ActorContent};
use frisson_io::gltf::{Oscillator, SpringChain, SpringJoint, Vrm};
use glam::Vec3;

use super::layer::Proposed;

/// Least damping ratio that is proposed [-]: with less, a chain swings for the whole shot.
const LEAST_DAMPING: f32 = 0.05;

/// Most that a spring's own pull counts beside its stiffness [-], and least that is said [m/s²].
const MOST_PULL: f32 = 4.0;
const LEAST_PULL: f32 = 0.01;

/// Frequencies that flesh takes [Hz].
const FREQUENCIES: std::ops::RangeInclusive<f32> = 0.5..=20.0;

/// Flesh for every chain, with the frequency and damping that its springs amount to.
pub fn spring_layers(actor: &Actor, character: &Character, vrm: &Vrm) -> Vec<Proposed> {
    let chains = vrm.springs.iter().enumerate();
    chains.filter_map(|(index, chain)| spring_layer(index, chain, actor, character)).collect()
}

fn spring_layer(
    index: usize,
    chain: &SpringChain,
    actor: &Actor,
    character: &Character,
) -> Option<Proposed> {
    let nodes = character.skeleton.nodes();
    let (first, last) = (chain.joints.first()?, chain.joints.last()?);
    // One joint alone has no bone that could swing.
    if first.node == last.node {
        return None;
    }
    let mut pose = Pose::default();
    pose.set(character, None, 0.0, Sampling::AsAuthored, actor.placement.world_from_actor());
    let bones = chain.joints.windows(2).map(|pair| {
        let length = pose.origin(pair[0].node).distance(pose.origin(pair[1].node));
        pair[0].oscillator(length)
    });
    let bones: Vec<_> = bones.collect();
    let count = bones.len() as f32;
    // One frequency for all bones: between theirs, by logarithms, as twice and half as fast are equally far off.
    let hz = bones.iter().map(|b| b.frequency_hz.ln()).sum::<f32>() / count;
    let hz = hz.exp().clamp(*FREQUENCIES.start(), *FREQUENCIES.end());
    let damping =
        (bones.iter().map(|b| b.damping_ratio).sum::<f32>() / count).clamp(LEAST_DAMPING, 1.0);
    let pull = pull_of(chain, &bones, |a, b| pose.origin(a).distance(pose.origin(b)));
    let name = format!("spring_{}", index + 1);
    let joints: Vec<&str> = chain.joints.iter().map(|j| nodes[j.node].name.as_str()).collect();
    let why = format!(
        "A spring of the VRM, {}: stiffness {}, drag {}. A chain of the frequency and damping that it has at 60\n\
         steps a second, but the same motion at any rate.",
        chain.name.replace('\n', " "),
        first.stiffness,
        first.drag
    );
    let text = format!(
        "[[layers]]\nflesh = {{ name = {name:?}, on = {:?}, from = {:?}, to = [{:?}], chain = true, \
         frequency_hz = {hz:.2}, damping_ratio = {damping:.2}, limit = 1.0, gravity = 0{pull}, \
         selection = {{ joints = {joints:?} }} }}",
        actor.name,
        joints[0],
        joints[joints.len() - 1],
    );
    Some(Proposed { name, why, text, is_on: true })
}

/// A spring's own pull, where it has one, as words of flesh. A bone comes to rest along `stiffness` times its rest
/// direction and `gravity_power` times that pull's: an acceleration that moves a mass on a spring by the same share of
/// the bone's length does the same.
fn pull_of(
    chain: &SpringChain,
    bones: &[Oscillator],
    length: impl Fn(usize, usize) -> f32,
) -> String {
    let mut sum = Vec3::ZERO;
    for (pair, bone) in chain.joints.windows(2).zip(bones) {
        let SpringJoint { stiffness, gravity_power, gravity_dir, .. } = pair[0];
        let share = (gravity_power / stiffness.max(f32::MIN_POSITIVE)).clamp(0.0, MOST_PULL);
        let omega = std::f32::consts::TAU * bone.frequency_hz;
        sum += share
            * omega
            * omega
            * length(pair[0].node, pair[1].node)
            * gravity_dir.normalize_or_zero();
    }
    let mean = sum / bones.len().max(1) as f32;
    match mean.length() > LEAST_PULL {
        true => format!(", pseudo_gravity = [{:.2}, {:.2}, {:.2}]", mean.x, mean.y, mean.z),
        false => String::new(),
    }
}

/// What the VRM's springs bump into, for hair and cloth to feel: balls and capsules carried by joints.
pub fn spring_colliders(actor: &Actor, character: &Character, vrm: &Vrm) -> String {
    let mut pose = Pose::default();
    pose.set(character, None, 0.0, Sampling::AsAuthored, actor.placement.world_from_actor());
    let mut text = String::new();
    for (index, collider) in vrm.colliders.iter().enumerate() {
        let Some(node) = character.skeleton.nodes().get(collider.node) else { continue };
        // A joint carries what is on it in metres, whatever it scales.
        let metres = pose.world_from_node[collider.node].determinant().abs().cbrt();
        let place = |p: Vec3| format!("[{:.4}, {:.4}, {:.4}]", p.x, p.y, p.z);
        let (from, radius) = (place(metres * collider.offset), metres * collider.radius);
        let shape = match collider.tail {
            Some(tail) => {
                let to = place(metres * tail);
                format!("capsule = {{ a = {from}, b = {to}, radius = {radius:.4} }}")
            }
            None => format!("sphere = {{ center = {from}, radius = {radius:.4} }}"),
        };
        if text.is_empty() {
            text.push_str("\n# What the VRM's springs bump into; hair and cloth feel it too.\n");
        }
        let _ = writeln!(
            text,
            "[[colliders]]\nname = \"vrm_{}\"\nactor = {:?}\njoint = {:?}\nshape = {{ {shape} }}\n",
            index + 1,
            actor.name,
            node.name
        );
    }
    text
}

/// What flesh the engine proposes when joints are called by the parts of a person they are; names in
/// the answer are the file's again.
pub fn propose_by_parts(actor: &Actor, character: &Character, vrm: &Vrm) -> Vec<FleshProposal> {
    let own: Vec<String> = character.skeleton.nodes().iter().map(|n| n.name.clone()).collect();
    let mut parts = own.clone();
    for (part, &node) in &vrm.humanoid {
        // A name that another node has already would be ambiguous.
        if let Some(slot) = parts.get_mut(node).filter(|_| !own.contains(part)) {
            slot.clone_from(part);
        }
    }
    let nodes = character.skeleton.nodes().iter().zip(&parts);
    let nodes = nodes.map(|(n, name)| Node { name: name.clone(), ..n.clone() }).collect();
    // Proposals go by names. The renamed copy is for that alone; scene and file keep theirs.
    let Ok(skeleton) = Skeleton::new(nodes) else { return propose(actor) };
    let renamed = Arc::new(Character { skeleton, ..character.clone() });
    let mut actor = actor.clone();
    actor.content = ActorContent::Character(renamed);
    let back = |name: &mut String| {
        if let Some(node) = parts.iter().position(|p| p == name) {
            name.clone_from(&own[node]);
        }
    };
    let mut proposals = propose(&actor);
    for proposal in &mut proposals {
        let params: &mut FleshParams = &mut proposal.params;
        back(&mut params.from);
        for end in &mut params.to {
            match end {
                BoneEnd::Joint(name) => back(name),
                BoneEnd::Offset(end) => back(&mut end.joint),
            }
        }
        let selected = params.selection.as_mut().and_then(|s| s.joints.as_mut());
        selected.into_iter().flatten().for_each(back);
    }
    proposals
}

#[cfg(test)]
mod tests {
    use frisson::character::Transform;
    use frisson::stage::{ColliderShape, Placement};
    use frisson_io::gltf::{SPRING_STEPS_HZ, SpringCollider};
    use frisson_io::scene::SceneFile;

    use super::*;

    fn chain(names: &[&str]) -> Character {
        let node = |(index, name): (usize, &&str)| Node {
            name: (*name).to_owned(),
            parent: index.checked_sub(1),
            rest: Transform::from_translation(-0.1 * Vec3::Y),
        };
        let nodes = names.iter().enumerate().map(node).collect();
        Character { skeleton: Skeleton::new(nodes).unwrap(), ..Character::default() }
    }

    #[test]
    fn a_spring_becomes_flesh_of_the_frequency_it_amounts_to() {
        let character = chain(&["head", "hair1", "hair2"]);
        let joint = |node: usize| SpringJoint {
            node,
            hit_radius: 0.0,
            stiffness: 0.5,
            gravity_power: 0.0,
            gravity_dir: -Vec3::Y,
            drag: 0.1,
        };
        let spring = SpringChain {
            name: "fringe".to_owned(),
            joints: vec![joint(1), joint(2)],
            colliders: vec![],
            center: None,
        };
        let vrm = Vrm { springs: vec![spring], ..Vrm::default() };
        let actor = Actor::character_named("hero", Arc::new(character.clone()));
        let layers = spring_layers(&actor, &character, &vrm);
        assert_eq!(layers.len(), 1);
        let text = &layers[0].text;
        let wanted = joint(1).oscillator(0.1);
        let hz = format!("frequency_hz = {:.2}", wanted.frequency_hz);
        assert!(text.contains(&hz) && text.contains("from = \"hair1\""), "{text}");
        assert!(text.contains("to = [\"hair2\"]") && text.contains("on = \"hero\""), "{text}");
        // A pull of half a metre a second each step on a bone of 10 cm: some hertz.
        assert!(SPRING_STEPS_HZ == 60.0 && (1.0..5.0).contains(&wanted.frequency_hz));
    }

    #[test]
    fn colliders_of_springs_are_carried_by_their_joints_in_metres() {
        let character = chain(&["hips", "head"]);
        let collider = SpringCollider {
            node: 1,
            offset: Vec3::new(0.0, 5.0, 0.0),
            tail: Some(Vec3::new(0.0, 15.0, 0.0)),
            radius: 10.0,
        };
        let ball = SpringCollider { tail: None, ..collider };
        let vrm = Vrm { colliders: vec![collider, ball], ..Vrm::default() };
        let placement = Placement { scale: 0.01, ..Placement::default() };
        let actor = Actor::character_named("hero", Arc::new(character.clone())).placed(placement);
        let text = spring_colliders(&actor, &character, &vrm);
        let file = format!("frisson = 2\n[actors.hero]\nsource = \"builtin:cat\"\n{text}");
        let scene = SceneFile::parse(std::path::Path::new("vrm.toml"), &file).unwrap();
        let [capsule, ball] = &scene.scene.colliders[..] else { panic!("{text}") };
        assert_eq!((capsule.joint.as_deref(), ball.actor.as_deref()), (Some("head"), Some("hero")));
        let wanted =
            ColliderShape::Capsule { a: [0.0, 0.05, 0.0], b: [0.0, 0.15, 0.0], radius: 0.1 };
        assert_eq!(capsule.shape, wanted);
        let wanted = ColliderShape::Sphere { center: [0.0, 0.05, 0.0], radius: 0.1 };
        assert_eq!(ball.shape, wanted);
    }
}

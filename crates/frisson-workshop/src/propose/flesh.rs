//! Flesh in a first scene file: where joints carry thick skin.

use std::fmt::Write as _;

use frisson::character::{Character, Pose, Sampling};
use frisson::layers::flesh::{Attenuation, BoneEnd, FleshParams, propose};
use frisson::stage::{Actor, Placement, Selection};
use glam::Mat4;

/// Taller than any character in metres [m]: it must be in centimetres.
const TALLEST: f32 = 20.0;

/// Where the character stands, at a size of this world.
pub fn placement_for(character: &Character) -> Placement {
    let mut pose = Pose::default();
    pose.set(character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
    let (mut low, mut high, mut positions) = (f32::INFINITY, f32::NEG_INFINITY, Vec::new());
    for mesh in 0..character.meshes.len() {
        character.deform_mesh_positions(mesh, &pose, &mut positions);
        low = positions.iter().fold(low, |a, p| a.min(p.y));
        high = positions.iter().fold(high, |a, p| a.max(p.y));
    }
    let scale = if high - low > TALLEST { 0.01 } else { 1.0 };
    Placement { scale, ..Placement::default() }
}

/// Proposes flesh, one layer each, and says why.
/// `looped` tells that the clip closes: then flesh may too.
pub fn write_flesh(text: &mut String, actor: &Actor, looped: bool) {
    let proposals = propose(actor);
    let _ = writeln!(text, "\n# What follows by itself goes here, one [[layers]] each.");
    if proposals.is_empty() {
        let _ = writeln!(text, "# No flesh was found around joints that could be told apart.\n");
        return;
    }
    let _ = writeln!(
        text,
        "# Flesh, proposed by the skeleton and the depth of the mesh around it: try, change, delete.\n\
         # A lower frequency_hz looks heavier, a lower damping_ratio swings longer, a lower limit moves\n\
         # less. With `loop`, flesh ends as it begins, for a clip that does.\n"
    );
    for proposal in &proposals {
        let _ = writeln!(text, "# {}", proposal.reason);
        let _ = writeln!(text, "[[layers]]\nflesh = {}\n", flesh_line(&proposal.params, looped));
    }
}

/// An element as one line; only what differs from the defaults.
fn flesh_line(p: &FleshParams, looped: bool) -> String {
    let mut parts = vec![
        format!("name = {:?}", p.name),
        format!("on = {:?}", p.on),
        format!("from = {:?}", p.from),
    ];
    let ends = p.to.iter().map(|end| match end {
        BoneEnd::Joint(name) => format!("{name:?}"),
        BoneEnd::Offset(end) => format!("{{ joint = {:?}, offset = {:?} }}", end.joint, end.offset),
    });
    parts.push(format!("to = [{}]", ends.collect::<Vec<_>>().join(", ")));
    parts.extend(p.frequency_hz.map(|hz| format!("frequency_hz = {hz:?}")));
    parts.extend(p.damping_ratio.map(|ratio| format!("damping_ratio = {ratio:?}")));
    parts.push(format!("limit = {:?}", p.limit));
    if let Attenuation::Keys(keys) = &p.attenuation {
        let keys = keys.iter().map(|(at, factor)| format!("[{at:?}, {factor:?}]"));
        let keys = keys.collect::<Vec<_>>().join(", ");
        parts.push(format!("attenuation = {{ keys = [{keys}] }}"));
    }
    parts.extend(p.selection.as_ref().map(|s| format!("selection = {{ {} }}", selection_line(s))));
    if p.edge_falloff > 0.0 {
        parts.push(format!("edge_falloff = {:?}", p.edge_falloff));
    }
    if looped {
        parts.push("loop = true".to_owned());
    }
    format!("{{ {} }}", parts.join(", "))
}

fn selection_line(selection: &Selection) -> String {
    match &selection.region {
        Some(region) => format!("region = {region:?}"),
        None => format!("joints = {:?}", selection.joints.as_deref().unwrap_or_default()),
    }
}

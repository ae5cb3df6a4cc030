//! Flesh in a first scene file: where joints carry thick skin.

use std::fmt::Write as _;

use frisson::character::Character;
use frisson::layers::flesh::{Attenuation, BoneEnd, FleshParams, FleshProposal};
use frisson::stage::Selection;

use super::layer::Proposed;

/// Share of vertices between joints below which a figure is made of hard parts [-].
const SOFT: f32 = 0.15;
/// Part of a vertex's weight that counts as following a joint [-].
const FOLLOWS: f32 = 0.02;

/// Whether skin bends between joints anywhere: trucks and robots have parts that move as one.
pub fn is_soft(character: &Character) -> bool {
    let (mut bending, mut all) = (0usize, 0usize);
    for mesh in &character.meshes {
        let count = mesh.mesh.positions.len();
        all += count;
        if mesh.skin.is_some() {
            let several =
                |v: &usize| mesh.influences.of(*v).filter(|(_, w)| *w > FOLLOWS).count() > 1;
            bending += (0..count).filter(several).count();
        }
    }
    // Of all vertices, also those without a skin: a knight's plates count against the seams between them.
    bending as f32 >= SOFT * all as f32 && all > 0
}

/// What the scene file says before its layers.
pub fn words_on_flesh(text: &mut String, layers: &[Proposed], soft: bool) {
    let _ = writeln!(text, "\n# What follows by itself goes here, one [[layers]] each.");
    if !soft {
        let _ = writeln!(
            text,
            "# Its parts are hard: hardly any skin bends between joints, so no flesh is proposed."
        );
    } else if !layers.iter().any(|layer| layer.is_on) {
        let _ = writeln!(text, "# No flesh was found around joints that could be told apart.");
    } else {
        let _ = writeln!(
            text,
            "# Flesh, proposed by the skeleton and the depth of the mesh around it: try, change, delete.\n\
             # A lower frequency_hz looks heavier, a lower damping_ratio swings longer, a lower limit moves\n\
             # less. With `loop`, flesh ends as it begins, for a clip that does."
        );
    }
}

/// Flesh, one layer each, with its reason. `looped` tells that the clip closes: then flesh may too.
pub fn flesh_layers(proposals: &[FleshProposal], looped: bool) -> Vec<Proposed> {
    let one = |proposal: &FleshProposal| Proposed {
        name: proposal.params.name.clone(),
        why: proposal.reason.clone(),
        text: format!("[[layers]]\nflesh = {}", flesh_line(&proposal.params, looped)),
        is_on: true,
    };
    proposals.iter().map(one).collect()
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

//! Cloth in a first scene file: meshes whose names say that they hang.

use std::fmt::Write as _;

use frisson::character::Character;
use frisson::geometry::{Bounds, Mesh};

/// Words in the names of meshes that hang and swing.
const HANGING: [&str; 11] = [
    "cape", "cloak", "skirt", "dress", "robe", "scarf", "poncho", "tabard", "curtain", "flag",
    "cloth",
];

/// Share of a garment's height, from the top, that is held.
const HELD: f32 = 0.12;

/// Cloth for the meshes that look like it, as comments to be kept, edited or dropped. `meshes` are the
/// character's, in its source pose.
pub fn propose_cloth(character: &Character, meshes: &[Mesh]) -> String {
    let mut text = String::new();
    for (index, mesh) in meshes.iter().enumerate() {
        let name = character.meshes[index].mesh.name.to_lowercase();
        let Some(word) = HANGING.iter().find(|word| name.contains(*word)) else { continue };
        let bounds = Bounds::of(&mesh.positions);
        let size = bounds.max - bounds.min;
        let low = bounds.max.y - HELD * size.y;
        let (a, b) = (bounds.min - 0.1 * size, bounds.max + 0.1 * size);
        let skinned = |i: &usize| {
            let body = &character.meshes[*i];
            *i != index && body.skin.is_some() && !is_arm(&body.mesh.name)
        };
        let bodies: Vec<&str> =
            (0..meshes.len()).filter(skinned).map(|i| meshes[i].name.as_str()).collect();
        let _ = writeln!(
            text,
            "\n# {} looks like it hangs: take the # away to simulate it. `pins` is a box around its top;\n\
             # `bodies` is what it must stay outside of; arms swing through it and would crumple it.",
            mesh.name
        );
        let _ = writeln!(
            text,
            "# [[layers]]\n# [layers.cloth]\n# name = {word:?}\n# on = {:?}",
            mesh.name
        );
        let _ =
            writeln!(text, "# material = \"wool\"\n# self_collision = true\n# bodies = {bodies:?}");
        let _ = writeln!(
            text,
            "# pins = {{ box = [{:.3}, {low:.3}, {:.3}, {:.3}, {:.3}, {:.3}] }}",
            a.x, a.z, b.x, b.y, b.z
        );
    }
    text
}

/// Whether a name is that of an arm or a hand, not of armour or an armature.
fn is_arm(name: &str) -> bool {
    let name = name.to_lowercase().replace("armo", "").replace("armature", "");
    name.contains("arm") || name.contains("hand")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_told_from_armour() {
        for arm in ["Knight_ArmLeft", "hand.R", "Armature_forearm"] {
            assert!(is_arm(arm), "{arm}");
        }
        for other in ["Body_Armor", "Armature", "armour", "Knight_LegLeft"] {
            assert!(!is_arm(other), "{other}");
        }
    }
}

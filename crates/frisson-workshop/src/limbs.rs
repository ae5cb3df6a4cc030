//! Which joints of a character are its arms, by their names.

use frisson::character::Character;

/// Of every node, whether it is of an arm: those with a telling name, and all below them.
pub fn are_of_arms(character: &Character) -> Vec<bool> {
    let nodes = character.skeleton.nodes();
    let mut is_arm = vec![false; nodes.len()];
    for &i in character.skeleton.parents_first() {
        let name = nodes[i].name.to_lowercase();
        // Blender calls the whole rig an armature.
        let is_named =
            (name.contains("arm") || name.contains("hand")) && !name.contains("armature");
        is_arm[i] = is_named || nodes[i].parent.is_some_and(|p| is_arm[p]);
    }
    is_arm
}

/// Of every vertex of a mesh, whether arms carry more than half of it.
pub fn vertices_of_arms(character: &Character, mesh: usize, is_arm: &[bool]) -> Vec<bool> {
    let own = &character.meshes[mesh];
    let count = own.mesh.positions.len();
    let Some(skin) = own.skin.map(|s| &character.skins[s]) else {
        return vec![is_arm[own.node]; count];
    };
    let of_arms = |v: usize| {
        let list = own.influences.of(v).filter(|(j, _)| is_arm[skin.joints[*j as usize]]);
        list.map(|(_, w)| w).sum::<f32>()
    };
    (0..count).map(|v| of_arms(v) > 0.5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_of_the_figure_are_of_its_arms_and_its_hips_are_not() {
        let figure = frisson_models::build("figure").unwrap();
        let is_arm = are_of_arms(&figure);
        let nodes = figure.skeleton.nodes();
        let of = |word: &str| {
            let named = (0..nodes.len()).filter(|&i| nodes[i].name.contains(word));
            named.map(|i| is_arm[i]).collect::<Vec<_>>()
        };
        assert!(!of("hand").is_empty() && of("hand").iter().all(|a| *a));
        assert!(!of("thigh").is_empty() && of("thigh").iter().all(|a| !*a));
        // Hands are beside the body: every vertex of an arm is off the middle.
        let mesh = figure.meshes.iter().position(|m| m.mesh.name == "figure").unwrap();
        let arms = vertices_of_arms(&figure, mesh, &is_arm);
        let places = figure.meshes[mesh].mesh.positions.iter().zip(&arms);
        assert!(arms.contains(&true) && places.filter(|(_, a)| **a).all(|(p, _)| p.x.abs() > 0.1));
    }
}

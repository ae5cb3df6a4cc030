//! How large a character is, by what there is to tell it.

use frisson::character::{Character, Pose, Sampling};
use frisson::stage::Placement;
use glam::Mat4;

/// Heights between which a figure with a skin may well be in metres [m]: a mouse, a giant.
const FIGURES: std::ops::RangeInclusive<f32> = 0.02..=20.0;
/// The height that tells units apart [m]: a person's.
const PERSON: f32 = 1.6;
/// Units that files come in, and metres in each.
const UNITS: [(&str, f32); 3] =
    [("centimetres", 0.01), ("millimetres", 0.001), ("hundreds of metres", 100.0)];

/// Where a character stands, at a size of this world.
pub struct Size {
    pub placement: Placement,
    /// What to say of it, where there is something to say.
    pub remark: Option<String>,
}

/// The size of a character. A skin around joints is a figure, whose height tells the unit; anything
/// else may be a truck or a city, and stays as it is.
pub fn size_of(character: &Character, is_vrm: bool) -> Size {
    let height = height(character);
    let as_it_is = |remark: Option<String>| Size { placement: Placement::default(), remark };
    let usual = FIGURES.contains(&height);
    if usual || is_vrm || height <= 0.0 {
        return as_it_is(None);
    }
    if !character.meshes.iter().any(|m| m.skin.is_some()) {
        let text = format!("{height:.4} high and without a skin: taken for metres as it is");
        return as_it_is(Some(text));
    }
    let off = |unit: &f32| (unit * height / PERSON).ln().abs();
    let best = UNITS.iter().filter(|(_, unit)| FIGURES.contains(&(unit * height)));
    let best = best.min_by(|a, b| off(&a.1).total_cmp(&off(&b.1)));
    let Some(&(name, scale)) = best else {
        return as_it_is(Some(format!("{height:.4} high in no unit that makes sense of it")));
    };
    let remark = format!("{height:.4} high: modelled in {name}, {:.2} m", scale * height);
    Size { placement: Placement { scale, ..Placement::default() }, remark: Some(remark) }
}

/// Height of all meshes in the rest pose, in the file's unit.
fn height(character: &Character) -> f32 {
    let mut pose = Pose::default();
    pose.set(character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
    let (mut low, mut high, mut positions) = (f32::INFINITY, f32::NEG_INFINITY, Vec::new());
    for mesh in 0..character.meshes.len() {
        character.deform_mesh_positions(mesh, &pose, &mut positions);
        low = positions.iter().fold(low, |a, p| a.min(p.y));
        high = positions.iter().fold(high, |a, p| a.max(p.y));
    }
    if high > low { high - low } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use frisson::character::{CharacterMesh, Influences, Node, Skeleton, Skin, Transform};
    use frisson::geometry::Mesh;
    use glam::Vec3;

    use super::*;

    fn tower(height: f32, skinned: bool) -> Character {
        let node = Node { name: "root".to_owned(), parent: None, rest: Transform::default() };
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y * height];
        let skin =
            Skin { name: String::new(), joints: vec![0], inverse_bind: vec![Mat4::IDENTITY] };
        let mesh = CharacterMesh {
            mesh: Mesh::new("m", positions, vec![[0, 1, 2]]),
            node: 0,
            skin: skinned.then_some(0),
            influences: Influences::from_lists(&vec![vec![(0, 1.0)]; 3]),
            morphs: vec![],
            morph_weights: vec![],
            source: None,
        };
        Character {
            name: "t".to_owned(),
            skeleton: Skeleton::new(vec![node]).unwrap(),
            skins: vec![skin],
            meshes: vec![mesh],
            clips: vec![],
        }
    }

    #[test]
    fn figures_tell_their_unit_and_other_things_do_not() {
        let scale =
            |height: f32, skinned: bool| size_of(&tower(height, skinned), false).placement.scale;
        // A person in metres, centimetres, millimetres; a fox; a giant; a person a hundred times too small.
        assert_eq!(scale(1.7, true), 1.0);
        assert_eq!(scale(170.0, true), 0.01);
        assert_eq!(scale(1700.0, true), 0.001);
        assert_eq!(scale(79.0, true), 0.01);
        assert_eq!(scale(12.0, true), 1.0);
        assert_eq!(scale(0.017, true), 100.0);
        // A truck and a city.
        assert_eq!((scale(3.2, false), scale(166.0, false)), (1.0, 1.0));
        let city = size_of(&tower(166.0, false), false);
        assert!(city.remark.unwrap().contains("without a skin"));
        assert_eq!(size_of(&tower(170.0, true), true).placement.scale, 1.0, "a VRM is in metres");
    }
}

//! Cloths that look the same are told apart.

use std::collections::BTreeMap;

use frisson::geometry::Material;
use frisson::stage::Frame;

/// Least difference of the strongest and the weakest colour, as a share of the strongest, for another hue to be seen
/// [-]; a grey is made darker instead.
const COLOURFUL: f32 = 0.1;
/// What such a grey keeps of its light [-].
const DARKER: f32 = 0.45;

/// Looks by name of the cloths of a frame that look exactly like one before them: the same in another hue.
pub(super) fn told_apart(frame: &Frame, cloths: &[String]) -> BTreeMap<String, Material> {
    let mut looks = BTreeMap::new();
    let mut known: Vec<Material> = Vec::new();
    for mesh in frame.meshes.iter().filter(|m| cloths.contains(&m.name)) {
        let [material] = mesh.topology.materials.as_slice() else { continue };
        // What is painted has a face of its own.
        if material.texture.is_some() || !mesh.topology.colors.is_empty() {
            continue;
        }
        let mut own = material.clone();
        while known.contains(&own) && known.len() <= cloths.len() {
            own.base_color = another(own.base_color);
            if own.base_color == material.base_color {
                break;
            }
        }
        if own != *material {
            looks.insert(mesh.name.clone(), own.clone());
        }
        known.push(own);
    }
    looks
}

/// The same colour with its parts changed around: red becomes green, green blue, blue red.
fn another([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    if high - low < COLOURFUL * high {
        [DARKER * r, DARKER * g, DARKER * b, a]
    } else {
        [b, r, g, a]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use frisson::geometry::Mesh;
    use glam::Vec3;

    use super::*;

    fn frame(colours: &[[f32; 4]]) -> (Frame, Vec<String>) {
        let mut frame = Frame::default();
        for (colour, k) in colours.iter().zip(0..) {
            let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
            let mut mesh = Mesh::new(&format!("m{k}"), corners, vec![[0, 1, 2]]);
            let look = Material { base_color: *colour, ..Material::default() };
            Arc::make_mut(&mut mesh.topology).materials = vec![look];
            frame.meshes.push(mesh);
        }
        let names = frame.meshes.iter().map(|m| m.name.clone()).collect();
        (frame, names)
    }

    #[test]
    fn only_what_looks_like_another_cloth_gets_another_hue() {
        let (blue, red) = ([0.2, 0.3, 0.8, 1.0], [0.8, 0.1, 0.1, 1.0]);
        let (frame, names) = frame(&[blue, red, blue, blue]);
        let looks = told_apart(&frame, &names);
        assert_eq!(looks.keys().collect::<Vec<_>>(), ["m2", "m3"]);
        assert!(looks["m2"].base_color != looks["m3"].base_color);
        // Bodies keep their looks, whatever they are like.
        assert!(told_apart(&frame, &names[..2]).is_empty());
    }

    #[test]
    fn greys_differ_in_light_and_many_of_one_colour_end() {
        let (frame, names) = frame(&[[0.5, 0.5, 0.5, 1.0]; 9]);
        let looks = told_apart(&frame, &names);
        assert!(looks["m1"].base_color[0] < 0.3);
        let (frame, names) = self::frame(&[[0.2, 0.3, 0.8, 1.0]; 9]);
        assert!(told_apart(&frame, &names).len() <= 8);
    }
}

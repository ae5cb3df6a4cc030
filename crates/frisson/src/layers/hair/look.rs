//! The colour of hair of which nothing is said: that of the hair its wearer has already.
//!
//! Characters often have hair that was modelled (a mesh, a material or joints of that name) or painted on the head.
//! Hair that grows there takes its colour; on a bald head it has one that hair may have, not that of the skin.

use glam::Vec3;

use super::params::HairParams;
use crate::character::CharacterMesh;
use crate::geometry::{Mesh, MeshTopology};
use crate::stage::BuildContext;

/// Linear RGB of hair whose wearer has none: brown.
const NATURAL: Vec3 = Vec3::new(0.13, 0.065, 0.03);
/// What names of modelled hair have in them, and names that have it and are none.
const HAIR: &str = "hair";
const NOT_HAIR: [&str; 6] = ["chair", "hairless", "hairband", "hairpin", "hairclip", "hairline"];
/// Share of a vertex's weight with which it belongs to a joint [-].
const BELONGS: f32 = 0.5;
/// How far below and around its scalp a head reaches, in extents of the scalp [-].
const HEAD: f32 = 0.75;
/// Distance between colours, by what the eye makes of them (cube roots of the linear values), from which the scalp is
/// painted and not only lit or shaded another way [-]: brown hair on skin is at 0.6, a tan at 0.1.
const PAINTED: f32 = 0.2;
/// Least share of what colours are taken from [-].
const ENOUGH: f64 = 1e-12;

/// The colour of hair on a mesh: that of the wearer's own hair, or brown.
pub(super) fn color_of_wearer(
    params: &HairParams,
    context: &BuildContext,
    mesh: usize,
    scalp: &[f32],
) -> Vec3 {
    let painted = || painted_scalp(params, &context.frame.meshes[mesh], scalp);
    modelled_hair(context, mesh).or_else(painted).unwrap_or(NATURAL)
}

/// The colour of what is called hair among the wearer's meshes, materials and joints.
fn modelled_hair(context: &BuildContext, head: usize) -> Option<Vec3> {
    let (actor, _) = context.actors.owner_of(head)?;
    let character = context.actors.all()[actor].character();
    let mut hair = Colors::default();
    for (own, index) in context.actors.mesh_range(actor).enumerate() {
        let Some(mesh) = context.frame.meshes.get(index) else { continue };
        // The head itself may be called after its actor, whatever that is called.
        let whole = index != head && is_hair(mesh.name.rsplit('/').next().unwrap_or_default());
        let of_joints = character.and_then(|who| {
            let source = who.meshes.get(own)?;
            let skin = &who.skins.get(source.skin?)?.joints;
            let nodes = who.skeleton.nodes();
            let named: Vec<bool> = skin.iter().map(|node| is_hair(&nodes[*node].name)).collect();
            named.contains(&true).then_some((source, named))
        });
        let topology = &mesh.topology;
        let named: Vec<bool> = topology.materials.iter().map(|m| is_hair(&m.name)).collect();
        hair.gather(mesh, |triangle, corners| {
            let material = topology.triangle_materials.get(triangle).copied().unwrap_or(0);
            let is = whole
                || named.get(usize::from(material)) == Some(&true)
                || of_joints.as_ref().is_some_and(|(source, named)| {
                    corners.iter().all(|v| follows(source, named, *v as usize))
                });
            f32::from(u8::from(is))
        });
    }
    hair.middle()
}

/// The colour that a head is painted with where hair grows, if it is another one than around it.
fn painted_scalp(params: &HairParams, mesh: &Mesh, scalp: &[f32]) -> Option<Vec3> {
    let maps = [&params.length_map, &params.radius_map, &params.density_map];
    let maps = maps.into_iter().chain([&params.stiffness_map, &params.goal_map]);
    // Colours that say how hair grows are not what it looks like.
    if maps.flatten().count() > 0 && !mesh.topology.colors.is_empty() {
        return None;
    }
    let places = mesh.positions.iter().zip(scalp).filter(|(_, w)| **w > 0.0).map(|(p, _)| *p);
    let (low, high) = places
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
    let reach = HEAD * (high - low).max_element();
    let near = |v: &u32| {
        let p = mesh.positions[*v as usize];
        p.cmpge(low - reach).all() && p.cmple(high + reach).all()
    };
    let (mut under, mut around) = (Colors::default(), Colors::default());
    under.gather(mesh, |_, corners| corners.iter().map(|v| scalp[*v as usize]).product());
    around.gather(mesh, |_, corners| {
        let bare = corners.iter().all(|v| scalp[*v as usize] <= 0.0);
        f32::from(u8::from(bare && corners.iter().all(near)))
    });
    let (under, around) = (under.middle()?, around.middle()?);
    let seen = |c: Vec3| Vec3::from_array(c.to_array().map(f32::cbrt));
    (seen(under).distance(seen(around)) > PAINTED).then_some(under)
}

fn is_hair(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains(HAIR) && !NOT_HAIR.iter().any(|word| name.contains(word))
}

/// Whether a vertex is mostly carried by joints that are marked.
fn follows(source: &CharacterMesh, marked: &[bool], vertex: usize) -> bool {
    let own = source.influences.of(vertex);
    own.filter(|(j, _)| marked.get(*j as usize) == Some(&true)).map(|(_, w)| w).sum::<f32>()
        > BELONGS
}

/// Colours with the areas that have them.
#[derive(Default)]
struct Colors {
    found: Vec<(Vec3, f64)>,
}

impl Colors {
    /// Adds the triangles of a mesh by a share that they count with.
    fn gather(&mut self, mesh: &Mesh, share: impl Fn(usize, &[u32; 3]) -> f32) {
        let topology = &mesh.topology;
        if !has_look(topology) {
            return;
        }
        for (triangle, corners) in topology.triangles.iter().enumerate() {
            let Some(share) = Some(share(triangle, corners)).filter(|s| *s > 0.0) else { continue };
            let [a, b, c] = corners.map(|v| mesh.positions[v as usize]);
            let area = f64::from(0.5 * share * (b - a).cross(c - a).length());
            let color = topology.color_at(triangle as u32, [1.0 / 3.0; 3]);
            self.found.push((color.clamp(Vec3::ZERO, Vec3::ONE), area));
        }
    }

    /// The middle one of every channel: a few triangles of another colour (a ribbon, an ear) do not count.
    fn middle(mut self) -> Option<Vec3> {
        let total: f64 = self.found.iter().map(|(_, area)| area).sum();
        if total.is_nan() || total < ENOUGH {
            return None;
        }
        let mut middle = Vec3::ZERO;
        for channel in 0..3 {
            // Channel by channel, as the book says: colours have no order of their own.
            self.found.sort_by(|a, b| a.0[channel].total_cmp(&b.0[channel]));
            let mut below = 0.0;
            let half = self.found.iter().find(|(_, area)| {
                below += area;
                below >= 0.5 * total
            });
            middle[channel] = half.map_or(0.0, |(color, _)| color[channel]);
        }
        Some(middle)
    }
}

/// Whether a mesh says what it looks like: plain white without a picture is what nobody has chosen.
fn has_look(topology: &MeshTopology) -> bool {
    let chosen = |m: &crate::geometry::Material| m.texture.is_some() || m.base_color != [1.0; 4];
    !topology.colors.is_empty() || topology.materials.iter().any(chosen)
}

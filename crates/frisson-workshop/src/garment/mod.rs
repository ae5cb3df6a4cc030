//! A first garment for a character that has none: a tube around its body, cut where it is asked for.
//!
//! The body is cut level by level in the pose it was modelled in. Each level's outline, made convex, is what
//! the cloth has to pass; from the top downwards a garment never becomes narrower, so that it can be put on
//! and hangs free. Every vertex takes the weights of the skin under it, which is how the first pose of a
//! clip finds it in place.

mod armholes;
mod levels;
mod room;
mod tube;
mod weights;

use std::sync::Arc;

use frisson::character::{Character, CharacterMesh, Pose, Sampling};
use frisson::geometry::{Bounds, Mesh, TriangleBvh};
use frisson_io::scene::{ActorContent, ActorLoader as _};
use glam::{Mat4, Vec3};

use crate::WorkshopError;
use crate::limbs::{are_of_arms, vertices_of_arms};
use levels::{Levels, Part};
use room::Room;
use tube::{CAPE_HALF_ANGLES, Cut, Tube};
use weights::SkinLists;

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From the waist to the knees, all around.
    Skirt,
    /// From under the arms to the hips, all around.
    Shirt,
    /// From the shoulders to the knees, behind.
    Cape,
}

impl Kind {
    /// Its name, which is the mesh's too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Skirt => "skirt",
            Self::Shirt => "shirt",
            Self::Cape => "cape",
        }
    }
}

/// A garment to make; what is not said is chosen from the body. Heights are the character's, in its pose of
/// rest.
#[derive(Clone, Debug)]
pub struct Order {
    /// What to make.
    pub kind: Kind,
    /// Meshes that it is worn on; the skin, by default.
    pub bodies: Vec<String>,
    /// Height of its upper border [m].
    pub top: Option<f32>,
    /// Height of its hem [m].
    pub hem: Option<f32>,
    /// How much farther out the hem is than the body asks for, over its length [-].
    pub flare: Option<f32>,
    /// Length of its edges [m].
    pub edge: Option<f32>,
}

/// Height of the hem between the ground and the hips, of a skirt and a cape [-].
const KNEES: f32 = 0.42;
/// How far below the armpits a shirt begins, in heights of the body [-]: arms that hang lie on the trunk there, and leave
/// no room for cloth.
const SHIRT_BELOW_ARMPITS: f32 = 0.05;
/// How far a shirt reaches below the hips, in heights of the body [-].
const SHIRT_BELOW_HIPS: f32 = 0.06;
/// Height of the hips where no joint says it, in heights of the body [-].
const HIPS: f32 = 0.53;
/// How far above the hips' joint a waist is, in heights of the body [-].
const WAIST_ABOVE_HIPS: f32 = 0.05;
/// Levels that a body is cut at.
const LEVELS: usize = 96;
/// Edges of a garment on a body's height.
const EDGES: f32 = 64.0;
/// Distance from the skin, in heights of the body [-]: more than cloth is thick.
const CLEARANCE: f32 = 0.008;
/// Share of the height that skinned meshes must cover to be taken for the body [-].
const COVERED: f32 = 0.6;
/// Where hips may be, in heights of the body [-]: of a squat robot, of one on stilts.
const HIP_HEIGHTS: std::ops::Range<f32> = 0.1..0.75;
/// Words in the names of the joint at the hips, the most telling first.
const HIP_NAMES: [&str; 4] = ["hips", "pelvis", "torso", "root_joint"];

/// The character with the garment as one more mesh, which follows the same joints.
pub fn put_on(character: &Character, order: &Order) -> Result<Character, WorkshopError> {
    let name = order.kind.name();
    if character.meshes.iter().any(|m| m.mesh.name == name) {
        return Err(WorkshopError::input(format!("it has a mesh named {name:?} already")));
    }
    let mut pose = Pose::default();
    // The pose it was modelled in, whatever clips there are: arms are off the body there, if anywhere.
    pose.set(character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
    let meshes = posed(character, &pose);
    let worn_on = bodies(character, &meshes, &order.bodies)?;
    let bodies: Vec<&Mesh> = worn_on.iter().map(|&i| &meshes[i]).collect();
    let frame = Measures::of(character, &pose, &bodies)?;
    let is_arm = are_of_arms(character);
    let none = vec![false; is_arm.len()];
    let levels = |arms: &[bool]| {
        let part =
            |&i: &usize| Part { mesh: &meshes[i], is_arm: vertices_of_arms(character, i, arms) };
        let parts: Vec<Part> = worn_on.iter().map(part).collect();
        Levels::cut(&parts, frame.hips, frame.waist(), frame.bounds, LEVELS)
    };
    // Armpits and shoulders are where the arms begin: they are found on the body with them.
    let whole = levels(&none);
    let trunk = levels(&is_arm);
    let cut = cut_for(order, &frame, (&whole, &trunk))?;
    // A cape lies over the shoulders. What goes all around must not take in a hand beside the hips.
    let levels = if cut.half_angle.is_some() { whole } else { trunk };
    let mut tube = lay(&levels, cut, &bodies);
    let skin = SkinLists::of(&meshes, &worn_on);
    let carriers = skin.carriers(character, &pose, tube.whole_points(), levels.axis);
    if order.kind == Kind::Shirt {
        let on = (meshes.as_slice(), worn_on.as_slice(), is_arm.as_slice());
        let room = Room::around(character, on, (tube.points(), &carriers), frame.height());
        tube.cut_armholes(&room);
    }
    let mut dressed = character.clone();
    let mesh = tube.mesh(name);
    let held = tube.held_vertices();
    let (skin, influences) =
        weights::of_skin_below(character, &pose, &skin, &mesh, (&held, &carriers));
    // A skin of its own: rigid parts of the body become joints of it, which no skin of the file has.
    dressed.skins.push(skin);
    let mut worn = CharacterMesh::skinned(mesh, influences);
    worn.skin = Some(dressed.skins.len() - 1);
    dressed.meshes.push(worn);
    Ok(dressed)
}

/// The cloth around a body. A cape is as wide as it can be while as little as can be of it goes through arms that are
/// half raised.
fn lay(levels: &Levels, cut: Cut, bodies: &[&Mesh]) -> Tube {
    if cut.half_angle.is_none() {
        return Tube::around(levels, &cut);
    }
    let trees: Vec<TriangleBvh> = bodies.iter().map(|body| tree_of(body)).collect();
    let lay = |angle: f32| {
        let tube = Tube::around(levels, &Cut { half_angle: Some(angle), ..cut });
        let mesh = tube.mesh("cape");
        let own = tree_of(&mesh);
        let through = bodies.iter().zip(&trees);
        let count = through.map(|(body, tree)| cuts(&mesh, tree) + cuts(body, &own)).sum::<usize>();
        (tube, count)
    };
    let mut best = lay(CAPE_HALF_ANGLES[0]);
    for angle in &CAPE_HALF_ANGLES[1..] {
        if best.1 == 0 {
            break;
        }
        let narrower = lay(*angle);
        if narrower.1 < best.1 {
            best = narrower;
        }
    }
    best.0
}

fn tree_of(mesh: &Mesh) -> TriangleBvh {
    TriangleBvh::build(&mesh.positions, &mesh.topology.triangles)
}

/// How many sides of a mesh's triangles go through another.
fn cuts(mesh: &Mesh, other: &TriangleBvh) -> usize {
    let sides = mesh.topology.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let places = sides.map(|side| side.map(|v| mesh.positions[v as usize]));
    places.filter(|[a, b]| other.raycast(*a, *b - *a, 1.0).is_some()).count()
}

/// Every mesh where the pose puts it.
fn posed(character: &Character, pose: &Pose) -> Vec<Mesh> {
    let mut meshes: Vec<Mesh> = character.meshes.iter().map(|m| m.mesh.clone()).collect();
    character.deform(pose, &mut meshes);
    meshes
}

/// Which meshes are the body.
fn bodies(
    character: &Character,
    meshes: &[Mesh],
    asked: &[String],
) -> Result<Vec<usize>, WorkshopError> {
    if !asked.is_empty() {
        let find = |name: &String| {
            meshes.iter().position(|m| &m.name == name).ok_or_else(|| {
                let names: Vec<&str> = meshes.iter().map(|m| m.name.as_str()).collect();
                let text = format!("it has no mesh named {name:?}");
                WorkshopError::advised(text, format!("it has {}", names.join(", ")))
            })
        };
        return asked.iter().map(find).collect();
    }
    let all: Vec<usize> = (0..meshes.len()).collect();
    let skinned: Vec<usize> =
        all.iter().copied().filter(|&i| character.meshes[i].skin.is_some()).collect();
    let height = |list: &[usize]| {
        let points: Vec<Vec3> =
            list.iter().flat_map(|&i| meshes[i].positions.iter().copied()).collect();
        size_of(&Bounds::of(&points)).y
    };
    // A robot is of rigid parts; a knight's sword and shield are, too, and no body.
    Ok(if !skinned.is_empty() && height(&skinned) >= COVERED * height(&all) {
        skinned
    } else {
        all
    })
}

fn size_of(bounds: &Bounds) -> Vec3 {
    bounds.max - bounds.min
}

/// What a garment is measured by.
struct Measures {
    bounds: Bounds,
    /// Middle of the hips.
    hips: Vec3,
}

impl Measures {
    fn of(character: &Character, pose: &Pose, bodies: &[&Mesh]) -> Result<Self, WorkshopError> {
        let points: Vec<Vec3> = bodies.iter().flat_map(|m| m.positions.iter().copied()).collect();
        let bounds = Bounds::of(&points);
        let size = size_of(&bounds);
        if points.is_empty() || !(size.is_finite() && size.y > 0.0) {
            return Err(WorkshopError::input("it has no body to put a garment on"));
        }
        let nodes = character.skeleton.nodes();
        let named = HIP_NAMES.iter().find_map(|word| {
            let found = nodes.iter().position(|n| n.name.to_lowercase().contains(word))?;
            let at: Vec3 = pose.world_from_node[found].transform_point3(Vec3::ZERO);
            let share = (at.y - bounds.min.y) / size.y;
            // Roots named after the hips stand on the ground, and a torso's joint may be at the neck.
            HIP_HEIGHTS.contains(&share).then_some(at)
        });
        let middle = 0.5 * (bounds.min + bounds.max);
        let hips = named.unwrap_or(middle.with_y(bounds.min.y + HIPS * size.y));
        Ok(Self { bounds, hips })
    }

    fn height(&self) -> f32 {
        size_of(&self.bounds).y
    }

    fn waist(&self) -> f32 {
        self.hips.y + WAIST_ABOVE_HIPS * self.height()
    }
}

/// Where the garment begins and ends.
fn cut_for(
    order: &Order,
    body: &Measures,
    (whole, trunk): (&Levels, &Levels),
) -> Result<Cut, WorkshopError> {
    let (ground, height) = (body.bounds.min.y, body.height());
    let knees = ground + KNEES * (body.hips.y - ground);
    let armpits = whole.armpits();
    let waist = body.waist().max(trunk.above_thighs.min(armpits));
    let (top, hem, flare) = match order.kind {
        Kind::Skirt => (waist.min(armpits), knees, 0.12),
        Kind::Shirt => {
            // Not below the waist, on a body that is all legs and arms.
            let top = (armpits - SHIRT_BELOW_ARMPITS * height).max(waist);
            (top, body.hips.y - SHIRT_BELOW_HIPS * height, 0.05)
        }
        Kind::Cape => (whole.shoulders(), knees, 0.2),
    };
    let (top, hem) = (order.top.unwrap_or(top), order.hem.unwrap_or(hem));
    let edge = order.edge.unwrap_or(height / EDGES);
    if !(top - hem > 2.0 * edge && edge > 0.0) {
        let text = format!("from {top:.3} m down to {hem:.3} m there is no room for a garment");
        return Err(WorkshopError::advised(text, "say where it begins and ends: --top, --hem"));
    }
    Ok(Cut {
        half_angle: (order.kind == Kind::Cape).then_some(CAPE_HALF_ANGLES[0]),
        top,
        hem,
        flare: order.flare.unwrap_or(flare),
        edge,
        clearance: CLEARANCE * height,
    })
}

/// Reads a character and puts the garment on.
pub fn make(
    source: &str,
    order: &Order,
) -> Result<(Character, Vec<std::path::PathBuf>), WorkshopError> {
    let loaded = crate::Loader.load(source, std::path::Path::new(""))?;
    let ActorContent::Character(character) = loaded.content else {
        return Err(WorkshopError::input(format!("{source} holds no character")));
    };
    Ok((put_on(&Arc::unwrap_or_clone(character), order)?, loaded.files))
}

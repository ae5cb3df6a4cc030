//! Where a body leaves room for cloth, in the pose it is cut in and in all clips.
//!
//! An arm beside a garment presses it towards the trunk, so all that cloth needs which hangs is some millimetres between the
//! two. Where there are none, because the arm lies on the trunk or the animation carries it into it, it has no place to be.
//! What is held does not give way: nothing of the body may come where it is carried, neither an arm nor a thigh that is
//! lifted nor the belly when the chest turns.

use frisson::character::{Character, Pose, Sampling};
use frisson::geometry::{Mesh, TriangleBvh};
use glam::{Mat4, Vec3};

use super::weights::{Carriers, SkinPlace, skin_places};
use crate::limbs::vertices_of_arms;

/// How often clips are looked at [1/s].
const SAMPLES_PER_SECOND: f64 = 15.0;
/// Most samples of a clip: long ones repeat what they do.
const MOST_SAMPLES: f64 = 120.0;
/// How far away bodies are looked for, in heights of the body [-]: farther than anything that is asked.
const REACH: f32 = 0.02;

/// Least distance of arms from the skin under cloth that hangs, in heights of the body [-]: the built-in figure's skirt hangs
/// well where it comes to 9 mm.
const TO_HANG: f32 = 0.005;
/// Least distance of arms from a band, in heights of the body [-]: with 10 and 13 thousandths edges of RiggedFigure's shirt
/// went through its arm, with 16 none does.
const TO_BE_HELD_BY_ARMS: f32 = 0.016;
/// Least distance of the whole body from a band, in heights of the body [-]: it is laid less than three times as far off.
const TO_BE_HELD: f32 = 0.003;

/// Room for a garment: for each of its points, whether there is some.
pub struct Room {
    /// For cloth that hangs there: arms stay off the skin under it.
    pub hangs: Vec<bool>,
    /// For cloth that is held there: all of the body stays off it where the band's carriers carry it.
    pub is_held: Vec<bool>,
    /// Whether an arm goes into the skin under it.
    pub is_skin_in_arm: Vec<bool>,
    /// Whether an arm goes into it where the band's carriers carry it.
    pub is_in_arm: Vec<bool>,
}

impl Room {
    /// Around a character so tall, over its pose of rest and all clips. `meshes` are the character's in the pose
    /// in which the garment's `points` are, `is_arm` says of every node whether it is.
    pub fn around(
        character: &Character,
        (meshes, bodies, is_arm): (&[Mesh], &[usize], &[bool]),
        (points, carriers): (&[Vec3], &Carriers),
        height: f32,
    ) -> Self {
        let split = |&i: &usize| Split::of(character, i, is_arm);
        let split: Vec<Split> = bodies.iter().map(split).collect();
        let tree =
            |(&i, split): (&usize, &Split)| TriangleBvh::build(&meshes[i].positions, &split.trunk);
        let trunks: Vec<TriangleBvh> = bodies.iter().zip(&split).map(tree).collect();
        let skin = skin_places(&trunks, points);
        let reach = REACH * height;
        let far = || vec![reach; points.len()];
        let (mut under, mut arms_off, mut bodies_off) = (far(), far(), far());
        let mut posed = Posed { meshes: meshes.to_vec(), arms: Vec::new(), bodies: Vec::new() };
        let (mut rest, mut pose) = (Pose::default(), Pose::default());
        rest.set(character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
        for (clip, time) in moments(character) {
            let clip = clip.map(|c| &character.clips[c]);
            pose.set(character, clip, time, Sampling::AsAuthored, Mat4::IDENTITY);
            posed.take(character, &pose, bodies, &split);
            let carried = carried(carriers, &rest, &pose);
            for (k, p) in points.iter().enumerate() {
                if let Some(place) = &skin[k] {
                    let p = posed.on_skin(bodies, &trunks, place);
                    under[k] = under[k].min(distance(&posed.arms, p, reach));
                }
                let p = carried.transform_point3(*p);
                arms_off[k] = arms_off[k].min(distance(&posed.arms, p, reach));
                bodies_off[k] = bodies_off[k].min(distance(&posed.bodies, p, reach));
            }
        }
        let enough = |room: &[f32], least: f32| room.iter().map(|r| *r >= least * height).collect();
        let off = |k: usize| {
            arms_off[k] >= TO_BE_HELD_BY_ARMS * height && bodies_off[k] >= TO_BE_HELD * height
        };
        Self {
            hangs: enough(&under, TO_HANG),
            is_held: (0..points.len()).map(off).collect(),
            is_skin_in_arm: under.iter().map(|r| *r < 0.0).collect(),
            is_in_arm: arms_off.iter().map(|r| *r < 0.0).collect(),
        }
    }
}

/// From the pose of rest to where a band is carried.
fn carried(carriers: &Carriers, rest: &Pose, pose: &Pose) -> Mat4 {
    let one = |(node, share): &(usize, f32)| {
        *share * (pose.world_from_node[*node] * rest.world_from_node[*node].inverse())
    };
    carriers.iter().map(one).fold(Mat4::ZERO, |sum, m| sum + m)
}

/// The pose of rest, and every clip now and then: clip and time.
fn moments(character: &Character) -> Vec<(Option<usize>, f64)> {
    let mut moments = vec![(None, 0.0)];
    for (index, clip) in character.clips.iter().enumerate() {
        let count = (clip.duration() * SAMPLES_PER_SECOND).ceil().clamp(1.0, MOST_SAMPLES);
        let at = |k: u32| (Some(index), clip.duration() * f64::from(k) / count);
        moments.extend((0..=count as u32).map(at));
    }
    moments
}

/// From a point to the nearest of some surfaces; less than nothing in one of them.
fn distance(surfaces: &[TriangleBvh], p: Vec3, reach: f32) -> f32 {
    let one = |tree: &TriangleBvh| {
        let away = tree.closest_point(p, reach).map_or(reach, |hit| hit.point.distance(p));
        if tree.is_inside(p) { -away } else { away }
    };
    surfaces.iter().map(one).fold(reach, f32::min)
}

/// The triangles of a mesh: of arms, and all others.
struct Split {
    arms: Vec<[u32; 3]>,
    trunk: Vec<[u32; 3]>,
}

impl Split {
    fn of(character: &Character, mesh: usize, is_arm: &[bool]) -> Self {
        let of_arms = vertices_of_arms(character, mesh, is_arm);
        let all = &character.meshes[mesh].mesh.topology.triangles;
        let count = |t: &[u32; 3]| t.iter().filter(|v| of_arms[**v as usize]).count();
        let (arms, trunk) = all.iter().partition(|t| count(t) > 1);
        Self { arms, trunk }
    }
}

/// Bodies in a pose.
struct Posed {
    meshes: Vec<Mesh>,
    arms: Vec<TriangleBvh>,
    bodies: Vec<TriangleBvh>,
}

impl Posed {
    fn take(&mut self, character: &Character, pose: &Pose, bodies: &[usize], split: &[Split]) {
        for &i in bodies {
            character.deform_mesh_positions(i, pose, &mut self.meshes[i].positions);
        }
        let arms = bodies.iter().zip(split).filter(|(_, s)| !s.arms.is_empty());
        let tree =
            |mesh: &Mesh, triangles: &[[u32; 3]]| TriangleBvh::build(&mesh.positions, triangles);
        self.arms = arms.map(|(&i, split)| tree(&self.meshes[i], &split.arms)).collect();
        let whole =
            bodies.iter().map(|&i| tree(&self.meshes[i], &self.meshes[i].topology.triangles));
        self.bodies = whole.collect();
    }

    fn on_skin(&self, bodies: &[usize], trunks: &[TriangleBvh], place: &SkinPlace) -> Vec3 {
        let corners = trunks[place.body].triangle(place.triangle);
        let at = |v: u32| self.meshes[bodies[place.body]].positions[v as usize];
        corners.into_iter().zip(place.shares).map(|(v, share)| share * at(v)).sum()
    }
}

#[cfg(test)]
mod tests {
    use frisson::character::{
        CharacterMesh, Clip, Interpolation, Node, Skeleton, Track, TrackTarget,
    };

    use super::*;

    /// A closed box between two corners.
    fn cuboid(name: &str, low: [f32; 3], high: [f32; 3]) -> Mesh {
        let corner = |k: usize| {
            Vec3::from_array(std::array::from_fn(
                |i| if k >> i & 1 == 1 { high[i] } else { low[i] },
            ))
        };
        let sides =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        Mesh::new(name, (0..8).map(corner).collect(), triangles.collect())
    }

    /// Room beside a trunk 0.4 m wide, under an arm that a clip moves to so far from it: on that side, on the other one, and
    /// below the arm.
    fn room(gap: f32) -> Room {
        let node = |name: &str, parent| Node { name: name.to_owned(), parent, ..Node::default() };
        let skeleton = Skeleton::new(vec![node("hips", None), node("upperarm", Some(0))]).unwrap();
        let meshes = vec![
            cuboid("trunk", [-0.2, 0.0, -0.1], [0.2, 1.0, 0.1]),
            cuboid("sleeve", [0.3, 0.3, -0.05], [0.4, 0.8, 0.05]),
        ];
        let there = [gap - 0.1, 0.0, 0.0];
        let track = Track {
            target: TrackTarget::Translation(1),
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: [[0.0; 3], there].concat(),
            width: 3,
        };
        let carried = meshes.iter().enumerate();
        let character = Character {
            skeleton,
            meshes: carried.map(|(i, m)| CharacterMesh::carried(m.clone(), i, None)).collect(),
            clips: vec![Clip { name: "closer".to_owned(), tracks: vec![track] }],
            ..Character::default()
        };
        let points = [[0.21, 0.5, 0.0], [-0.21, 0.5, 0.0], [0.21, 0.1, 0.0]].map(Vec3::from_array);
        let on = (meshes.as_slice(), [0, 1].as_slice(), [false, true].as_slice());
        Room::around(&character, on, (&points, &vec![(0, 1.0)]), 1.0)
    }

    #[test]
    fn an_arm_that_stays_off_leaves_room() {
        let room = room(0.05);
        assert_eq!((room.hangs, room.is_held), (vec![true; 3], vec![true; 3]));
    }

    #[test]
    fn what_is_held_gives_way_to_no_arm_that_a_clip_brings_near() {
        // The band lies a centimetre off the skin: the arm goes by within six millimetres.
        let room = room(0.016);
        assert_eq!(room.hangs, [true; 3]);
        assert_eq!(room.is_held, [false, true, true]);
        assert!(!room.is_in_arm[0]);
    }

    #[test]
    fn an_arm_on_the_trunk_or_in_it_leaves_no_room() {
        let on = room(0.004);
        assert_eq!((on.hangs, on.is_skin_in_arm[0]), (vec![false, true, true], false));
        let within = room(-0.04);
        assert_eq!(within.hangs, [false, true, true]);
        assert_eq!(within.is_skin_in_arm, [true, false, false]);
        assert_eq!(within.is_in_arm, [true, false, false]);
    }
}

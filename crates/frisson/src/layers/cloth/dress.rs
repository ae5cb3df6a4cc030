//! Dressing: from the pose in which a garment was modelled into the first pose of the clip.
//!
//! Skinned to frame 0 of a run, a skirt has a thigh through it. So the cloth is cut and put on in the
//! characters' source pose, where it fits, and simulated for a moment before the first frame while
//! everything moves from there to where it is at that frame.
//!
//! A cape lies on one side of the body. An arm that comes down beside it and goes back at the same time would
//! arrive behind its border, and carry it round the body from the first stride on. So bodies come beside such
//! cloth first and go against it last, as one slips an arm under a cape:
//!
//! ```text
//!     ____ cape        from above: the hand comes in from the side,
//!    (    )            in front of the cape, and only then goes back
//!     body  |
//!           `----- hand
//! ```

use glam::Vec3;

use crate::character::{Pose, Sampling};
use crate::geometry::Mesh;
use crate::stage::{BuildContext, Frame};
use crate::tolerances::cloth as limits;

/// Meshes of characters in their source pose.
#[derive(Default)]
pub struct Dressing {
    start: Vec<(usize, Vec<Vec3>)>,
    /// From the cloth towards the bodies, if it lies on one side of them.
    inwards: Vec3,
    /// How much it does [-].
    one_sided: f32,
    /// Whether nobody has to move into another pose.
    is_still: bool,
}

impl Dressing {
    /// Takes the source pose of every character that plays a clip. The `wearer` of the garment is dressed even
    /// if it plays none: it stands as it is, and the cloth hangs by the first frame.
    pub fn new(context: &BuildContext, wearer: Option<usize>) -> Self {
        let (mut start, mut is_still) = (Vec::new(), true);
        for (index, actor) in context.actors.all().iter().enumerate() {
            let (Some(character), Some(_)) = (actor.character(), actor.clip()) else {
                // Without a clip the wearer stands already; but it must not be moved away by somebody else's pose.
                if wearer == Some(index) {
                    let range = context.actors.mesh_range(index);
                    let here = |i: usize| (i, context.frame.meshes[i].positions.clone());
                    start.extend(range.map(here));
                }
                continue;
            };
            is_still = false;
            let mut pose = Pose::default();
            let world = actor.placement.world_from_actor();
            pose.set(character, None, 0.0, Sampling::AsAuthored, world);
            let range = context.actors.mesh_range(index);
            let mut meshes = context.frame.meshes[range.clone()].to_vec();
            actor.deform(0.0, &pose, &mut meshes);
            start.extend(range.zip(meshes.into_iter().map(|m| m.positions)));
        }
        Self { start, is_still, ..Self::default() }
    }

    /// Learns on which side of the `bodies` the `cloth` lies: a cape's faces look one way, a skirt's all around.
    pub fn face(&mut self, cloth: &Mesh, bodies: &[&Mesh]) {
        let mut area = 0.0;
        let mut sum = Vec3::ZERO;
        for corners in &cloth.topology.triangles {
            let [a, b, c] = corners.map(|v| cloth.positions[v as usize]);
            let normal = (b - a).cross(c - a);
            sum += normal;
            area += normal.length();
        }
        let mean = sum / area.max(f32::MIN_POSITIVE);
        let centre =
            |mesh: &Mesh| mesh.positions.iter().sum::<Vec3>() / mesh.positions.len().max(1) as f32;
        let towards: Vec3 = bodies.iter().map(|body| centre(body) - centre(cloth)).sum();
        let (from, to) = limits::ONE_SIDED;
        self.one_sided = smoothstep(from, to, mean.length());
        // Whichever way the triangles are turned: inwards is where the bodies are.
        self.inwards = (mean * towards.dot(mean).signum()).normalize_or_zero();
    }

    /// Whether the cloth lies on one side of the bodies, as a cape does.
    pub fn is_one_sided(&self) -> bool {
        self.one_sided > 0.5
    }

    /// Whether who wears the garment stands still: nothing will shake it out of a shape that is in no balance.
    pub fn is_still(&self) -> bool {
        self.is_still
    }

    /// Whether nobody has to be dressed.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Writes meshes that are `time` (0 to 1) of the way from the source pose to where `frame` has them.
    pub fn interpolate(&self, frame: &Frame, time: f32, out: &mut Frame) {
        let overlap = limits::DRESSING_OVERLAP;
        let plain = smoothstep(0.0, 1.0, time);
        let early = plain + self.one_sided * (smoothstep(0.0, overlap, time) - plain);
        let late = plain + self.one_sided * (smoothstep(1.0 - overlap, 1.0, time) - plain);
        for (mesh, start) in &self.start {
            let end = &frame.meshes[*mesh].positions;
            let blended = start.iter().zip(end).map(|(a, b)| {
                // Only what moves out against the cloth waits: what comes beside it must be there first.
                let against = (*b - *a).dot(self.inwards).min(0.0) * self.inwards;
                a.lerp(*b, early) + (late - early) * against
            });
            let positions = &mut out.meshes[*mesh].positions;
            positions.clear();
            positions.extend(blended);
        }
    }
}

/// From 0 to 1, without a jolt at either end.
fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(z: f32) -> Mesh {
        let corners = [[-0.5, 0.0], [0.5, 0.0], [0.5, 1.0], [-0.5, 1.0]];
        let positions = corners.map(|[x, y]| Vec3::new(x, y, z)).to_vec();
        Mesh::new("sheet", positions, vec![[0, 1, 2], [0, 2, 3]])
    }

    /// Where an arm that starts beside is after a share of the dressing.
    fn arm(dressing: &mut Dressing, cloth: &Mesh, times: &[f32]) -> Vec<Vec3> {
        let (start, end) = (Vec3::new(1.0, 0.5, 0.0), Vec3::new(0.3, 0.5, -0.4));
        let body = Mesh::new("body", vec![Vec3::ZERO], Vec::new());
        dressing.start = vec![(0, vec![start])];
        dressing.face(cloth, &[&body]);
        let arm = Mesh::new("arm", vec![end], Vec::new());
        let frame = Frame { meshes: vec![arm], ..Frame::default() };
        let at = |time: &f32| {
            let mut out = frame.clone();
            dressing.interpolate(&frame, *time, &mut out);
            out.meshes[0].positions[0]
        };
        times.iter().map(at).collect()
    }

    #[test]
    fn an_arm_comes_beside_a_cape_before_it_goes_back() {
        let times: Vec<f32> = (0..=20).map(|k| k as f32 / 20.0).collect();
        for turned in [false, true] {
            let mut cape = sheet(-0.2);
            if turned {
                let flipped = cape.topology.triangles.iter().map(|[a, b, c]| [*a, *c, *b]);
                cape = Mesh::new("cape", cape.positions.clone(), flipped.collect());
            }
            let way = arm(&mut Dressing::default(), &cape, &times);
            assert_eq!((way[0], way[20]), (Vec3::new(1.0, 0.5, 0.0), Vec3::new(0.3, 0.5, -0.4)));
            // The cape's border is at 0.5: the arm is within it while it is still in front.
            let behind = way.iter().find(|p| p.z < -0.2);
            assert!(behind.is_some_and(|p| p.x < 0.45), "{way:?}");
        }
    }

    #[test]
    fn bodies_in_a_tube_move_straight() {
        let mut tube = sheet(-0.2);
        let front = sheet(0.2);
        tube.positions.extend(front.positions);
        let triangles = vec![[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]];
        let tube = Mesh::new("tube", tube.positions, triangles);
        for p in arm(&mut Dressing::default(), &tube, &[0.0, 0.25, 0.5, 0.75, 1.0]) {
            assert!((p.z - (p.x - 1.0) * 0.4 / 0.7).abs() < 1e-6, "{p}");
        }
    }
}

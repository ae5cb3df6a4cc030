//! Dressing: from the pose in which a garment was modelled into the first pose of the clip.
//!
//! Skinned to frame 0 of a run, a skirt has a thigh through it. So the cloth is cut and put on in the
//! characters' source pose, where it fits, and simulated for a moment before the first frame while
//! everything moves from there to where it is at that frame.

use glam::Vec3;

use crate::character::{Pose, Sampling};
use crate::stage::{BuildContext, Frame};

/// Meshes of characters in their source pose.
#[derive(Default)]
pub struct Dressing {
    start: Vec<(usize, Vec<Vec3>)>,
}

impl Dressing {
    /// Takes the source pose of every character that plays a clip. The `wearer` of the garment is dressed even
    /// if it plays none: it stands as it is, and the cloth hangs by the first frame.
    pub fn new(context: &BuildContext, wearer: Option<usize>) -> Self {
        let mut start = Vec::new();
        for (index, actor) in context.actors.all().iter().enumerate() {
            let (Some(character), Some(_)) = (actor.character(), actor.clip()) else {
                if wearer == Some(index) {
                    let range = context.actors.mesh_range(index);
                    let here = |i: usize| (i, context.frame.meshes[i].positions.clone());
                    start.extend(range.map(here));
                }
                continue;
            };
            let mut pose = Pose::default();
            let world = actor.placement.world_from_actor();
            pose.set(character, None, 0.0, Sampling::AsAuthored, world);
            let range = context.actors.mesh_range(index);
            let mut meshes = context.frame.meshes[range.clone()].to_vec();
            actor.deform(0.0, &pose, &mut meshes);
            start.extend(range.zip(meshes.into_iter().map(|m| m.positions)));
        }
        Self { start }
    }

    /// Whether nobody has to be dressed.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Writes meshes that are `share` of the way from the source pose to where `frame` has them.
    pub fn blend(&self, frame: &Frame, share: f32, out: &mut Frame) {
        for (mesh, start) in &self.start {
            let end = &frame.meshes[*mesh].positions;
            let blended = start.iter().zip(end).map(|(a, b)| a.lerp(*b, share));
            let positions = &mut out.meshes[*mesh].positions;
            positions.clear();
            positions.extend(blended);
        }
    }
}

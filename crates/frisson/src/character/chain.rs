//! One node's way down from the root: its world matrix at any time, without posing the rest.

use glam::{Mat4, Quat, Vec3};

use super::{Character, Clip, Sampling, TrackTarget, Transform};

/// The ancestors of a node and the tracks that drive them. For layers that follow one joint at many
/// sub-frame times.
#[derive(Clone, Debug)]
pub struct NodeChain {
    /// Rest transform and tracks (by index in the clip) of each link, root first.
    links: Vec<(Transform, Vec<usize>)>,
}

impl NodeChain {
    /// The way to a node under a clip.
    #[must_use]
    pub fn new(character: &Character, clip: Option<&Clip>, node: usize) -> Self {
        let mut way = Vec::new();
        let mut at = Some(node);
        while let Some(index) = at {
            way.push(index);
            at = character.skeleton.nodes()[index].parent;
        }
        way.reverse();
        let drives = |index: usize| {
            let tracks = clip.map_or(&[][..], |c| &c.tracks);
            tracks
                .iter()
                .enumerate()
                .filter(|(_, t)| match t.target {
                    TrackTarget::Translation(n)
                    | TrackTarget::Rotation(n)
                    | TrackTarget::Scale(n) => n == index,
                    TrackTarget::MorphWeights(_) => false,
                })
                .map(|(i, _)| i)
                .collect()
        };
        let links = way.iter().map(|&i| (character.skeleton.nodes()[i].rest, drives(i))).collect();
        Self { links }
    }

    /// World matrix of the node; `clip` must be the one the chain was made for.
    #[must_use]
    pub fn world(&self, clip: Option<&Clip>, time: f64, sampling: Sampling, world: Mat4) -> Mat4 {
        self.links.iter().fold(world, |parent, (rest, tracks)| {
            let mut local = *rest;
            if let Some(clip) = clip {
                for &index in tracks {
                    apply(&clip.tracks[index], time, sampling, &mut local);
                }
            }
            parent * local.matrix()
        })
    }
}

fn apply(track: &super::Track, time: f64, sampling: Sampling, local: &mut Transform) {
    match track.target {
        TrackTarget::Translation(_) => local.translation = track.sample_vec3(time, sampling),
        TrackTarget::Rotation(_) => local.rotation = track.sample_quat(time, sampling),
        TrackTarget::Scale(_) => local.scale = track.sample_vec3(time, sampling),
        TrackTarget::MorphWeights(_) => {}
    }
}

/// Rotation of a matrix that may scale or mirror.
#[must_use]
pub fn rotation_of(matrix: Mat4) -> Quat {
    let x = matrix.x_axis.truncate().normalize_or(Vec3::X);
    let y = matrix.y_axis.truncate();
    // Squared up from x and y; the third axis is theirs, so that a mirrored matrix gives a rotation too.
    let z = x.cross(y).normalize_or(Vec3::Z);
    Quat::from_mat3(&glam::Mat3::from_cols(x, z.cross(x), z)).normalize()
}

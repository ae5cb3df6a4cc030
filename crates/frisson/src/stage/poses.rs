//! Poses of actors at times other than the current tick's.

use super::ActorSet;
use crate::character::{Pose, Sampling};

/// One pose per actor.
#[derive(Default)]
pub struct PoseScratch {
    poses: Vec<(f64, Pose)>,
}

impl PoseScratch {
    /// Forgets what was computed: the actors have been told something new.
    pub fn forget(&mut self) {
        // NaN equals no time, itself included.
        self.poses.iter_mut().for_each(|(time, _)| *time = f64::NAN);
    }

    /// The pose of an actor at a time, computed unless it is the last one asked for.
    pub fn pose(&mut self, actors: &ActorSet, actor: usize, time: f64) -> &Pose {
        let count = actors.all().len();
        self.poses.resize_with(count, || (f64::NAN, Pose::default()));
        let (at, pose) = &mut self.poses[actor];
        if *at != time {
            actors.all()[actor].pose_at(time, Sampling::AsAuthored, pose);
            *at = time;
        }
        pose
    }
}

//! What callers push: poses and positions of live actors.

use glam::{Mat4, Vec3};

use super::{Simulator, SimulatorError};
use crate::stage::{LiveTrack, Motion};

impl Simulator {
    /// Pushes the matrices of all nodes of a live actor, in its own space, and the weights of its morph
    /// targets (mesh after mesh; none leaves them) at a time [s].
    pub fn push_pose(
        &mut self,
        actor: &str,
        time: f64,
        nodes: &[Mat4],
        weights: &[f32],
    ) -> Result<(), SimulatorError> {
        let who = self.actors.get(actor);
        let count = who.and_then(|a| a.character()).map_or(0, |c| c.skeleton.nodes().len());
        let track = self.live(actor)?;
        let finite = nodes.iter().all(|m| m.is_finite()) && weights.iter().all(|w| w.is_finite());
        if nodes.len() != count || !finite || !time.is_finite() {
            let problem = format!(
                "{} matrices were pushed and it has {count} nodes; all must be finite",
                nodes.len()
            );
            return Err(SimulatorError::Push { actor: actor.to_owned(), problem });
        }
        let sample = track.sample_at(time);
        sample.set_nodes(nodes);
        sample.set_weights(weights);
        self.scratch.forget();
        Ok(())
    }

    /// Pushes the positions of one mesh of a live actor, in its own space, at a time [s].
    pub fn push_positions(
        &mut self,
        actor: &str,
        mesh: usize,
        time: f64,
        positions: &[[f32; 3]],
    ) -> Result<(), SimulatorError> {
        let count = self.actors.get(actor).and_then(|a| a.vertex_count(mesh));
        let track = self.live(actor)?;
        let finite = positions.iter().flatten().all(|x| x.is_finite()) && time.is_finite();
        if Some(positions.len()) != count || !finite {
            let problem = format!(
                "mesh {mesh} has {} vertices and {} positions were pushed; all must be finite",
                count.unwrap_or(0),
                positions.len()
            );
            return Err(SimulatorError::Push { actor: actor.to_owned(), problem });
        }
        let places = positions.iter().map(|p| Vec3::from_array(*p));
        track.sample_at(time).set_positions(mesh, places);
        Ok(())
    }

    fn live(&mut self, name: &str) -> Result<&mut LiveTrack, SimulatorError> {
        let unknown = || SimulatorError::Unknown { what: "actor", name: name.to_owned() };
        let index = self.actors.find(name).ok_or_else(unknown)?;
        self.actors_shown = None;
        match &mut self.actors.all_mut()[index].motion {
            Motion::Live(track) => Ok(track),
            _ => Err(SimulatorError::Push {
                actor: name.to_owned(),
                problem: "it is moved by a clip or file: make it with `Actor::live`".to_owned(),
            }),
        }
    }
}

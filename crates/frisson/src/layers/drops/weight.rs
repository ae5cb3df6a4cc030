//! What liquid weighs on the meshes it is on: soaked in, as a film, and as drops.

use super::layer::DropsLayer;
use crate::stage::{Frame, View};

/// Adds the liquid on each mesh to its load, shared by the corners of the triangles that carry it.
pub(super) fn weigh(view: &View<'_, DropsLayer>, frame: &mut Frame) {
    let state = view.state;
    let relief = state.relief.as_deref().unwrap_or(&view.rest.home);
    let mut first = 0;
    for (slot, &mesh) in view.rest.meshes.iter().enumerate() {
        let triangles = &relief.triangles[slot];
        let range = first..first + triangles.len();
        first = range.end;
        let load = &mut frame.meshes[mesh].channels.load;
        // Other liquids may have added theirs: nothing is cleared here.
        load.resize(relief.positions[slot].len(), 0.0);
        let mut put = |triangle: u32, mass: f64| {
            if range.contains(&(triangle as usize)) {
                for corner in triangles[triangle as usize - range.start] {
                    // A third each: where in the triangle a drop sits matters less than the cloth's own mesh size.
                    load[corner as usize] += (mass / 3.0) as f32;
                }
            }
        };
        for &t in &state.wet.active {
            put(t, state.wet.film[t as usize] + state.wet.soaked[t as usize]);
        }
        for drop in &state.drops {
            if let Some(t) = drop.triangle() {
                put(t, drop.mass);
            }
        }
    }
}

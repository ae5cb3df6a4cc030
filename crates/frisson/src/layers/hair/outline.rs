//! Where the envelopes of the wisps are, for those who look at them.

use glam::Vec3;

use super::rest::HairRest;
use super::state::HairState;

impl HairState {
    /// The envelope of every wisp: its samples around each particle, particle by particle [m], as many
    /// around each as [`HairRest::samples_around`] says.
    pub fn envelopes<'a>(&'a self, rest: &'a HairRest) -> impl Iterator<Item = Vec<Vec3>> + 'a {
        self.wisps.iter().map(|wisp| {
            let mut places = Vec::with_capacity(wisp.radii.len());
            for (plane, particle) in wisp.positions.iter().enumerate() {
                for (sample, direction) in rest.directions.iter().enumerate() {
                    let radius = wisp.radii.get(plane * rest.directions.len() + sample);
                    let axis = wisp.half_axis(plane, *direction);
                    places.push(*particle + radius.copied().unwrap_or(0.0) * axis);
                }
            }
            places
        })
    }
}

impl HairRest {
    /// Samples of the envelope around each particle.
    #[must_use]
    pub fn samples_around(&self) -> usize {
        self.directions.len()
    }
}

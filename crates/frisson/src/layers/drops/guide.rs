//! Curves that pull drops along, and drops that must be somewhere in time.

use glam::DVec3;

use super::params::GuideParams;

/// A polyline that pulls.
#[derive(Clone, Debug)]
pub struct Guide {
    points: Vec<DVec3>,
    pull: f64,
    along: f64,
    range: f64,
    source: Option<u32>,
}

impl Guide {
    /// From the parameters.
    #[must_use]
    pub fn new(params: &GuideParams) -> Self {
        Self {
            points: params.points.iter().map(|&p| DVec3::from_array(p)).collect(),
            pull: params.pull,
            along: params.along,
            range: params.range,
            source: params.source,
        }
    }

    /// Whether drops of a source follow it.
    #[must_use]
    pub fn takes(&self, source: u32) -> bool {
        self.source.is_none_or(|s| s == source)
    }

    /// Acceleration at a place: towards the nearest point of the curve, and along it [m/s²].
    #[must_use]
    pub fn acceleration(&self, place: DVec3) -> DVec3 {
        let mut best = (f64::INFINITY, DVec3::ZERO, DVec3::ZERO);
        for pair in self.points.windows(2) {
            let along = pair[1] - pair[0];
            let t = (place - pair[0]).dot(along) / along.length_squared().max(f64::MIN_POSITIVE);
            let nearest = pair[0] + along * t.clamp(0.0, 1.0);
            let distance = nearest.distance(place);
            if distance < best.0 {
                best = (distance, nearest - place, along.normalize_or_zero());
            }
        }
        // Weaker near the curve, or a drop would jitter across it.
        let strength = self.pull * (best.0 / self.range).min(1.0);
        best.1.normalize_or_zero() * strength + best.2 * self.along
    }
}

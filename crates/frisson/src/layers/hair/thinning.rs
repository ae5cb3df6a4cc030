//! Fewer and thicker hairs with the distance.
//!
//! A hair of one width covers half as much of a picture from twice as far away. So from there half of the
//! hairs, twice as thick, look the same. Which ones are left is told by their numbers, and the last of them
//! are thin: a hair that comes or goes has no width then, and nothing pops.
//!
//! ```text
//!   thickness ↑──────────\
//!             |           \
//!             +-----------------→ rank of a hair
//!             0         share   1
//! ```

use glam::Vec3;

use super::rest::RootPose;
use super::strand_params::StrandParams;
use crate::geometry::{Attribute, AttributeValues};
use crate::math::random;
use crate::stage::Curves;

/// Share of the hairs that are shown whose thickness fades [-].
const FADE: f32 = 0.2;

/// Which hairs are shown, and how thick.
#[derive(Clone, Copy)]
pub(super) struct Thinning {
    share: f32,
}

impl Thinning {
    /// That of hair on some roots.
    pub fn of(params: &StrandParams, roots: &[RootPose]) -> Self {
        let Some(eye) = params.seen_from.filter(|_| !roots.is_empty()) else { return Self::none() };
        let middle = roots.iter().map(|r| r.skin).sum::<Vec3>() / roots.len() as f32;
        let away = middle.distance(Vec3::from_array(eye)).max(1.0e-6);
        // Not `clamp`: whatever the numbers are, the share is one.
        Self { share: (params.full_within / away).max(params.fewest).min(1.0) }
    }

    /// All hairs are shown as they are.
    pub fn none() -> Self {
        Self { share: 1.0 }
    }

    pub fn is_none(&self) -> bool {
        self.share >= 1.0
    }

    /// How thick a hair is shown, as a multiple of its own width; 0: not at all.
    pub fn thickness(&self, hair: usize) -> f32 {
        if self.is_none() {
            return 1.0;
        }
        // By the hair's number alone: the same ones are left from every distance.
        let rank = random::uniform(0xD157, hair as u64, 0) as f32;
        let fade = ((self.share - rank) / (FADE * self.share)).clamp(0.0, 1.0);
        // Together they are as thick as all hairs.
        fade / (self.share * (1.0 - 0.5 * FADE))
    }

    /// Takes the hairs that are shown, of some points `each`, out of all.
    pub fn gather(&self, all: &Curves, each: usize, out: &mut Curves) {
        let hairs = all.counts.len();
        let shown = || (0..hairs).map(|k| (k, self.thickness(k))).filter(|(_, t)| *t > 0.0);
        out.name.clone_from(&all.name);
        out.color = all.color;
        out.ids.clear();
        out.ids.extend(shown().map(|(k, _)| all.ids[k]));
        out.counts.clear();
        out.counts.resize(out.ids.len(), each as u32);
        out.points.clear();
        out.velocities.clear();
        out.widths.clear();
        out.root_uvs.clear();
        for (k, thickness) in shown() {
            let own = k * each..(k + 1) * each;
            out.points.extend_from_slice(&all.points[own.clone()]);
            out.widths.extend(all.widths[own.clone()].iter().map(|w| w * thickness));
            out.velocities.extend(all.velocities.get(own).into_iter().flatten());
            out.root_uvs.extend(all.root_uvs.get(k));
        }
        out.attributes.resize_with(all.attributes.len(), || Attribute {
            name: String::new(),
            values: AttributeValues::Vector(Vec::new()),
        });
        for (own, all) in out.attributes.iter_mut().zip(&all.attributes) {
            own.name.clone_from(&all.name);
            if let (AttributeValues::Vector(own), AttributeValues::Vector(all)) =
                (&mut own.values, &all.values)
            {
                own.clear();
                own.extend(shown().map(|(k, _)| all[k]));
            }
        }
    }
}

//! Less of a frame, for whoever drags a slider: what is drawn is thinned, what moves is not touched.
//!
//! ```text
//! slider ──► edit, edit, edit ──► rest
//!            rough  rough  rough   whole        the same states all along
//! ```
//!
//! Drawing all hairs of a head, or the whole surface of soft bodies, takes longer than an eye waits for an answer.

use frisson::layers::LayerParams;
use frisson::layers::hair::HairParams;
use frisson::layers::soft::SoftSurface;

/// Points of all hairs of a layer in haste, at least: by software, on two cores, a page draws them in a twentieth of a
/// second. And at most: to make, pack and send more takes longer than that.
const HASTY_POINTS: std::ops::RangeInclusive<u32> = 12_000..=120_000;
/// Points of one hair in haste, at most: a curl is still told from a wave.
const HASTY_POINTS_OF_HAIR: u32 = 24;
/// A place from which hair is thinned to its fewest [m].
const FAR: [f32; 3] = [1e6, 0.0, 0.0];
/// Least share of hairs that can be asked for [-].
const LEAST_SHARE: f32 = 1e-3;

/// Makes layers cheap to show, where they are not, without changing what they do; says whether any was. The page has
/// room for so many points of hair.
pub fn roughen(layers: &mut [LayerParams], room: u32) -> bool {
    let room = room.clamp(*HASTY_POINTS.start(), *HASTY_POINTS.end());
    let mut is_rough = false;
    for index in 0..layers.len() {
        // Drops that run on a soft body, hair that lies on it: they would feel another surface.
        let is_felt = layers[index + 1..].iter().any(feels_others);
        is_rough |= match &mut layers[index] {
            LayerParams::Hair(own) => thin(own, room),
            LayerParams::Soft(own) if !is_felt && own.surface == SoftSurface::Extracted => {
                // A preview has no contact surfaces.
                (own.surface, own.contacts) = (SoftSurface::Seeds, false);
                true
            }
            _ => false,
        };
    }
    is_rough
}

fn feels_others(layer: &LayerParams) -> bool {
    !matches!(layer, LayerParams::Flesh(_) | LayerParams::Folds(_) | LayerParams::Wrinkles(_))
}

/// Shows fewer hairs of fewer points, each as much thicker as they are fewer.
fn thin(hair: &mut HairParams, room: u32) -> bool {
    let wisps = if hair.at.is_empty() { hair.wisps } else { hair.at.len() as u32 };
    let strands = &mut hair.strands;
    let hairs = wisps.saturating_mul(strands.per_wisp);
    // Light enough as it is: to thin it would show another picture for nothing.
    if hairs.saturating_mul(strands.points) <= room {
        return false;
    }
    // One less than it was, at least: presets put theirs in the place of the usual number.
    strands.points = (strands.points - 1).clamp(2, HASTY_POINTS_OF_HAIR);
    let share = room as f32 / (hairs as f32 * strands.points as f32);
    if share < 1.0 {
        (strands.seen_from, strands.full_within) = (Some(FAR), LEAST_SHARE);
        strands.fewest = share.max(LEAST_SHARE);
    }
    true
}

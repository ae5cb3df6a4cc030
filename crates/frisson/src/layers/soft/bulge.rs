//! Bulges: flesh that is pushed away rises beside its contact.

use super::primitive_fields::PrimitiveFields;
use super::sample::{ContactPoint, Presser, Territory};
use crate::tolerances::soft as tolerances;

/// Lets the bulge of each primitive follow the greatest pressure of its contacts with others and tools [Pa].
pub(super) fn update_bulges(
    share_of_depth: f64,
    (fields, territories): (&PrimitiveFields, &[Territory]),
    bulges: &mut [f64],
    dt: f64,
) {
    if share_of_depth == 0.0 {
        return;
    }
    // The exact share of a decay: the same bulge however the tick was cut into steps.
    let share = 1.0 - (-dt / tolerances::BULGE_TIME).exp();
    for (index, (territory, bulge)) in territories.iter().zip(bulges).enumerate() {
        let label = fields.primitives[index].label;
        let apart = |c: &ContactPoint| match c.presser {
            Presser::Primitive(o) => fields.primitives[o as usize].label != label,
            Presser::Tool(_) => true,
        };
        let pressures = territory.contacts.iter().filter(|c| apart(c)).map(|c| c.pressure);
        // The greatest and not the mean: seeds that just leave a contact would make a mean jump.
        let wanted = pressures.fold(0.0, f64::max);
        *bulge += share * (wanted - *bulge);
    }
}

//! Per node: contacts of the small step that ends, then the prediction of the one that begins.

use std::sync::atomic::Ordering;

use glam::DVec3;

use super::collide::{self, PlaneContact};
use super::contact_slabs::ContactSlabs;
use super::node_places::NodePlaces;
use super::solver::{ClothDrive, Moment, Solver};
use crate::threads::Team;
use crate::tolerances::cloth as limits;

/// Nodes a task takes at least. Those in contact take many times as long as others and have numbers beside each other: with
/// larger tasks one core would have them all.
const CHUNK: usize = 256;
/// Most contacts of one node that are looked at.
const MAX_CONTACTS: usize = 6;

/// Fills what is not there.
const NO_CONTACT: PlaneContact =
    PlaneContact { distance: 0.0, normal: DVec3::Y, moved: DVec3::ZERO, friction: 0.0 };

impl Solver {
    /// Per node: contacts of the step that ends, then the prediction of the one that begins. `parted` knows where
    /// contacts of the cloth with itself have brought nodes.
    pub(super) fn advance(
        &mut self,
        team: &mut Team,
        drive: &ClothDrive,
        predict: Option<f64>,
        with_contacts: bool,
        (fraction, step): (f64, f64),
        (parted, positions): (&mut ContactSlabs, &mut [DVec3]),
    ) {
        let decay = (-self.settings.damping * step).exp();
        let mut previous = std::mem::take(&mut self.previous);
        // Contacts belong to the step that ends here; after the last one nothing is predicted.
        let before = if predict.is_some() { fraction - step / drive.dt } else { fraction };
        let this = &*self;
        let has_contacts = with_contacts && !(this.posed.is_empty() && drive.bodies.is_empty());
        let moment = Moment { fraction: before, share: step / drive.dt };
        if has_contacts && !drive.flat_contacts.is_empty() {
            parted.write_back(&mut previous, positions);
            this.solve_between_nodes(drive, moment, &mut previous, positions);
        }
        let ahead = &*parted;
        let work = |first: usize, (positions, previous): (&mut [DVec3], &mut [DVec3])| {
            let mut touched = false;
            for (local, (x, old)) in positions.iter_mut().zip(previous).enumerate() {
                let node = first + local;
                // What holds it moves it; from step to step it takes no speed of its own.
                if this.inverse_mass[node] == 0.0 {
                    *old = *x;
                    continue;
                }
                if let Some(moved) = ahead.moved(node) {
                    (*x, *old) = moved;
                }
                if has_contacts {
                    touched |= this.solve_node(drive, node, moment, old, x);
                }
                if let Some(step) = predict {
                    let mut moved = (*x - *old) * decay + this.acceleration[node] * (step * step);
                    if let Some(air) = this.air.get(node) {
                        moved += air.rub * (step * step);
                        // Across the cloth the air may be stiff: it takes away a share of what is missing, never
                        // more than all.
                        let missing = air.speed * step - moved.dot(air.normal);
                        moved += air.normal * (missing * this.taken[node]);
                    }
                    *old = *x;
                    *x += moved;
                }
            }
            // Only ever set here: the order of the threads does not matter. Once for many nodes and only if it is news: every
            // writing takes the line of the cache away from all other cores.
            if touched && !this.touched.load(Ordering::Relaxed) {
                this.touched.store(true, Ordering::Relaxed);
            }
        };
        let count = positions.len();
        team.chunks((positions, previous.as_mut_slice()), count, CHUNK, work);
        parted.are_taken();
        self.previous = previous;
    }

    /// Contacts between nodes, one after the other: they share nodes.
    fn solve_between_nodes(
        &self,
        drive: &ClothDrive,
        moment: Moment,
        previous: &mut [DVec3],
        positions: &mut [DVec3],
    ) {
        let band = limits::POKE_BAND * self.settings.thickness;
        let recovery = self.settings.recovery_speed * moment.share * drive.dt;
        for flat in drive.flat_contacts {
            let start = flat.spot.place(positions);
            let band = band * self.bands.between(&flat.spot.parts());
            let Some(contact) = flat.contact_at(start, moment, band) else { continue };
            let before = flat.spot.place(previous);
            let (mut x, mut old) = (start, before);
            collide::resolve(&[contact], band, (recovery, DVec3::ZERO), &mut old, &mut x);
            let moved = (x - start, old - before);
            let inverse_mass = &self.inverse_mass;
            flat.spot.hand_on(moved, NodePlaces { inverse_mass, previous, positions });
        }
    }

    /// Contacts of one node with colliders and bodies; whether there were any.
    #[inline]
    fn solve_node(
        &self,
        drive: &ClothDrive,
        node: usize,
        moment: Moment,
        previous: &mut DVec3,
        position: &mut DVec3,
    ) -> bool {
        let thickness = self.settings.thickness * self.bands.of(node as u32);
        let far = !self.posed.iter().any(|p| p.may_touch(*position, thickness));
        if far && !drive.bodies.has(node) {
            return false;
        }
        let mut contacts = [NO_CONTACT; MAX_CONTACTS];
        let mut count = 0;
        for posed in &self.posed {
            if let Some(contact) = posed.contact(*position, thickness)
                && count < MAX_CONTACTS
            {
                contacts[count] = contact;
                count += 1;
            }
        }
        for contact in drive.bodies.contacts_of(node, *position, moment, thickness) {
            if count < MAX_CONTACTS {
                contacts[count] = contact;
                count += 1;
            }
        }
        if count > 0 {
            let recovery = self.settings.recovery_speed * moment.share * drive.dt;
            let drift = self.drifts.get(node).map_or(DVec3::ZERO, |d| d.as_dvec3());
            collide::resolve(&contacts[..count], thickness, (recovery, drift), previous, position);
        }
        count > 0
    }
}

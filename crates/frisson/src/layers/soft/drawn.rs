//! Which primitives are drawn as one, and how much of each.

use glam::Vec3;

use super::evened::even_out;
use super::meshes::SurfaceMeshes;
use super::rest::SoftRest;
use super::state::SoftState;
use super::tool::Tools;
use super::volume::Volumes;
use crate::geometry::isosurface::IsoSurface;
use crate::tolerances::soft as tolerances;

/// Weight of a weld from which on what it joins is drawn as one [-]. Near 1 the fields of both sides are nearly the
/// same within it, and where they are equal could not be told.
const DRAWN_AS_ONE: f64 = 0.5;

/// Volume within a closed surface [m³].
fn enclosed(surface: &IsoSurface) -> f64 {
    let Some(origin) = surface.positions.first() else { return 0.0 };
    let six = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| (surface.positions[v as usize] - *origin).as_dvec3());
        a.dot(b.cross(c))
    };
    surface.triangles.iter().map(six).sum::<f64>() / 6.0
}

/// Area of a surface that moves with the vertices that are free [m²].
fn free_area(surface: &IsoSurface, free: &[bool]) -> f64 {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| surface.positions[v as usize]);
        let share = t.iter().filter(|v| free[**v as usize]).count() as f32 / 3.0;
        f64::from(0.5 * share * (b - a).cross(c - a).length())
    };
    surface.triangles.iter().map(area).sum()
}

impl SurfaceMeshes {
    /// Gives every piece of every mesh a surface of its own: pieces that lie on each other share the contact between
    /// them, as bodies do that never fuse.
    pub(super) fn number_surfaces(&mut self, rest: &SoftRest, state: &SoftState) {
        let count = rest.primitives.len();
        self.joined.reset(count);
        for (index, group) in state.groups.iter().enumerate() {
            self.joined.join(index as u32, *group);
        }
        for weld in state.welds.iter().filter(|w| w.weight >= DRAWN_AS_ONE) {
            self.joined.join(weld.pair.0, weld.pair.1);
        }
        // Balls under a skin may lie apart; the skin is one.
        for skin in &rest.skins {
            let own = rest.objects[skin.object].primitives.clone();
            own.clone().for_each(|i| self.joined.join(own.start as u32, i as u32));
        }
        self.owners.clear();
        let numbers = &mut self.field.surface_of;
        numbers.clear();
        numbers.resize(count, 0);
        for label in 0..rest.labels.len() {
            let own = |i: &usize| rest.objects[rest.primitives[*i].object].label == label;
            for index in (0..count).filter(own) {
                let root = self.joined.root(index as u32) as usize;
                // The first of a piece comes first, unless another mesh has it: what is welded is in one mesh.
                if root == index {
                    numbers[index] = self.owners.len() as u32;
                    self.owners.push(label);
                } else {
                    numbers[index] = numbers[root];
                }
            }
        }
    }

    /// Finds which surfaces are becoming one, and how far they have come.
    fn find_ties(&mut self, state: &SoftState) {
        self.ties.clear();
        for weld in &state.welds {
            let [a, b] = [weld.pair.0, weld.pair.1].map(|p| self.field.surface_of[p as usize]);
            if a != b {
                self.ties.push((a.min(b), a.max(b), weld.weight / DRAWN_AS_ONE));
            }
        }
        // Of several welds the one that will join them first.
        self.ties.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
        self.ties.dedup_by_key(|t| (t.0, t.1));
    }

    /// Draws every piece as much thicker or thinner as it lacks volume or has too much of it: the controllers, which
    /// must not push at once on what they touch, follow some tenths of a second behind a fast grip.
    pub(super) fn make_up_volumes(&mut self, rest: &SoftRest, state: &SoftState) {
        let mut volumes = vec![Volumes::default(); self.owners.len()];
        for index in 0..rest.primitives.len() {
            let (now, wanted, gain) =
                (state.volumes[index], state.wanted[index], state.gains[index]);
            let own = Volumes { now, before: now, wanted, gain };
            volumes[self.field.surface_of[index] as usize].add(&own, 1.0);
        }
        // A skin has its own measure.
        for skin in &rest.skins {
            let first = rest.objects[skin.object].primitives.start;
            volumes[self.field.surface_of[first] as usize] = Volumes::default();
        }
        self.find_ties(state);
        let is_known = |v: &Volumes| v.gain > 0.0 && v.wanted > 0.0;
        let lacking = |v: &Volumes| if is_known(v) { (v.wanted - v.now) / v.gain } else { 0.0 };
        let mut more: Vec<f64> = volumes.iter().map(lacking).collect();
        let gains: Vec<f64> = volumes.iter().map(|v| v.gain).collect();
        even_out(&mut more, &gains, &self.ties);
        for (index, part) in self.field.parts[..rest.primitives.len()].iter_mut().enumerate() {
            let surface = self.field.surface_of[index] as usize;
            if is_known(&volumes[surface]) {
                let most = tolerances::MOST_MADE_UP * rest.primitives[index].coat.thickness;
                part.thicken(more[surface].clamp(-most, most) as f32);
            }
        }
        self.wanted.clear();
        self.wanted.extend(volumes.iter().map(|v| v.wanted));
    }

    /// Moves the free part of every surface along its normals where the seeds, few as they are in what is squeezed,
    /// have measured its volume wrong. What is within the measure of seeds stays where the field has it.
    pub(super) fn even_volumes(&mut self, tools: Tools<'_>, cell: f32) {
        let errors: Vec<f64> = self
            .surfaces
            .iter()
            .zip(&self.wanted)
            .map(|(s, wanted)| enclosed(s) - wanted)
            .collect();
        let slack = |label: usize| tolerances::SEEDS_MEASURE * self.wanted[label];
        let is_off = |label: usize| self.wanted[label] > 0.0 && errors[label].abs() > slack(label);
        let count = self.surfaces.len();
        if !(0..count).any(is_off) {
            return;
        }
        let free: Vec<Vec<bool>> =
            (0..count).map(|label| self.find_movable(tools, label, cell)).collect();
        let area = |(surface, free): (&IsoSurface, &Vec<bool>)| free_area(surface, free);
        let areas: Vec<f64> = self.surfaces.iter().zip(&free).map(area).collect();
        let share = |amount: f64, label: usize| {
            let sound = self.wanted[label] > 0.0 && areas[label] > 0.0;
            if sound { amount / areas[label] } else { 0.0 }
        };
        // How far each surface is out, and how far it may be: both as one where they are becoming one.
        let mut out: Vec<f64> = (0..count).map(|l| share(errors[l], l)).collect();
        let mut may: Vec<f64> = (0..count).map(|l| share(slack(l), l)).collect();
        even_out(&mut out, &areas, &self.ties);
        even_out(&mut may, &areas, &self.ties);
        let most = f64::from(tolerances::MOST_EVENED * cell);
        for (label, free) in free.iter().enumerate().filter(|(l, _)| self.wanted[*l] > 0.0) {
            let beyond = out[label] - out[label].clamp(-may[label].abs(), may[label].abs());
            let way = (-beyond).clamp(-most, most) as f32;
            let IsoSurface { positions, normals, .. } = &mut self.surfaces[label];
            let moved = positions.iter_mut().zip(normals).zip(free).filter(|(_, free)| **free);
            moved.for_each(|((position, normal), _)| *position += way * *normal);
        }
    }

    /// Which vertices of a surface nobody touches.
    fn find_movable(&self, tools: Tools<'_>, label: usize, cell: f32) -> Vec<bool> {
        let mut free = vec![false; self.surfaces[label].positions.len()];
        let near = 0.5 * cell;
        self.surfaces[label].fill_by_block(&mut free, |parts, positions, free| {
            let on_tool = |at: &Vec3| self.field.is_on_tool(tools, parts, *at, near);
            free.iter_mut().zip(positions).for_each(|(free, at)| *free = !on_tool(at));
        });
        for (v, free) in free.iter_mut().enumerate() {
            *free &= !self.is_shared(label, v);
        }
        free
    }
}

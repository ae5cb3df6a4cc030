//! Which primitives are drawn as one, and how much of each.

use glam::Vec3;

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
    // Seen from a vertex: far from the origin tetrahedra would cancel all digits.
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

    /// Draws every piece as much thicker or thinner as it lacks volume or has too much of it: the controllers, which
    /// must not push at once on what they touch, follow some tenths of a second behind a fast grip.
    pub(super) fn make_up_volumes(&mut self, rest: &SoftRest, state: &SoftState) {
        let mut volumes = vec![Volumes::default(); self.owners.len()];
        for index in 0..rest.primitives.len() {
            let (now, wanted, gain) =
                (state.volumes[index], state.wanted[index], state.gains[index]);
            let own = Volumes { now, before: now, wanted, gain };
            // By surface and not by primitive: what one lacks beside another that has too much is not seen.
            volumes[self.field.surface_of[index] as usize].add(&own, 1.0);
        }
        // A skin has its own measure.
        for skin in &rest.skins {
            let first = rest.objects[skin.object].primitives.start;
            volumes[self.field.surface_of[first] as usize] = Volumes::default();
        }
        for (index, part) in self.field.parts[..rest.primitives.len()].iter_mut().enumerate() {
            let v = &volumes[self.field.surface_of[index] as usize];
            if v.gain > 0.0 && v.wanted > 0.0 {
                let most = tolerances::MOST_MADE_UP * rest.primitives[index].profile.thickness;
                part.thicken(((v.wanted - v.now) / v.gain).clamp(-most, most) as f32);
            }
        }
        self.wanted.clear();
        self.wanted.extend(volumes.iter().map(|v| v.wanted));
    }

    /// Thickens or thins the coats of every surface whose own volume is further off than its vertices may be moved
    /// for: seeds, few as they are in what is squeezed flat, measure it by a tenth wrong. Whether there was one.
    pub(super) fn correct_volumes(&mut self, rest: &SoftRest, tools: Tools<'_>, cell: f32) -> bool {
        let most = f64::from(tolerances::MOST_EVENED * cell);
        let mut ways = vec![0.0; self.surfaces.len()];
        for (label, way) in ways.iter_mut().enumerate() {
            let wanted = self.wanted[label];
            let Some(excess) = self.excess(label) else { continue };
            // Only what is free can move; contacts stay where forces have them.
            let area = free_area(&self.surfaces[label], &self.free_vertices(label, tools, cell));
            let left = excess.abs() - most * area;
            if area > 0.0 && left > tolerances::SEEDS_MEASURE * wanted {
                *way = -excess / area;
            }
        }
        if ways.iter().all(|way| *way == 0.0) {
            return false;
        }
        for (index, part) in self.field.parts[..rest.primitives.len()].iter_mut().enumerate() {
            let most = tolerances::MOST_MADE_UP * rest.primitives[index].profile.thickness;
            let way = ways[self.field.surface_of[index] as usize];
            part.thicken(way.clamp(-most, most) as f32);
        }
        true
    }

    /// How much more volume a surface holds than it should and than seeds may measure wrong [m³], if it does.
    fn excess(&self, label: usize) -> Option<f64> {
        let wanted = self.wanted[label];
        let error = enclosed(&self.surfaces[label]) / wanted - 1.0;
        let slack = tolerances::SEEDS_MEASURE;
        let excess = wanted * (error - error.clamp(-slack, slack));
        // Nothing is wanted of a skin: its error is no number.
        (excess != 0.0 && excess.is_finite()).then_some(excess)
    }

    /// Which vertices of a surface touch nothing.
    fn free_vertices(&self, label: usize, tools: Tools<'_>, cell: f32) -> Vec<bool> {
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

    /// Moves the free part of every surface along its normals where the seeds, few as they are in what is squeezed,
    /// have measured its volume wrong. What is within the measure of seeds stays where the field has it.
    pub(super) fn even_volumes(&mut self, tools: Tools<'_>, cell: f32) {
        for label in 0..self.surfaces.len() {
            let Some(excess) = self.excess(label) else { continue };
            let free = self.free_vertices(label, tools, cell);
            let area = free_area(&self.surfaces[label], &free);
            let most = f64::from(tolerances::MOST_EVENED * cell);
            let way = (-excess / area.max(f64::MIN_POSITIVE)).clamp(-most, most) as f32;
            let IsoSurface { positions, normals, .. } = &mut self.surfaces[label];
            for ((position, normal), _) in
                positions.iter_mut().zip(normals).zip(&free).filter(|(_, free)| **free)
            {
                *position += way * *normal;
            }
        }
    }
}

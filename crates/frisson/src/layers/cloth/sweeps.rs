//! Sweeps over the strips: edges, and now and then hinges and shears.

use glam::{DVec3, Vec3};

use super::bend;
use super::lanes::Moving;
use super::rest::ClothRest;
use super::shear;
use super::solver::{CHUNK, Solver};
use super::stretch;
use super::strips::Way;
use super::tether::Tethers;
use crate::threads::Team;
use crate::tolerances::cloth as limits;

/// Nodes of a strip: where they are, the same in single precision, where they were, how far cords move that.
type FarNodes<'a> = ((&'a mut [DVec3], &'a mut [Moving]), (&'a mut [DVec3], &'a mut [Vec3]));

impl Solver {
    /// Moves nodes from `first` on as coarse levels and tethers want, and says how far that was without speed.
    fn reach_far(
        &self,
        tethers: &Tethers,
        first: usize,
        positions: &mut [DVec3],
        previous: &mut [DVec3],
        drifts: &mut [Vec3],
    ) {
        let nodes = positions.iter_mut().zip(previous).zip(drifts).zip(first..);
        for (((x, old), drift), node) in nodes.filter(|(_, node)| self.inverse_mass[*node] > 0.0) {
            let moved = self.hierarchy.displacement(node);
            let before = *old;
            *x += moved.now.as_dvec3();
            *old += moved.old.as_dvec3();
            let need = self.needs.get(node).map_or(0.0, |need| f64::from(*need));
            let allowance = limits::CORD_ALLOWANCE * need;
            tethers.solve(node, (&self.pins, allowance), old, x);
            *drift = (*old - before).as_vec3();
        }
    }

    /// Edges there and back again: even strips, odd ones both ways, even ones back. The way back
    /// undoes the bias of the way there: as a whole the sweep is a symmetric operator, so it takes
    /// energy away and never adds any. Nodes are moved by the coarse levels if `is_far`, read into single
    /// precision, and moved, where their strip is at work anyway: every pass of its own would let all cores wait
    /// for the last of them once more.
    pub(super) fn sweep(
        &mut self,
        team: &mut Team,
        rest: &ClothRest,
        is_far: bool,
        positions: &mut [DVec3],
    ) {
        let origin = positions.first().copied().unwrap_or_default();
        let mut moving = std::mem::take(&mut self.moving);
        moving.resize(positions.len(), Moving::default());
        let (edges, bounds) = (&self.rows.stretch, self.settings.stretch);
        let solve = |strip: usize, way: Way, nodes: &mut [Moving]| {
            stretch::solve(edges.of(strip), bounds, way, nodes);
        };
        let begin = |strip: usize, x: &[DVec3], nodes: &mut [Moving]| {
            for (node, x) in nodes.iter_mut().zip(x) {
                *node = Moving::new(*x - origin);
            }
            solve(strip, Way::There, nodes);
        };
        if is_far {
            let mut previous = std::mem::take(&mut self.previous);
            let mut drifts = std::mem::take(&mut self.drifts);
            drifts.resize(positions.len(), Vec3::ZERO);
            let this = &*self;
            let before = (previous.as_mut_slice(), drifts.as_mut_slice());
            let all = ((&mut *positions, moving.as_mut_slice()), before);
            rest.strips.pass(team, 0, all, &|strip, ((x, nodes), (old, drifts)): FarNodes<'_>| {
                let first = rest.strips.start(strip) as usize;
                this.reach_far(&rest.tethers, first, x, old, drifts);
                begin(strip, x, nodes);
            });
            (self.previous, self.drifts) = (previous, drifts);
        } else {
            let both = (&mut *positions, moving.as_mut_slice());
            rest.strips.pass(team, 0, both, &|strip, (x, nodes): (&mut [DVec3], &mut [Moving])| {
                begin(strip, x, nodes);
            });
        }
        rest.strips.pass(team, 1, moving.as_mut_slice(), &|strip, nodes: &mut [Moving]| {
            solve(strip, Way::There, nodes);
            solve(strip, Way::Back, nodes);
        });
        let both = (positions, moving.as_mut_slice());
        rest.strips.pass(team, 0, both, &|strip, (x, nodes): (&mut [DVec3], &mut [Moving])| {
            solve(strip, Way::Back, nodes);
            for (node, x) in nodes.iter().zip(x) {
                *x += node.moved.truncate().as_dvec3();
            }
        });
        self.moving = moving;
    }

    /// Bending and shear, once for `every` small steps: solved on the positions that the cloth would
    /// have after all of them, so that neighbouring hinges see what each other will have done by
    /// then. (Solved on the present ones, each would take the whole way for itself: on fine meshes
    /// that adds energy at every pass.)
    pub(super) fn bend(
        &mut self,
        team: &mut Team,
        rest: &ClothRest,
        every: u32,
        positions: &mut [DVec3],
    ) {
        let ahead = f64::from(every - 1);
        let share = 1.0 / f64::from(every);
        // Single precision counts from one of the cloth's own nodes, wherever in the world it is.
        let origin = positions.first().copied().unwrap_or_default();
        let previous = &self.previous;
        let coming = |node: usize| {
            let (x, old) = (positions[node], previous[node]);
            x - origin + (x - old) * ahead
        };
        self.moving.resize(positions.len(), Moving::default());
        let (shears, hinges) = (&self.rows.shears, &self.rows.hinges);
        let solve = |strip: usize, nodes: &mut [Moving]| {
            shear::solve(shears.of(strip), nodes);
            bend::solve(hinges.of(strip), nodes);
        };
        rest.strips.pass(team, 0, self.moving.as_mut_slice(), &|strip, nodes: &mut [Moving]| {
            for (node, after) in (rest.strips.start(strip) as usize..).zip(&mut *nodes) {
                *after = Moving::new(coming(node));
            }
            solve(strip, nodes);
        });
        rest.strips.pass(team, 1, self.moving.as_mut_slice(), &solve);
        self.rows.stiff.solve(coming, &mut self.moving);
        let nodes = (positions, self.moving.as_slice());
        let back = |_, (x, after): (&mut [DVec3], &[Moving])| {
            for (x, after) in x.iter_mut().zip(after) {
                *x += after.moved.truncate().as_dvec3() * share;
            }
        };
        team.chunks(nodes, self.moving.len(), CHUNK, back);
    }
}

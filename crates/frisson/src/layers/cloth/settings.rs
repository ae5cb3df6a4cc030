//! Numbers of the solver: how finely a tick is cut, and what bounds the cloth.

use super::params::ClothParams;
use super::rest::Garment;
use super::stretch::StretchLimits;
use crate::stage::{Animated, Clock};
use crate::tolerances::cloth as limits;

/// Times per tick that bending and shear are solved, at least: they are weak, and one solve stands
/// for the impulse of several small steps.
const BEND_SOLVES: u32 = 3;

/// Numbers of the solver.
#[derive(Clone, Copy, Debug)]
pub struct SolverSettings {
    /// Stretch limits and modes.
    pub stretch: StretchLimits,
    /// Small steps per tick.
    pub substeps: u32,
    /// Decay of all motion [1/s].
    pub damping: f64,
    /// Shares of relative velocity taken away in 1/120 s: along edges, and in any direction [-].
    pub internal_damping: (f64, f64),
    /// Height of the contact band [m].
    pub thickness: f64,
    /// Speed at which cloth is brought out of what it has got into [m/s].
    pub recovery_speed: f64,
    /// Times per tick that layers of the cloth are brought apart, at most.
    pub self_solves: u32,
    /// Speed at which layers that are pressed together are brought apart [m/s].
    pub parting_speed: f64,
}

impl SolverSettings {
    /// Small steps per solve of bending and shear.
    pub fn bend_every(&self) -> u32 {
        (self.substeps / BEND_SOLVES).max(1)
    }
}

impl Garment {
    /// Numbers of the solver, for the parameters as they are now.
    pub fn settings(&self, params: &ClothParams, clock: &Clock) -> SolverSettings {
        let struck = !self.bodies.is_empty();
        SolverSettings {
            stretch: StretchLimits {
                stretch_limit: params.stretch_limit.unwrap_or(self.cloth.default_limit),
                compression_limit: params.compression_limit,
                in_compression: if params.tension_only { 0.0 } else { 1.0 },
                swell: 1.0,
            },
            substeps: self.substeps(params, clock),
            damping: params.damping,
            internal_damping: self.internal_damping(),
            thickness: self.thickness,
            recovery_speed: limits::RECOVERY_SPEED,
            self_solves: if struck { limits::STRUCK_SELF_SOLVES } else { limits::SELF_SOLVES },
            parting_speed: if struck { limits::STRUCK_PARTING } else { limits::RECOVERY_SPEED },
        }
    }

    /// Friction between fibres in any direction would slow the spin of a free cloth: only what is held
    /// has it. Along the edges it keeps both momenta.
    fn internal_damping(&self) -> (f64, f64) {
        let any = if self.attachments.holds.is_empty() { 0.0 } else { limits::FIBRE_DAMPING };
        (limits::STRETCH_DAMPING, any)
    }

    /// Sub-steps per tick that keep the solver's own stretch small. One sweep per step holds an edge
    /// about as a spring of stiffness `m / h²` would, so a depth `D` of cloth of edge `l` sags by
    /// `D g h² / l²`. With coarse levels, `D` is but a few edges.
    pub fn substeps(&self, params: &ClothParams, clock: &Clock) -> u32 {
        let usual_ticks = clock.tick_seconds() * f64::from(Clock::TICK_HZ);
        if let Some(substeps) = params.substeps {
            return (f64::from(substeps) * usual_ticks).ceil().max(1.0) as u32;
        }
        // Earth's, whatever the scene has: in weightlessness cloth is thrown about as hard.
        let (edge, gravity) = (self.cloth.mean_edge, 9.81);
        let step = if self.cloth.hierarchy.is_empty() {
            edge * (limits::SOLVER_SAG / (self.cloth.depth.max(edge) * gravity)).sqrt()
        } else {
            (limits::FALL_PER_STEP * edge / gravity).sqrt()
        };
        let least = f64::from(limits::LEAST_SUBSTEPS) * usual_ticks;
        let wanted = (clock.tick_seconds() / step).max(least);
        let pushed = if params.bodies.is_empty() { 1.0 } else { limits::BODY_SUBSTEPS };
        let wanted = (pushed * wanted).max(clock.tick_seconds() / self.air_step(params));
        // A bound for bad input: more would take minutes a tick.
        (params.quality * wanted).ceil().clamp(least.ceil(), 1000.0) as u32
    }

    /// Longest step in which the solver itself adds little to the stretch by an overpressure. A ball of
    /// radius `R` under `p` pulls at an edge of length `l` with about `p R l / 3`, and one sweep per step
    /// holds it about as a spring of stiffness `m / h²` would.
    fn air_step(&self, params: &ClothParams) -> f64 {
        let most = params.overpressure.iter().flat_map(Animated::values);
        let most = most.fold(0.0, |most: f64, p| most.max(p.abs()));
        let (edge, density) = (self.cloth.mean_edge, params.moduli().density);
        let radius = (self.cloth.area / (4.0 * std::f64::consts::PI)).sqrt();
        let pull = most * radius / (3.0 * density * edge * edge);
        (limits::BLOWN_STRETCH / pull.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// Constraints solved in a tick: edges at every small step, hinges and shears less often.
    pub fn constraints_per_tick(&self, settings: &SolverSettings) -> usize {
        let slow = self.cloth.hinges.rows.len() + self.cloth.shears.rows.len();
        self.cloth.edges.rows.len() * settings.substeps as usize
            + slow * (settings.substeps / settings.bend_every()) as usize
    }
}

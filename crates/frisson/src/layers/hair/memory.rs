//! The pull of the style, of ties and of braids, and the memory that grows where all is still.

use glam::Vec3;

use super::rest::WispRoot;
use super::state::Wisp;
use super::tick::TickInput;

/// How long all has been still after a tick in which the root went some way.
pub(super) fn calm_after(calm: f32, way: f32, air: &[Vec3], dt: f64) -> f32 {
    let (dt, least) = (dt as f32, super::limits::CALM_AIR * super::limits::CALM_AIR);
    let still =
        way < super::limits::CALM_ROOT * dt && air.iter().all(|a| a.length_squared() < least);
    // Lets go faster than it grips.
    let change = if still { dt } else { -4.0 * dt };
    (calm + change).clamp(0.0, super::limits::CALM_SECS)
}

impl Wisp {
    /// How far the memory of the style has taken hold, 0 to 1.
    pub(super) fn recovery(&self) -> f32 {
        let t = self.calm / super::limits::CALM_SECS;
        t * t * (3.0 - 2.0 * t)
    }
}

/// Stiffness per mass of the pull on a particle to its goal: the style, the tie, the braid [1/s²].
pub(super) fn goal_rate_sq(input: &TickInput, wisp: &Wisp, root: &WispRoot, i: usize) -> f64 {
    let memory = memory_rate_sq(input, wisp, i) * f64::from(root.memory[i]);
    let mut rate_sq = (input.goal_rate_sq + memory) * f64::from(root.goal_weight);
    rate_sq += steady_rate_sq(input, wisp, root, i);
    if let Some((tie, particle)) = root.tie {
        rate_sq += input.tie_rates_sq[tie] * tie_grip(input, particle, i);
        if let Some(braid) = root.braid
            && i > particle
        {
            rate_sq += input.braid_rates_sq[braid];
        }
    }
    rate_sq
}

/// The same of the memory of the style. Near the skin, where the follicle and a thicket of neighbours
/// give hair its direction, it is strongest: that part of a wisp never falls over to another side, and
/// what hangs from it finds back.
fn memory_rate_sq(input: &TickInput, wisp: &Wisp, i: usize) -> f64 {
    let from_tip = (input.rest.count - 1 - i) as f32 / (input.rest.count - 3).max(1) as f32;
    let at_root = super::limits::ROOT_MEMORY * from_tip * from_tip;
    // Frequencies add up, stiffness goes with their square.
    let calm = (super::limits::RECOVERY - 1.0) * wisp.recovery();
    input.memory_rate_sq * f64::from(1.0 + calm + at_root).powi(2)
}

/// The same of what keeps a wisp on its hilltop. Neighbours hold it there, but not against a shake: beyond
/// its reach the pull grows no further.
fn steady_rate_sq(input: &TickInput, wisp: &Wisp, root: &WispRoot, i: usize) -> f64 {
    if root.steady == 0.0 {
        return 0.0;
    }
    let goal = input.roots[wisp.root as usize].goal(root.goals[i]);
    let away = wisp.positions[i].distance(goal).max(super::limits::STEADY_REACH);
    root.steady * f64::from(super::limits::STEADY_REACH / away)
}

/// How firmly a tie grips a particle, as a share of its hold [-].
fn tie_grip(input: &TickInput, tied: usize, i: usize) -> f64 {
    match i.cmp(&tied) {
        // Hair is taut from the skin to its tie, once it is combed there.
        std::cmp::Ordering::Less if input.styled => 1.0,
        std::cmp::Ordering::Equal => 1.0,
        _ if i.abs_diff(tied) == 1 => 0.25,
        _ => 0.0,
    }
}

//! The rest state: what holds the styled hair where it is, so that nothing sags on the first frame.
//!
//! ```text
//!   balance ─► hold ─► solve_rest     rest angles, tip to root
//!           │       └► hold_still     what a trial tick would still move is held by a force
//!           ├► let_sag                what cannot be held comes down first
//!           ├► hold_steady            what leaves its place in a longer trial is pulled back
//!           ├► hold_still             once more, where the trials have ended
//!           └► quieten                what is restless all the same goes to where it rests
//! ```

use glam::{DVec3, Vec3};

use super::contact::{ContactList, Heights, Seeker};
use super::planes::transport;
use super::rest::{HairRest, WispRoot};
use super::state::Wisp;
use super::style::{CALMING_DRAG, Phase, StyleScene, capture, comb_out, come_to_rest, relax};

/// Solves the rest state. Wisps that cannot be held where they were combed to sag first, and are held
/// where they come to rest: nothing sags in the shot.
pub(super) fn balance(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    let mut sagging = hold(rest, wisps, scene);
    // Guides are taken as they are.
    if scene.params.style.guides.is_empty() {
        let_sag(rest, wisps, scene, sagging);
        let all = (0..wisps.len()).collect();
        sagging = hold_steady(rest, wisps, scene, all, &super::limits::STEADY_HZ);
        if !sagging.is_empty() {
            // What even the hardest pull does not hold goes where it wants to, and is held there.
            for &k in &sagging {
                rest.roots[wisps[k].root as usize].steady = 0.0;
            }
            let_sag(rest, wisps, scene, sagging.clone());
            sagging = hold_steady(rest, wisps, scene, sagging, &super::limits::PINCHED_HZ);
        }
        // Trials end some hundredths of a millimetre from where they began. What was solved there is not quite the balance
        // here, and of ten thousand hairs some are drawn another way for a hundredth.
        hold_still(rest, wisps, scene);
        quieten(rest, wisps, scene);
    }
    if !sagging.is_empty() {
        rest.warnings.push(format!(
            "{} of {} wisps cannot be held in the style: hair will sag there (raise bending_length \
             or goal_hz, or let it settle longer)",
            sagging.len(),
            wisps.len()
        ));
    }
}

/// Lets wisps that cannot be held come down as hair does that nobody has bent: where that comes to rest it needs no rest
/// angles, and next to nothing is left to be held.
fn let_sag(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene, mut sagging: Vec<usize>) {
    for _ in 0..super::limits::SAG_ROUNDS {
        if sagging.is_empty() {
            break;
        }
        let mut loose: Vec<Wisp> = sagging.iter().map(|&k| wisps[k].clone()).collect();
        come_down(rest, &mut loose, scene);
        for wisp in &loose {
            if rest.roots[wisp.root as usize].tie.is_some() {
                bend(rest, wisp, scene);
            }
        }
        let still = hold_still(rest, &mut loose, scene);
        for (&k, wisp) in sagging.iter().zip(loose) {
            wisps[k] = wisp;
        }
        sagging = still.into_iter().map(|k| sagging[k]).collect();
    }
}

/// Balance is not enough where it is that of a ball on a hilltop, or where an envelope between two surfaces
/// never finds it: wisps that leave their place in a trial are held there by a pull, as hard as it takes.
/// Where a trial ends is where the shot begins: the last hundredths of a millimetre, and what envelopes find only
/// with time, are over by then, and no drawn hair is laid another way a moment later. Returns the wisps that
/// even the hardest pull does not hold.
fn hold_steady(
    rest: &mut HairRest,
    wisps: &mut [Wisp],
    scene: &StyleScene,
    mut loose: Vec<usize>,
    pulls_hz: &[f64],
) -> Vec<usize> {
    for (round, hz) in pulls_hz.iter().enumerate() {
        for &k in &loose {
            rest.roots[wisps[k].root as usize].steady = (std::f64::consts::TAU * hz).powi(2);
        }
        // Each trial begins at the styled places, not where the last one ended: a pull is judged by what it holds, not
        // by what it brings back.
        let (trial, ways) = try_out(rest, wisps, scene, &loose, super::limits::STEADY_SECS);
        let last = round + 1 == pulls_hz.len();
        let most = if last { super::limits::SAG } else { super::limits::STEADY };
        let mut left = Vec::new();
        for ((k, wisp), way) in loose.into_iter().zip(trial).zip(ways) {
            if way > most {
                left.push(k);
            } else {
                wisps[k] = wisp;
            }
        }
        loose = left;
        if loose.is_empty() {
            break;
        }
    }
    // The goals must be where the shot begins, else the memory of the style would draw hair to where the trial started.
    come_to_rest(wisps);
    capture(rest, wisps, scene);
    loose
}

/// Lets the few wisps that start moving at once go on to where they come to rest, pulled there as hard as it takes. What
/// finds no rest at all is squeezed between walls that hand it to each other, and pinched by them.
fn quieten(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    let all: Vec<usize> = (0..wisps.len()).collect();
    let (own, ways) = try_out(rest, wisps, scene, &all, super::limits::RESTLESS_SECS);
    let is_quiet = |k: &usize| ways[*k] <= super::limits::RESTLESS;
    // Envelopes find their balance with places only with time, and as they change some hairs are drawn another way.
    let (quiet, mut restless): (Vec<usize>, Vec<usize>) = all.into_iter().partition(is_quiet);
    let own = own.into_iter().enumerate().filter(|(k, _)| is_quiet(k)).map(|(_, wisp)| wisp);
    begin_at(rest, wisps, scene, &quiet, own.collect());
    for hz in super::limits::PINCHED_HZ {
        if restless.is_empty() {
            return;
        }
        for &k in &restless {
            let steady = &mut rest.roots[wisps[k].root as usize].steady;
            *steady = steady.max((std::f64::consts::TAU * hz).powi(2));
        }
        let (own, ways) = try_out(rest, wisps, scene, &restless, super::limits::STEADY_SECS);
        begin_at(rest, wisps, scene, &restless, own);
        let mut ways = ways.into_iter();
        // As quiet as all others: what trembles by less than a style may give way by still shakes the hairs drawn on it.
        restless.retain(|_| ways.next().is_some_and(|way| way > super::limits::RESTLESS));
    }
    for &k in &restless {
        rest.roots[wisps[k].root as usize].pinched = true;
    }
    // Pinched, they stop within some ticks, and not where the last trial left them.
    let (own, _) = try_out(rest, wisps, scene, &restless, super::limits::RESTLESS_SECS);
    begin_at(rest, wisps, scene, &restless, own);
}

/// The chosen wisps begin the shot, at rest, where a trial has left them.
fn begin_at(
    rest: &mut HairRest,
    wisps: &mut [Wisp],
    scene: &StyleScene,
    chosen: &[usize],
    mut own: Vec<Wisp>,
) {
    come_to_rest(&mut own);
    capture(rest, &own, scene);
    for (&k, wisp) in chosen.iter().zip(own) {
        wisps[k] = wisp;
    }
}

/// Where some of the wisps are after a trial of so long, and how far they have been from their places in it [m].
fn try_out(
    rest: &HairRest,
    wisps: &[Wisp],
    scene: &StyleScene,
    tried: &[usize],
    secs: f64,
) -> (Vec<Wisp>, Vec<f32>) {
    let mut trial: Vec<Wisp> = tried.iter().map(|&k| wisps[k].clone()).collect();
    let mut ways = vec![0.0f32; tried.len()];
    let phase = Phase { fields_at: f32::MAX, drag: scene.params.drag, tick: scene.tick };
    for _ in 0..(secs / scene.tick).ceil() as usize {
        relax(rest, &mut trial, scene, &phase);
        for ((way, own), &k) in ways.iter_mut().zip(&trial).zip(tried) {
            let points = own.positions.iter().zip(&wisps[k].positions);
            *way = points.map(|(p, q)| p.distance(*q)).fold(*way, f32::max);
        }
    }
    (trial, ways)
}

/// Lets wisps come to rest in thick air, and takes where they are then as their style.
pub(super) fn come_down(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    for wisp in wisps.iter() {
        // What was solved for a pose that it does not hold would wind a wisp up on its way down. A tie needs it.
        let root = &mut rest.roots[wisp.root as usize];
        if root.tie.is_none() {
            root.hold.fill(Vec3::ZERO);
            root.targets.fill(DVec3::Z);
        }
    }
    let tick = super::limits::STYLE_TICKS * scene.tick;
    let phase = Phase { fields_at: f32::MAX, drag: CALMING_DRAG, tick };
    let ticks = (super::limits::SAG_SECS / tick).ceil() as usize;
    (0..ticks).for_each(|_| relax(rest, wisps, scene, &phase));
    for _ in 0..super::limits::COMB_ROUNDS {
        if !comb_out(rest, wisps, scene) {
            break;
        }
        (0..ticks).for_each(|_| relax(rest, wisps, scene, &phase));
    }
    come_to_rest(wisps);
    capture(rest, wisps, scene);
}

/// Solves rest angles and what else holds the style. Returns the wisps that cannot be held.
fn hold(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) -> Vec<usize> {
    wisps.iter().for_each(|wisp| bend(rest, wisp, scene));
    hold_still(rest, wisps, scene)
}

/// Gives a wisp the rest angles with which it lies as it does.
fn bend(rest: &mut HairRest, wisp: &Wisp, scene: &StyleScene) {
    rest.roots[wisp.root as usize].hold.fill(Vec3::ZERO);
    let forces = resting_forces(rest, wisp, scene);
    solve_rest(rest, wisp, &forces);
}

/// Solves the rest state with the very step that will run: what a trial tick from rest would still
/// accelerate is held by a force of the style, until nothing moves. Contacts, envelopes, ties and what
/// joints are too soft for are all in it. Returns the wisps that cannot be held.
fn hold_still(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) -> Vec<usize> {
    // Places stay, only forces are sought: every round starts from the same pose at rest.
    let mut trial = wisps.to_vec();
    let unknown = Held { starts: f32::INFINITY, ..Held::default() };
    let mut quietest = vec![unknown; wisps.len()];
    let mut starts = vec![0.0f32; wisps.len()];
    let phase = Phase { fields_at: f32::MAX, drag: scene.params.drag, tick: scene.tick };
    for _ in 0..super::limits::BALANCE_ROUNDS {
        trial.clone_from_slice(wisps);
        relax(rest, &mut trial, scene, &phase);
        for (index, (wisp, tried)) in wisps.iter_mut().zip(&trial).enumerate() {
            // From rest, the velocity after one tick is the acceleration that nothing balances.
            let fastest = tried.velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
            starts[index] = fastest / scene.tick as f32;
            let root = &mut rest.roots[wisp.root as usize];
            if starts[index] < quietest[index].starts {
                quietest[index] = Held::of(starts[index], root, wisp);
            }
            let axes = scene.poses[wisp.root as usize].axes.transpose();
            for (i, v) in tried.velocities.iter().enumerate().skip(2) {
                let hold = root.hold[i] - axes * (*v / scene.tick as f32);
                // The particle after a tied one too: the tie's grip fades over it.
                let most = if root.is_held(i - 1) {
                    super::limits::TIE_HOLD
                } else {
                    super::limits::STYLE_HOLD
                };
                root.hold[i] = hold.clamp_length_max(most);
            }
            // Envelopes and contacts find their balance on the way.
            wisp.radii.clone_from(&tried.radii);
            wisp.reactions.clone_from(&tried.reactions);
            wisp.pressures.clone_from(&tried.pressures);
        }
    }
    for ((wisp, quietest), starts) in wisps.iter_mut().zip(quietest).zip(&starts) {
        // In a fold forces may chase a contact to and fro.
        if *starts > CHASED * quietest.starts {
            quietest.take_up(&mut rest.roots[wisp.root as usize], wisp);
        }
    }
    (0..wisps.len()).filter(|&k| starts[k] > super::limits::SAGS).collect()
}

/// A last round so many times as fast as the quietest found no balance [-].
const CHASED: f32 = 2.0;

/// What holds a wisp, and how fast it starts all the same [m/s²].
#[derive(Clone, Default)]
struct Held {
    starts: f32,
    hold: Vec<Vec3>,
    radii: Vec<f32>,
    reactions: Vec<Vec3>,
    pressures: Vec<f32>,
}

impl Held {
    fn of(starts: f32, root: &WispRoot, wisp: &Wisp) -> Self {
        Self {
            starts,
            hold: root.hold.clone(),
            radii: wisp.radii.clone(),
            reactions: wisp.reactions.clone(),
            pressures: wisp.pressures.clone(),
        }
    }

    fn take_up(self, root: &mut WispRoot, wisp: &mut Wisp) {
        root.hold = self.hold;
        (wisp.radii, wisp.reactions, wisp.pressures) = (self.radii, self.reactions, self.pressures);
    }
}

/// A particle this much above the height at which a body holds it still rests on it [m]: it sinks in and comes
/// out by less from tick to tick.
const RESTS_ON: f32 = 1.0e-5;

/// Forces that the joints must balance at rest: weight, envelope, bodies.
fn resting_forces(rest: &HairRest, wisp: &Wisp, scene: &StyleScene) -> Vec<DVec3> {
    let root = &rest.roots[wisp.root as usize];
    let margin = scene.params.body.margin;
    let bodies = scene.bodies_at_rest();
    let heights = Heights::over(bodies, wisp.positions[1], root.segment, margin);
    (0..rest.count)
        .map(|i| {
            let p = wisp.positions[i];
            let outer = scene.forces.acceleration(wisp.positions[i], scene.time);
            let mut force = root.masses[i] * (outer + wisp.reactions[i]).as_dvec3();
            // Where no body presses, none is looked for: the search costs more than all else here.
            if wisp.pressures[i] > 0.0 {
                let mut found = ContactList::default();
                let seeker = Seeker { near: !0, start: p, now: p, restitution: 0.0 };
                found.add_bodies(bodies, &seeker, |k| heights.at(i, k) + RESTS_ON);
                let sum: Vec3 = found.as_slice().iter().map(|c| c.normal).sum();
                force += sum.as_dvec3().normalize_or_zero() * f64::from(wisp.pressures[i]);
            }
            force
        })
        .collect()
}

/// Rest directions, tip to root, such that bending balances the forces as far as the joints are stiff
/// enough for that.
///
/// With `T_i` the force that segment `i` carries and `q_i` the torque at its inner joint,
/// `q_i = P_i q_{i+1} - e_i x T_i` (`P_i`: the part across the segment), and the rest direction
/// is the segment's own, turned about `q_i` by `2 atan(|q_i| / 2 k)`. What hangs below a tie hangs on the
/// tie, and hair that a tie holds rests as it lies: were it bent to carry the tail, or to press on the head
/// as the comb did, it would give way to the side.
fn solve_rest(rest: &mut HairRest, wisp: &Wisp, forces: &[DVec3]) {
    let n = rest.count;
    let root = &mut rest.roots[wisp.root as usize];
    let at = |i: usize| wisp.positions[i].as_dvec3();
    let along = |i: usize| (at(i + 1) - at(i)).normalize_or(DVec3::Y);
    let mut carried = DVec3::ZERO;
    let mut torque = DVec3::ZERO;
    let mut wanted = vec![DVec3::ZERO; n];
    for i in (1..n - 1).rev() {
        carried += forces[i + 1];
        // What hangs on the tie is off the joints' hands.
        if root.is_held(i + 1) {
            (carried, torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        let t = along(i);
        // Twist along the segment is not the hinges' affair.
        torque -= t * t.dot(torque);
        torque -= (at(i + 1) - at(i)).cross(carried);
        let most = 2.0 * root.bending * super::limits::REST_HALF_TANGENT;
        let asked = torque.length();
        if asked > most {
            torque *= if asked > 0.0 { most / asked } else { 0.0 };
        }
        // torque = 2 k tan(angle / 2) about its own axis.
        let axis = torque.normalize_or_zero();
        let half = if root.bending > 0.0 { torque.length() / (2.0 * root.bending) } else { 0.0 };
        let (sine, cosine) = (2.0 * half.atan()).sin_cos();
        wanted[i] = t * cosine + axis.cross(t) * sine;
    }
    let mut before = along(0);
    let mut across = wisp.root_across.as_dvec3();
    for i in 1..n - 1 {
        let second = before.cross(across);
        let s = wanted[i];
        root.targets[i] = DVec3::new(s.dot(across), s.dot(second), s.dot(before));
        let t = along(i);
        // In single precision, as the chain that is to be in balance does.
        across = transport(across.as_vec3(), before.as_vec3(), t.as_vec3()).as_dvec3();
        before = t;
    }
}

//! The hair style: hair stands out from the skin, is combed by fields, settles under gravity; then
//! `balance` solves what holds it there.

use glam::Vec3;
use rayon::prelude::*;

use super::balance::{balance, come_down};
use super::bodies::PosedBody;
use super::params::HairParams;
use super::planes::compute_planes;
use super::rest::{HairRest, RootPose};
use super::ridges::HairWay;
use super::state::Wisp;
use super::style_params::StyleField;
use super::tick::{HairDrive, TOGETHER, TickInput, TickRoom, integrate_wisps};
use crate::stage::{Forces, SurfaceMotion};

/// What styling needs to know about the scene.
pub(super) struct StyleScene<'a> {
    pub params: &'a HairParams,
    pub poses: &'a [RootPose],
    /// The bodies, once for every sub-step; they do not move.
    pub bodies: &'a [Vec<PosedBody>],
    pub meshes: &'a [SurfaceMotion],
    pub forces: &'a Forces,
    pub time: f64,
    /// Length of a tick, that of the shot, so that both find the same balance [s].
    pub tick: f64,
}

impl StyleScene<'_> {
    /// The bodies as they stand.
    pub fn bodies_at_rest(&self) -> &[PosedBody] {
        self.bodies.last().map_or(&[], Vec::as_slice)
    }
}

/// The next particle of a wisp that grows on from the last two: on along a direction, but into no mesh. Hair that was
/// stitched through the brim of a hat or an ear would stay so, whatever way it is combed.
fn grown(scene: &StyleScene, before: [Vec3; 2], along: Vec3, segment: f32) -> Vec3 {
    let [from, last] = before;
    let at = last + along * segment;
    let margin = scene.params.body.margin;
    let way = HairWay { last, height: 0.0, along: last - from, at, segment, margin };
    way.clear(scene.meshes, !0)
}

/// Wisps as they leave the skin: straight but for what is in the way, or along their guide.
pub(super) fn build_wisps(rest: &mut HairRest, scene: &StyleScene) -> Vec<Wisp> {
    let samples = rest.directions.len();
    let n = rest.count;
    let mut wisps = Vec::with_capacity(rest.roots.len());
    for (index, root) in rest.roots.iter().enumerate() {
        let pose = &scene.poses[index];
        let [p0, p1] = pose.carried(root);
        let mut positions = vec![p0, p1];
        let shape = super::guides::shape_at(&scene.params.style.guides, pose.skin);
        for i in 2..n {
            let next = (shape.as_ref())
                .and_then(|shape| super::guides::next(shape, positions[i - 1], root.segment));
            let along = (positions[i - 1] - positions[i - 2]).normalize_or(pose.direction);
            let ahead = || grown(scene, [positions[i - 2], positions[i - 1]], along, root.segment);
            positions.push(next.unwrap_or_else(ahead));
        }
        let radii = root.radii.iter().flat_map(|&r| std::iter::repeat_n(r, samples)).collect();
        let mut wisp = Wisp {
            root: index as u32,
            share: 1.0,
            radius_scale: 1.0,
            apart: true,
            velocities: vec![Vec3::ZERO; n],
            normals: vec![pose.direction; n],
            across: vec![pose.across; n],
            radii,
            radial_velocities: vec![0.0; n * samples],
            twists: vec![0.0; n],
            twist_velocities: vec![0.0; n],
            reactions: vec![Vec3::ZERO; n],
            shelter: vec![1.0; n],
            pressures: vec![0.0; n],
            root_across: pose.across,
            positions,
            ..Wisp::default()
        };
        compute_planes(&mut wisp);
        wisps.push(wisp);
    }
    wisps
}

/// Combs and settles the wisps, then solves the rest angles. Guides are taken as they are.
pub(super) fn style(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    super::ties::assign(rest, scene);
    let style = &scene.params.style;
    let combing = style.fields.iter().map(|f| f.span().1).fold(0.0, f32::max);
    // Guides are the pose that the artist wants: nothing is to settle.
    let settling = if style.guides.is_empty() { style.settle_secs } else { 0.0 };
    let tick = super::limits::STYLE_TICKS * scene.tick;
    let ticks = (f64::from(combing + settling) / tick).ceil() as usize;
    for k in 0..ticks {
        // Lively first, so that hair gets somewhere; thick air in the last second, so that it comes to
        // rest.
        let left = (ticks - k) as f64 * tick;
        let drag = if left > 1.0 { LIVELY_DRAG } else { CALMING_DRAG };
        let fields_at = (k as f64 * tick) as f32;
        relax(rest, wisps, scene, &Phase { fields_at, drag, tick });
        // Most styles lie still long before the time is over.
        if fields_at > combing && left <= 1.0 && fastest(wisps) < super::limits::STYLED_SPEED {
            break;
        }
    }
    if style.guides.is_empty() {
        comb_anew(rest, wisps, scene);
    }
    come_to_rest(wisps);
    capture(rest, wisps, scene);
    if style.balance {
        balance(rest, wisps, scene);
    }
}

/// Combs out the wisps that the comb has left crumpled, and lets them come to rest.
fn comb_anew(rest: &mut HairRest, wisps: &mut [Wisp], scene: &StyleScene) {
    let crumpled: Vec<usize> =
        (0..wisps.len()).filter(|&k| first_kink(rest, &wisps[k]).is_some()).collect();
    if crumpled.is_empty() {
        return;
    }
    let mut own: Vec<Wisp> = crumpled.iter().map(|&k| wisps[k].clone()).collect();
    come_down(rest, &mut own, scene);
    for (k, wisp) in crumpled.into_iter().zip(own) {
        wisps[k] = wisp;
    }
}

/// Straightens wisps that are crumpled where they came down, as against a face, and tells whether any was. A crumpled
/// wisp would be styled so: after the first shake it lies another way, and never finds back.
pub(super) fn comb_out(rest: &HairRest, wisps: &mut [Wisp], scene: &StyleScene) -> bool {
    let mut any = false;
    for wisp in wisps {
        if let Some(kink) = first_kink(rest, wisp) {
            let fall = scene.forces.acceleration(wisp.positions[kink], scene.time);
            straighten(scene, wisp, kink, fall.normalize_or_zero());
            any = true;
        }
    }
    any
}

/// The first particle at which a wisp turns back on itself, where no tie or braid holds it so.
fn first_kink(rest: &HairRest, wisp: &Wisp) -> Option<usize> {
    let root = &rest.roots[wisp.root as usize];
    let p = &wisp.positions;
    let along = |i: usize| (p[i] - p[i - 1]).normalize_or_zero();
    // The first free segment leaves the skin as the root says.
    (3..p.len() - 1)
        .filter(|&i| !root.is_held(i))
        .find(|&i| along(i).dot(along(i + 1)) < super::limits::KINK)
}

/// Leads a wisp on from a particle, as it came there and more and more downwards, into no mesh.
fn straighten(scene: &StyleScene, wisp: &mut Wisp, from: usize, down: Vec3) {
    let n = wisp.positions.len();
    let mut along = (wisp.positions[from] - wisp.positions[from - 1]).normalize_or(down);
    for i in from + 1..n {
        let segment = wisp.positions[i].distance(wisp.positions[i - 1]);
        along = (along + COMBED_DOWN * down).normalize_or(along);
        let before = [wisp.positions[i - 2], wisp.positions[i - 1]];
        let next = grown(scene, before, along, segment);
        along = (next - before[1]).normalize_or(along);
        // From the root outwards: what is next is still where it was.
        let shift = next - wisp.positions[i];
        wisp.positions[i..].iter_mut().for_each(|p| *p += shift);
    }
    wisp.velocities.fill(Vec3::ZERO);
    compute_planes(wisp);
}

/// How much the fall turns a wisp that is combed out, from particle to particle [-].
const COMBED_DOWN: f32 = 0.3;

/// Speed of the fastest particle [m/s].
fn fastest(wisps: &[Wisp]) -> f32 {
    let all = wisps.iter().flat_map(|w| &w.velocities);
    all.map(|v| v.length_squared()).fold(0.0, f32::max).sqrt()
}

/// Stops all motion.
pub(super) fn come_to_rest(wisps: &mut [Wisp]) {
    for wisp in wisps {
        wisp.velocities.fill(Vec3::ZERO);
        wisp.radial_velocities.fill(0.0);
        // A styled wisp is not wrung: rest angles are solved for planes without twist.
        wisp.twists.fill(0.0);
        wisp.twist_velocities.fill(0.0);
        compute_planes(wisp);
    }
}

/// Takes the places of the wisps as the style.
pub(super) fn capture(rest: &mut HairRest, wisps: &[Wisp], scene: &StyleScene) {
    for wisp in wisps {
        let pose = &scene.poses[wisp.root as usize];
        let root = &mut rest.roots[wisp.root as usize];
        for (goal, &p) in root.goals.iter_mut().zip(&wisp.positions) {
            *goal = pose.axes.transpose() * (p - pose.skin);
        }
        let fall = scene.forces.acceleration(pose.skin, scene.time);
        remember(&mut root.memory, &wisp.positions, fall.normalize_or_zero());
    }
}

/// How much of its style each particle must remember: hair that hangs straight down from its root finds
/// back by its weight, and a pull would only hold it off what moves it.
fn remember(memory: &mut [f32], positions: &[Vec3], down: Vec3) {
    let mut tilted = 0.0f32;
    for i in 2..positions.len() {
        let along = (positions[i] - positions[i - 1]).normalize_or_zero();
        // The most so far along the wisp: what hangs from a tilted part cannot find back by its weight alone.
        tilted = tilted.max(1.0 - along.dot(down));
        let t = (tilted / super::limits::TILTED).clamp(0.0, 1.0);
        let least = super::limits::HANGING_MEMORY;
        memory[i] = least + (1.0 - least) * t * t * (3.0 - 2.0 * t);
    }
}

/// Drag in which hair is combed [1/s].
const LIVELY_DRAG: f32 = 4.0;

/// Drag in which hair comes to rest while it is styled [1/s].
pub(super) const CALMING_DRAG: f32 = 15.0;

/// A stretch of styling.
pub(super) struct Phase {
    /// Styling time at which the combing fields are taken [s]; `f32::MAX`: all is combed.
    pub fields_at: f32,
    /// Drag of the air [1/s].
    pub drag: f32,
    /// Length of a tick [s].
    pub tick: f64,
}

/// One tick under the combing fields and gravity, without friction.
pub(super) fn relax(rest: &HairRest, wisps: &mut [Wisp], scene: &StyleScene, phase: &Phase) {
    let params = scene.params;
    let zeros = vec![0.0; rest.roots.len()];
    let hold = |animated: &crate::stage::Animated| {
        // As hard as it is ever held in the shot: a tie that loosens later was tied when the hair was combed.
        let hz = animated.values().fold(0.0, f64::max);
        (std::f64::consts::TAU * hz).powi(2)
    };
    let ties: Vec<f64> = params.style.ties.iter().map(|t| hold(&t.hold_hz)).collect();
    let braids: Vec<f64> = params.style.braids.iter().map(|b| hold(&b.hold_hz)).collect();
    let input = TickInput {
        rest,
        params,
        roots_before: scene.poses,
        roots: scene.poses,
        bodies: scene.bodies,
        meshes: scene.meshes,
        dt: phase.tick,
        drag: f64::from(phase.drag),
        goal_rate_sq: 0.0,
        memory_rate_sq: 0.0,
        tie_rates_sq: &ties,
        braid_rates_sq: &braids,
        wetness: &zeros,
        friction: false,
        styled: phase.fields_at == f32::MAX,
        rests: false,
    };
    let air = vec![Vec3::ZERO; TOGETHER * rest.count];
    // Rooms are large: a few wisps share one.
    wisps.par_chunks_mut(TOGETHER).with_min_len(4).for_each_init(
        || (TickRoom::boxed(), Vec::new()),
        |(room, accelerations), wisps| {
            accelerations.clear();
            for wisp in wisps.iter() {
                let root = scene.poses[wisp.root as usize].skin;
                accelerations.extend(wisp.positions.iter().map(|&p| {
                    let combed =
                        params.style.fields.iter().map(|f| field_at(f, root, p, phase.fields_at));
                    scene.forces.acceleration(p, scene.time) + combed.sum::<Vec3>()
                }));
            }
            let drive = HairDrive { accelerations, air: &air };
            integrate_wisps(&input, wisps, &drive, room, &mut [false; TOGETHER]);
        },
    );
}

/// Direction out of the skin once the fields have combed the roots.
pub(super) fn comb_root(params: &HairParams, root: Vec3, normal: Vec3) -> Vec3 {
    let fields = &params.style.fields;
    let pull: Vec3 = fields.iter().map(|f| field_at(f, root, root, f.span().0)).sum();
    let flat = pull - normal * normal.dot(pull);
    // Of two lengths of the normal: at one, hair leaves the skin at 27 degrees.
    let combed = 2.0 * params.style.comb_roots * flat / pull.length().max(1.0e-6);
    (normal + combed).normalize_or(normal)
}

/// Acceleration of a combing field at a place, for hair rooted at `root`.
fn field_at(field: &StyleField, root: Vec3, p: Vec3, time: f32) -> Vec3 {
    let (from, to) = field.span();
    if time < from || time >= to {
        return Vec3::ZERO;
    }
    let v = |a: &[f32; 3]| Vec3::from_array(*a);
    match field {
        StyleField::Parallel { direction, strength, .. } => {
            v(direction).normalize_or_zero() * *strength
        }
        StyleField::Parting { point, normal, strength, .. } => {
            let normal = v(normal).normalize_or_zero();
            // By the root, not by the place: hair keeps to the side it grows on, however it is blown.
            let side = normal.dot(root - v(point));
            normal * side.signum() * *strength
        }
        StyleField::Swirl { center, axis, strength, .. } => {
            v(axis).cross(p - v(center)).normalize_or_zero() * *strength
        }
        StyleField::Radial { center, strength, .. } => {
            (p - v(center)).normalize_or_zero() * *strength
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::hair::rest::WispRoot;

    #[test]
    fn a_crumpled_wisp_is_led_on_downwards_at_its_length() {
        let rest = HairRest { roots: vec![WispRoot::default()], ..HairRest::default() };
        let turned =
            |degrees: f32| Vec3::new(0.0, -degrees.to_radians().cos(), degrees.to_radians().sin());
        // Forwards from a brow, then to and fro against a nose.
        let ways = [60.0, 60.0, 50.0, 170.0, 10.0, 190.0, 0.0, 0.0].map(turned);
        let mut positions = vec![Vec3::ZERO];
        for way in ways {
            positions.push(positions[positions.len() - 1] + 0.04 * way);
        }
        let n = positions.len();
        let mut wisp = Wisp {
            velocities: vec![Vec3::X; n],
            normals: vec![Vec3::NEG_Y; n],
            across: vec![Vec3::X; n],
            twists: vec![0.0; n],
            root_across: Vec3::X,
            positions: positions.clone(),
            ..Wisp::default()
        };
        let kink = first_kink(&rest, &wisp).expect("it is crumpled");
        assert_eq!(kink, 3);
        let scene = StyleScene {
            params: &HairParams::default(),
            poses: &[],
            bodies: &[],
            meshes: &[],
            forces: &Forces::default(),
            time: 0.0,
            tick: 1.0 / 120.0,
        };
        straighten(&scene, &mut wisp, kink, Vec3::NEG_Y);
        assert_eq!(first_kink(&rest, &wisp), None);
        assert_eq!(wisp.positions[..=kink], positions[..=kink], "what is not crumpled stays");
        for pair in wisp.positions.windows(2) {
            assert!((pair[0].distance(pair[1]) - 0.04).abs() < 1e-6);
        }
        assert!(wisp.positions[n - 1].y < wisp.positions[kink].y - 0.1, "it leads down");
        assert!(wisp.velocities.iter().all(|v| *v == Vec3::ZERO));
    }
}

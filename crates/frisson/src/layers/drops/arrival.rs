//! Drops that must be somewhere in time: the start or the viscosity is solved for.

use glam::DVec3;

use super::flow::{Flow, Segment, Trace};
use super::params::{DropsParams, SingleSource, Solve, SourceParams};
use super::rest::DropsRest;
use super::site::Site;
use super::state::{Droplet, Phase};
use super::world::World;
use crate::stage::{BuildContext, LayerError};

/// Longest track that is tried [s].
const LONGEST: f64 = 120.0;
/// Step of the dry run [s].
const STEP: f64 = 1.0 / 120.0;

/// Runs each directed drop alone on the surface as it stands at the start.
pub(super) fn solve_arrivals(
    rest: &mut DropsRest,
    params: &DropsParams,
    context: &BuildContext,
) -> Result<(), LayerError> {
    let singles = params.sources.iter().enumerate();
    let directed = |s: &SourceParams| matches!(s, SourceParams::Single(s) if s.arrive.is_some());
    if !params.sources.iter().any(directed) {
        return Ok(());
    }
    // Only now: most scenes direct no drop, and a site is large.
    let site = Site::new(rest, params, &rest.home, &rest.surface);
    for (i, source) in singles {
        let SourceParams::Single(source) = source else { continue };
        let Some([x, y, z, frame]) = source.arrive else { continue };
        let run = DryRun { rest, params, site: &site, context, source, index: i };
        let goal = DVec3::new(x, y, z);
        let path = format!("sources[{i}].arrive");
        let fps = context.clock.rate.fps();
        match source.solve {
            Solve::Start => {
                let (time, distance) = run.run(None, goal);
                near(&path, distance, &site.liquid, source)?;
                let offset = frame - time * fps - source.frame;
                if source.frame + offset < context.clock.start_frame() as f64 {
                    return Err(LayerError::parameter(
                        path,
                        format!(
                            "the way takes {time:.2} s: it would have to start before the shot"
                        ),
                    ));
                }
                rest.start_offsets[i] = offset;
            }
            Solve::Viscosity => {
                let wanted = (frame - source.frame) / fps;
                let drag = run.solve_drag(goal, wanted, &path)?;
                rest.source_drags[i] = Some(drag);
            }
        }
    }
    Ok(())
}

/// A lone drop on the surface as it stands at the start.
#[derive(Clone, Copy)]
struct DryRun<'a> {
    rest: &'a DropsRest,
    params: &'a DropsParams,
    site: &'a Site,
    context: &'a BuildContext<'a>,
    source: &'a SingleSource,
    index: usize,
}

impl DryRun<'_> {
    /// The drag with which the way takes a time: it grows with the drag, so halving finds it.
    fn solve_drag(&self, goal: DVec3, wanted: f64, path: &str) -> Result<f64, LayerError> {
        let (source, liquid) = (self.source, &self.site.liquid);
        let run = |log: f64| self.run(Some(log.exp()), goal);
        // In logarithms: a drag may be any of twelve orders of magnitude.
        let (mut low, mut high) = ((1e-9 * source.mass / 1e-5).ln(), (1e3 * source.mass).ln());
        let (fastest, distance) = run(low);
        near(path, distance, liquid, source)?;
        if fastest > wanted {
            return Err(LayerError::parameter(
                path,
                format!("even without drag the way takes {fastest:.2} s, more than {wanted:.2} s"),
            ));
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let (time, distance) = run(middle);
            // One that no longer gets there is late, too.
            let late = time > wanted || near(path, distance, liquid, source).is_err();
            if late { high = middle } else { low = middle }
        }
        Ok(low.exp())
    }

    /// When a lone drop passes nearest to a place, and how near.
    fn run(&self, drag: Option<f64>, goal: DVec3) -> (f64, f64) {
        let Self { rest, params, site, context, source, index } = *self;
        let start = rest.starts[index];
        let mut drags = rest.source_drags.clone();
        drags[index] = drag;
        let world = World {
            surface: &rest.surface,
            ground: &site.ground,
            holds: &site.ground.dry_holds,
            places: &site.places,
            liquid: &site.liquid,
            forces: context.forces,
            uniform: context.forces.is_uniform().then(|| context.forces.gravity.as_dvec3()),
            // Those may move later: the way is solved on the surface as it stands.
            colliders: None,
            guides: &site.guides,
            source_drags: &drags,
            time: 0.0,
            tick: STEP,
            scene_drag: f64::from(context.forces.drag_rate(0.0)),
            windy: context.forces.has_wind(),
            tracks: true,
            bounds: rest.surface.bounds().grown(params.air.margin),
        };
        let at = start.map_or(DVec3::ZERO, |s| s.position);
        let velocity = DVec3::from_array(source.velocity);
        let phase = match start.and_then(|s| s.on) {
            Some((triangle, weights)) => {
                let velocity = rest.surface.facets[triangle as usize].tangential(velocity);
                Phase::Face { triangle, weights, velocity, standing: 0 }
            }
            None => Phase::Air { position: at, velocity, since: 0.0, from: u32::MAX },
        };
        let mut drop = Droplet::new(0, source.mass, phase, 0.0);
        drop.source = index as u32;
        drop.solute = source.mass * world.liquid.concentration;
        let mut trace = Trace::default();
        let mut best = (0.0, at.distance(goal));
        let mut end = STEP;
        while end < LONGEST {
            trace.clear();
            let body = world.body(&drop);
            Flow {
                world: &world,
                trace: &mut trace,
                index: 0,
                end,
                left: STEP,
                body,
                has_poured: false,
            }
            .advance(&mut drop);
            for segment in &trace.segments {
                let found = nearest(segment, goal);
                if found.1 < best.1 {
                    best = found;
                }
            }
            // What is held or gone comes no nearer any more.
            let gone = matches!(drop.phase, Phase::Air { position, .. }
                if !inside(&world, position));
            if drop.held || gone {
                break;
            }
            end += STEP;
        }
        best
    }
}

fn inside(world: &World, p: DVec3) -> bool {
    let p = p.as_vec3();
    p.cmpge(world.bounds.min).all() && p.cmple(world.bounds.max).all()
}

/// Time and distance of a track piece's nearest approach, by golden sections.
fn nearest(segment: &Segment, goal: DVec3) -> (f64, f64) {
    let distance = |t: f64| segment.position_at(t).distance(goal);
    let (mut a, mut b) = (segment.start, segment.start + segment.duration);
    for _ in 0..40 {
        let third = 0.381_966 * (b - a);
        if distance(a + third) < distance(b - third) { b -= third } else { a += third }
    }
    let t = 0.5 * (a + b);
    (t, distance(t))
}

fn near(
    path: &str,
    distance: f64,
    liquid: &super::Liquid,
    source: &SingleSource,
) -> Result<(), LayerError> {
    // Twice its width: nearer than that a picture does not tell.
    let reach = 4.0 * liquid.radius(source.mass);
    if distance <= reach {
        return Ok(());
    }
    Err(LayerError::parameter(
        path,
        format!("the drop's way passes {distance:.3} m from there; move the start or add a guide"),
    ))
}

//! Liquid that runs on surfaces, merges, leaves trails and falls.
//!
//! Two models, kept apart (after P. Fournier, *Simulation de gouttes de liquide sur des surfaces*, 1997):
//! the **flow** says where a drop goes, as a point with a mass on a triangle mesh, in closed form and
//! double precision; the **shape** says what it looks like and has no effect on the flow.
//!
//! ```text
//!   source ─► face ⇄ edge ⇄ vertex      each stay in closed form; the first exit found for sure
//!               │  ▲
//!        let go ▼  │ land                when the outward pull exceeds D pi r²
//!              air ─► out of the scene   every kilogram is in the books: see [`Ledger`]
//! ```
//!
//! Limits: drops do not push each other, only merge; a film does not flow; shapes are those of
//! equilibrium.

mod arrival;
mod body;
mod body_mesh;
mod fall;
pub mod flow;
mod guide;
mod image;
mod liquid;
mod merge;
pub mod motion;
mod output;
mod params;
mod rest;
mod run;
mod shape;
mod sinks;
mod source;
mod state;
mod step;
mod strip_mesh;
pub mod surface;
mod surface_build;
mod trail;
mod walk;
mod world;

#[cfg(test)]
mod tests;

use glam::{DVec2, Vec3};

use crate::geometry::Bounds;
use crate::stage::{
    BuildContext, Frame, LayerError, LayerReport, SnapshotError, StepContext, WholeLayer,
    from_snapshot, to_snapshot,
};
use body::Bodies;
use flow::Segment;
use merge::Merger;
use rest::{Rest, find_meshes};
use run::Runs;
use strip_mesh::StripMesh;
use surface::Surface;
use trail::Strips;

pub use liquid::{Liquid, LiquidPreset};
pub use params::{
    AirParams, AxisParams, BeadParams, DepositParams, Detail, DropsParams, GroundParams,
    GuideParams, LiquidParams, MergingParams, Names, ShapeParams, SinkParams, SplashParams,
    TrailParams,
};
pub use shape::{Shape, ShapeTable};
pub use source::{
    CondensationSource, ListSource, RainSource, RegionSource, SingleSource, Solve, SourceParams,
};
pub use state::{Drop, Ledger, Phase, State, Sum};

/// The layer.
pub struct DropsLayer {
    params: DropsParams,
    rest: Rest,
    surface: Surface,
    state: State,
    /// Meshes of the frame it runs on.
    meshes: Vec<usize>,
    vertex_counts: Vec<usize>,
    /// Mesh of the frame that drops are shown on, if another.
    shown_on: Option<usize>,
    /// Whether gravity is all that pushes.
    uniform: bool,
    rain_bounds: Option<Bounds>,
    /// The surface has moved since drops were last shown on it.
    moved_since_shown: bool,
    /// A checkpoint was loaded since the last tick.
    restored: bool,
    /// Least height of a drop that passes, per triangle and axis [m].
    bumps: Vec<[f32; 2]>,
    merger: Merger,
    bodies: Bodies,
    strips: Strips,
    strip_mesh: StripMesh,
    runs: Runs,
    segments: Vec<Segment>,
    new_drops: Vec<Drop>,
    new_axes: Vec<(u32, [f32; 2])>,
    old_axes: Vec<(u32, DVec2)>,
    merge_limited: u64,
}

impl DropsLayer {
    /// Builds the layer for the meshes of a frame.
    pub fn new(params: &DropsParams, context: &BuildContext) -> Result<Self, LayerError> {
        params.validate()?;
        let frame = context.frame;
        let meshes = find_meshes(&frame.meshes, params.on.all(), "on")?;
        let shown = params.shown_on.as_ref();
        let shown_on = shown
            .map(|name| find_meshes(&frame.meshes, std::slice::from_ref(name), "shown_on"))
            .transpose()?
            .and_then(|m| m.first().copied());
        check_memory(params)?;
        let inputs: Vec<(&[Vec3], &[[u32; 3]])> = meshes
            .iter()
            .map(|&m| {
                let mesh = &frame.meshes[m];
                (mesh.positions.as_slice(), mesh.topology.triangles.as_slice())
            })
            .collect();
        let mut surface = Surface::build(&inputs);
        if !surface.live.contains(&true) {
            return Err(LayerError::parameter("on", "these meshes have no triangle with an area"));
        }
        let rest = Rest::build(params, context, &mut surface, &meshes)?;
        let triangles = surface.triangles.len();
        let state = State {
            wet: state::Wet::dry(triangles),
            sources: vec![state::SourceState::default(); params.sources.len()],
            image: (params.trails.image > 0 && !rest.uvs.is_empty())
                .then(|| image::WetImage::new(params.trails.image)),
            points: surface.points.clone(),
            ..State::default()
        };
        let mut layer = Self {
            bumps: rest.ground.dry_bumps.clone(),
            bodies: Bodies::new(&rest),
            vertex_counts: meshes.iter().map(|&m| frame.meshes[m].positions.len()).collect(),
            rain_bounds: rain_bounds(params, &surface),
            uniform: context.forces.is_uniform(),
            params: params.clone(),
            rest,
            surface,
            state,
            meshes,
            shown_on,
            moved_since_shown: true,
            restored: false,
            merger: Merger::default(),
            runs: Runs::default(),
            strips: Strips::default(),
            strip_mesh: StripMesh::default(),
            segments: Vec::new(),
            new_drops: Vec::new(),
            new_axes: Vec::new(),
            old_axes: Vec::new(),
            merge_limited: 0,
        };
        layer.solve_arrivals(context)?;
        Ok(layer)
    }

    /// All that evolves.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The ground it runs on.
    #[must_use]
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Closed-form pieces of the tracks since the last output frame, where `tracks` is on.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Liquid in drops, in beads, and in films and stains [kg].
    #[must_use]
    pub fn masses(&self) -> (f64, f64, f64) {
        let of = |bead: bool| {
            Sum::of(self.state.drops.iter().filter(|d| d.bead == bead).map(|d| d.mass))
        };
        let wet = &self.state.wet;
        (of(false), of(true), Sum::of(wet.film.iter().chain(&wet.stain).copied()))
    }

    /// What the books miss, as a part of what was emitted [-]: rounding only.
    #[must_use]
    pub fn imbalance(&self) -> f64 {
        let (drops, beads, films) = self.masses();
        let ledger = &self.state.ledger;
        let mut sum = Sum::default();
        for value in [
            drops,
            beads,
            films,
            ledger.evaporated.value(),
            ledger.absorbed.value(),
            ledger.fallen.value(),
            -ledger.emitted.value(),
        ] {
            sum.add(value);
        }
        sum.value() / ledger.emitted.value().max(f64::MIN_POSITIVE)
    }
}

/// Memory of a drop with its share of meshes [bytes], roughly.
const BYTES_PER_DROP: f64 = 600.0;
/// With a fine mesh, per drop [bytes].
const BYTES_PER_SHAPE: f64 = 12_000.0;
/// More than this is refused before it starts [bytes].
const MEMORY_LIMIT: f64 = 64e9;

/// How many drops there may be at once, and the memory they need [bytes].
fn expected_memory(params: &DropsParams) -> (f64, f64) {
    let drops: f64 = params.sources.iter().map(SourceParams::expected_count).sum();
    let drops = params.max_drops.map_or(drops, |m| drops.min(m as f64));
    let each = BYTES_PER_DROP + if params.shape.mesh { BYTES_PER_SHAPE } else { 0.0 };
    (drops, drops * each)
}

fn check_memory(params: &DropsParams) -> Result<(), LayerError> {
    let (drops, bytes) = expected_memory(params);
    if bytes > MEMORY_LIMIT {
        return Err(LayerError::parameter(
            "sources",
            format!(
                "up to {drops:.0} drops need about {:.0} GB; lower the counts, set `max_drops`, or \
                 turn `shape.mesh` off",
                bytes / 1e9
            ),
        ));
    }
    Ok(())
}

/// Rain starts outside the surfaces' box: it must not be counted as fallen out.
fn rain_bounds(params: &DropsParams, surface: &Surface) -> Option<Bounds> {
    let mut bounds = Bounds::EMPTY;
    for source in &params.sources {
        match source {
            SourceParams::Rain(r) => match r.from {
                Some([a, b, c, d, e, f]) => {
                    let corner = |x: f64, y: f64, z: f64| Vec3::new(x as f32, y as f32, z as f32);
                    bounds = bounds.including(corner(a, b, c)).including(corner(d, e, f));
                }
                None => {
                    let all = surface.bounds();
                    bounds = bounds.union(all.grown(0.15 * all.diagonal().max(0.1)));
                }
            },
            SourceParams::Single(s) => {
                bounds = bounds.including(Vec3::from_array(s.at.map(|v| v as f32)));
            }
            SourceParams::List(l) => {
                for row in &l.rows {
                    let p = Vec3::new(row[1] as f32, row[2] as f32, row[3] as f32);
                    bounds = bounds.including(p);
                }
            }
            _ => {}
        }
    }
    (!bounds.is_empty()).then(|| bounds.grown(0.01))
}

impl WholeLayer for DropsLayer {
    type Params = DropsParams;
    const KIND: &'static str = "drops";

    fn name(&self) -> &str {
        &self.params.name
    }

    fn build(params: &DropsParams, context: &BuildContext) -> Result<Self, LayerError> {
        Self::new(params, context)
    }

    fn needs_surfaces_between_frames(&self) -> bool {
        true
    }

    fn start(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.tick(context, frame)
    }

    fn advance(&mut self, context: &StepContext, frame: &Frame) -> Result<(), LayerError> {
        self.tick(context, frame)
    }

    fn write(&mut self, context: &StepContext, frame: &mut Frame) -> Result<(), LayerError> {
        self.show(context, frame);
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        to_snapshot(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state: State = from_snapshot(bytes)?;
        let triangles = self.surface.triangles.len();
        if state.wet.film.len() != triangles || state.sources.len() != self.params.sources.len() {
            return Err(SnapshotError("the surface or the sources have changed".to_owned()));
        }
        self.state = state;
        self.strip_mesh.forget();
        self.segments.clear();
        for (t, bumps) in self.bumps.iter_mut().enumerate() {
            for i in 0..2 {
                let wetness = self.state.wet.wetness[t][i];
                let dry = self.rest.ground.dry_bumps[t][i];
                bumps[i] = if wetness == 0.0 { dry } else { dry * (-wetness).exp() as f32 };
            }
        }
        self.restored = true;
        self.moved_since_shown = true;
        Ok(())
    }

    fn report(&self, report: &mut LayerReport) {
        let ledger = &self.state.ledger;
        let (drops, beads, films) = self.masses();
        let in_air = self.state.drops.iter().filter(|d| !d.is_on_surface()).count();
        let held = self.state.drops.iter().filter(|d| d.held).count();
        report.measure("drops", "-", self.state.drops.len() as f64);
        report.measure("in the air", "-", in_air as f64);
        report.measure("held", "-", held as f64);
        report.measure("mass in drops", "kg", drops);
        report.measure("mass in beads", "kg", beads);
        report.measure("mass in films", "kg", films);
        report.measure("emitted", "kg", ledger.emitted.value());
        report.measure("evaporated", "kg", ledger.evaporated.value());
        report.measure("absorbed", "kg", ledger.absorbed.value());
        report.measure("fallen out", "kg", ledger.fallen.value());
        report.measure("ledger imbalance", "-", self.imbalance());
        report.measure("merges", "-", ledger.merges as f64);
        report.measure("landings", "-", ledger.landings as f64);
        report.measure("releases", "-", ledger.releases as f64);
        report.measure("crossings", "-", ledger.crossings as f64);
        report.measure("steps cut short", "-", ledger.truncated as f64);
        report.measure("drops stalled", "-", ledger.stalled as f64);
        self.warn(report);
    }
}

impl DropsLayer {
    fn warn(&self, report: &mut LayerReport) {
        let found = &self.surface.findings;
        let mut notes = Vec::new();
        let mut note = |count: usize, what: &str| {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        };
        note(found.flat_triangles, "triangles without area (left out)");
        note(found.crowded_edges, "edges with more than two triangles");
        note(found.tee_edges, "edges that meet only parts of others");
        note(found.flipped_edges, "edges between triangles that wind against each other");
        if !notes.is_empty() {
            report.warn(format!("the surface has {}", notes.join(", ")));
        }
        let (drops, bytes) = expected_memory(&self.params);
        if bytes > 2e9 {
            report.warn(format!("up to {drops:.0} drops need about {:.0} GB", bytes / 1e9));
        }
        if self.state.off_mesh > 0 {
            report.warn(format!(
                "{} drops started in the air: their source is not on the mesh",
                self.state.off_mesh
            ));
        }
        if self.state.ledger.truncated > 0 {
            report.warn("some drops met more edges in a step than the limit; they lag".to_owned());
        }
        if self.merge_limited > 0 {
            report.warn(
                "some drops move more than their reach between two merge tests; a few merges may \
                 be missed"
                    .to_owned(),
            );
        }
    }
}

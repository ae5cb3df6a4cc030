//! What a tick works with beside the state, and may lose between any two.

use glam::DVec2;

use super::body::Bodies;
use super::compact::Compaction;
use super::image::WetImage;
use super::meeting::AirMeetings;
use super::merge::Merger;
use super::output::OutputNames;
use super::params::DropsParams;
use super::pencil::Strips;
use super::pool::PoolRest;
use super::pool_flow::PoolScratch;
use super::pool_mesh::PoolMesh;
use super::rest::DropsRest;
use super::run::Runs;
use super::site::{Hold, Site};
use super::state::{Droplet, DropsState};
use super::stream::Streams;
use super::strip_mesh::StripMesh;
use super::surface::Surface;
use super::thread::Threads;

/// Storage that is reused, and what follows from the rest data, the parameters and the state.
#[derive(Default)]
pub struct DropsScratch {
    /// Whether what follows is there.
    is_ready: bool,
    /// Since when the triangles are as they are, where they are not those of the start.
    since: Option<f64>,
    /// Time of the state that axes and holds were taken from [s]: a look between ticks is taken back.
    pub(super) as_of: f64,
    /// The surface now.
    pub surface: Surface,
    /// What it is made of, and the liquid.
    pub site: Site,
    /// What holds drops on each triangle now.
    pub holds: Vec<Hold>,
    /// The surface has moved since drops were last shown on it.
    pub moved_since_shown: bool,
    /// Names of what is shown.
    pub names: OutputNames,
    /// Shapes of the drops.
    pub bodies: Bodies,
    /// Pieces of strips.
    pub strips: Strips,
    /// The mesh of the trails.
    pub strip_mesh: StripMesh,
    /// Threads of thick liquids.
    pub threads: Threads,
    /// Grounds of the pools as they stand now.
    pub grounds: Vec<PoolRest>,
    /// Buffers of the pools.
    pub pools: PoolScratch,
    /// Their mesh.
    pub pool_mesh: PoolMesh,
    /// The image of wetness as it is shown.
    pub image: WetImage,
    /// Runs of the drops.
    pub runs: Runs,
    /// Taking out what is gone.
    pub compaction: Compaction,
    /// Those that may meet.
    pub merger: Merger,
    /// Those that meet in the air.
    pub meetings: AirMeetings,
    /// Streams in the air.
    pub streams: Streams,
    /// Drops that appear.
    pub new_drops: Vec<Droplet>,
    /// Axes that first trails set in this tick.
    pub(super) new_axes: Vec<(u32, [f32; 2])>,
    /// How the axes of those triangles have turned.
    pub(super) old_axes: Vec<(u32, DVec2)>,
}

impl DropsScratch {
    /// Makes what follows from the others fit to them.
    pub(super) fn prepare(&mut self, params: &DropsParams, rest: &DropsRest, state: &DropsState) {
        let since = state.relief.as_ref().map(|r| r.since);
        if self.is_ready && self.since == since {
            // A resume or a look between ticks has put another state under the same scratch.
            if self.as_of != state.time {
                let relief = state.relief.as_deref();
                let axes = relief.map_or(&rest.surface.axes, |r| &r.axes);
                self.surface.axes.clone_from(axes);
                self.take_wetness(state);
                self.take_beds(rest, state);
            }
            return;
        }
        let surface = state.relief.as_ref().map_or_else(|| rest.surface.clone(), |r| r.connect());
        self.install(params, rest, state, surface);
    }

    /// Takes a surface over, as it was connected.
    pub(super) fn install(
        &mut self,
        params: &DropsParams,
        rest: &DropsRest,
        state: &DropsState,
        surface: Surface,
    ) {
        let relief = state.relief.as_deref().unwrap_or(&rest.home);
        self.surface = surface;
        self.site = Site::new(rest, params, relief, &self.surface);
        self.take_wetness(state);
        self.take_beds(rest, state);
        if !self.is_ready {
            self.bodies = Bodies::new(&self.site);
            self.names = OutputNames::new(&params.name);
        }
        // Triangles have other numbers now.
        self.strip_mesh.forget();
        self.moved_since_shown = true;
        self.since = state.relief.as_ref().map(|r| r.since);
        self.is_ready = true;
    }

    /// Takes over where the grounds of pools stand.
    fn take_beds(&mut self, rest: &DropsRest, state: &DropsState) {
        self.grounds.resize_with(rest.pools.len(), || rest.pools[0].clone());
        for (ground, (start, pool)) in
            self.grounds.iter_mut().zip(rest.pools.iter().zip(&state.pools))
        {
            ground.clone_from(start);
            ground.stand_at(pool.pose);
            if !pool.bed.is_empty() {
                ground.bed.clone_from(&pool.bed);
                ground.ends.clone_from(&pool.ends);
                ground.lean = pool.lean;
            }
        }
    }

    /// Takes over what trails have done to the ground.
    fn take_wetness(&mut self, state: &DropsState) {
        for &(t, axis) in &state.axes {
            self.surface.axes[t as usize] = axis;
        }
        // Made again where the surface stands.
        self.surface.facets.clear();
        self.holds.clone_from(&self.site.ground.dry_holds);
        for t in state.wet.active.iter().map(|t| *t as usize) {
            self.holds[t] = self.site.ground.dry_holds[t].smoothed(state.wet.wetness[t]);
        }
        self.as_of = state.time;
    }
}

//! Storage that is reused from tick to tick. Nothing in it is needed to go on.

use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::air::AirAround;
use super::bodies::{HairBody, PosedBody};
use super::fit;
use super::interact::Interactions;
use super::params::HairParams;
use super::rest::{HairRest, RootPose, SkinPoint};
use super::soaking::Passed;
use super::strands::RootGuesses;
use super::tick::TickRoom;
use super::wind::WindShadow;
use crate::character::{Pose, Sampling};
use crate::geometry::{Mesh, MeshTopology};
use crate::stage::{ActorSet, ColliderSet, Curves, Frame, LayerError, SurfaceMotion};

/// Storage of the passes.
#[derive(Default)]
pub struct HairScratch {
    /// The parameters with their preset put in.
    pub(super) dressed: Option<Box<HairParams>>,
    pub(super) roots: Vec<RootPose>,
    pub(super) bodies: Bodies,
    pub(super) surfaces: Surfaces,
    pub(super) air_around: AirAround,
    pub(super) places: Places,
    /// Root of every hair on the skin [m].
    pub(super) skin: Vec<Vec3>,
    pub(super) accelerations: Vec<Vec3>,
    pub(super) air: Vec<Vec3>,
    pub(super) wetness: Vec<f32>,
    /// Drops that fall through each wisp in a tick.
    pub(super) passed: Vec<Vec<Passed>>,
    /// What is left of each drop in the air [kg].
    pub(super) left: Vec<f32>,
    pub(super) of_root: Vec<Vec<u32>>,
    pub(super) jumped: Vec<bool>,
    /// Where the parts of a tick's work are done.
    pub(super) rooms: Vec<Box<TickRoom>>,
    pub(super) ties: Vec<f64>,
    pub(super) braids: Vec<f64>,
    pub(super) interactions: Interactions,
    pub(super) shadow: WindShadow,
    /// All hairs, where only some are shown.
    pub(super) all: Curves,
    /// What lay beneath the points of every root's hairs when they were shown last.
    pub(super) guesses: Vec<RootGuesses>,
}

/// Bodies that stop the hair during a tick.
#[derive(Default)]
pub(super) struct Bodies {
    all: Vec<HairBody>,
    /// All of them at the end of every sub-step.
    pub posed: Vec<Vec<PosedBody>>,
    pose_before: Pose,
}

impl Bodies {
    /// The bodies of a tick: fitted ellipsoids, then the scene's colliders. `before`: when it began.
    pub fn gather(
        &mut self,
        (params, rest): (&HairParams, &HairRest),
        (colliders, actors): (&ColliderSet, &ActorSet),
        before: f64,
        substeps: usize,
    ) {
        self.all.clear();
        if let Some(first) = rest.fitted.first() {
            let pose_before = &mut self.pose_before;
            // Only the pose of now is kept by the stage; the one before is taken from the clip again.
            actors.all()[first.actor].pose_at(before, Sampling::AsAuthored, pose_before);
            let now = actors.pose(first.actor);
            let friction = params.body.friction;
            let fitted = rest.fitted.iter().map(|f| fit::body(f, pose_before, now, friction));
            self.all.extend(fitted);
        }
        let wanted = &params.body.colliders;
        let chosen = colliders
            .all()
            .iter()
            .filter(|c| wanted.as_ref().is_none_or(|names| names.contains(&c.name)));
        self.all.extend(chosen.map(HairBody::of_collider));
        self.posed.resize_with(substeps, Vec::new);
        for (s, posed) in self.posed.iter_mut().enumerate() {
            let at = |k: usize| k as f32 / substeps as f32;
            posed.clear();
            posed.extend(self.all.iter().map(|b| PosedBody::new(b, at(s), at(s + 1))));
        }
    }

    /// All of them at the end of the tick.
    pub fn at_the_end(&self) -> &[PosedBody] {
        self.posed.last().map_or(&[], Vec::as_slice)
    }
}

/// Meshes that stop the hair, over a tick.
#[derive(Default)]
pub(super) struct Surfaces {
    pub all: Vec<SurfaceMotion>,
    /// Time up to which they have been brought [s].
    time: Option<f64>,
}

impl Surfaces {
    /// Brings the meshes over a step that ends at `time`; `saved` are their positions when it began.
    pub fn advance(
        &mut self,
        (params, rest): (&HairParams, &HairRest),
        frame: &Frame,
        saved: &[Vec<Vec3>],
        (time, dt): (f64, f64),
    ) {
        // A scratch may be lost, or last have shown another moment: only what ended where this step begins is gone on
        // with.
        let follows = |at: f64| (at - (time - dt)).abs() < 1.0e-9;
        if !self.time.is_some_and(follows) {
            self.all.clone_from(&rest.meshes);
            for (mesh, saved) in self.all.iter_mut().zip(saved) {
                mesh.restore(saved.clone());
            }
        }
        self.update(params, frame, dt);
        self.time = Some(time);
    }

    /// Brings the meshes to where they are shown, if a step has not already.
    pub fn show(&mut self, (params, rest): (&HairParams, &HairRest), frame: &Frame) {
        if self.time.is_none_or(|at| (at - frame.time).abs() > 1.0e-9) {
            self.all.clone_from(&rest.meshes);
            self.update(params, frame, 0.0);
            // A step must take up what was saved, not this.
            self.time = None;
        }
    }

    fn update(&mut self, params: &HairParams, frame: &Frame, dt: f64) {
        for (mesh, name) in self.all.iter_mut().zip(&params.body.meshes) {
            if let Some(index) = frame.mesh_index(name) {
                mesh.update(&frame.meshes[index], dt);
            }
        }
    }
}

/// Where the roots are on the mesh as it is now: earlier layers may have refined it.
#[derive(Default)]
pub(super) struct Places {
    topology: Option<Arc<MeshTopology>>,
    pub wisps: Vec<SkinPoint>,
    pub hairs: Vec<SkinPoint>,
}

impl Places {
    /// Looks the roots up again if the triangles have changed since.
    pub fn find(&mut self, rest: &HairRest, mesh: &Mesh) -> Result<(), LayerError> {
        // The same triangles by their address: layers before this one make a new topology when they change it.
        if self.topology.as_ref().is_some_and(|t| Arc::ptr_eq(t, &mesh.topology)) {
            return Ok(());
        }
        let topology = &mesh.topology;
        if topology.root_vertex_count() != rest.skin_vertices
            || mesh.positions.len() < rest.skin_vertices
        {
            let problem = format!(
                "the triangles of {:?} are no longer those that hair was planted on: grow hair on a \
                 mesh that keeps its triangles or only refines them",
                mesh.name
            );
            return Err(LayerError::parameter("on", problem));
        }
        let refined = topology.ancestry.is_some();
        let here = |p: &SkinPoint| {
            if !refined {
                return *p;
            }
            let (triangle, barycentric) = topology.from_root(p.triangle, p.barycentric);
            SkinPoint { triangle, barycentric }
        };
        self.wisps.clear();
        self.wisps.extend(rest.roots.iter().map(|r| here(&r.skin)));
        self.hairs.clear();
        self.hairs.extend(rest.hair_roots.iter().map(here));
        self.topology = Some(Arc::clone(topology));
        Ok(())
    }

    /// Where all hairs' roots are.
    pub fn hair_roots(&self, mesh: &Mesh, out: &mut Vec<Vec3>) {
        let (triangles, positions) = (&mesh.topology.triangles, &mesh.positions);
        // There may be a hundred thousand of them.
        let places = self.hairs.par_iter().with_min_len(1024);
        places.map(|p| p.place(triangles, positions)).collect_into_vec(out);
    }

    /// Where all wisps' roots are.
    pub fn poses(&self, rest: &HairRest, mesh: &Mesh, out: &mut Vec<RootPose>) {
        out.clear();
        let all = rest.roots.iter().zip(&self.wisps);
        out.extend(all.map(|(root, place)| root.pose(place, mesh)));
    }
}

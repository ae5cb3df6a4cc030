//! The air around meshes in which hairs are laid: most of it is free, and need not be searched for triangles.

use std::sync::Arc;

use glam::{BVec4A, Vec3, Vec4};

use super::lanes::Lanes;
use super::params::HairParams;
use super::rest::HairRest;
use super::strands::StrandInput;
use crate::geometry::{Bounds, FreeWays, MeshTopology, OpenAir};
use crate::stage::SurfaceMotion;

/// Side of a cell of air [m].
///
/// Of four to fourteen millimetres, six to ten were quickest on a head that stands still and fourteen on one that moves, whose
/// cells have to be found anew for every picture. Twelve lies between; all were within 8 % of each other on the one, and 7 % apart on the other
/// from ten to fourteen.
const SIDE: f32 = 0.012;

/// The air around all meshes.
#[derive(Default)]
pub(super) struct AirAround {
    pub all: Vec<OpenAir>,
    /// What each was begun for.
    begun: Vec<Begun>,
}

/// A mesh where it was, and the box around it that was asked about.
#[derive(Default)]
struct Begun {
    topology: Option<Arc<MeshTopology>>,
    positions: Vec<Vec3>,
    within: Bounds,
    reach: f32,
}

impl AirAround {
    /// Begins anew around the meshes that have moved. `skin`: roots of all hairs.
    pub fn begin(
        &mut self,
        meshes: &[SurfaceMotion],
        skin: &[Vec3],
        (params, rest): (&HairParams, &HairRest),
    ) {
        self.all.resize_with(meshes.len(), OpenAir::default);
        self.begun.resize_with(meshes.len(), Begun::default);
        if meshes.is_empty() {
            return;
        }
        let longest = rest.roots.iter().map(|root| root.length).fold(0.0, f32::max);
        let way = longest / (params.strands.points.max(2) - 1) as f32;
        // Half a way, and from anywhere in a cell to its middle.
        let reach = 0.6 * way + SIDE + params.body.margin;
        let hair = Bounds::of(skin).grown(1.1 * longest);
        for (mesh, (air, begun)) in meshes.iter().zip(self.all.iter_mut().zip(&mut self.begun)) {
            let within = mesh.bvh().bounds().grown(reach).shared_with(hair);
            if !begun.holds(mesh, within, reach) {
                begun.take(mesh, within, reach);
                air.begin(mesh.bvh().bounds(), within, SIDE, reach);
            }
        }
    }
}

impl Begun {
    fn holds(&self, mesh: &SurfaceMotion, within: Bounds, reach: f32) -> bool {
        let inside =
            within.min.cmpge(self.within.min).all() && within.max.cmple(self.within.max).all();
        let same =
            self.topology.as_ref().zip(mesh.topology()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
        same && inside && self.reach == reach && self.positions == mesh.positions()
    }

    fn take(&mut self, mesh: &SurfaceMotion, within: Bounds, reach: f32) {
        self.topology = mesh.topology().cloned();
        self.positions.clear();
        self.positions.extend_from_slice(mesh.positions());
        (self.within, self.reach) = (within, reach);
    }
}

/// What is known of four ways among meshes, without a look at triangles.
#[derive(Clone, Copy, Default)]
pub(super) struct KnownWays {
    /// Those that touch nothing.
    pub free: BVec4A,
    /// Those of which the second half does not, nor is anything too near to their middles and ends.
    pub beyond: BVec4A,
    /// At least so high are their middles and their ends [m].
    pub halfway: Vec4,
    pub heights: Vec4,
}

impl KnownWays {
    /// Of the ways from the last points of four hairs to the next, among the meshes whose bits are set.
    pub fn to(input: &StrandInput, (last, at): (&Lanes, &Lanes), meshes: u8) -> Self {
        // Higher than where a way is looked along from, and than where its middle and its end are kept, by what rounding
        // may be: none that is free would be turned, nor crosses anything.
        let lift = super::limits::LIFT;
        let end = input.margin.max(2.0 * lift);
        let [start, middle, end] =
            [lift, lift.max(0.5 * end), end].map(|height| height + super::limits::FREE_SLACK);
        let free = |ways: (&Lanes, &Lanes), least: [f32; 2], asked: BVec4A| {
            free_ways(input, ways, meshes, (least, asked))
        };
        let whole = free((last, at), [start, end], BVec4A::splat(true));
        let mut known = Self {
            free: whole.free,
            beyond: whole.free,
            halfway: Vec4::ZERO,
            heights: whole.heights[1],
        };
        if !known.free.all() {
            // Halves stray less from the planes of their cells.
            let halfway = (*last + *at) * 0.5;
            let later = free((&halfway, at), [middle, end], !whole.free);
            known.beyond |= later.free;
            known.halfway = later.heights[0];
            known.heights = known.heights.max(later.heights[1]);
            if later.free.any() {
                known.free |= free((last, &halfway), [start, middle], later.free).free;
            }
        }
        known
    }
}

/// Ways that touch none of the meshes whose bits are set: the same question to the air around each.
fn free_ways(
    input: &StrandInput,
    (starts, ends): (&Lanes, &Lanes),
    meshes: u8,
    (least, asked): ([f32; 2], BVec4A),
) -> FreeWays {
    let ways = ([starts.x, starts.y, starts.z], [ends.x, ends.y, ends.z]);
    let mut all = FreeWays { free: asked, heights: [Vec4::INFINITY; 2] };
    let mut count = 0;
    let around = input.meshes.iter().zip(input.air).take(8).enumerate();
    for (_, (mesh, air)) in around.filter(|(k, _)| meshes >> k & 1 == 1) {
        let own = air.free_ways(mesh.bvh(), ways, least, all.free);
        let heights = [0, 1].map(|k| all.heights[k].min(own.heights[k]));
        all = FreeWays { free: own.free, heights };
        count += 1;
    }
    // Of meshes without air around them nothing is known.
    if count < meshes.count_ones() { FreeWays::default() } else { all }
}

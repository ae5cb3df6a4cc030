//! From parameters to what never changes.

use glam::DVec3;

use super::attach::Attachments;
use super::body::GarmentBody;
use super::build_cloth::RestInput;
use super::dress::Dressing;
use super::local::{self, Local, SoftPin};
use super::lookup::{
    check_cycle, find_bodies, find_colliders, find_mesh, find_ridges, find_stitches,
    select_vertices, wearer,
};
use super::params::ClothParams;
use super::refine::Refinement;
use super::rest::{ClothRest, Garment, WholeCloth};
use super::ridges::Ridges;
use super::self_contact::SelfContacts;
use super::sew::Stitch;
use super::tear::Tears;
use super::together;
use crate::geometry::Mesh;
use crate::stage::{BuildContext, LayerError, Selection};
use crate::tolerances::cloth as limits;

impl Garment {
    /// Resolves names and builds everything.
    pub fn build(params: &ClothParams, context: &BuildContext) -> Result<Self, LayerError> {
        let wanted = params.dressing > 0.0 && !params.bodies.is_empty();
        let wearer = wearer(params, context);
        let mut dressing =
            if wanted { Dressing::new(context, wearer) } else { Dressing::default() };
        // Everything that follows measures in the pose in which the garment is put on.
        let mut start = context.frame.clone();
        dressing.interpolate(context.frame, 0.0, &mut start);
        if let Ok(cloth) = find_mesh(context, "on", &params.on) {
            let bodies = params.bodies.iter().filter_map(|b| start.mesh_index(b));
            let bodies: Vec<&Mesh> = bodies.map(|b| &start.meshes[b]).collect();
            dressing.face(&start.meshes[cloth], &bodies);
        }
        Self::dressed(params, dressing, &BuildContext { frame: &start, ..*context })
    }

    fn dressed(
        params: &ClothParams,
        dressing: Dressing,
        context: &BuildContext,
    ) -> Result<Self, LayerError> {
        check_cycle(params, context.clock)?;
        let mesh_index = find_mesh(context, "on", &params.on)?;
        let parts = together::find_parts(params, context, mesh_index)?;
        let coarse = &together::join(context.frame, mesh_index, &parts);
        let refinement = (params.subdivide > 0).then(|| Refinement::new(coarse, params.subdivide));
        let mesh = &refinement.as_ref().map_or_else(|| coarse.clone(), |r| r.mesh(coarse));
        let select = |field: &str, s: &Selection| {
            let mut chosen = select_vertices(context, mesh_index, field, s)?;
            refinement.iter().for_each(|r| r.spread(&mut chosen));
            Ok(chosen)
        };
        let mut attachments = Attachments::build(params, context, mesh, select)?;
        attachments.pin(&together::held(params, context, &parts)?);
        let mut held = vec![false; mesh.positions.len()];
        for hold in attachments.holds.iter().filter(|h| h.is_for_ever()) {
            held[hold.vertex as usize] = true;
        }
        let paint = |field: &str, s: &Selection| {
            let mut weights = context.select(field, mesh_index, s)?;
            weights.resize(coarse.positions.len(), 0.0);
            Ok(match &refinement {
                Some(r) => r.spread_weights(&weights),
                None => weights,
            })
        };
        let count = mesh.positions.len();
        let locals = local::locals(params, count, select, paint)?;
        let ridges = find_ridges(params, context, (mesh_index, mesh), refinement.as_ref())?;
        let gravity = f64::from(context.forces.gravity.length());
        let points = together::points(context.frame, mesh_index, &parts);
        let cloth = build_cloth(params, (mesh, &points), (&held, &locals, &ridges), gravity)?;
        attachments.number(&cloth.node_of_vertex);
        let thickness = thickness(params, &cloth);
        let at_rest = cloth.node_positions(&mesh.positions);
        let mut bodies = find_bodies(params, context, (mesh_index, &parts))?;
        bury(&mut bodies, &at_rest, &attachments);
        let is_resized = locals.iter().any(|local| local.size != 1.0);
        let whole = params.tear.map(|_| {
            let (mesh, params) = (mesh.clone(), params.clone());
            WholeCloth { mesh, params, held, locals, ridges, gravity }
        });
        let stitches = find_stitches(params, &cloth, &at_rest, select)?;
        let soft = local::soft_pins(params, &cloth, paint)?;
        let self_contacts = self_contacts(params, &cloth, &at_rest, (&stitches, thickness));
        let held = held_nodes(&cloth, &attachments);
        Ok(Self {
            mesh: mesh_index,
            incoming_vertices: context.frame.meshes[mesh_index].positions.len(),
            parts,
            cloth,
            at_rest,
            refinement,
            attachments,
            held,
            bodies,
            colliders: find_colliders(params, context)?,
            thickness,
            self_contacts,
            stitches,
            soft,
            dressing,
            is_resized,
            ticks_per_frame: context.clock.ticks_per_frame(),
            whole,
            torn: None,
        })
    }

    /// The same garment with tears in it; `None` where they cannot be its own.
    pub fn torn(&self, tears: &Tears) -> Option<Self> {
        let whole = self.whole.as_ref().filter(|whole| tears.are_of(&whole.mesh))?;
        let mesh = tears.mesh(&whole.mesh);
        let mut held = whole.held.clone();
        // What is torn off a held vertex is not held.
        held.resize(mesh.positions.len(), false);
        let (locals, ridges) =
            (tears.copied(&whole.locals), whole.ridges.with_copies(&tears.copies));
        let (points, parts) = (tears.points(), (&*held, &*locals, &ridges));
        let cloth = build_cloth(&whole.params, (&mesh, &points), parts, whole.gravity).ok()?;
        let at_rest = cloth.node_positions(&mesh.positions);
        let mut attachments = self.attachments.clone();
        attachments.number(&cloth.node_of_vertex);
        let mut bodies = self.bodies.clone();
        bury(&mut bodies, &at_rest, &attachments);
        let is_now = |node: u32| {
            let vertex = self.cloth.vertex_of_node[node as usize];
            cloth.node_of_vertex[vertex as usize]
        };
        let stitches: Vec<Stitch> = self.stitches.iter().map(|s| s.over(is_now)).collect();
        let soft = self.soft.iter().map(|pin| SoftPin { node: is_now(pin.node), ..*pin }).collect();
        let sewn = (stitches.as_slice(), self.thickness);
        let self_contacts = self_contacts(&whole.params, &cloth, &at_rest, sewn);
        // Nodes that sit on a tear have other numbers now.
        let held = held_nodes(&cloth, &attachments);
        Some(Self {
            mesh: self.mesh,
            incoming_vertices: self.incoming_vertices,
            // Garments together do not tear.
            parts: Vec::new(),
            cloth,
            at_rest,
            // Its mesh is as fine as the whole one was made.
            refinement: None,
            attachments,
            held,
            bodies,
            colliders: self.colliders.clone(),
            thickness: self.thickness,
            self_contacts,
            stitches,
            soft,
            // It was put on, and took its sizes, before it tore.
            dressing: Dressing::default(),
            is_resized: false,
            ticks_per_frame: self.ticks_per_frame,
            whole: None,
            torn: Some(mesh.topology),
        })
    }
}

/// Finds what of the cloth cannot come out of its bodies, because of what is always held.
fn bury(bodies: &mut [GarmentBody], at_rest: &[DVec3], attachments: &Attachments) {
    for body in bodies {
        let always = attachments.holds.iter().filter(|h| h.is_for_ever());
        body.bury(at_rest, always.map(|h| h.node));
    }
}

/// What finds contacts of the cloth with itself; nothing where it may pass through itself.
fn self_contacts(
    params: &ClothParams,
    cloth: &ClothRest,
    at_rest: &[DVec3],
    (stitches, thickness): (&[Stitch], f64),
) -> SelfContacts {
    match params.self_collision || !params.with.is_empty() {
        true => SelfContacts::new(cloth, at_rest, stitches, thickness),
        false => SelfContacts::default(),
    }
}

/// Whether each node is ever held.
fn held_nodes(cloth: &ClothRest, attachments: &Attachments) -> Vec<bool> {
    let mut held = vec![false; cloth.node_count()];
    attachments.holds.iter().for_each(|h| held[h.node as usize] = true);
    held
}

/// `points` says which vertices are one where places do not.
fn build_cloth(
    params: &ClothParams,
    (mesh, points): (&Mesh, &[u32]),
    (held, locals, ridges): (&[bool], &[Local], &Ridges),
    gravity: f64,
) -> Result<ClothRest, LayerError> {
    let topology = &mesh.topology;
    if params.threads == super::Threads::Uv && topology.uvs.is_empty() {
        let problem = "the mesh has no uv to take warp and weft from";
        return Err(LayerError::parameter("threads", problem));
    }
    let rest = ClothRest::build(&RestInput {
        positions: &mesh.positions,
        triangles: &topology.triangles,
        points,
        uvs: &topology.uvs,
        held,
        locals,
        ridges,
        moduli: params.moduli(),
        air_mass: params.air_mass,
        threads: params.threads,
        rest_angles: params.rest_angles,
        tethers: params.tethers,
        gravity,
    })
    .map_err(|problem| LayerError::parameter("on", problem))?;
    let airs = [("pressure", &params.pressure), ("overpressure", &params.overpressure)];
    for (field, _) in airs.into_iter().filter(|(_, air)| air.is_some()) {
        if !rest.closed {
            let problem =
                format!("the mesh is open: air would escape; close it or leave `{field}` out");
            return Err(LayerError::parameter(field, problem));
        }
        if rest.volume <= 0.0 {
            let problem = "the mesh encloses no volume: are its triangles turned inside out?";
            return Err(LayerError::parameter(field, problem));
        }
    }
    Ok(rest)
}

fn thickness(params: &ClothParams, rest: &ClothRest) -> f64 {
    let coarse = limits::THICKNESS_EDGES * rest.mean_edge;
    params.thickness.unwrap_or_else(|| params.moduli().thickness.max(coarse))
}

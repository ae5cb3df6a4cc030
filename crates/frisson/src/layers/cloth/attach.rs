//! What holds the cloth: the incoming mesh, surfaces, joints, paths; and what it sticks to.

use glam::{DVec3, Mat3, Vec3};

use super::body::GarmentBody;
use super::params::ClothParams;
use super::state::{ClothState, Stuck};
use crate::geometry::Mesh;
use crate::stage::{Animated, BuildContext, LayerError, Selection, StepContext, SurfaceMotion};

/// A node of the cloth that is held, and by what.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The vertex (of the incoming mesh) that stands for it.
    pub vertex: u32,
    /// Its node; set when the nodes are numbered.
    pub node: u32,
    /// What holds it.
    pub by: Holder,
    /// Frames between which it is held.
    pub frames: (f64, f64),
}

impl Hold {
    /// Whether it is never let go.
    pub fn is_for_ever(&self) -> bool {
        self.frames == (f64::NEG_INFINITY, f64::INFINITY)
    }
}

/// What holds a node.
#[derive(Clone, Debug)]
pub enum Holder {
    /// The incoming mesh.
    Incoming,
    /// A joint: actor, node of the skeleton, place in its space.
    Joint(usize, usize, Vec3),
    /// A place over a triangle of a surface: which surface, triangle, weights, offset.
    Surface(usize, u32, [f32; 3], Vec3),
    /// A displacement from the start: which attachment, where it started.
    Path(usize, DVec3),
}

/// A sticky attachment.
#[derive(Clone, Debug)]
pub struct Sticky {
    /// Index of the attachment.
    pub attachment: usize,
    /// Surface that catches.
    pub carrier: usize,
    /// Vertices that can be caught.
    pub vertices: Vec<u32>,
    /// Their nodes; set when the nodes are numbered.
    pub nodes: Vec<u32>,
    /// Catches when nearer than this [m].
    pub within: f64,
    /// Lets go when pulled farther than this [m].
    pub beyond: f64,
}

/// All that holds the cloth.
#[derive(Clone, Default)]
pub struct Attachments {
    /// Held vertices.
    pub holds: Vec<Hold>,
    /// Surfaces that carry or catch, as they were built.
    pub carriers: Vec<GarmentBody>,
    /// Sticky ones.
    pub sticky: Vec<Sticky>,
    paths: Vec<Option<[Animated; 3]>>,
}

impl Attachments {
    /// Resolves names and places at the start.
    pub fn build(
        params: &ClothParams,
        context: &BuildContext,
        mesh: &Mesh,
        select: impl Fn(&str, &Selection) -> Result<Vec<u32>, LayerError>,
    ) -> Result<Self, LayerError> {
        let mut all = Self::default();
        // A mesh that comes with a region called `pins` means it, unless the scene says otherwise.
        let own = mesh.topology.regions.contains_key("pins");
        let by_default = Selection { region: Some("pins".to_owned()), ..Selection::default() };
        let wanted = params.pins.as_ref().or(own.then_some(&by_default));
        if let Some(pins) = wanted.filter(|pins| !pins.is_empty_list()) {
            all.pin(&select("pins", pins)?);
        }
        for (index, attachment) in params.attachments.iter().enumerate() {
            let field = |key: &str| format!("attachments[{index}].{key}");
            all.paths.push(attachment.path.clone());
            let vertices = select(&field("vertices"), &attachment.vertices)?;
            let frames = (
                attachment.from_frame.unwrap_or(f64::NEG_INFINITY),
                attachment.until_frame.unwrap_or(f64::INFINITY),
            );
            if let Some(name) = &attachment.joint {
                let (actor, joint) = find_joint(context, name, &field("joint"))?;
                // Where the vertex is now, seen from the joint: from here on it goes with the joint rigidly.
                let inverse = context.actors.pose(actor).world_from_node[joint].inverse();
                for v in vertices {
                    let local = inverse.transform_point3(mesh.positions[v as usize]);
                    all.hold(v, Holder::Joint(actor, joint, local), frames);
                }
            } else if attachment.path.is_some() {
                for v in vertices {
                    let start = mesh.positions[v as usize].as_dvec3();
                    all.hold(v, Holder::Path(index, start), frames);
                }
            } else if let Some(name) = &attachment.surface {
                let carrier = all.carrier(context, name, &field("surface"))?;
                match attachment.stick_within {
                    Some(within) => all.sticky.push(Sticky {
                        attachment: index,
                        carrier,
                        nodes: Vec::new(),
                        vertices,
                        within,
                        beyond: attachment.release_beyond.unwrap_or(f64::INFINITY),
                    }),
                    // Never caught, so never torn off: it is held from the start.
                    None => all.hold_on_surface(carrier, &vertices, frames, mesh),
                }
            }
        }
        Ok(all)
    }

    /// Takes over the numbers of the nodes.
    pub fn number(&mut self, node_of_vertex: &[u32]) {
        for hold in &mut self.holds {
            hold.node = node_of_vertex[hold.vertex as usize];
        }
        // One place per node: the first hold of a welded node counts.
        self.holds.sort_by_key(|h| h.node);
        self.holds.dedup_by_key(|h| (h.node, h.frames.0.to_bits()));
        for sticky in &mut self.sticky {
            sticky.nodes = sticky.vertices.iter().map(|&v| node_of_vertex[v as usize]).collect();
            sticky.nodes.sort_unstable();
            sticky.nodes.dedup();
        }
    }

    /// Holds vertices for ever where the incoming mesh has them.
    pub fn pin(&mut self, vertices: &[u32]) {
        let always = (f64::NEG_INFINITY, f64::INFINITY);
        vertices.iter().for_each(|&v| self.hold(v, Holder::Incoming, always));
    }

    fn hold(&mut self, vertex: u32, by: Holder, frames: (f64, f64)) {
        self.holds.push(Hold { vertex, node: 0, by, frames });
    }

    fn carrier(
        &mut self,
        context: &BuildContext,
        name: &str,
        field: &str,
    ) -> Result<usize, LayerError> {
        let names = || context.frame.meshes.iter().map(|m| m.name.as_str());
        let mesh = context
            .frame
            .mesh_index(name)
            .ok_or_else(|| LayerError::unknown(field, "mesh", name, names()))?;
        // One copy of a surface for all that hang on it: following it through a tick is what costs.
        if let Some(index) = self.carriers.iter().position(|c| c.mesh == mesh) {
            return Ok(index);
        }
        self.carriers.push(GarmentBody::of(mesh, &context.frame.meshes[mesh], |_| true));
        Ok(self.carriers.len() - 1)
    }

    /// Holds each vertex at its place over the nearest triangle.
    fn hold_on_surface(
        &mut self,
        carrier: usize,
        vertices: &[u32],
        frames: (f64, f64),
        mesh: &Mesh,
    ) {
        for &v in vertices {
            let p = mesh.positions[v as usize];
            let surface = &self.carriers[carrier].surface;
            if let Some((_, hit)) = surface.signed_distance(p, f32::MAX) {
                let offset = offset_at(surface, hit.triangle, p - hit.point);
                let by = Holder::Surface(carrier, hit.triangle, hit.barycentric, offset);
                self.hold(v, by, frames);
            }
        }
    }

    /// Whether nodes follow the mesh as it comes in.
    pub fn follow_incoming(&self) -> bool {
        self.holds.iter().any(|h| matches!(h.by, Holder::Incoming))
    }

    /// Whether a hold is on at a frame.
    pub fn is_on(hold: &Hold, frame: f64) -> bool {
        frame >= hold.frames.0 && frame < hold.frames.1
    }

    /// Where a held node is at the end of the tick; `incoming` is the mesh as it comes in, `carriers` are
    /// the surfaces at that time. `None` where a surface no longer has the place.
    pub fn place(
        &self,
        hold: &Hold,
        context: &StepContext,
        (carriers, incoming): (&[GarmentBody], &[Vec3]),
    ) -> Option<DVec3> {
        // Places at the end of the tick; the small steps go there from where the node is.
        let place = match &hold.by {
            Holder::Incoming => incoming.get(hold.vertex as usize)?.as_dvec3(),
            Holder::Joint(actor, joint, local) => {
                let world = context.actors.pose(*actor).world_from_node[*joint];
                world.transform_point3(*local).as_dvec3()
            }
            Holder::Surface(carrier, triangle, barycentric, offset) => {
                over(&carriers[*carrier].surface, *triangle, *barycentric, *offset, 1.0)?
            }
            Holder::Path(index, start) => {
                let frame = context.frame_number();
                let path = self.paths.get(*index).and_then(Option::as_ref)?;
                let moved = DVec3::from_array(std::array::from_fn(|i| path[i].at(frame)));
                *start + moved
            }
        };
        Some(place)
    }

    /// Catches and releases sticky nodes at the end of a tick.
    pub fn catch_and_release(
        &self,
        carriers: &[GarmentBody],
        state: &mut ClothState,
        frame: f64,
        params: &ClothParams,
    ) {
        let on = |attachment: usize| {
            let a = &params.attachments[attachment];
            a.from_frame.is_none_or(|f| frame >= f) && a.until_frame.is_none_or(|f| frame < f)
        };
        let positions = &state.positions;
        state.stuck.retain(|s| {
            let Some(sticky) = self.sticky.iter().find(|k| k.attachment == s.attachment as usize)
            else {
                return false;
            };
            let surface = &carriers[sticky.carrier].surface;
            let anchor = over(surface, s.triangle, s.barycentric, s.offset, 1.0);
            let far = |anchor: DVec3| positions[s.node as usize].distance(anchor) > sticky.beyond;
            on(sticky.attachment) && anchor.is_some_and(|anchor| !far(anchor))
        });
        for sticky in self.sticky.iter().filter(|k| on(k.attachment)) {
            let surface = &carriers[sticky.carrier].surface;
            for &node in &sticky.nodes {
                // Caught once: a second surface must not take it over, or it would be torn to and fro.
                if state.stuck.iter().any(|s| s.node == node) {
                    continue;
                }
                let p = state.positions[node as usize].as_vec3();
                if let Some((_, hit)) = surface.signed_distance(p, sticky.within as f32) {
                    state.stuck.push(Stuck {
                        node,
                        attachment: sticky.attachment as u32,
                        triangle: hit.triangle,
                        barycentric: hit.barycentric,
                        offset: offset_at(surface, hit.triangle, p - hit.point),
                    });
                }
            }
        }
    }

    /// Where a stuck node belongs at a fraction of the tick.
    pub fn stuck_place(
        &self,
        carriers: &[GarmentBody],
        stuck: &Stuck,
        fraction: f32,
    ) -> Option<DVec3> {
        let sticky = self.sticky.iter().find(|k| k.attachment == stuck.attachment as usize)?;
        let surface = &carriers[sticky.carrier].surface;
        over(surface, stuck.triangle, stuck.barycentric, stuck.offset, fraction)
    }
}

/// Axes of a triangle at a fraction of the tick: along its first side, across, normal.
fn axes(surface: &SurfaceMotion, triangle: u32, fraction: f32) -> Mat3 {
    let corner = |k: usize| {
        let mut weights = [0.0; 3];
        weights[k] = 1.0;
        surface.point(triangle, weights, fraction)
    };
    let side = (corner(1) - corner(0)).normalize_or(Vec3::X);
    // The triangle's own axes and not the smooth normal: an offset must come back to the bit when the triangle does.
    let normal = side.cross(corner(2) - corner(0)).normalize_or(Vec3::Y);
    Mat3::from_cols(side, normal.cross(side), normal)
}

/// An offset in the axes of a triangle at the end of the tick.
fn offset_at(surface: &SurfaceMotion, triangle: u32, offset: Vec3) -> Vec3 {
    axes(surface, triangle, 1.0).transpose() * offset
}

/// A place over a triangle; `None` when the surface does not have the triangle any more.
fn over(
    surface: &SurfaceMotion,
    triangle: u32,
    barycentric: [f32; 3],
    offset: Vec3,
    fraction: f32,
) -> Option<DVec3> {
    // A surface may have been cut anew since: what was said about its triangles means nothing then.
    if triangle as usize >= surface.bvh().triangle_count() {
        return None;
    }
    let p = surface.point(triangle, barycentric, fraction);
    Some((p + axes(surface, triangle, fraction) * offset).as_dvec3())
}

fn find_joint(
    context: &BuildContext,
    name: &str,
    field: &str,
) -> Result<(usize, usize), LayerError> {
    let Some((actor_name, joint_name)) = name.split_once('/') else {
        return Err(LayerError::parameter(field, "write it as `actor/joint`"));
    };
    let names = || context.actors.all().iter().map(|a| a.name.as_str());
    let actor = context
        .actors
        .find(actor_name)
        .ok_or_else(|| LayerError::unknown(field, "actor", actor_name, names()))?;
    let Some(character) = context.actors.all()[actor].character() else {
        return Err(LayerError::parameter(field, "this actor has no joints"));
    };
    let joints = || character.skeleton.nodes().iter().map(|n| n.name.as_str());
    let joint = character
        .skeleton
        .find(joint_name)
        .ok_or_else(|| LayerError::unknown(field, "joint", joint_name, joints()))?;
    Ok((actor, joint))
}

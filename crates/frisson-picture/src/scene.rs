//! A frame made ready for rays.

use std::sync::Arc;

use frisson::geometry::{
    AttributeValues, Bounds, Material, Mesh, MeshTopology, NormalGroups, NormalScratch, Texture,
    Topology,
};
use frisson::stage::{Curves, Frame, Points};
use glam::{Vec3, Vec3A};
use obvhs::rt_triangle::RtTriangle;

use crate::accel::Bvh;
use crate::look::{GroundChoice, Look, Tint};
use crate::overlay::{self, HeatScale};
use crate::shape::{Ball, Segment};
use crate::{PictureError, strands};

/// Width of velocity lines, as a share of what is shown [-].
const VELOCITY_WIDTH: f32 = 0.001;

/// A mesh as the shading sees it.
pub(crate) struct SceneMesh {
    pub topology: Arc<MeshTopology>,
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    /// One colour per vertex instead of the materials'; empty: none.
    pub tint: Vec<Vec3A>,
    pub materials: Vec<Material>,
    /// How wet each vertex is, 0 to 1; empty if nothing is.
    pub wetness: Vec<f32>,
    /// The same in its texture coordinates, where that was drawn.
    pub wet_image: Option<Arc<Texture>>,
    /// What has dried on each vertex: its colour and how much of the ground it covers, 0 to 1; empty if
    /// nothing has.
    pub stains: Vec<(Vec3A, f32)>,
    /// Whether it has a border: what is clear in it has no inside.
    pub is_open: bool,
}

impl SceneMesh {
    pub fn material(&self, triangle: u32) -> &Material {
        let of = self.topology.triangle_materials.get(triangle as usize).copied().unwrap_or(0);
        self.materials.get(of as usize).unwrap_or(&self.materials[0])
    }
}

/// A strand as the shading sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strand {
    pub color: Vec3A,
    /// Tilt of its scales [rad].
    pub tilt: f32,
    /// Shown in its own colour, unlit and casting no shadow: an overlay.
    pub flat: bool,
}

/// A frame made ready for rays.
pub struct Scene {
    pub(crate) triangles: Bvh<RtTriangle>,
    /// Mesh and triangle of each primitive before sorting.
    pub(crate) triangle_refs: Vec<(u32, u32)>,
    pub(crate) meshes: Vec<SceneMesh>,
    pub(crate) segments: Bvh<Segment>,
    pub(crate) segment_strands: Vec<u32>,
    pub(crate) strands: Vec<Strand>,
    pub(crate) balls: Bvh<Ball>,
    pub(crate) ball_materials: Vec<u32>,
    pub(crate) point_materials: Vec<Material>,
    pub(crate) ground: Option<f32>,
    pub(crate) look: Look,
    pub(crate) bounds: Bounds,
    /// Whether light may pass through something.
    pub(crate) has_clear: bool,
}

impl Scene {
    /// Makes a frame ready. What cannot be drawn is refused; triangles without area are left out.
    pub fn from_frame(frame: &Frame, look: &Look) -> Result<Self, PictureError> {
        check(frame)?;
        let heat = HeatScale::of(frame, &look.tint)?;
        let mut bounds = Bounds::EMPTY;
        let (mut triangles, mut triangle_refs, mut meshes) = (Vec::new(), Vec::new(), Vec::new());
        for mesh in &frame.meshes {
            add_triangles(mesh, meshes.len() as u32, &mut triangles, &mut triangle_refs);
            bounds = bounds.union(mesh.bounds());
            let mut built = build_mesh(mesh, look, heat.as_ref());
            let has_places = mesh.topology.uvs.len() == mesh.positions.len();
            if built.tint.is_empty() && has_places {
                let image = frame.images.iter().find(|i| i.mesh == mesh.name);
                built.wet_image = image.map(|i| Arc::clone(&i.texture));
            }
            meshes.push(built);
        }
        let mut tangle = strands::Tangle::default();
        for curves in &frame.curves {
            bounds = bounds.union(Bounds::of(&curves.points));
            tangle.add_curves(curves, &look.tint, heat.as_ref());
        }
        let mut spheres = Spheres::default();
        for points in &frame.points {
            bounds = bounds.union(Bounds::of(&points.positions));
            spheres.add(points, look, heat.as_ref());
        }
        if look.velocity_seconds > 0.0 {
            tangle.add_velocities(frame, look.velocity_seconds, VELOCITY_WIDTH * bounds.diagonal());
        }
        if triangles.is_empty() && tangle.segments.is_empty() && spheres.balls.is_empty() {
            return Err(PictureError::Empty);
        }
        let ground = match look.ground {
            GroundChoice::Auto => Some(bounds.min.y),
            GroundChoice::At(height) => Some(height),
            GroundChoice::None => None,
        };
        let has_clear = meshes.iter().flat_map(|m| &m.materials).any(|m| m.transmission > 0.0)
            || (!spheres.balls.is_empty()
                && spheres.materials.iter().any(|m| m.transmission > 0.0));
        // The three trees know nothing of each other.
        let ((triangles, segments), balls) = rayon::join(
            || rayon::join(|| Bvh::build(&triangles), || Bvh::build(&tangle.segments)),
            || Bvh::build(&spheres.balls),
        );
        Ok(Self {
            triangles,
            triangle_refs,
            meshes,
            segments,
            segment_strands: tangle.of_strand,
            strands: tangle.strands,
            balls,
            ball_materials: spheres.material_of,
            point_materials: spheres.materials,
            ground,
            look: look.clone(),
            bounds,
            has_clear,
        })
    }

    /// Box of everything in the frame, without the ground.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Number of triangles, strand pieces and balls.
    #[must_use]
    pub fn primitive_counts(&self) -> (usize, usize, usize) {
        (self.triangles.len(), self.segments.len(), self.balls.len())
    }
}

/// Farthest coordinate that is drawn [m]: the tree multiplies areas of boxes, products of four lengths.
const FARTHEST: f32 = 1e9;

/// Refuses what no ray can be traced against. A camera that is to see several frames asks for each.
pub fn check(frame: &Frame) -> Result<(), PictureError> {
    if let Some((shape, element)) = frame.find_non_finite() {
        return Err(PictureError::NonFinite { shape: shape.to_owned(), element });
    }
    let broken = |shape: &str, problem: String| {
        Err(PictureError::Broken { shape: shape.to_owned(), problem })
    };
    let meshes = frame.meshes.iter().map(|m| (&m.name, &m.positions));
    let curves = frame.curves.iter().map(|c| (&c.name, &c.points));
    let points = frame.points.iter().map(|p| (&p.name, &p.positions));
    for (name, places) in meshes.chain(curves).chain(points) {
        if let Some(i) = places.iter().position(|p| p.abs().max_element() > FARTHEST) {
            return broken(name, format!("element {i} is farther away than {FARTHEST:e} m"));
        }
    }
    for mesh in &frame.meshes {
        let count = mesh.positions.len();
        if let Some(t) =
            mesh.topology.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count))
        {
            let problem = format!("triangle {t} refers to a vertex beyond the {count} there are");
            return broken(&mesh.name, problem);
        }
    }
    for curves in &frame.curves {
        let total: usize = curves.counts.iter().map(|&c| c as usize).sum();
        if total != curves.points.len() {
            let problem =
                format!("its curves count {total} points, there are {}", curves.points.len());
            return broken(&curves.name, problem);
        }
    }
    for (name, widths) in frame
        .curves
        .iter()
        .map(|c| (&c.name, &c.widths))
        .chain(frame.points.iter().map(|p| (&p.name, &p.widths)))
    {
        if let Some(i) = widths.iter().position(|w| !(0.0..=FARTHEST).contains(w)) {
            return broken(name, format!("width {i} is {}", widths[i]));
        }
    }
    Ok(())
}

fn add_triangles(
    mesh: &Mesh,
    index: u32,
    triangles: &mut Vec<RtTriangle>,
    refs: &mut Vec<(u32, u32)>,
) {
    triangles.reserve(mesh.topology.triangles.len());
    refs.reserve(mesh.topology.triangles.len());
    for (t, corners) in mesh.topology.triangles.iter().enumerate() {
        let [a, b, c] = corners.map(|v| Vec3A::from(mesh.positions[v as usize]));
        // Without area there is no normal, and nothing to be seen.
        if (b - a).cross(c - a) != Vec3A::ZERO {
            triangles.push(RtTriangle::new(a, b, c));
            refs.push((index, t as u32));
        }
    }
}

fn build_mesh(mesh: &Mesh, look: &Look, heat: Option<&HeatScale>) -> SceneMesh {
    let count = mesh.positions.len();
    let normals = if mesh.normals.len() == count && mesh.normals.iter().all(|n| n.is_finite()) {
        mesh.normals.clone()
    } else {
        compute_normals(mesh)
    };
    let mut materials = match look.materials.get(&mesh.name) {
        Some(material) => vec![material.clone()],
        None => mesh.topology.materials.clone(),
    };
    if materials.is_empty() {
        materials.push(Material::default());
    }
    let tint = match (&look.tint, heat) {
        (Tint::Materials, _) => Vec::new(),
        (Tint::Clay, _) | (_, None) => vec![overlay::CLAY; count],
        (Tint::Attribute { .. }, Some(heat)) => heat.colors(&mesh.attributes, count),
    };
    if !tint.is_empty() {
        // A false colour must not shine or be seen through.
        for material in &mut materials {
            *material = Material { texture: None, ..Material::default() };
        }
    }
    SceneMesh {
        topology: Arc::clone(&mesh.topology),
        positions: mesh.positions.clone(),
        normals,
        stains: if tint.is_empty() { stains(mesh) } else { Vec::new() },
        wetness: match mesh.scalar("wetness") {
            Some(values) if tint.is_empty() && values.len() == count => values.to_vec(),
            _ => Vec::new(),
        },
        wet_image: None,
        is_open: materials.iter().any(is_sheet) && !is_closed(mesh),
        tint,
        materials,
    }
}

/// Whether a material is clear without an inside that would absorb: a pane, where its mesh is no closed body.
pub(crate) fn is_sheet(material: &Material) -> bool {
    material.transmission > 0.0 && material.absorption == [0.0; 3]
}

fn is_closed(mesh: &Mesh) -> bool {
    Topology::build(&mesh.positions, &mesh.topology.triangles).is_closed()
}

/// Stains with their colours, where a mesh has both.
fn stains(mesh: &Mesh) -> Vec<(Vec3A, f32)> {
    let colors = mesh.attributes.iter().find_map(|a| match &a.values {
        AttributeValues::Vector(values) if a.name == "stain_color" => Some(values),
        _ => None,
    });
    let count = mesh.positions.len();
    match (colors, mesh.scalar("stain")) {
        (Some(colors), Some(covers)) if colors.len() == count && covers.len() == count => {
            colors.iter().zip(covers).map(|(c, s)| (Vec3A::from(*c), *s)).collect()
        }
        _ => Vec::new(),
    }
}

fn compute_normals(mesh: &Mesh) -> Vec<Vec3> {
    let mut normals = Vec::new();
    let welded = if mesh.topology.smoothing.len() == mesh.positions.len() {
        Topology::default()
    } else {
        Topology::build(&mesh.positions, &mesh.topology.triangles)
    };
    NormalGroups::for_shading(&mesh.topology, &welded).compute(
        &mesh.positions,
        &mut NormalScratch::default(),
        &mut normals,
    );
    normals.resize(mesh.positions.len(), Vec3::Y);
    normals
}

#[derive(Default)]
struct Spheres {
    balls: Vec<Ball>,
    material_of: Vec<u32>,
    materials: Vec<Material>,
}

impl Spheres {
    fn add(&mut self, points: &Points, look: &Look, heat: Option<&HeatScale>) {
        let base = self.materials.len() as u32;
        let own = look.materials.get(&points.name).unwrap_or(&look.points);
        let colors = overlay::element_colors(&points.attributes, points.positions.len(), heat);
        let count = points.positions.len();
        match &colors {
            Some(colors) => self.materials.extend(
                colors
                    .iter()
                    .map(|c| Material { base_color: [c.x, c.y, c.z, 1.0], ..Material::default() }),
            ),
            None => self.materials.push(own.clone()),
        }
        for i in 0..count {
            let radius = 0.5 * points.widths.get(i).copied().unwrap_or(0.0);
            if radius > 0.0 {
                self.balls.push(Ball { center: points.positions[i].into(), radius });
                self.material_of.push(base + if colors.is_some() { i as u32 } else { 0 });
            }
        }
    }
}

/// Number of strands of some curves.
#[must_use]
pub fn strand_count(curves: &[Curves]) -> usize {
    curves.iter().map(|c| c.counts.len()).sum()
}

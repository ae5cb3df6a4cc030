//! What is computed once: what each triangle is made of, where sources scatter.

use glam::{Vec2, Vec3};

use super::guide::Guide;
use super::liquid::Liquid;
use super::params::{AxisParams, DropsParams, GroundParams};
use super::source::{Scatter, SourceParams};
use super::surface::Surface;
use crate::geometry::Mesh;
use crate::stage::{BuildContext, LayerError, Selection};

/// One kind of ground.
#[derive(Clone, Copy, Debug)]
pub struct GroundKind {
    /// Acceleration that bumps can hold a drop against [m/s²].
    pub grip: f32,
    /// Adhesion [N/m²].
    pub adhesion: f32,
    /// Contact angle [degrees].
    pub contact_angle_deg: f64,
    /// Radius of the contact in radii of the sphere [-].
    pub contact: f64,
    /// Widest radius in radii of the sphere [-].
    pub widest: f64,
    /// Film thickness [m].
    pub film: f64,
    /// Smoothing by trails along the axes [-].
    pub smoothing: [f64; 2],
    /// Absorption [kg/m²/s].
    pub absorption: f64,
    /// Whether the first trail sets the axes.
    pub axis_by_trail: bool,
}

/// What each triangle is made of.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    kinds: Vec<GroundKind>,
    kind_of: Vec<u16>,
    /// Least height of a drop that passes when dry, along the two axes [m].
    pub dry_bumps: Vec<[f32; 2]>,
    /// Factor of the adhesion [-].
    pub adhesion_scale: Vec<f32>,
    /// Factor of evaporation [-].
    pub heat: Vec<f32>,
}

impl Ground {
    /// The kind of a triangle.
    #[must_use]
    pub fn of(&self, triangle: u32) -> &GroundKind {
        &self.kinds[self.kind_of[triangle as usize] as usize]
    }

    /// The same ground everywhere.
    #[cfg(test)]
    pub fn uniform(params: &GroundParams, liquid: &Liquid, triangles: usize) -> Self {
        let bumps = params.roughness.map(|r| r * params.hold_factor as f32);
        Self {
            kinds: vec![kind(params, liquid)],
            kind_of: vec![0; triangles],
            dry_bumps: vec![bumps; triangles],
            adhesion_scale: vec![1.0; triangles],
            heat: vec![1.0; triangles],
        }
    }

    /// Index of the kind of a triangle.
    #[must_use]
    pub fn kind_index(&self, triangle: u32) -> usize {
        self.kind_of[triangle as usize] as usize
    }

    /// All kinds.
    #[must_use]
    pub fn kinds(&self) -> &[GroundKind] {
        &self.kinds
    }
}

/// Everything that does not change during a bake.
pub struct Rest {
    /// The liquid.
    pub liquid: Liquid,
    /// The ground.
    pub ground: Ground,
    /// Curves.
    pub guides: Vec<Guide>,
    /// Where each source scatters.
    pub scatters: Vec<Scatter>,
    /// Frames by which each source starts later, so that its drop arrives in time.
    pub start_offsets: Vec<f64>,
    /// Drag solved for each source [kg/s].
    pub source_drags: Vec<Option<f64>>,
    /// Texture coordinates of each triangle, where there are any.
    pub uvs: Vec<[Vec2; 3]>,
    /// Area of each triangle [m²].
    pub areas: Vec<f32>,
    /// One over the area of the triangles around each vertex, per mesh [1/m²]; 0 without any.
    pub around: Vec<Vec<f32>>,
}

/// The meshes of the frame that a list of names means: a mesh, or all meshes of an actor.
pub fn find_meshes(
    meshes: &[Mesh],
    names: &[String],
    parameter: &str,
) -> Result<Vec<usize>, LayerError> {
    let mut found = Vec::new();
    for name in names {
        let prefix = format!("{name}/");
        let matching = |m: &Mesh| &m.name == name || m.name.starts_with(&prefix);
        let before = found.len();
        found.extend((0..meshes.len()).filter(|&i| matching(&meshes[i])));
        if found.len() == before {
            let names = meshes.iter().map(|m| m.name.as_str());
            return Err(LayerError::unknown(parameter, "mesh", name, names));
        }
    }
    found.dedup();
    Ok(found)
}

impl Rest {
    /// Resolves selections and materials on the meshes of the frame.
    pub fn build(
        params: &DropsParams,
        context: &BuildContext,
        surface: &mut Surface,
        meshes: &[usize],
    ) -> Result<Self, LayerError> {
        let liquid = Liquid::new(params);
        let scene = Meshes { context, surface: &*surface, meshes };
        let mut axes = surface.axes.clone();
        let ground = build_ground(params, &liquid, &scene, &mut axes)?;
        let mut scatters = Vec::new();
        for (i, source) in params.sources.iter().enumerate() {
            let select = match source {
                SourceParams::Region(s) => Some(&s.select),
                SourceParams::Condensation(s) => Some(&s.select),
                _ => None,
            };
            let Some(select) = select else {
                scatters.push(Scatter::default());
                continue;
            };
            let weights = scene.weights(select, &format!("sources[{i}].select"))?;
            let scatter = Scatter::new(surface, |t| weights[t as usize]);
            if scatter.is_empty() {
                return Err(LayerError::parameter(
                    format!("sources[{i}].select"),
                    "selects no triangle with an area",
                ));
            }
            scatters.push(scatter);
        }
        let uvs = scene.uvs();
        let areas: Vec<f32> = surface.facets.iter().map(|f| f.area() as f32).collect();
        let around = scene.areas_around(&areas);
        surface.axes = axes;
        surface.refresh();
        Ok(Self {
            liquid,
            ground,
            guides: params.guides.iter().map(Guide::new).collect(),
            scatters,
            start_offsets: vec![0.0; params.sources.len()],
            source_drags: vec![None; params.sources.len()],
            uvs,
            areas,
            around,
        })
    }
}

/// The meshes drops run on, as the frame has them.
struct Meshes<'a> {
    context: &'a BuildContext<'a>,
    surface: &'a Surface,
    meshes: &'a [usize],
}

impl Meshes<'_> {
    fn mesh(&self, slot: usize) -> &Mesh {
        &self.context.frame.meshes[self.meshes[slot]]
    }

    /// Mean weight of each triangle's corners under a selection.
    fn weights(&self, select: &Selection, parameter: &str) -> Result<Vec<f32>, LayerError> {
        let mut out = Vec::with_capacity(self.surface.triangles.len());
        let mut failed = None;
        for slot in 0..self.meshes.len() {
            let mesh = self.mesh(slot);
            match self.context.select(parameter, self.meshes[slot], select) {
                Ok(weights) => out.extend(
                    mesh.topology
                        .triangles
                        .iter()
                        .map(|t| t.iter().map(|&v| weights[v as usize]).sum::<f32>() / 3.0),
                ),
                // With several meshes, a region or material need only be in one of them.
                Err(error) => {
                    failed = Some(error);
                    out.extend(std::iter::repeat_n(0.0, mesh.topology.triangles.len()));
                }
            }
        }
        match failed {
            Some(error) if out.iter().all(|w| *w == 0.0) => Err(error),
            _ => Ok(out),
        }
    }

    /// One over the area of the triangles around each vertex, per mesh.
    fn areas_around(&self, areas: &[f32]) -> Vec<Vec<f32>> {
        let of = |slot: usize| {
            let mesh = self.mesh(slot);
            let mut around = vec![0.0f32; mesh.positions.len()];
            let first = self.surface.first_triangle[slot] as usize;
            for (corners, area) in mesh.topology.triangles.iter().zip(&areas[first..]) {
                corners.iter().for_each(|&v| around[v as usize] += area);
            }
            around.iter_mut().for_each(|a| *a = if *a > 0.0 { 1.0 / *a } else { 0.0 });
            around
        };
        (0..self.meshes.len()).map(of).collect()
    }

    fn uvs(&self) -> Vec<[Vec2; 3]> {
        let has = (0..self.meshes.len()).any(|s| !self.mesh(s).topology.uvs.is_empty());
        if !has {
            return Vec::new();
        }
        let mut out = Vec::with_capacity(self.surface.triangles.len());
        for slot in 0..self.meshes.len() {
            let topology = &self.mesh(slot).topology;
            let uv = |v: u32| topology.uvs.get(v as usize).copied().unwrap_or(Vec2::splat(-1.0));
            out.extend(topology.triangles.iter().map(|t| t.map(uv)));
        }
        out
    }
}

fn build_ground(
    params: &DropsParams,
    liquid: &Liquid,
    scene: &Meshes,
    axes: &mut [[f32; 2]],
) -> Result<Ground, LayerError> {
    let count = scene.surface.triangles.len();
    let everywhere = [GroundParams::default()];
    let list = if params.ground.is_empty() { &everywhere[..] } else { &params.ground };
    let mut ground = Ground {
        kinds: vec![kind(&GroundParams::default(), liquid)],
        kind_of: vec![0; count],
        dry_bumps: vec![[0.0; 2]; count],
        adhesion_scale: vec![1.0; count],
        heat: vec![1.0; count],
    };
    for (i, p) in list.iter().enumerate() {
        let weights = scene.weights(&p.select, &format!("ground[{i}].select"))?;
        ground.kinds.push(kind(p, liquid));
        let index = ground.kinds.len() as u16 - 1;
        let factor = |name: &Option<String>, field: &str| scene_attribute(scene, name, i, field);
        let rough = factor(&p.roughness_attribute, "roughness_attribute")?;
        let adhesion = factor(&p.adhesion_attribute, "adhesion_attribute")?;
        let heat = factor(&p.heat_attribute, "heat_attribute")?;
        let texture = p.roughness_from_texture.then(|| luminance(scene));
        for t in (0..count).filter(|&t| weights[t] > 0.5) {
            ground.kind_of[t] = index;
            let scale = rough.as_ref().map_or(1.0, |r| r[t])
                * texture.as_ref().map_or(1.0, |r| r[t])
                * p.hold_factor as f32;
            ground.dry_bumps[t] = p.roughness.map(|r| (r * scale).max(0.0));
            ground.adhesion_scale[t] = adhesion.as_ref().map_or(1.0, |a| a[t].max(0.0));
            ground.heat[t] = heat.as_ref().map_or(1.0, |h| h[t].max(0.0));
            axes[t] = axis(&p.axis, scene, t);
        }
    }
    Ok(ground)
}

fn kind(p: &GroundParams, liquid: &Liquid) -> GroundKind {
    let angle = p.contact_angle_deg.unwrap_or(liquid.contact_angle_deg).clamp(10.0, 160.0);
    let (contact, widest) = Liquid::cap_radii(angle);
    GroundKind {
        grip: p.grip,
        adhesion: p.adhesion,
        contact_angle_deg: angle,
        contact,
        widest,
        film: f64::from(p.film),
        smoothing: p.smoothing.map(f64::from),
        absorption: f64::from(p.absorption),
        axis_by_trail: p.axis == AxisParams::Trail,
    }
}

/// A vertex attribute as a factor per triangle.
fn scene_attribute(
    scene: &Meshes,
    name: &Option<String>,
    index: usize,
    field: &str,
) -> Result<Option<Vec<f32>>, LayerError> {
    let Some(name) = name else { return Ok(None) };
    let mut out = Vec::new();
    let mut found = false;
    for slot in 0..scene.meshes.len() {
        let mesh = scene.mesh(slot);
        let values = mesh.scalar(name);
        found |= values.is_some();
        out.extend(
            mesh.topology.triangles.iter().map(|t| {
                values.map_or(1.0, |v| t.iter().map(|&i| v[i as usize]).sum::<f32>() / 3.0)
            }),
        );
    }
    if !found {
        let names: Vec<&str> = (0..scene.meshes.len())
            .flat_map(|s| scene.mesh(s).attributes.iter().map(|a| a.name.as_str()))
            .collect();
        let parameter = format!("ground[{index}].{field}");
        return Err(LayerError::unknown(parameter, "vertex attribute", name, names));
    }
    Ok(Some(out))
}

/// Luminance of each triangle's texture at its middle; 1 where there is none.
fn luminance(scene: &Meshes) -> Vec<f32> {
    let mut out = Vec::new();
    for slot in 0..scene.meshes.len() {
        let topology = &scene.mesh(slot).topology;
        for (t, corners) in topology.triangles.iter().enumerate() {
            let material = topology.triangle_materials.get(t).copied().unwrap_or(0) as usize;
            let texture = topology.materials.get(material).and_then(|m| m.texture.as_deref());
            let value = texture.filter(|_| !topology.uvs.is_empty()).map_or(1.0, |texture| {
                let uv = corners.iter().map(|&v| topology.uvs[v as usize]).sum::<Vec2>() / 3.0;
                let at = |f: f32, n: u32| ((f.rem_euclid(1.0) * n as f32) as u32).min(n - 1);
                let (x, y) = (at(uv.x, texture.width), at(uv.y, texture.height));
                let i = 4 * (y * texture.width + x) as usize;
                texture
                    .rgba
                    .get(i..i + 3)
                    .map_or(1.0, |c| c.iter().map(|&b| f32::from(b)).sum::<f32>() / (3.0 * 255.0))
            });
            out.push(value);
        }
    }
    out
}

/// The first roughness axis of a triangle, as weights of its edges 0→1 and 0→2.
fn axis(params: &AxisParams, scene: &Meshes, t: usize) -> [f32; 2] {
    let along_edge = [1.0, 0.0];
    let facet = &scene.surface.facets[t];
    match params {
        AxisParams::Trail => along_edge,
        AxisParams::Direction(d) => {
            let flat = facet.tangential(Vec3::from_array(*d).as_dvec3());
            let w = facet.weights(flat);
            if w.length() > 1e-9 { [w.x as f32, w.y as f32] } else { along_edge }
        }
        AxisParams::Uv => {
            let slot = scene.surface.first_triangle.partition_point(|&f| f as usize <= t) - 1;
            let topology = &scene.mesh(slot).topology;
            let corners = topology.triangles[t - scene.surface.first_triangle[slot] as usize];
            if topology.uvs.is_empty() {
                return along_edge;
            }
            let [a, b, c] = corners.map(|v| topology.uvs[v as usize]);
            let (u, w) = (b - a, c - a);
            let det = u.perp_dot(w);
            // Solve x u + y w = (1, 0).
            if det.abs() > 1e-12 { [w.y / det, -u.y / det] } else { along_edge }
        }
    }
}

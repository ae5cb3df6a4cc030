//! From the parameters to the rest data: selections and attributes on the meshes of the frame.

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::arrival;
use super::covered::covered_triangles;
use super::params::{AxisParams, DropsParams, GroundParams, SourceParams};
use super::pool::PoolRest;
use super::relief::Relief;
use super::rest::{DropsRest, GroundMap, SourceStart};
use super::source::Scatter;
use super::surface::Surface;
use crate::geometry::{Bounds, Mesh, TriangleBvh};
use crate::stage::{Anchor, BuildContext, LayerError, Selection};
use crate::tolerances::nothing;

/// Builds the rest data.
pub fn build(params: &DropsParams, context: &BuildContext) -> Result<DropsRest, LayerError> {
    params.validate()?;
    check_memory(params)?;
    let meshes = find_meshes(&context.frame.meshes, params.on.all(), "on")?;
    let shown = params.shown_on.as_ref();
    let shown_on = shown
        .map(|name| find_meshes(&context.frame.meshes, std::slice::from_ref(name), "shown_on"))
        .transpose()?
        .and_then(|m| m.first().copied());
    let home = Relief::home(&context.frame.meshes, &meshes);
    let mut surface = home.connect();
    if !surface.live.contains(&true) {
        return Err(LayerError::parameter("on", "these meshes have no triangle with an area"));
    }
    let scene = Meshes { context, surface: &surface, meshes: &meshes, shown_on };
    let mut axes = surface.axes.clone();
    let ground = build_ground(params, &scene, &mut axes)?;
    let scatter_weights = build_scatters(params, &scene)?;
    let starts = build_starts(params, &scene)?;
    let rain_bounds = rain_bounds(params, &starts, &surface);
    surface.axes = axes;
    surface.refresh();
    // The ground as it stands at the start; where it moves, the state keeps where to.
    let pools = params.pools.iter().map(|p| PoolRest::build(p, &meshes, context)).collect();
    let mut rest = DropsRest {
        meshes,
        shown_on,
        home,
        surface,
        ground,
        scatter_weights,
        starts,
        rain_bounds,
        start_offsets: vec![0.0; params.sources.len()],
        source_drags: vec![None; params.sources.len()],
        pools,
    };
    arrival::solve_arrivals(&mut rest, params, context)?;
    Ok(rest)
}

/// Weight of each triangle for each source that scatters; empty for the others.
fn build_scatters(params: &DropsParams, scene: &Meshes) -> Result<Vec<Vec<f32>>, LayerError> {
    let mut all = Vec::new();
    for (i, source) in params.sources.iter().enumerate() {
        let (select, on_covered) = match source {
            SourceParams::Region(s) => (&s.select, s.covered),
            SourceParams::Condensation(s) => (&s.select, s.covered),
            _ => {
                all.push(Vec::new());
                continue;
            }
        };
        let path = format!("sources[{i}].select");
        let mut weights = scene.weights(select, &path)?;
        let is_nowhere =
            |weights: &[f32]| Scatter::new(scene.surface, |t| weights[t as usize]).is_empty();
        if is_nowhere(&weights) {
            return Err(LayerError::parameter(path, "selects no triangle with an area"));
        }
        if !on_covered {
            let covered =
                covered_triangles(&scene.context.frame.meshes, scene.meshes, scene.shown_on);
            weights.iter_mut().zip(covered).filter(|(_, c)| *c).for_each(|(w, _)| *w = 0.0);
            if is_nowhere(&weights) {
                let text = "all of it is inside another mesh at the start: put the drops on that one, or let \
                            them form below it with covered = true";
                return Err(LayerError::parameter(path, text));
            }
        }
        all.push(weights);
    }
    Ok(all)
}

/// Where the drops of each `single` source start.
fn build_starts(
    params: &DropsParams,
    scene: &Meshes,
) -> Result<Vec<Option<SourceStart>>, LayerError> {
    let mut all = Vec::new();
    for (i, source) in params.sources.iter().enumerate() {
        let SourceParams::Single(single) = source else {
            all.push(None);
            continue;
        };
        all.push(Some(scene.start(&format!("sources[{i}].at"), &single.at, single.snap)?));
    }
    Ok(all)
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
        let of_name: Vec<usize> = (0..meshes.len()).filter(|&i| matching(&meshes[i])).collect();
        if of_name.is_empty() {
            let names = meshes.iter().map(|m| m.name.as_str());
            return Err(LayerError::unknown(parameter, "mesh", name, names));
        }
        // An actor and one of its meshes may both be named: drops would run on two surfaces in one place.
        for mesh in of_name {
            if !found.contains(&mesh) {
                found.push(mesh);
            }
        }
    }
    Ok(found)
}

/// The meshes drops run on, as the frame has them.
struct Meshes<'a> {
    context: &'a BuildContext<'a>,
    surface: &'a Surface,
    meshes: &'a [usize],
    /// The finer mesh that drops are shown on.
    shown_on: Option<usize>,
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

    /// The place an artist gave: on the mesh nearest to it in the reference pose, so that it moves with
    /// it, or in the scene where none is near.
    fn start(&self, path: &str, at: &Anchor, snap: f64) -> Result<SourceStart, LayerError> {
        let mut best: Option<(f32, u32, DVec2)> = None;
        let mut position = None;
        let mut failed = None;
        for (slot, &mesh) in self.meshes.iter().enumerate() {
            // Where the artist saw it: the first frame of a clip may stand elsewhere.
            let posed = self.context.reference_mesh(mesh);
            let place = match self.context.place_on(path, mesh, &posed, at) {
                Ok(place) => place,
                // With several meshes, a joint or a vertex need only be of one of them.
                Err(error) => {
                    failed = Some(error);
                    continue;
                }
            };
            position.get_or_insert(place);
            let bvh = TriangleBvh::build(&posed.positions, &posed.topology.triangles);
            let first = self.surface.first_triangle[slot];
            let live = |t: u32, _: Vec3, _: [f32; 3]| self.surface.live[(first + t) as usize];
            let Some(found) = bvh.closest_where(place, snap as f32, live) else { continue };
            let distance = found.point.distance(place);
            if best.is_none_or(|(d, ..)| distance < d) {
                let [_, x, y] = found.barycentric.map(f64::from);
                best = Some((distance, first + found.triangle, DVec2::new(x, y)));
            }
        }
        match (position, failed) {
            (Some(p), _) => {
                Ok(SourceStart { position: p.as_dvec3(), on: best.map(|(_, t, w)| (t, w)) })
            }
            (None, Some(error)) => Err(error),
            (None, None) => Ok(SourceStart { position: DVec3::ZERO, on: None }),
        }
    }
}

fn build_ground(
    params: &DropsParams,
    scene: &Meshes,
    axes: &mut [[f32; 2]],
) -> Result<GroundMap, LayerError> {
    let count = scene.surface.triangles.len();
    let everywhere = [GroundParams::default()];
    let list = if params.ground.is_empty() { &everywhere[..] } else { &params.ground };
    let mut map = GroundMap {
        kind_of: vec![0; count],
        roughness: vec![1.0; count],
        adhesion: vec![1.0; count],
        heat: vec![1.0; count],
    };
    for (i, p) in list.iter().enumerate() {
        let weights = scene.weights(&p.select, &format!("ground[{i}].select"))?;
        let factor = |name: &Option<String>, field: &str| scene_attribute(scene, name, i, field);
        let rough = factor(&p.roughness_attribute, "roughness_attribute")?;
        let adhesion = factor(&p.adhesion_attribute, "adhesion_attribute")?;
        let heat = factor(&p.heat_attribute, "heat_attribute")?;
        let texture = p.roughness_from_texture.then(|| luminance(scene));
        // A triangle is of one kind: no ground is half rough.
        for t in (0..count).filter(|&t| weights[t] > 0.5) {
            // Kind 0 is bare ground, where nothing is said.
            map.kind_of[t] = i as u16 + 1;
            map.roughness[t] =
                rough.as_ref().map_or(1.0, |r| r[t]) * texture.as_ref().map_or(1.0, |r| r[t]);
            map.adhesion[t] = adhesion.as_ref().map_or(1.0, |a| a[t].max(0.0));
            map.heat[t] = heat.as_ref().map_or(1.0, |h| h[t].max(0.0));
            axes[t] = axis(&p.axis, scene, t);
        }
    }
    Ok(map)
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
                // Textures repeat; what is exactly 1 after rounding is the last pixel.
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
            if w.length() > nothing::NO_WIDTH { [w.x as f32, w.y as f32] } else { along_edge }
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

/// Memory of a drop with its share of meshes [bytes], roughly.
const BYTES_PER_DROP: f64 = 600.0;
/// With a fine mesh, per drop [bytes].
const BYTES_PER_SHAPE: f64 = 12_000.0;
/// More than this is refused before it starts [bytes].
const MEMORY_LIMIT: f64 = 64e9;

/// How many drops there may be at once, and the memory they need [bytes].
pub(super) fn expected_memory(params: &DropsParams) -> (f64, f64) {
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
fn rain_bounds(
    params: &DropsParams,
    starts: &[Option<SourceStart>],
    surface: &Surface,
) -> Option<Bounds> {
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
            SourceParams::List(l) => {
                for row in &l.rows {
                    let p = Vec3::new(row[1] as f32, row[2] as f32, row[3] as f32);
                    bounds = bounds.including(p);
                }
            }
            _ => {}
        }
    }
    for start in starts.iter().flatten() {
        bounds = bounds.including(start.position.as_vec3());
    }
    // A box of no thickness would lose what starts on its face by rounding.
    (!bounds.is_empty()).then(|| bounds.grown(0.01))
}

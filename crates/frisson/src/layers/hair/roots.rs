//! Where wisps and hairs grow.

use glam::{Vec2, Vec3};

use super::params::HairParams;
use super::rest::{HairRest, SkinPoint, WispRoot, triangle_axes};
use crate::geometry::{Mesh, TriangleBvh};
use crate::math::random;
use crate::stage::{BuildContext, LayerError};

/// Candidates tried for each root: enough for an even spread, cheap up to some thousand wisps.
const CANDIDATES: usize = 12;

/// Beyond this many wisps roots are spread by area alone: an even spread costs the square of it.
const EVEN_SPREAD: usize = 3000;

/// Chooses the roots of wisps and hairs on the scalp.
pub(super) fn build_rest(
    params: &HairParams,
    context: &BuildContext,
    index: usize,
) -> Result<HairRest, LayerError> {
    let mesh = &context.frame.meshes[index];
    let weights = scalp_weights(params, context, index)?;
    let areas = weighted_areas(mesh, &weights);
    let total: f64 = areas.iter().sum();
    if total <= 0.0 || total.is_nan() {
        return Err(LayerError::parameter(
            "scalp",
            format!("no part of mesh {:?} is selected: hair has nowhere to grow", mesh.name),
        ));
    }
    let bvh = scalp_bvh(mesh, &weights);
    let points = if params.at.is_empty() {
        spread(mesh, &areas, total, params.wisps as usize, params.seed)
    } else {
        let reference = context.reference_mesh(index);
        let place = |anchor| context.place_on("at", index, &reference, anchor);
        let places: Result<Vec<Vec3>, LayerError> = params.at.iter().map(place).collect();
        places?.into_iter().filter_map(|p| nearest(&bvh, p)).collect()
    };
    let samples = params.envelope.samples;
    let directions = (0..samples)
        .map(|k| {
            let (s, c) = (std::f32::consts::TAU * k as f32 / samples as f32).sin_cos();
            (c, s)
        })
        .collect();
    let mut rest = HairRest {
        count: params.particles as usize,
        directions,
        per_wisp: params.strands.per_wisp as usize,
        color: super::look::color_of_wearer(params, context, index, &weights),
        ..HairRest::default()
    };
    // 1.9 times the radius of each one's share of the scalp: hairs are dense in the middle of a disc only, and discs
    // must overlap to leave no skin bare.
    let spacing = (total / (points.len() as f64 * std::f64::consts::PI)).sqrt() as f32;
    let root_radius = params.root_radius.unwrap_or((1.9 * spacing).min(1.5 * params.radius));
    for (index, point) in points.into_iter().enumerate() {
        rest.roots.push(build_root(params, mesh, point, index, root_radius)?);
    }
    check_memory(params, rest.roots.len())?;
    rest.warnings.extend(guides_off_the_scalp(params, &bvh.0));
    plant_hairs(params, mesh, &bvh, &mut rest);
    keep_on_root_mesh(mesh, &mut rest);
    Ok(rest)
}

/// Says of all places where they are on the mesh before any refinement, which is what lasts.
fn keep_on_root_mesh(mesh: &Mesh, rest: &mut HairRest) {
    rest.skin_vertices = mesh.topology.root_vertex_count();
    let there = |p: &mut SkinPoint| {
        (p.triangle, p.barycentric) = mesh.topology.to_root(p.triangle, p.barycentric);
    };
    let mut oldest = mesh.topology.ancestry.as_deref();
    while let Some(older) = oldest.and_then(|a| a.older.as_deref()) {
        oldest = Some(older);
    }
    let Some(triangles) = oldest.map(|a| &a.triangles) else { return };
    for root in &mut rest.roots {
        let before = triangle_axes(root.corners, &mesh.positions);
        there(&mut root.skin);
        root.corners = triangles[root.skin.triangle as usize];
        // The same direction in the world, told in the axes of the coarse triangle.
        let turn = triangle_axes(root.corners, &mesh.positions).transpose() * before;
        root.direction = turn * root.direction;
        root.across = turn * root.across;
    }
    rest.hair_roots.iter_mut().for_each(there);
}

pub(super) fn scalp_weights(
    params: &HairParams,
    context: &BuildContext,
    index: usize,
) -> Result<Vec<f32>, LayerError> {
    let mesh = &context.frame.meshes[index];
    let mut weights = context.select("scalp", index, &params.scalp)?;
    if let Some(channel) = &params.density_map {
        let map = color_map(mesh, channel, "density_map")?;
        weights.iter_mut().zip(map).for_each(|(w, m)| *w *= m);
    }
    Ok(weights)
}

/// Values of a vertex-colour channel.
pub(super) fn color_map(
    mesh: &Mesh,
    channel: &str,
    parameter: &str,
) -> Result<Vec<f32>, LayerError> {
    let names = ["r", "g", "b", "a"];
    let index = names.iter().position(|n| *n == channel).ok_or_else(|| {
        LayerError::unknown(parameter.to_owned(), "colour channel", channel, names)
    })?;
    if mesh.topology.colors.is_empty() {
        let problem = format!("mesh {:?} has no vertex colours", mesh.name);
        return Err(LayerError::parameter(parameter.to_owned(), problem));
    }
    Ok(mesh.topology.colors.iter().map(|c| c[index].clamp(0.0, 1.0)).collect())
}

fn weighted_areas(mesh: &Mesh, weights: &[f32]) -> Vec<f64> {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        // The geometric mean: where one corner is bare nothing grows.
        let share: f32 = t.iter().map(|&v| weights[v as usize]).product::<f32>();
        f64::from(0.5 * (b - a).cross(c - a).length() * share.cbrt())
    };
    mesh.topology.triangles.iter().map(area).collect()
}

fn scalp_bvh(mesh: &Mesh, weights: &[f32]) -> (TriangleBvh, Vec<u32>) {
    let inside = |t: &[u32; 3]| t.iter().all(|&v| weights[v as usize] > 0.0);
    let triangles = &mesh.topology.triangles;
    let kept: Vec<u32> =
        (0..triangles.len() as u32).filter(|&t| inside(&triangles[t as usize])).collect();
    let list: Vec<[u32; 3]> = kept.iter().map(|&t| triangles[t as usize]).collect();
    (TriangleBvh::build(&mesh.positions, &list), kept)
}

fn nearest((bvh, kept): &(TriangleBvh, Vec<u32>), p: Vec3) -> Option<SkinPoint> {
    let hit = bvh.closest_point(p, f32::INFINITY)?;
    Some(SkinPoint { triangle: kept[hit.triangle as usize], barycentric: hit.barycentric })
}

/// Evenly spread points: of a cloud drawn by area, the farthest from those taken so far, again and
/// again.
fn spread(mesh: &Mesh, areas: &[f64], total: f64, count: usize, seed: u64) -> Vec<SkinPoint> {
    let wanted = if count > EVEN_SPREAD { count } else { count * CANDIDATES };
    let mut cloud = Vec::with_capacity(wanted);
    let (mut triangle, mut below) = (0usize, 0.0f64);
    for i in 0..wanted {
        // Strata of equal area, one candidate in each: the cloud itself has no clumps.
        let jitter = random::uniform(seed, i as u64, 1);
        let at = (i as f64 + jitter) / wanted as f64 * total;
        while triangle + 1 < areas.len() && below + areas[triangle] < at {
            below += areas[triangle];
            triangle += 1;
        }
        let (a, b) = (random::uniform(seed, i as u64, 2), random::uniform(seed, i as u64, 3));
        let root = a.sqrt();
        let barycentric = [1.0 - root, root * (1.0 - b), root * b].map(|w| w as f32);
        cloud.push(SkinPoint { triangle: triangle as u32, barycentric });
    }
    if count > EVEN_SPREAD {
        return cloud;
    }
    let places: Vec<Vec3> =
        cloud.iter().map(|p| p.place(&mesh.topology.triangles, &mesh.positions)).collect();
    let mut distances = vec![f32::INFINITY; wanted];
    let mut next = 0;
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        out.push(cloud[next]);
        let taken = places[next];
        let mut farthest = (-1.0, 0);
        for (k, d) in distances.iter_mut().enumerate() {
            *d = d.min(places[k].distance_squared(taken));
            if *d > farthest.0 {
                farthest = (*d, k);
            }
        }
        next = farthest.1;
    }
    out
}

fn build_root(
    params: &HairParams,
    mesh: &Mesh,
    skin: SkinPoint,
    index: usize,
    root_radius: f32,
) -> Result<WispRoot, LayerError> {
    let topology = &mesh.topology;
    let corners = topology.triangles[skin.triangle as usize];
    let map = |channel: &Option<String>, name: &str| -> Result<f32, LayerError> {
        let Some(channel) = channel else { return Ok(1.0) };
        let values = color_map(mesh, channel, name)?;
        Ok((0..3).map(|k| skin.barycentric[k] * values[corners[k] as usize]).sum())
    };
    let vary = 1.0 + params.length_variation * random::signed(params.seed, index as u64, 11) as f32;
    let place = skin.place(&topology.triangles, &mesh.positions);
    // The last that holds wins, as in a barber's order.
    let cut = params.style.cuts.iter().rev().find(|cut| cut.holds(place));
    let whole = cut.map_or(params.length, |cut| cut.length);
    let mut length = whole * vary * map(&params.length_map, "length_map")?;
    let radius = params.radius * map(&params.radius_map, "radius_map")?;
    let axes = triangle_axes(corners, &mesh.positions);
    let combed = super::style::comb_root(params, place, axes.z_axis);
    let mut out = params.direction.map_or(combed, |d| Vec3::from_array(d).normalize());
    if let Some(shape) = super::guides::shape_at(&params.style.guides, place) {
        length = super::guides::length(&shape) * map(&params.length_map, "length_map")?;
        out = super::guides::direction(&shape).unwrap_or(out);
    }
    let direction = axes.transpose() * out;
    let across = super::rest::perpendicular(out);
    let mut root = WispRoot {
        skin,
        corners,
        direction,
        across: axes.transpose() * across,
        // A map that says "no hair here" still leaves a stub that can be simulated.
        length: length.max(0.05 * whole).max(1.0e-4),
        goal_weight: map(&params.goal_map, "goal_map")?,
        ..WispRoot::default()
    };
    root.measure(params, radius.max(1.0e-5), root_radius);
    root.bending *= f64::from(map(&params.stiffness_map, "stiffness_map")?);
    Ok(root)
}

/// A word about guide curves that do not start on the scalp: they are moved there.
fn guides_off_the_scalp(params: &HairParams, scalp: &TriangleBvh) -> Option<String> {
    let guides = &params.style.guides;
    let height = |g: &Vec<[f32; 3]>| {
        let start = Vec3::from_array(*g.first()?);
        Some(scalp.closest_point(start, f32::INFINITY)?.distance)
    };
    let off = guides.iter().filter_map(height).filter(|d| *d > super::limits::GUIDE_OFF);
    let (count, worst) = off.fold((0, 0.0f32), |(count, worst), d| (count + 1, worst.max(d)));
    (count > 0).then(|| {
        format!(
            "{count} of {} guide curves start off the scalp, the worst {:.1} cm away: each was \
             moved to the root it shapes (is the selection right, and the unit metres?)",
            guides.len(),
            100.0 * worst
        )
    })
}

/// Gaussian in the unit disc, and the place on the skin where that hair starts.
fn plant_hairs(
    params: &HairParams,
    mesh: &Mesh,
    bvh: &(TriangleBvh, Vec<u32>),
    rest: &mut HairRest,
) {
    for wisp in 0..rest.roots.len() {
        let root = &rest.roots[wisp];
        let (skin, radius) = (root.skin, root.radii[0]);
        let pose = root.pose(&skin, mesh);
        let normal = pose.axes.z_axis;
        let second = normal.cross(pose.across).normalize_or(pose.axes.y_axis);
        let first = second.cross(normal);
        for hair in 0..rest.per_wisp {
            let id = (wisp * rest.per_wisp + hair) as u64;
            let disc = disc_position(params.seed, id);
            // Spread over the patch as the hairs are over the envelope, so that none crosses another between skin and
            // first plane.
            let place = pose.skin + radius * (disc.x * first + disc.y * second);
            super::strands::build_places(&params.strands, params.seed, disc, rest);
            rest.hair_roots.push(nearest(bvh, place).unwrap_or(skin));
        }
        super::strands::deal_neighbours(rest, wisp);
    }
}

/// Place of a hair in the unit disc: Gaussian on each axis, refused outside.
pub(super) fn disc_position(seed: u64, hair: u64) -> Vec2 {
    for attempt in 0..64u64 {
        let g = |k| 0.35 * random::gaussian(seed ^ 0xD15C, hair, 2 * attempt + k) as f32;
        let p = Vec2::new(g(0), g(1));
        if p.length_squared() <= 1.0 {
            return p;
        }
    }
    Vec2::ZERO
}

/// Refuses an amount of hair that no machine holds, and says how much it would take.
fn check_memory(params: &HairParams, wisps: usize) -> Result<(), LayerError> {
    let hairs = wisps as u64 * u64::from(params.strands.per_wisp);
    // Points and widths; where the hair is in every plane, its root and its number.
    let (points, planes) = (u64::from(params.strands.points), u64::from(params.particles));
    let bytes = hairs * (points * 16 + planes * 8 + 64);
    let limit = super::limits::MAX_STRAND_BYTES;
    if bytes > limit {
        return Err(LayerError::parameter(
            "strands.per_wisp",
            format!(
                "{hairs} hairs of {} points would take {:.1} GB for one frame (at most {:.0} GB): \
                 fewer hairs or points",
                params.strands.points,
                bytes as f64 * 1e-9,
                limit as f64 * 1e-9
            ),
        ));
    }
    Ok(())
}

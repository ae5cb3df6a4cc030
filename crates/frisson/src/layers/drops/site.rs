//! The ground under the drops as they meet it now, and the liquid: derived from the rest data, the
//! parameters and the present triangles, and made anew whenever one of them changes.

use glam::{Vec2, Vec3};

use super::guide::Guide;
use super::liquid::{Liquid, Resistance, line_hold};
use super::params::{AxisParams, DropsParams, GroundParams};
use super::relief::Relief;
use super::rest::DropsRest;
use super::source::Scatter;
use super::surface::Surface;

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
    /// Drag per viscosity, speed and radius of the sphere [-].
    pub resistance: Resistance,
    /// How far what pins a drop is turned aside, at most [radians].
    pub meander: f32,
    /// One over the size of the spots that turn it [1/m].
    pub per_meander: f32,
    /// Film thickness [m].
    pub film: f64,
    /// Smoothing by trails along the axes [-].
    pub smoothing: [f64; 2],
    /// Absorption [kg/m²/s].
    pub absorption: f64,
    /// Whether the first trail sets the axes.
    pub axis_by_trail: bool,
}

/// What keeps a drop where it is on a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hold {
    /// Least height of a drop that passes, along the two axes [m].
    pub bumps: [f32; 2],
    /// What pins the line around it, per length of its width [N/m].
    pub line: f32,
}

impl Hold {
    /// What is left of it where trails have wetted the ground.
    #[must_use]
    pub fn smoothed(&self, wetness: [f64; 2]) -> Self {
        let left = wetness.map(|w| (-w).exp() as f32);
        Self {
            bumps: [self.bumps[0] * left[0], self.bumps[1] * left[1]],
            // A line is free where the ground is wet along either axis: it slides off that way.
            line: self.line * left[0].min(left[1]),
        }
    }
}

/// What each triangle is made of.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    kinds: Vec<GroundKind>,
    kind_of: Vec<u16>,
    /// What holds drops when dry.
    pub dry_holds: Vec<Hold>,
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

    fn new(rest: &DropsRest, params: &DropsParams, relief: &Relief, liquid: &Liquid) -> Self {
        let everywhere = [GroundParams::default()];
        let list = if params.ground.is_empty() { &everywhere[..] } else { &params.ground };
        // Where nothing is said, bare ground.
        let bare = GroundParams::default();
        let said: Vec<&GroundParams> = std::iter::once(&bare).chain(list).collect();
        let sources = || (0..relief.count() as u32).map(|t| relief.source_of(t) as usize);
        let lines: Vec<f32> = said.iter().map(|p| pinning(p, liquid)).collect();
        let hold = |t: usize| {
            let of = rest.ground.kind_of[t] as usize;
            let scale = rest.ground.roughness[t] * said[of].hold_factor as f32;
            Hold { bumps: said[of].roughness.map(|r| (r * scale).max(0.0)), line: lines[of] }
        };
        Self {
            kinds: said.iter().map(|p| kind(p, liquid)).collect(),
            kind_of: sources().map(|t| rest.ground.kind_of[t]).collect(),
            dry_holds: sources().map(hold).collect(),
            adhesion_scale: sources().map(|t| rest.ground.adhesion[t]).collect(),
            heat: sources().map(|t| rest.ground.heat[t]).collect(),
        }
    }

    /// The same ground everywhere.
    #[cfg(test)]
    pub fn uniform(params: &GroundParams, liquid: &Liquid, triangles: usize) -> Self {
        let bumps = params.roughness.map(|r| r * params.hold_factor as f32);
        Self {
            kinds: vec![kind(params, liquid)],
            kind_of: vec![0; triangles],
            dry_holds: vec![Hold { bumps, line: pinning(params, liquid) }; triangles],
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

/// What drops meet.
#[derive(Default)]
pub struct Site {
    /// The liquid.
    pub liquid: Liquid,
    /// The ground.
    pub ground: Ground,
    /// Curves.
    pub guides: Vec<Guide>,
    /// Where each source scatters.
    pub scatters: Vec<Scatter>,
    /// Texture coordinates of each triangle, where there are any.
    pub uvs: Vec<[Vec2; 3]>,
    /// Where each point was when the surface was connected [m]: what is fixed to the ground goes by it.
    pub places: Vec<Vec3>,
    /// Area of each triangle when the surface was connected [m²].
    pub areas: Vec<f32>,
    /// For each vertex the first one at its place, per mesh: seams of texture coordinates do not part what is wet.
    pub firsts: Vec<Vec<u32>>,
    /// One over the area of the triangles around each vertex that is the first at its place, per mesh [1/m²]; 0
    /// without any.
    pub around: Vec<Vec<f32>>,
}

impl Site {
    /// The site on a relief; `surface` is that relief as it was connected.
    #[must_use]
    pub fn new(rest: &DropsRest, params: &DropsParams, relief: &Relief, surface: &Surface) -> Self {
        let liquid = Liquid::new(params);
        let areas: Vec<f32> = surface.facets.iter().map(|f| f.area() as f32).collect();
        let scatter = |weights: &Vec<f32>| {
            if weights.is_empty() {
                return Scatter::default();
            }
            Scatter::new(surface, |t| weights[relief.source_of(t) as usize])
        };
        let firsts = first_vertices(relief, surface);
        Self {
            ground: Ground::new(rest, params, relief, &liquid),
            guides: params.guides.iter().map(Guide::new).collect(),
            scatters: rest.scatter_weights.iter().map(scatter).collect(),
            uvs: relief.uvs.clone(),
            places: surface.points.iter().map(|p| p.as_vec3()).collect(),
            around: areas_around(relief, surface, (&areas, &firsts)),
            firsts,
            areas,
            liquid,
        }
    }
}

/// For each vertex the first one at its place, per mesh.
fn first_vertices(relief: &Relief, surface: &Surface) -> Vec<Vec<u32>> {
    let mut first_of_point = vec![u32::MAX; surface.points.len()];
    let of = |slot: usize| {
        let mut firsts: Vec<u32> = (0..relief.positions[slot].len() as u32).collect();
        let points = &surface.triangles[surface.first_triangle[slot] as usize..];
        let corners = || relief.triangles[slot].iter().zip(points);
        let each = |(vertices, points): (&[u32; 3], &[u32; 3])| {
            [0, 1, 2].map(|k| (vertices[k], points[k]))
        };
        first_of_point.fill(u32::MAX);
        for (vertex, point) in corners().flat_map(each) {
            let first = &mut first_of_point[point as usize];
            *first = vertex.min(*first);
        }
        for (vertex, point) in corners().flat_map(each) {
            firsts[vertex as usize] = first_of_point[point as usize];
        }
        firsts
    };
    (0..relief.positions.len()).map(of).collect()
}

/// One over the area of the triangles around each first vertex, per mesh.
fn areas_around(
    relief: &Relief,
    surface: &Surface,
    (areas, firsts): (&[f32], &[Vec<u32>]),
) -> Vec<Vec<f32>> {
    let of = |slot: usize| {
        let mut around = vec![0.0f32; relief.positions[slot].len()];
        let first = surface.first_triangle[slot] as usize;
        for (corners, area) in relief.triangles[slot].iter().zip(&areas[first..]) {
            corners.iter().for_each(|&v| around[firsts[slot][v as usize] as usize] += area);
        }
        around.iter_mut().for_each(|a| *a = if *a > 0.0 { 1.0 / *a } else { 0.0 });
        around
    };
    (0..relief.positions.len()).map(of).collect()
}

fn contact_angle(p: &GroundParams, liquid: &Liquid) -> f64 {
    p.contact_angle_deg.unwrap_or(liquid.contact_angle_deg).clamp(10.0, 160.0)
}

/// What pins the line around a drop on dry ground [N/m].
fn pinning(p: &GroundParams, liquid: &Liquid) -> f32 {
    let hysteresis = p.hysteresis_deg.unwrap_or(liquid.hysteresis_deg);
    line_hold(liquid.tension, contact_angle(p, liquid), hysteresis) as f32
}

fn kind(p: &GroundParams, liquid: &Liquid) -> GroundKind {
    let angle = contact_angle(p, liquid);
    let (contact, widest) = Liquid::cap_radii(angle);
    GroundKind {
        grip: p.grip,
        adhesion: p.adhesion.unwrap_or_else(|| liquid.adhesion() as f32),
        contact_angle_deg: angle,
        contact,
        widest,
        resistance: Resistance::new(angle),
        // Below a quarter turn's half, so that what brakes a drop aside never speeds it up.
        meander: 0.75 * p.meander.unwrap_or(liquid.meander),
        per_meander: 1.0 / p.meander_size.max(1e-6),
        film: p.film.map_or(liquid.film, f64::from),
        smoothing: p.smoothing.map(f64::from),
        absorption: f64::from(p.absorption),
        axis_by_trail: p.axis == AxisParams::Trail,
    }
}

//! What a ray finds where it hits.

use frisson::geometry::{Material, Texture};
use glam::{Vec2, Vec3A};
use obvhs::ray::Ray;

use crate::environment::smoothstep;
use crate::scene::{Scene, SceneMesh, is_sheet};

/// Bottom of the formula for corner weights [m⁴]: needles have any weights.
const LEAST_AREA_SQ: f32 = 1e-30;
/// Shortest edge and smallest pixel that lines are drawn for [m].
const LEAST_EDGE: f32 = 1e-12;
/// Colour of wire lines, and how much of the surface they hide [-].
const WIRE: f32 = 0.02;
const WIRE_COVER: f32 = 0.8;
/// Cosine to which a normal that leans away from the eye is bent back [-]: just seen edge-on.
const EDGE_ON: f32 = 0.01;

/// Roughness of a film of water on skin or cloth, whose relief shows through.
const FILM_ROUGHNESS: f32 = 0.2;
/// Bounces that light makes under a film of water, beyond the first.
const FILM_DEPTH: f32 = 0.2;
/// The same for what soaks water up, as cloth does: it turns darker rather than glossy.
const SOAKED_ROUGHNESS: f32 = 0.5;
const SOAKED_DEPTH: f32 = 1.0;
/// Roughness between which a surface is taken for one that soaks.
const SOAKS: [f32; 2] = [0.7, 0.85];

/// Which shape a ray hits first, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hit {
    Triangle(u32, f32),
    Segment(u32, f32),
    Ball(u32, f32),
    Ground(f32),
}

/// A point of a surface with its optical properties.
pub(crate) struct Surface {
    pub position: Vec3A,
    /// Where shadow rays leave: lifted so that a coarse mesh with smooth normals does not shade itself.
    pub lifted: Vec3A,
    /// Normal of the flat triangle, towards the ray's origin.
    pub flat: Vec3A,
    /// Shading normal, on the same side.
    pub normal: Vec3A,
    pub albedo: Vec3A,
    pub roughness: f32,
    pub metallic: f32,
    pub transmission: f32,
    pub ior: f32,
    pub absorption: Vec3A,
    /// Whether the ray comes from outside.
    pub entering: bool,
    /// Whether it is a pane: both of its faces are here, and light goes straight on.
    pub is_pane: bool,
}

impl Surface {
    /// A film of water: glossy, and a little deeper in colour because light bounces about under it.
    /// Each bounce is coloured again, so that pale skin hardly darkens and never turns grey.
    fn wet(&mut self, wet: f32) {
        let soaks = smoothstep(SOAKS[0], SOAKS[1], self.roughness);
        let of = |film: f32, soaked: f32| film + (soaked - film) * soaks;
        let smooth = of(FILM_ROUGHNESS, SOAKED_ROUGHNESS).min(self.roughness);
        self.roughness += (smooth - self.roughness) * wet;
        self.albedo = self.albedo.powf(1.0 + of(FILM_DEPTH, SOAKED_DEPTH) * wet);
    }
}

impl Scene {
    /// The first thing a ray hits.
    pub(crate) fn nearest(&self, mut ray: Ray) -> Option<Hit> {
        let solid = self.nearest_solid(ray);
        if let Some(Hit::Triangle(_, t) | Hit::Ball(_, t) | Hit::Ground(t)) = solid {
            ray.tmax = t;
        }
        self.segments.nearest(ray).map(|(place, t)| Hit::Segment(place, t)).or(solid)
    }

    /// The first thing a ray hits that is no strand.
    pub(crate) fn nearest_solid(&self, mut ray: Ray) -> Option<Hit> {
        let mut best = None;
        if let Some((place, t)) = self.triangles.nearest(ray) {
            best = Some(Hit::Triangle(place, t));
            ray.tmax = t;
        }
        if let Some((place, t)) = self.balls.nearest(ray) {
            best = Some(Hit::Ball(place, t));
            ray.tmax = t;
        }
        if let Some(height) = self.ground {
            // Only from above: a camera below the ground still sees the subject.
            let t = (height - ray.origin.y) / ray.direction.y;
            if ray.direction.y < 0.0 && t > ray.tmin && t < ray.tmax {
                best = Some(Hit::Ground(t));
            }
        }
        best
    }

    /// Mesh and triangle of a place in the hierarchy, with the weights of its corners.
    fn corner_weights(&self, place: u32, point: Vec3A) -> (&SceneMesh, u32, [usize; 3], [f32; 3]) {
        let (mesh, triangle) = self.triangle_refs[self.triangles.source(place) as usize];
        let mesh = &self.meshes[mesh as usize];
        let corners = mesh.topology.triangles[triangle as usize].map(|v| v as usize);
        let [a, b, c] = corners.map(|v| Vec3A::from(mesh.positions[v]));
        let (ab, ac, ap) = (b - a, c - a, point - a);
        let (d00, d01, d11) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
        let (d20, d21) = (ap.dot(ab), ap.dot(ac));
        let inverse = 1.0 / (d00 * d11 - d01 * d01).max(LEAST_AREA_SQ);
        let v = ((d11 * d20 - d01 * d21) * inverse).clamp(0.0, 1.0);
        let w = ((d00 * d21 - d01 * d20) * inverse).clamp(0.0, 1.0 - v);
        (mesh, triangle, corners, [1.0 - v - w, v, w])
    }

    /// Smooth normal at a hit of a triangle, outwards.
    pub(crate) fn outward_normal(&self, place: u32, point: Vec3A) -> Vec3A {
        let (mesh, _, corners, weights) = self.corner_weights(place, point);
        let sum: Vec3A = (0..3).map(|i| Vec3A::from(mesh.normals[corners[i]]) * weights[i]).sum();
        sum.normalize_or(self.triangles.primitive(place).compute_normal())
    }

    /// Material of a triangle.
    pub(crate) fn triangle_material(&self, place: u32) -> &Material {
        let (mesh, triangle) = self.triangle_refs[self.triangles.source(place) as usize];
        self.meshes[mesh as usize].material(triangle)
    }

    /// Whether a triangle is part of a pane.
    pub(crate) fn is_pane(&self, place: u32) -> bool {
        let (mesh, triangle) = self.triangle_refs[self.triangles.source(place) as usize];
        let mesh = &self.meshes[mesh as usize];
        mesh.is_open && is_sheet(mesh.material(triangle))
    }

    /// Material of a ball.
    pub(crate) fn ball_material(&self, place: u32) -> &Material {
        let index = self.ball_materials[self.balls.source(place) as usize];
        &self.point_materials[index as usize]
    }

    /// Everything about a hit of a triangle. `pixel` is the size of a pixel there [m].
    pub(crate) fn triangle_surface(&self, place: u32, ray: &Ray, t: f32, pixel: f32) -> Surface {
        let position = ray.origin + ray.direction * t;
        let (mesh, triangle, corners, weights) = self.corner_weights(place, position);
        let flat = self.triangles.primitive(place).compute_normal();
        let entering = flat.dot(ray.direction) < 0.0;
        let facing = if entering { 1.0 } else { -1.0 };
        let corner_normals = corners.map(|v| Vec3A::from(mesh.normals[v]) * facing);
        let smooth: Vec3A = (0..3).map(|i| corner_normals[i] * weights[i]).sum();
        let flat = flat * facing;
        let mut normal = smooth.normalize_or(flat);
        if normal.dot(flat) < 0.0 {
            normal = flat;
        }
        let normal = bent_towards(normal, -ray.direction);
        // Hanika, "Hacking the shadow terminator" (2021): move to the curved surface that the normals
        // suggest, the weighted mean of the point's projections on the corners' tangent planes.
        let lift: Vec3A = (0..3)
            .map(|i| {
                let below =
                    (position - Vec3A::from(mesh.positions[corners[i]])).dot(corner_normals[i]);
                corner_normals[i] * (-below.min(0.0) * weights[i])
            })
            .sum();
        let material = mesh.material(triangle);
        let mut albedo = albedo(mesh, material, &corners, &weights);
        if !mesh.stains.is_empty() {
            let of = |i: usize| mesh.stains[corners[i]];
            let covered = (0..3).map(|i| of(i).1 * weights[i]).sum::<f32>().clamp(0.0, 1.0);
            let color: Vec3A = (0..3).map(|i| of(i).0 * weights[i]).sum();
            albedo = albedo.lerp(color, covered);
        }
        if self.look.wireframe > 0.0 {
            let edge = edge_distance(mesh, &corners, &weights) / pixel.max(LEAST_EDGE);
            let line = (0.5 * self.look.wireframe + 0.5 - edge).clamp(0.0, 1.0);
            albedo = albedo.lerp(Vec3A::splat(WIRE), WIRE_COVER * line);
        }
        let mut surface = Surface {
            lifted: position + lift,
            is_pane: mesh.is_open && is_sheet(material),
            ..plain(position, flat, normal, albedo, material, entering)
        };
        if let Some(wet) = wetness(mesh, &corners, &weights) {
            surface.wet(wet.clamp(0.0, 1.0));
        }
        surface
    }

    /// Everything about a hit of a ball.
    pub(crate) fn ball_surface(&self, place: u32, ray: &Ray, t: f32) -> Surface {
        let position = ray.origin + ray.direction * t;
        let out = (position - self.balls.primitive(place).center).normalize_or(-ray.direction);
        let entering = out.dot(ray.direction) < 0.0;
        let normal = if entering { out } else { -out };
        let material = self.ball_material(place);
        let [r, g, b, _] = material.base_color;
        plain(position, normal, normal, Vec3A::new(r, g, b), material, entering)
    }

    /// Everything about a hit of the ground.
    pub(crate) fn ground_surface(&self, ray: &Ray, t: f32) -> Surface {
        let position = ray.origin + ray.direction * t;
        let material = Material { roughness: 1.0, ior: 1.0, ..Material::default() };
        plain(position, Vec3A::Y, Vec3A::Y, self.look.ground_color, &material, true)
    }
}

fn plain(
    position: Vec3A,
    flat: Vec3A,
    normal: Vec3A,
    albedo: Vec3A,
    material: &Material,
    entering: bool,
) -> Surface {
    Surface {
        position,
        lifted: position,
        flat,
        normal,
        albedo: albedo.clamp(Vec3A::ZERO, Vec3A::ONE),
        roughness: material.roughness.clamp(0.0, 1.0),
        metallic: material.metallic.clamp(0.0, 1.0),
        transmission: material.transmission.clamp(0.0, 1.0),
        ior: material.ior.clamp(1.0, 4.0),
        absorption: Vec3A::from(material.absorption).max(Vec3A::ZERO),
        entering,
        is_pane: false,
    }
}

/// A normal that leans away from the eye is bent back until it is seen edge-on.
fn bent_towards(normal: Vec3A, to_eye: Vec3A) -> Vec3A {
    let facing = normal.dot(to_eye);
    if facing > EDGE_ON {
        normal
    } else {
        (normal + to_eye * (EDGE_ON - facing)).normalize_or(to_eye)
    }
}

/// How wet a place is: by the image, which is finer, where there is one.
fn wetness(mesh: &SceneMesh, corners: &[usize; 3], weights: &[f32; 3]) -> Option<f32> {
    if let Some(image) = &mesh.wet_image {
        let uv = (0..3).map(|i| mesh.topology.uvs[corners[i]] * weights[i]).sum();
        return Some(red_at(image, uv));
    }
    let of = |i: usize| mesh.wetness[corners[i]] * weights[i];
    (!mesh.wetness.is_empty()).then(|| (0..3).map(of).sum())
}

/// The first channel of an image at a place, between its pixels; it holds values, not colours.
fn red_at(image: &Texture, uv: Vec2) -> f32 {
    let size = [image.width, image.height].map(|n| n.max(1) as f32);
    let at = [uv.x * size[0] - 0.5, uv.y * size[1] - 0.5];
    let pixel = |x: f32, y: f32| {
        let x = x.clamp(0.0, size[0] - 1.0) as usize;
        let y = y.clamp(0.0, size[1] - 1.0) as usize;
        let red = image.rgba.get(4 * (y * image.width as usize + x)).copied().unwrap_or(0);
        f32::from(red) / 255.0
    };
    let (x, y) = (at[0].floor(), at[1].floor());
    let (s, t) = (at[0] - x, at[1] - y);
    let row = |y: f32| pixel(x, y) + (pixel(x + 1.0, y) - pixel(x, y)) * s;
    row(y) + (row(y + 1.0) - row(y)) * t
}

fn albedo(
    mesh: &SceneMesh,
    material: &Material,
    corners: &[usize; 3],
    weights: &[f32; 3],
) -> Vec3A {
    if !mesh.tint.is_empty() {
        return (0..3).map(|i| mesh.tint[corners[i]] * weights[i]).sum();
    }
    let [r, g, b, _] = material.base_color;
    let mut albedo = Vec3A::new(r, g, b);
    if mesh.topology.colors.len() == mesh.positions.len() {
        let color = |v: usize| {
            let [r, g, b, _] = mesh.topology.colors[v];
            Vec3A::new(r, g, b)
        };
        albedo *= (0..3).map(|i| color(corners[i]) * weights[i]).sum::<Vec3A>();
    }
    if let Some(texture) = &material.texture
        && mesh.topology.uvs.len() == mesh.positions.len()
    {
        let uv = (0..3).map(|i| mesh.topology.uvs[corners[i]] * weights[i]).sum();
        albedo *= Vec3A::from(texture.sample(uv));
    }
    albedo
}

/// Distance to the nearest edge of the triangle [m].
fn edge_distance(mesh: &SceneMesh, corners: &[usize; 3], weights: &[f32; 3]) -> f32 {
    let [a, b, c] = corners.map(|v| Vec3A::from(mesh.positions[v]));
    let doubled = (b - a).cross(c - a).length();
    let opposite = [(c - b).length(), (a - c).length(), (b - a).length()];
    (0..3).map(|i| weights[i] * doubled / opposite[i].max(LEAST_EDGE)).fold(f32::INFINITY, f32::min)
}

//! Light that strands send to the eye, or to what scatters it further.

use glam::Vec3A;
use obvhs::ray::Ray;

use super::Lit;
use super::shadows::Bent;
use crate::fibre::Fibre;
use crate::sampling::{Sampler, sphere_direction};
use crate::scene::{Scene, Strand};
use crate::shape::Segment;

/// Angular width of hair highlights [rad].
const HIGHLIGHT: f32 = 0.13;
/// How far from a strand's axis its shadow rays start, in radii [-]: clear of the strand itself.
const CLEAR_OF_STRAND: f32 = 2.5;
/// Light below which no shadow ray is sent [-]: less than half a step of a picture.
const LEAST_SCATTERED: f32 = 2e-3;
/// Light that has crossed many strands before arriving at one, as a share of the dome's [-].
const DEEP_LIGHT: f32 = 0.05;
/// What a strand scatters of a lamp, where it is seen by scattered light only [-].
const SIMPLE_SCATTER: f32 = 0.25;

impl Lit<'_> {
    pub(super) fn fibre(&self, place: u32, ray: &Ray, t: f32, sampler: &mut Sampler) -> Vec3A {
        let segment = self.scene.segments.primitive(place);
        let tangent = (segment.b - segment.a).normalize_or(Vec3A::Y);
        let position = ray.origin + ray.direction * t;
        self.strand_light(place, position, tangent, -ray.direction, sampler)
    }

    /// Light that a strand sends to the eye from a point of it.
    pub fn strand_light(
        &self,
        place: u32,
        position: Vec3A,
        tangent: Vec3A,
        to_eye: Vec3A,
        sampler: &mut Sampler,
    ) -> Vec3A {
        let segment = self.scene.segments.primitive(place);
        let strand = self.strand(place);
        // Lines of overlays are signs, not things: light must not change their colour.
        if strand.flat {
            return strand.color;
        }
        let fibre = Fibre { tangent, color: strand.color, width: HIGHLIGHT, tilt: strand.tilt };
        let step = CLEAR_OF_STRAND * segment.radius_a.max(segment.radius_b) + self.epsilon;
        let mut light = Vec3A::ZERO;
        for (index, lamp) in self.environment.lamps.iter().enumerate() {
            let direction = self.cones[index].direction(sampler.pair());
            let scattered = fibre.scatter(direction, to_eye) * lamp.irradiance;
            if scattered.max_element() > LEAST_SCATTERED {
                let from = position + direction * step;
                light += scattered * self.visibility(from, direction, index, Bent::Straight);
            }
        }
        let deep = self.environment.ambient(Vec3A::Y) * DEEP_LIGHT;
        light + strand.color * (self.dome_among_strands(position, step, sampler) + deep)
    }

    fn dome_among_strands(&self, position: Vec3A, step: f32, sampler: &mut Sampler) -> Vec3A {
        let direction = sphere_direction(sampler.pair());
        let ray = Ray::new_inf(position + direction * step, direction);
        match &self.volume {
            Some(volume) => {
                // Solids take away what they hide of the dome.
                let open = self.past_solids(ray, Bent::Straight);
                volume.ambient(position) * (0.5 + 0.5 * open)
            }
            None => {
                self.environment.dome(direction)
                    * self.past_solids(ray, Bent::Straight)
                    * self.past_strands(ray)
            }
        }
    }

    /// The strand of a piece.
    pub fn strand(&self, place: u32) -> Strand {
        let index = self.scene.segment_strands[self.scene.segments.source(place) as usize];
        self.scene.strands[index as usize]
    }

    /// A strand as seen by scattered light: evenly lit by one lamp and the dome.
    pub(super) fn fibre_simply(
        &self,
        place: u32,
        ray: &Ray,
        t: f32,
        sampler: &mut Sampler,
    ) -> Vec3A {
        let segment = self.scene.segments.primitive(place);
        let strand = self.strand(place);
        let lamps = &self.environment.lamps;
        let mut light = self.environment.ambient(Vec3A::Y) * 0.5;
        if !lamps.is_empty() && !strand.flat {
            let pick = ((sampler.one() * lamps.len() as f32) as usize).min(lamps.len() - 1);
            let direction = self.cones[pick].direction(sampler.pair());
            let step = CLEAR_OF_STRAND * segment.radius_a.max(segment.radius_b) + self.epsilon;
            let from = ray.origin + ray.direction * t + direction * step;
            // One lamp stands for all, as bright as they are together.
            let irradiance = lamps[pick].irradiance * (SIMPLE_SCATTER * lamps.len() as f32);
            light += irradiance * self.visibility(from, direction, pick, Bent::Straight);
        }
        strand.color * light
    }
}

/// The pieces of strands that light falls on.
pub(super) fn lit_segments(scene: &Scene) -> impl Iterator<Item = Segment> + Clone + '_ {
    (0..scene.segments.len() as u32)
        .filter(|&place| {
            let index = scene.segment_strands[scene.segments.source(place) as usize];
            !scene.strands[index as usize].flat
        })
        .map(|place| *scene.segments.primitive(place))
}

/// Mean colour of the strands that are lit.
pub(super) fn mean_color(scene: &Scene) -> Vec3A {
    let lit = scene.strands.iter().filter(|s| !s.flat);
    let (sum, count) = lit.fold((Vec3A::ZERO, 0u32), |(c, n), s| (c + s.color, n + 1));
    sum / count.max(1) as f32
}

//! What the samples leave in each pixel.

use glam::Vec3A;
use rayon::prelude::*;

use crate::Image;
use crate::image::{srgb_byte, tone_map};
use crate::integrator::PathSample;

/// Darkest colour that light is divided by [-]: what black reflects says nothing about the light.
const DARKEST: f32 = 1e-4;
/// Brightest sample, in whites: a reflection of a lamp in a curved mirror may be thousands of times
/// brighter; left alone, one such sample is a speck.
const BRIGHTEST: f32 = 12.0;
/// Brightness that is added before noise is judged against it [-]: in the dark the eye forgives.
const TAKEN_FOR_GRANTED: f32 = 0.2;
/// Share of each colour in brightness (ITU-R BT.709).
const LUMINANCE: Vec3A = Vec3A::new(0.2126, 0.7152, 0.0722);

/// One pixel of a [`Film`]: means over its samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilmPixel {
    /// Evenly scattered light: albedo times light.
    pub diffuse: Vec3A,
    /// Albedo of the opaque surfaces.
    pub albedo: Vec3A,
    /// All other light.
    pub other: Vec3A,
    /// Shading normal.
    pub normal: Vec3A,
    /// Distance [m]; very large where nothing is.
    pub depth: f32,
    /// Share of the samples that hit something, strands by what they cover.
    pub coverage: f32,
    /// Variance of the mean of the light's brightness.
    pub variance: f32,
    /// Samples taken.
    pub samples: u32,
}

impl FilmPixel {
    /// Light without the surface's colour.
    #[must_use]
    pub fn light(&self) -> Vec3A {
        self.diffuse / self.albedo.max(Vec3A::splat(DARKEST))
    }

    /// Radiance.
    #[must_use]
    pub fn radiance(&self) -> Vec3A {
        self.diffuse + self.other
    }
}

/// Sums over samples, on the way to a [`FilmPixel`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    diffuse: Vec3A,
    albedo: Vec3A,
    other: Vec3A,
    normal: Vec3A,
    depth: f32,
    hits: f32,
    brightness: f32,
    brightness_sq: f32,
    /// Of all light, as it ends in the picture.
    seen: f32,
    seen_sq: f32,
    count: u32,
}

pub(crate) fn brightness(color: Vec3A) -> f32 {
    color.dot(LUMINANCE)
}

impl Sums {
    pub fn add(&mut self, sample: &PathSample) {
        let other = sample.other.min(Vec3A::splat(BRIGHTEST));
        let light = brightness(
            sample.diffuse / sample.albedo.max(Vec3A::splat(DARKEST)) * coverage(sample),
        );
        self.diffuse += sample.diffuse;
        self.albedo += sample.albedo;
        self.other += other;
        self.normal += sample.normal;
        self.depth += sample.depth.min(1e9);
        self.hits += if sample.depth.is_finite() { 1.0 } else { sample.veiled };
        self.brightness += light;
        self.brightness_sq += light * light;
        let seen = brightness(sample.diffuse + other);
        self.seen += seen;
        self.seen_sq += seen * seen;
        self.count += 1;
    }

    /// How far the mean may be from the truth, against what an eye tells apart: the standard error
    /// over the brightness, with some dark taken for granted.
    pub fn doubt(&self) -> f32 {
        let n = self.count.max(2) as f32;
        let mean = self.seen / n;
        let spread = (self.seen_sq / n - mean * mean).max(0.0);
        (spread / (n - 1.0)).sqrt() / (mean + TAKEN_FOR_GRANTED)
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn mean(&self) -> FilmPixel {
        let n = self.count.max(1) as f32;
        let mean = self.brightness / n;
        let spread = (self.brightness_sq / n - mean * mean).max(0.0);
        FilmPixel {
            diffuse: self.diffuse / n,
            albedo: self.albedo / n,
            other: self.other / n,
            normal: self.normal.normalize_or_zero(),
            depth: self.depth / n,
            coverage: self.hits / n,
            variance: spread / (n - 1.0).max(1.0),
            samples: self.count,
        }
    }
}

fn coverage(sample: &PathSample) -> f32 {
    if sample.albedo.max_element() > 0.0 { 1.0 } else { 0.0 }
}

/// A picture before tone mapping.
#[derive(Clone, Debug)]
pub struct Film {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Row by row from the top.
    pub pixels: Vec<FilmPixel>,
}

impl Film {
    /// The mean of films of the same size.
    #[must_use]
    pub fn averaged(films: &[Self]) -> Self {
        let mut sum = films[0].clone();
        let share = 1.0 / films.len() as f32;
        for (i, pixel) in sum.pixels.iter_mut().enumerate() {
            let mut mean = FilmPixel::default();
            for film in films {
                let p = &film.pixels[i];
                mean.diffuse += p.diffuse * share;
                mean.albedo += p.albedo * share;
                mean.other += p.other * share;
                mean.normal += p.normal * share;
                mean.depth += p.depth * share;
                mean.coverage += p.coverage * share;
                mean.variance += p.variance * share * share;
                mean.samples += p.samples;
            }
            *pixel = mean;
        }
        sum
    }

    /// Tone mapped.
    #[must_use]
    pub fn develop(&self, exposure: f32) -> Image {
        let pixels = self
            .pixels
            .par_iter()
            .map(|p| {
                let c = tone_map(p.radiance() * exposure);
                [srgb_byte(c.x), srgb_byte(c.y), srgb_byte(c.z), 255]
            })
            .collect();
        Image { width: self.width, height: self.height, pixels }
    }
}

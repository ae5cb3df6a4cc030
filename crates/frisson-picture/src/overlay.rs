//! What is drawn over or instead of the surfaces' own colours.

use frisson::geometry::{Attribute, AttributeValues};
use frisson::stage::Frame;
use glam::{Vec3, Vec3A};

use crate::font::Size;
use crate::look::Tint;
use crate::{Camera, Image, PictureError};

/// Widths of bones, joints, tips of displacements and rims [pixels of a picture of the usual height].
const BONE: f32 = 2.0;
const JOINT: f32 = 6.0;
const TIP: f32 = 2.5;
const RIM: f32 = 1.5;
/// Height for which widths are given, how much thinner they may get, and how much lines hide [pixels, -].
const USUAL_HEIGHT: f32 = 540.0;
const LEAST_SCALE: f32 = 0.75;
const LINE_OPACITY: f32 = 0.9;
/// Pieces of a ring.
const RING: usize = 48;

/// Least span of a heat scale: a constant attribute is shown in one colour.
const LEAST_SPAN: f32 = 1e-12;
/// Offsets shorter than this share of the longest are not drawn [-]: they would be dots.
const LEAST_OFFSET: f32 = 1e-3;
/// Sizes that are written out; others in powers of ten.
const WRITTEN_OUT: std::ops::Range<f32> = 1e-3..1e5;

/// Colour of surfaces without a colour.
pub const CLAY: Vec3A = Vec3A::new(0.62, 0.60, 0.58);

/// Heat colour of a value between 0 and 1: dark blue, teal, yellow, red; readable in print and for
/// most colour-blind eyes because its brightness rises and then falls only at the very end.
#[must_use]
pub fn heat(value: f32) -> Vec3A {
    const STOPS: [Vec3A; 6] = [
        Vec3A::new(0.035, 0.040, 0.180),
        Vec3A::new(0.030, 0.160, 0.420),
        Vec3A::new(0.040, 0.400, 0.400),
        Vec3A::new(0.350, 0.620, 0.150),
        Vec3A::new(0.900, 0.600, 0.060),
        Vec3A::new(0.700, 0.060, 0.030),
    ];
    if value.is_nan() {
        return CLAY;
    }
    let place = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f32;
    let low = (place as usize).min(STOPS.len() - 2);
    STOPS[low].lerp(STOPS[low + 1], place - low as f32)
}

/// The attribute an overlay shows, and its range.
#[derive(Clone, Debug)]
pub struct HeatScale {
    /// Name of the attribute.
    pub name: String,
    /// Value of the coldest colour.
    pub low: f32,
    /// Value of the hottest colour.
    pub high: f32,
}

/// An error that lists what there is instead.
pub(crate) fn unknown_attribute(frame: &Frame, name: &str) -> PictureError {
    let mut existing: Vec<&str> = attributes(frame).map(|a| a.name.as_str()).collect();
    existing.sort_unstable();
    existing.dedup();
    let existing = if existing.is_empty() { "none".to_owned() } else { existing.join(", ") };
    PictureError::UnknownAttribute { name: name.to_owned(), existing }
}

impl HeatScale {
    /// The scale a tint asks for; `None` if it asks for none.
    pub fn of(frame: &Frame, tint: &Tint) -> Result<Option<Self>, PictureError> {
        let Tint::Attribute { name, range } = tint else { return Ok(None) };
        let found = attribute_range(frame, name);
        if found.is_none() {
            return Err(unknown_attribute(frame, name));
        }
        let (low, high) = range.or(found).unwrap_or((0.0, 1.0));
        Ok(Some(Self { name: name.clone(), low, high }))
    }

    /// Colour of each element; grey where the attribute is missing.
    #[must_use]
    pub fn colors(&self, attributes: &[Attribute], count: usize) -> Vec<Vec3A> {
        let span = (self.high - self.low).max(LEAST_SPAN);
        let place = |v: f32| heat((v - self.low) / span);
        match attributes.iter().find(|a| a.name == self.name).map(|a| &a.values) {
            Some(AttributeValues::Scalar(v)) if v.len() == count => {
                v.iter().map(|&v| place(v)).collect()
            }
            Some(AttributeValues::Vector(v)) if v.len() == count => {
                v.iter().map(|v| place(v.length())).collect()
            }
            Some(AttributeValues::Color(v)) if v.len() == count => {
                v.iter().map(|&v| Vec3A::from(v)).collect()
            }
            _ => vec![CLAY; count],
        }
    }
}

fn attributes(frame: &Frame) -> impl Iterator<Item = &Attribute> {
    (frame.meshes.iter().flat_map(|m| &m.attributes))
        .chain(frame.curves.iter().flat_map(|c| &c.attributes))
        .chain(frame.points.iter().flat_map(|p| &p.attributes))
}

/// Range of an attribute over all shapes of a frame; `None` if no shape has it. An animation unites
/// the ranges of its frames so that colours mean the same throughout.
#[must_use]
pub fn attribute_range(frame: &Frame, name: &str) -> Option<(f32, f32)> {
    let mut range = None;
    let mut include = |v: f32| {
        if v.is_finite() {
            let (low, high) = range.unwrap_or((v, v));
            range = Some((f32::min(low, v), f32::max(high, v)));
        }
    };
    let mut found = false;
    for attribute in attributes(frame).filter(|a| a.name == name) {
        found = true;
        match &attribute.values {
            AttributeValues::Scalar(v) => v.iter().for_each(|&v| include(v)),
            AttributeValues::Vector(v) => v.iter().for_each(|v| include(v.length())),
            AttributeValues::Color(_) => {}
        }
    }
    range.or(found.then_some((0.0, 1.0)))
}

/// Own colour of each point: the overlay's, or the attribute `color`; `None` when there is neither.
pub(crate) fn element_colors(
    attributes: &[Attribute],
    count: usize,
    heat: Option<&HeatScale>,
) -> Option<Vec<Vec3A>> {
    if let Some(heat) = heat {
        return Some(heat.colors(attributes, count));
    }
    attributes.iter().find(|a| a.name == "color").and_then(|a| match &a.values {
        AttributeValues::Color(v) if v.len() == count => {
            Some(v.iter().map(|&v| Vec3A::from(v)).collect())
        }
        _ => None,
    })
}

/// Lines seen through everything: joints, colliders.
#[derive(Clone, Debug, Default)]
pub struct XRay {
    /// End points [m], width [px] and colour.
    pub lines: Vec<(Vec3, Vec3, f32, [u8; 3])>,
}

impl XRay {
    /// The bones of a skeleton: a line from each joint to its parent.
    pub fn add_joints(&mut self, positions: &[Vec3], parents: &[Option<usize>]) {
        for (joint, parent) in parents.iter().enumerate() {
            let Some(&child) = positions.get(joint) else { continue };
            if let Some(&from) = parent.and_then(|p| positions.get(p)) {
                self.lines.push((from, child, BONE, [255, 170, 40]));
            }
            self.lines.push((child, child, JOINT, [230, 90, 30]));
        }
    }

    /// A vector attribute as lines from where the vertices that face the camera would be without it.
    pub fn add_displacements(
        &mut self,
        frame: &Frame,
        name: &str,
        camera: &Camera,
    ) -> Result<(), PictureError> {
        /// Lines of one mesh, about.
        const LINES: usize = 3000;
        let mut found = false;
        for mesh in &frame.meshes {
            let values = mesh.attributes.iter().find(|a| a.name == name).map(|a| &a.values);
            let Some(AttributeValues::Vector(offsets)) = values else { continue };
            found = true;
            let longest = offsets.iter().map(|o| o.length()).fold(0.0, f32::max);
            let faces = |v: usize| {
                let normal = mesh.normals.get(v).copied().unwrap_or(Vec3::ZERO);
                normal.dot(mesh.positions[v] - camera.position) <= 0.0
            };
            let moved = |v: &usize| offsets[*v].length() > LEAST_OFFSET * longest && faces(*v);
            let moved: Vec<usize> = (0..offsets.len()).filter(moved).collect();
            for &v in moved.iter().step_by((moved.len() / LINES).max(1)) {
                let color = heat(offsets[v].length() / longest);
                let color = color.to_array().map(|c| (255.0 * c.powf(1.0 / 2.2)) as u8);
                let p = mesh.positions[v];
                self.lines.push((p - offsets[v], p, 1.0, color));
                self.lines.push((p, p, TIP, color));
            }
        }
        if found { Ok(()) } else { Err(unknown_attribute(frame, name)) }
    }

    /// A ring.
    pub fn add_ring(&mut self, center: Vec3, normal: Vec3, radius: f32, color: [u8; 3]) {
        let (a, b) = normal.normalize_or(Vec3::Y).any_orthonormal_pair();
        let at = |i: usize| {
            let (sin, cos) = (i as f32 * std::f32::consts::TAU / RING as f32).sin_cos();
            center + (a * cos + b * sin) * radius
        };
        self.lines.extend((0..RING).map(|i| (at(i), at(i + 1), RIM, color)));
    }

    /// A ball, as three rings.
    pub fn add_ball(&mut self, center: Vec3, radius: f32, color: [u8; 3]) {
        [Vec3::X, Vec3::Y, Vec3::Z].iter().for_each(|&n| self.add_ring(center, n, radius, color));
    }

    /// A capsule, as rings and sides.
    pub fn add_capsule(&mut self, a: Vec3, b: Vec3, ra: f32, rb: f32, color: [u8; 3]) {
        self.add_ball(a, ra, color);
        self.add_ball(b, rb, color);
        let (u, v) = (b - a).normalize_or(Vec3::Y).any_orthonormal_pair();
        for side in [u, -u, v, -v] {
            self.lines.push((a + side * ra, b + side * rb, 1.5, color));
        }
    }

    /// Draws the lines over a picture.
    pub fn draw(&self, image: &mut Image, camera: &Camera) {
        let (w, h) = (image.width, image.height);
        let scale = (h as f32 / USUAL_HEIGHT).max(LEAST_SCALE);
        for &(a, b, width, color) in &self.lines {
            if let (Some((a, _)), Some((b, _))) = (camera.project(a, w, h), camera.project(b, w, h))
            {
                image.line(a, b, width * scale, color, LINE_OPACITY);
            }
        }
    }
}

/// Draws the colour scale of an overlay in the lower left corner.
pub fn draw_legend(image: &mut Image, scale: &HeatScale) {
    let size = if image.height >= 400 { Size::Medium } else { Size::Small };
    let line = i64::from(size.height());
    let (width, height) = (9 * line, line / 2);
    let (x, y) = (line / 2, i64::from(image.height) - 3 * line / 2 - height);
    for column in 0..width {
        let color = heat(column as f32 / width as f32);
        let color = [color.x, color.y, color.z].map(crate::image::srgb_byte);
        image.rectangle(x + column, y, 1, height, color);
    }
    let ink = [30, 30, 30];
    image.text(x, y - line - 2, size, &scale.name, ink);
    image.text(x, y + height + 2, size, &short(scale.low), ink);
    let high = short(scale.high);
    let right = x + width - crate::font::width(&high, size);
    image.text(right, y + height + 2, size, &high, ink);
}

/// A number in few characters.
#[must_use]
pub fn short(value: f32) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".to_owned(),
        _ if !WRITTEN_OUT.contains(&size) => format!("{value:.1e}"),
        _ if size < 1.0 => format!("{value:.3}"),
        _ if size < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisson::geometry::Mesh;

    #[test]
    fn an_unknown_attribute_is_named_with_those_that_exist() {
        let mut mesh = Mesh::new("m", vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
        mesh.set_scalar("strain", |v| v.copy_from_slice(&[0.0, 2.0, f32::NAN]));
        let frame = Frame { meshes: vec![mesh], ..Frame::default() };
        assert_eq!(attribute_range(&frame, "strain"), Some((0.0, 2.0)));
        let tint = Tint::Attribute { name: "strian".into(), range: None };
        let message = HeatScale::of(&frame, &tint).unwrap_err().to_string();
        assert!(message.contains("strian") && message.contains("strain"), "{message}");
        let tint = Tint::Attribute { name: "strain".into(), range: None };
        let scale = HeatScale::of(&frame, &tint).unwrap().unwrap();
        let colors = scale.colors(&frame.meshes[0].attributes, 3);
        assert_eq!(colors, vec![heat(0.0), heat(1.0), CLAY]);
    }
}

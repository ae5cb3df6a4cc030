//! Where we look from.

use frisson::geometry::Bounds;
use frisson::stage::Frame;
use glam::{Vec2, Vec3, Vec3A};
use obvhs::ray::Ray;

use crate::PictureError;
use crate::sampling::disc;

/// Fields of view that show something [degrees].
const FIELDS: std::ops::RangeInclusive<f32> = 1.0..=150.0;
/// Most of a picture that may be margin on one side [-].
const MOST_MARGIN: f32 = 0.45;

/// Shortest way from the eye to what it looks at that has a direction [m].
const LEAST_VIEW: f32 = 1e-9;
/// Length of the cross product with the vertical below which a camera looks straight up or down [-].
const UPRIGHT: f32 = 1e-4;
/// Depth from which a point is before the camera [m].
const LEAST_DEPTH: f32 = 1e-6;
/// Least size of what is framed [m]: a single point is looked at as if it were a millimetre large.
const LEAST_SIZE: f32 = 1e-3;
/// Room between the eye and what is nearest to it, as a share of the subject's size [-]: points in a row that leads
/// away from the eye would otherwise be seen from within the first of them.
const LEAST_ROOM: f32 = 0.05;
/// Nearest sharp plane [m].
const LEAST_FOCUS: f32 = 1e-4;

/// The direction and lens of an automatic camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Angle around the vertical [deg]; 0 looks along -z at the front of a character facing +z.
    pub yaw_deg: f32,
    /// Height of the camera above the horizon [deg].
    pub pitch_deg: f32,
    /// Vertical field of view [deg].
    pub fov_deg: f32,
    /// Room around the subject, as a fraction of the picture.
    pub margin: f32,
    /// Aperture diameter [m]; 0 has everything sharp.
    pub aperture: f32,
}

impl Default for View {
    fn default() -> Self {
        Self { yaw_deg: 28.0, pitch_deg: 12.0, fov_deg: 28.0, margin: 0.08, aperture: 0.0 }
    }
}

impl View {
    /// Right, up and forward of the camera.
    #[must_use]
    pub fn axes(&self) -> (Vec3, Vec3, Vec3) {
        let (yaw, pitch) = (self.yaw_deg.to_radians(), self.pitch_deg.to_radians());
        let forward =
            -Vec3::new(yaw.sin() * pitch.cos(), pitch.sin(), yaw.cos() * pitch.cos()).normalize();
        // Straight down or up, the horizontal axis still follows the yaw.
        let right = Vec3::new(yaw.cos(), 0.0, -yaw.sin());
        (right, right.cross(forward), forward)
    }
}

/// A pinhole or thin-lens camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Eye [m].
    pub position: Vec3,
    /// Unit vector to the right of the picture.
    pub right: Vec3,
    /// Unit vector to the top of the picture.
    pub up: Vec3,
    /// Unit vector into the picture.
    pub forward: Vec3,
    /// Tangent of half the vertical field of view.
    pub tan_half_fov: f32,
    /// Aperture diameter [m].
    pub aperture: f32,
    /// Distance of the sharp plane [m].
    pub focus: f32,
}

impl Camera {
    /// A camera at `eye` looking at `target`.
    pub fn look_at(eye: Vec3, target: Vec3, fov_deg: f32) -> Result<Self, PictureError> {
        let along = target - eye;
        if !eye.is_finite() || !along.is_finite() || along.length() < LEAST_VIEW {
            return Err(option("camera", "the eye and the target must be two different points"));
        }
        check_fov(fov_deg)?;
        let forward = along.normalize();
        let side = if forward.cross(Vec3::Y).length() > UPRIGHT { Vec3::Y } else { -Vec3::Z };
        let right = forward.cross(side).normalize();
        Ok(Self {
            position: eye,
            right,
            up: right.cross(forward),
            forward,
            tan_half_fov: (0.5 * fov_deg.to_radians()).tan(),
            aperture: 0.0,
            focus: along.length(),
        })
    }

    /// The ray through a point of the picture, in units of its half height from the centre (x to the
    /// right, y up), leaving the lens at `lens`, two numbers in [0, 1).
    #[must_use]
    pub fn ray(&self, point: Vec2, lens: Vec2) -> Ray {
        let slope = point * self.tan_half_fov;
        let direction = self.forward + self.right * slope.x + self.up * slope.y;
        if self.aperture <= 0.0 {
            let direction = Vec3A::from(direction.normalize());
            return Ray::new(self.position.into(), direction, 0.0, f32::INFINITY);
        }
        let on_lens = disc(lens) * (0.5 * self.aperture);
        let from = self.position + self.right * on_lens.x + self.up * on_lens.y;
        let to = self.position + direction * self.focus;
        Ray::new(from.into(), Vec3A::from((to - from).normalize()), 0.0, f32::INFINITY)
    }

    /// Where a point appears, in pixels, and its depth [m]; `None` behind the camera.
    #[must_use]
    pub fn project(&self, point: Vec3, width: u32, height: u32) -> Option<([f32; 2], f32)> {
        let d = point - self.position;
        let depth = d.dot(self.forward);
        if depth <= LEAST_DEPTH {
            return None;
        }
        let half = 0.5 * height as f32;
        let scale = half / (depth * self.tan_half_fov);
        let x = 0.5 * width as f32 + d.dot(self.right) * scale;
        Some(([x, half - d.dot(self.up) * scale], depth))
    }

    /// Size of a pixel at unit distance [m].
    #[must_use]
    pub fn pixel_slope(&self, height: u32) -> f32 {
        2.0 * self.tan_half_fov / height.max(1) as f32
    }
}

fn option(what: &'static str, problem: &str) -> PictureError {
    PictureError::Option { what, problem: problem.to_owned() }
}

fn check_fov(fov_deg: f32) -> Result<(), PictureError> {
    if FIELDS.contains(&fov_deg) {
        return Ok(());
    }
    Err(option("fov", "must be between 1 and 150 degrees"))
}

/// Collects what a camera has to see, over as many frames as wanted.
///
/// Each side of the view pyramid is a plane of known orientation; pushed against all points it
/// touches the subject. Left and right planes meet in one line, top and bottom in another, and the
/// camera stands on whichever lies farther back.
#[derive(Clone, Debug)]
pub struct Framing {
    view: View,
    aspect: f32,
    /// Largest `normal · point` for the left, right, bottom and top planes.
    support: [f32; 4],
    /// How far along the view the nearest point lies [m].
    front: f32,
    bounds: Bounds,
}

impl Framing {
    /// Nothing to see yet, in pictures of that ratio of width to height.
    #[must_use]
    pub fn new(view: View, aspect: f32) -> Self {
        Self {
            view,
            aspect,
            support: [f32::NEG_INFINITY; 4],
            front: f32::INFINITY,
            bounds: Bounds::EMPTY,
        }
    }

    /// The same points as seen from elsewhere need a new collection; this gives an empty one.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Half the field of view in each direction, as tangents, without the margin.
    fn tangents(&self) -> (f32, f32) {
        let room = 1.0 - 2.0 * self.view.margin.clamp(0.0, MOST_MARGIN);
        let y = (0.5 * self.view.fov_deg.to_radians()).tan() * room;
        (y * self.aspect, y)
    }

    fn normals(&self) -> [Vec3; 4] {
        let (right, up, forward) = self.view.axes();
        let (x, y) = self.tangents();
        let side = |axis: Vec3, t: f32| (axis - forward * t).normalize();
        [side(-right, x), side(right, x), side(-up, y), side(up, y)]
    }

    /// Adds a point.
    pub fn add_point(&mut self, point: Vec3) {
        self.add_points(&[point]);
    }

    /// Adds points; those that are not finite are passed over.
    pub fn add_points(&mut self, points: &[Vec3]) {
        let normals = self.normals();
        let (_, _, forward) = self.view.axes();
        for &point in points.iter().filter(|p| p.is_finite()) {
            self.bounds = self.bounds.including(point);
            self.front = self.front.min(forward.dot(point));
            for side in 0..4 {
                self.support[side] = self.support[side].max(normals[side].dot(point));
            }
        }
    }

    /// Adds all shapes of a frame.
    pub fn add(&mut self, frame: &Frame) {
        frame.meshes.iter().for_each(|m| self.add_points(&m.positions));
        frame.curves.iter().for_each(|c| self.add_points(&c.points));
        frame.points.iter().for_each(|p| self.add_points(&p.positions));
    }

    /// The camera that sees all of it.
    pub fn camera(&self) -> Result<Camera, PictureError> {
        check_fov(self.view.fov_deg)?;
        if self.bounds.is_empty() {
            return Err(PictureError::Empty);
        }
        let (right, up, forward) = self.view.axes();
        let normals = self.normals();
        // In camera axes a side plane reads: ±across n_a + along n_f = support.
        let meet = |low: usize, high: usize, axis: Vec3| {
            let (n_axis, n_forward) = (normals[high].dot(axis), normals[high].dot(forward));
            let across = (self.support[high] - self.support[low]) / (2.0 * n_axis);
            let along = (self.support[high] + self.support[low]) / (2.0 * n_forward);
            (across, along)
        };
        let (x, depth_x) = meet(0, 1, right);
        let (y, depth_y) = meet(2, 3, up);
        let size = self.bounds.diagonal().max(LEAST_SIZE);
        let along = depth_x.min(depth_y).min(self.front - LEAST_ROOM * size);
        let position = right * x + up * y + forward * along;
        let focus = (self.bounds.center() - position).dot(forward).max(LEAST_FOCUS);
        Ok(Camera {
            position,
            right,
            up,
            forward,
            tan_half_fov: (0.5 * self.view.fov_deg.to_radians()).tan(),
            aperture: self.view.aperture.max(0.0),
            focus,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everything_is_in_view_and_touches_the_margin(
            points in prop::collection::vec(prop::array::uniform3(-5.0f32..5.0), 4..40),
            yaw in -180.0f32..180.0, pitch in -80.0f32..80.0,
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            prop_assume!(Bounds::of(&points).diagonal() > 0.1);
            let view = View { yaw_deg: yaw, pitch_deg: pitch, ..View::default() };
            let mut framing = Framing::new(view, 16.0 / 9.0);
            framing.add_points(&points);
            let camera = framing.camera().unwrap();
            let (w, h) = (1600u32, 900u32);
            let mut used = 0f32;
            for p in &points {
                let ([x, y], _) = camera.project(*p, w, h).expect("in front");
                let (fx, fy) = ((x / w as f32 - 0.5).abs() * 2.0, (y / h as f32 - 0.5).abs() * 2.0);
                used = used.max(fx).max(fy);
                prop_assert!(fx < 0.8401 && fy < 0.8401, "{fx} {fy}");
            }
            // Only what leads away from the eye is seen from farther back than the margin asks for.
            let (_, _, forward) = view.axes();
            let front = points.iter().map(|p| (*p - camera.position).dot(forward)).fold(f32::INFINITY, f32::min);
            let room = LEAST_ROOM * Bounds::of(&points).diagonal();
            prop_assert!(front > 0.99 * room, "{front}");
            prop_assert!(used > 0.839 || front < 1.01 * room, "{used}");
        }

        #[test]
        fn projecting_a_point_of_a_ray_gives_its_pixel(x in -1.0f32..1.0, y in -1.0f32..1.0) {
            let camera = Camera::look_at(Vec3::new(1.0, 2.0, 5.0), Vec3::ZERO, 40.0).unwrap();
            let ray = camera.ray(Vec2::new(x, y), Vec2::ZERO);
            let point = Vec3::from(ray.origin + 3.0 * ray.direction);
            let ([px, py], _) = camera.project(point, 200, 100).unwrap();
            prop_assert!((px - (100.0 + 50.0 * x)).abs() < 1e-2);
            prop_assert!((py - (50.0 - 50.0 * y)).abs() < 1e-2);
        }
    }

    #[test]
    fn a_row_that_leads_away_from_the_eye_lies_before_it() {
        let view = View::default();
        let (_, _, forward) = view.axes();
        let row: Vec<Vec3> = (0..5).map(|k| forward * k as f32).collect();
        let mut framing = Framing::new(view, 1.5);
        framing.add_points(&row);
        let camera = framing.camera().unwrap();
        assert!(row.iter().all(|p| camera.project(*p, 100, 100).is_some()));
    }

    #[test]
    fn a_single_point_still_gives_a_camera() {
        let mut framing = Framing::new(View::default(), 1.5);
        assert!(matches!(framing.camera(), Err(PictureError::Empty)));
        framing.add_point(Vec3::new(1.0, 2.0, 3.0));
        let camera = framing.camera().unwrap();
        assert!(camera.project(Vec3::new(1.0, 2.0, 3.0), 100, 100).is_some());
    }

    #[test]
    fn impossible_cameras_are_refused() {
        assert!(Camera::look_at(Vec3::ONE, Vec3::ONE, 40.0).is_err());
        assert!(Camera::look_at(Vec3::NAN, Vec3::ONE, 40.0).is_err());
        assert!(Camera::look_at(Vec3::ZERO, Vec3::ONE, 0.0).is_err());
    }
}

//! How a scene is lit and presented.

use std::collections::BTreeMap;

use frisson::geometry::Material;
use glam::Vec3A;

use crate::environment::{Environment, Lamp};

/// The dark look's ground, and what is behind everything: bluish, so that warm rims stand out.
const DARK_GROUND: f32 = 0.08;
const DARK_BACKDROP: Vec3A = Vec3A::new(0.035, 0.038, 0.045);

/// Where the ground is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GroundChoice {
    /// Under the lowest point of what the camera frames.
    #[default]
    Auto,
    /// At a height [m].
    At(f32),
    /// Nowhere.
    None,
}

/// What an overlay shows instead of the surfaces' own colours.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Tint {
    /// The colours of the input.
    #[default]
    Materials,
    /// One light grey, for judging shapes.
    Clay,
    /// A named attribute as heat colours: scalars between the limits (or their own range), vectors by
    /// their length, colours as they are. Shapes without it are grey.
    Attribute {
        /// Name.
        name: String,
        /// Lowest and highest value of the colour scale; `None` takes the range found.
        range: Option<(f32, f32)>,
    },
}

/// How a scene is lit and presented.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Dome and lamps. Lamps turn with the camera if `lamps_follow_camera`.
    pub environment: Environment,
    /// Whether the lamps' directions are given relative to the camera's yaw.
    pub lamps_follow_camera: bool,
    /// Where the ground is.
    pub ground: GroundChoice,
    /// Colour of the ground.
    pub ground_color: Vec3A,
    /// Colour at the top of the picture where nothing is; at the horizon it meets the ground's own.
    /// `None` shows the environment.
    pub backdrop: Option<Vec3A>,
    /// Exposure factor.
    pub exposure: f32,
    /// What colours the surfaces.
    pub tint: Tint,
    /// Width of triangle edges drawn on the surface [px]; 0 draws none.
    pub wireframe: f32,
    /// Velocities drawn as segments of this many seconds; 0 draws none.
    pub velocity_seconds: f32,
    /// Material of the points.
    pub points: Material,
    /// Materials of meshes by name, instead of their own.
    pub materials: BTreeMap<String, Material>,
}

impl Default for Look {
    fn default() -> Self {
        Self::studio()
    }
}

fn lamp(yaw_deg: f32, pitch_deg: f32, radius_deg: f32, color: [f32; 3], strength: f32) -> Lamp {
    let (yaw, pitch) = (yaw_deg.to_radians(), pitch_deg.to_radians());
    Lamp {
        direction: Vec3A::new(yaw.sin() * pitch.cos(), pitch.sin(), yaw.cos() * pitch.cos()),
        radius: radius_deg.to_radians(),
        irradiance: Vec3A::from(color) * strength,
    }
}

impl Look {
    /// Three lamps and a pale backdrop: a warm key from the upper left, a cool fill from the right, a
    /// rim from behind.
    #[must_use]
    pub fn studio() -> Self {
        Self {
            environment: Environment {
                zenith: Vec3A::new(0.40, 0.43, 0.48),
                horizon: Vec3A::new(0.25, 0.26, 0.28),
                nadir: Vec3A::new(0.16, 0.15, 0.14),
                lamps: vec![
                    lamp(-42.0, 46.0, 9.0, [1.0, 0.95, 0.87], 2.6),
                    lamp(58.0, 18.0, 18.0, [0.80, 0.90, 1.0], 0.30),
                    lamp(158.0, 38.0, 9.0, [1.0, 0.98, 0.95], 1.3),
                ],
            },
            lamps_follow_camera: true,
            ground: GroundChoice::Auto,
            ground_color: Vec3A::new(0.54, 0.535, 0.53),
            backdrop: Some(Vec3A::new(0.66, 0.68, 0.71)),
            exposure: 1.0,
            tint: Tint::Materials,
            wireframe: 0.0,
            velocity_seconds: 0.0,
            points: water(),
            materials: BTreeMap::new(),
        }
    }

    /// A clear sky and a low sun.
    #[must_use]
    pub fn outdoor() -> Self {
        Self {
            environment: Environment {
                zenith: Vec3A::new(0.22, 0.38, 0.75),
                horizon: Vec3A::new(0.80, 0.86, 0.95),
                nadir: Vec3A::new(0.22, 0.20, 0.17),
                lamps: vec![lamp(-50.0, 42.0, 1.2, [1.0, 0.90, 0.74], 3.0)],
            },
            ground_color: Vec3A::new(0.36, 0.34, 0.30),
            backdrop: None,
            ..Self::studio()
        }
    }

    /// Dark surroundings, strong rim: makes strands and clear liquids stand out.
    #[must_use]
    pub fn dark() -> Self {
        let mut look = Self::studio();
        look.environment.zenith *= 0.35;
        look.environment.horizon *= 0.25;
        look.environment.nadir *= 0.3;
        look.environment.lamps[2].irradiance *= 2.2;
        look.ground_color = Vec3A::splat(DARK_GROUND);
        look.backdrop = Some(DARK_BACKDROP);
        look
    }
}

/// Clear water.
#[must_use]
pub fn water() -> Material {
    Material {
        name: "water".to_owned(),
        base_color: [1.0; 4],
        roughness: 0.0,
        transmission: 1.0,
        ior: 1.333,
        absorption: [3.0, 0.8, 0.4],
        ..Material::default()
    }
}

//! What a scene file may say. These doc comments are the user's documentation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use super::expect::ExpectParams;
use super::presentation::{CameraParams, GalleryParams};
use frisson::layers::LayerParams;
use frisson::stage::{ColliderParams, ForceParams, Keys, Placement, Rate, ReferencePose};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::export::ExportParams;

/// A shot: actors whose motion is given, and the layers that follow by themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of the scene file: 2. Files of version 1 are read; where their points would move, they are
    /// told.
    #[schemars(range(min = 1, max = 2))]
    pub frisson: u32,
    /// Output rate [frames/s]: a number, or a fraction in quotes such as "24000/1001".
    #[serde(default)]
    pub fps: Fps,
    /// First and last frame. Frame 0 is time 0. Without it: from 0 to the end of the longest clip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<[i64; 2]>,
    /// Time simulated before the first frame, so that hair and cloth have settled [s].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 600.0))]
    pub preroll: f64,
    /// The pose in which points and selections are given: `start`, the actors as they stand at the first
    /// frame, or `rest`, before any clip moves them. Both in metres and in the scene's axes.
    #[serde(default)]
    pub reference: ReferencePose,
    /// Gravity [m/s²].
    #[serde(default = "default_gravity")]
    pub gravity: [f32; 3],
    /// Seed of everything random.
    #[serde(default)]
    pub seed: u64,
    /// Who moves: `[actors.NAME]`.
    #[serde(default)]
    pub actors: Actors,
    /// Simple shapes that layers bump into: `[[colliders]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colliders: Vec<ColliderParams>,
    /// Wind and other fields: `[[forces]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forces: Vec<ForceParams>,
    /// What follows by itself: `[[layers]]`, applied in the order of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerParams>,
    /// Files to write when the bake is done: `[[exports]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<ExportParams>,
    /// How pictures look at the shot: `[camera]`.
    #[serde(default)]
    pub camera: CameraParams,
    /// What the gallery says about the scene: `[gallery]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gallery: Option<GalleryParams>,
    /// What the baked shot must keep to: `[[expect]]`, held by `frisson check --bake`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<ExpectParams>,
}

fn default_gravity() -> [f32; 3] {
    frisson::stage::EARTH_GRAVITY.to_array()
}

/// Something whose motion is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActorParams {
    /// Where it comes from: `builtin:cat`; a character in a .glb, .gltf, .vrm, .fbx or USD file;
    /// meshes given frame by frame in an .abc or USD file, in numbered files (`cat.####.obj`) or in a .frisson cache,
    /// which then play as they are; one .obj file, which stands still. Files are looked for beside the
    /// scene file.
    pub source: String,
    /// Point cache (.pc2 or .mdd) that moves the source's vertices instead of its own motion. The joints
    /// of a character go on playing its clip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<String>,
    /// File that the clip comes from, if not the source: .bvh, .fbx, .glb, .gltf, .vrm or USD. Joints are
    /// matched by name, with or without namespaces, marks and case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_from: Option<String>,
    /// Names of joints in `clip_from` where they differ: `{ arm_l = "LeftArm" }`, ours first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joints: BTreeMap<String, String>,
    /// Clip to play, by name or by index from 0. Without it: the first; see `static`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<ClipChoice>,
    /// Clip time at scene time 0 [s].
    #[serde(default)]
    pub offset: f64,
    /// Clip seconds per scene second [-].
    #[serde(default = "one")]
    pub speed: f64,
    /// Whether the clip starts again when it ends.
    #[serde(default, rename = "loop")]
    pub looped: bool,
    /// Where it stands in the world.
    #[serde(default)]
    pub placement: Placement,
    /// Play no clip: the actor stays in its rest pose.
    #[serde(default, rename = "static")]
    pub is_static: bool,
    /// Carry the whole actor along keys `[frame, x, y, z, rx, ry, rz]`: position [m] and rotation about
    /// x, then y, then z [degrees]. It stands in its rest pose unless `clip` names what it plays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<[f64; 7]>,
    /// How the path runs between its keys: `smooth` (the default) or `linear`.
    #[serde(default, skip_serializing_if = "is_smooth")]
    pub path_keys: Keys,
}

fn is_smooth(keys: &Keys) -> bool {
    *keys == Keys::Smooth
}

fn one() -> f64 {
    1.0
}

impl ActorParams {
    /// An actor that plays its source as it is.
    #[must_use]
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            points: None,
            clip_from: None,
            joints: BTreeMap::new(),
            clip: None,
            offset: 0.0,
            speed: 1.0,
            looped: false,
            placement: Placement::default(),
            is_static: false,
            path: Vec::new(),
            path_keys: Keys::default(),
        }
    }
}

/// A clip, by name or by index from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ClipChoice {
    /// By index from 0.
    Index(u32),
    /// By name.
    Name(String),
}

/// Frames per second: a number, or a fraction in quotes such as "24000/1001".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fps(pub Rate);

impl Default for Fps {
    fn default() -> Self {
        Self(Rate::whole(30))
    }
}

/// Denominator that decimal rates are written over: 29.97 becomes 29970/1000.
const DECIMAL: f64 = 1000.0;

/// Frames a second that make sense: from one in 100 seconds to what the fastest cameras take.
const RATES: std::ops::RangeInclusive<f64> = 0.01..=100_000.0;

impl Fps {
    fn from_number(fps: f64) -> Option<Self> {
        let ok = RATES.contains(&fps);
        let whole = || Rate::whole(fps as u32);
        // A fraction, as rates are all the way down; 23.976 is then what it says, not 24000/1001.
        let over = || Rate { numerator: (fps * DECIMAL).round() as u32, denominator: 1000 };
        ok.then(|| Self(if fps.fract() == 0.0 { whole() } else { over() }))
    }

    fn from_fraction(text: &str) -> Option<Self> {
        let (n, d) = text.split_once('/').unwrap_or((text, "1"));
        let rate = Rate { numerator: n.trim().parse().ok()?, denominator: d.trim().parse().ok()? };
        let positive = rate.numerator > 0 && rate.denominator > 0;
        (positive && RATES.contains(&rate.fps())).then_some(Self(rate))
    }
}

impl Serialize for Fps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.denominator {
            1 => serializer.serialize_u32(self.0.numerator),
            d => serializer.serialize_str(&format!("{}/{d}", self.0.numerator)),
        }
    }
}

impl<'de> Deserialize<'de> for Fps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(f64),
            Text(String),
        }
        let fps = match Form::deserialize(deserializer)? {
            Form::Number(n) => Self::from_number(n),
            Form::Text(t) => Self::from_fraction(&t),
        };
        fps.ok_or_else(|| D::Error::custom("fps: give a number or a fraction like \"24000/1001\""))
    }
}

impl JsonSchema for Fps {
    fn schema_name() -> Cow<'static, str> {
        "Fps".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "minimum": RATES.start(),
            "maximum": 100_000,
            "pattern": "^[0-9]+/[0-9]+$",
        })
    }
}

/// Named actors, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Actors(pub Vec<(String, ActorParams)>);

impl Serialize for Actors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, actor)| (name, actor)))
    }
}

impl<'de> Deserialize<'de> for Actors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Actors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("actors by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Actors, A::Error> {
                let mut actors = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    actors.push(entry);
                }
                Ok(Actors(actors))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl JsonSchema for Actors {
    fn schema_name() -> Cow<'static, str> {
        "Actors".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let actor = generator.subschema_for::<ActorParams>();
        json_schema!({ "type": "object", "additionalProperties": actor })
    }
}

/// The JSON schema of scene files.
#[must_use]
pub fn scene_schema() -> serde_json::Value {
    schemars::schema_for!(Scene).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fps(json: &str) -> Option<Rate> {
        serde_json::from_str::<Fps>(json).ok().map(|f| f.0)
    }

    #[test]
    fn rates_are_exact_fractions() {
        assert_eq!(fps("24"), Some(Rate::whole(24)));
        assert_eq!(fps("\"24000/1001\""), Some(Rate { numerator: 24000, denominator: 1001 }));
        assert_eq!(fps("29.97"), Some(Rate { numerator: 29970, denominator: 1000 }));
        for bad in ["0", "-3", "\"24/0\"", "\"x\"", "1e9", "true"] {
            assert_eq!(fps(bad), None, "{bad}");
        }
    }
}

//! Skins and clips.

use frisson::character::{Clip, Interpolation, Skin, Track, TrackTarget};
use glam::Mat4;
use serde_json::Value;

use super::accessor::Shape;
use super::document::Kind;
use super::error::Result;
use super::import::Importer;
use super::json::{Item, index};
use super::nodes::UniqueNames;

impl Importer<'_> {
    /// Every skin of the document.
    pub(super) fn read_skins(&mut self) -> Result<Vec<Skin>> {
        let nodes = self.document.count(Kind::Node)?;
        let mut skins = Vec::new();
        for index in 0..self.document.count(Kind::Skin)? {
            let item = self.document.item(Kind::Skin, index)?;
            let joints = item.indices("joints")?;
            if joints.is_empty() {
                return Err(item.invalid("it has no joints"));
            }
            // Influences name joints by 16 bits.
            if joints.len() > usize::from(u16::MAX) {
                return Err(item.invalid(format!("{} joints are too many", joints.len())));
            }
            if let Some(joint) = joints.iter().find(|&&j| j >= nodes) {
                return Err(item.invalid(format!("there is no node {joint}")));
            }
            let inverse_bind = self.inverse_bind(&item, joints.len())?;
            let name = item.name().map_or_else(|| format!("skin_{index}"), str::to_owned);
            skins.push(Skin { name, joints, inverse_bind });
        }
        Ok(skins)
    }

    fn inverse_bind(&self, skin: &Item<'_>, joints: usize) -> Result<Vec<Mat4>> {
        let Some(accessor) = skin.index("inverseBindMatrices")? else {
            return Ok(vec![Mat4::IDENTITY; joints]);
        };
        let (layout, numbers) = self.accessors.floats(accessor, &[Shape::Mat4])?;
        if layout.count < joints {
            let problem = format!("{} inverse bind matrices for {joints} joints", layout.count);
            return Err(skin.invalid(problem));
        }
        // There may be more of them than joints.
        Ok(numbers.chunks_exact(16).take(joints).map(Mat4::from_cols_slice).collect())
    }

    /// Every clip of the document.
    pub(super) fn clips(&mut self) -> Result<Vec<Clip>> {
        let mut clips = Vec::new();
        let mut names = UniqueNames::default();
        for index in 0..self.document.count(Kind::Animation)? {
            let item = self.document.item(Kind::Animation, index)?;
            let wanted = item.name().map_or_else(|| format!("clip_{index}"), str::to_owned);
            let mut clip = Clip { name: names.make_unique(&wanted), tracks: Vec::new() };
            for (channel, value) in item.array("channels")?.iter().enumerate() {
                if let Some(track) = self.track(&item, channel, value)? {
                    add_track(&mut clip, track);
                }
            }
            clips.push(clip);
        }
        Ok(clips)
    }

    fn track(&mut self, clip: &Item<'_>, channel: usize, value: &Value) -> Result<Option<Track>> {
        let place = || format!("{}, channel {channel}", clip.place());
        let invalid = |problem: String| super::GltfError::invalid(place(), problem);
        let target = value.get("target").ok_or_else(|| invalid("\"target\" is missing".into()))?;
        let path = target.get("path").and_then(Value::as_str).unwrap_or("");
        let Some(node) = index(target, "node").map_err(invalid)? else {
            self.warn(format!("{}: a channel without a node is left out", clip.place()));
            return Ok(None);
        };
        if node >= self.document.count(Kind::Node)? {
            return Err(invalid(format!("there is no node {node}")));
        }
        let (target, shape, width) = match path {
            "translation" => (TrackTarget::Translation(node), Shape::Vec3, 3),
            "rotation" => (TrackTarget::Rotation(node), Shape::Vec4, 4),
            "scale" => (TrackTarget::Scale(node), Shape::Vec3, 3),
            "weights" => (TrackTarget::MorphWeights(node), Shape::Scalar, 0),
            other => {
                self.warn(format!("{}: channels of {other:?} are left out", clip.place()));
                return Ok(None);
            }
        };
        let sampler = index(value, "sampler").map_err(invalid)?;
        let sampler = sampler.and_then(|s| clip.array("samplers").ok()?.get(s));
        let sampler = sampler.ok_or_else(|| invalid("it names no sampler".into()))?;
        let accessor = |key: &str| {
            let missing = || invalid(format!("its sampler has no {key:?}"));
            index(sampler, key).map_err(invalid)?.ok_or_else(missing)
        };
        let (_, times) = self.accessors.floats(accessor("input")?, &[Shape::Scalar])?;
        if !times.is_sorted_by(|a, b| a < b) {
            return Err(invalid("its key times do not ascend".into()));
        }
        let (_, values) = self.accessors.floats(accessor("output")?, &[shape])?;
        let interpolation = match sampler.get("interpolation").and_then(Value::as_str) {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(other) => return Err(invalid(format!("interpolation {other:?} is not known"))),
        };
        let triple = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        // As many weights as the mesh has targets, which is not read yet.
        let width = if width == 0 { values.len() / (times.len() * triple) } else { width };
        if width == 0 || values.len() != times.len() * triple * width {
            let (keys, numbers) = (times.len(), values.len());
            return Err(invalid(format!("{numbers} numbers do not fit {keys} keys")));
        }
        Ok(Some(Track { target, interpolation, times, values, width }))
    }
}

/// The last of several channels on one property counts, as in other programs.
fn add_track(clip: &mut Clip, track: Track) {
    match clip.tracks.iter_mut().find(|t| t.target == track.target) {
        Some(earlier) => *earlier = track,
        None => clip.tracks.push(track),
    }
}

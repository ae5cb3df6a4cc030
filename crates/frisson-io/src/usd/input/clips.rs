//! Animations into clips.

use frisson::character::{Character, Clip, Interpolation, Track, TrackTarget};
use glam::{DQuat, DVec3};

use super::Result;
use super::attribute::Attribute;
use super::character::{Maker, decompose};
use super::layer::Name;
use super::skin::{Rig, inherited};
use super::stage::Stage;

/// Keys of one track: time codes and numbers.
struct Keys {
    target: TrackTarget,
    width: usize,
    times: Vec<f64>,
    values: Vec<f32>,
}

impl Maker<'_> {
    /// The animations that are bound play together as the first clip; each of the others is one more.
    pub(super) fn add_clips(&mut self, character: &mut Character) -> Result<()> {
        let mut keys = self.transform_keys()?;
        let mut name: Option<Name> = None;
        let mut bound = Vec::new();
        for rig in &self.rigs {
            let Some(animation) = rig.animation else { continue };
            name.get_or_insert_with(|| self.file.stage.prims[animation].name.clone());
            keys.extend(self.joint_keys(rig, animation)?);
            bound.push(animation);
        }
        for mesh in 0..character.meshes.len() {
            keys.extend(self.weight_keys(character, mesh, None)?);
        }
        self.add_clip(character, name.as_deref().unwrap_or("animation"), keys);
        let prims = &self.file.stage.prims;
        let others = (0..prims.len()).filter(|p| &*prims[*p].type_name == "SkelAnimation");
        let others: Vec<usize> = others.filter(|p| !bound.contains(p)).collect();
        for animation in others {
            let mut keys = Vec::new();
            if let Some(rig) = self.matching_rig(animation)? {
                keys.extend(self.joint_keys(rig, animation)?);
            }
            for mesh in 0..character.meshes.len() {
                keys.extend(self.weight_keys(character, mesh, Some(animation))?);
            }
            let name = self.file.stage.prims[animation].name.clone();
            self.add_clip(character, &name, keys);
        }
        Ok(())
    }

    /// The skeleton that has most of an animation's joints.
    fn matching_rig(&self, animation: usize) -> Result<Option<&Rig>> {
        let joints = self.file.stage.value(animation, "joints", f64::NEG_INFINITY)?;
        let Some(joints) = joints else { return Ok(None) };
        let common = |rig: &&Rig| joints.texts().iter().filter(|j| rig.find(j).is_some()).count();
        Ok(self.rigs.iter().filter(|r| common(r) > 0).max_by_key(common))
    }

    fn add_clip(&self, character: &mut Character, name: &str, keys: Vec<Keys>) {
        // What has one key stands: a clip begins where something moves.
        let moving = keys.iter().filter(|k| k.times.len() > 1);
        let starts = moving.filter_map(|k| k.times.first().copied());
        let start = starts.filter(|t| t.is_finite()).fold(f64::INFINITY, f64::min);
        let start = if start.is_finite() { start } else { 0.0 };
        let tracks: Vec<Track> =
            keys.into_iter().filter_map(|k| k.track(start, self.file.rate)).collect();
        // What only stands is a pose, not an animation; but it is the pose that the file means.
        if !tracks.is_empty() {
            character.clips.push(Clip { name: name.to_owned(), tracks });
        }
    }

    /// Prims that are moved by their transforms.
    fn transform_keys(&self) -> Result<Vec<Keys>> {
        let mut out = Vec::new();
        for (node, track) in &self.moving {
            let times = track.times();
            let mut parts = [Vec::new(), Vec::new(), Vec::new()];
            for &time in &times {
                let matrix = track.matrix(&self.file.stage, time)?;
                let (t, _) = decompose(self.file.space.in_metres(matrix));
                parts[0].extend(t.translation.to_array());
                parts[1].extend(t.rotation.to_array());
                parts[2].extend(t.scale.to_array());
            }
            let targets = [
                (TrackTarget::Translation(*node), 3),
                (TrackTarget::Rotation(*node), 4),
                (TrackTarget::Scale(*node), 3),
            ];
            for ((target, width), values) in targets.into_iter().zip(parts) {
                out.push(Keys { target, width, times: times.clone(), values });
            }
        }
        Ok(out)
    }

    fn joint_keys(&self, rig: &Rig, animation: usize) -> Result<Vec<Keys>> {
        let stage = &self.file.stage;
        let joints = stage.value(animation, "joints", f64::NEG_INFINITY)?;
        let joints: Vec<Name> = joints.map_or_else(Vec::new, |j| j.texts().to_vec());
        let unit = self.file.space.unit;
        let mut out = Vec::new();
        for (name, width) in [("translations", 3), ("rotations", 4), ("scales", 3)] {
            let Some(attribute) = stage.attribute(animation, name)? else { continue };
            let first = out.len();
            for (place, joint) in joints.iter().enumerate() {
                let Some(node) = rig.find(joint).map(|j| rig.nodes[j]) else { continue };
                let target = match name {
                    "translations" => TrackTarget::Translation(node),
                    "rotations" => TrackTarget::Rotation(node),
                    _ => TrackTarget::Scale(node),
                };
                out.push((place, Keys { target, width, times: Vec::new(), values: Vec::new() }));
            }
            let scale = if name == "translations" { unit } else { 1.0 };
            read_samples(stage, &attribute, &mut out[first..], width, scale)?;
        }
        Ok(out.into_iter().map(|(_, keys)| keys).collect())
    }

    /// Weights of the blend shapes of a mesh, by an animation or by the one that is bound.
    fn weight_keys(
        &self,
        character: &Character,
        mesh: usize,
        animation: Option<usize>,
    ) -> Result<Option<Keys>> {
        let mesh = &character.meshes[mesh];
        if mesh.morphs.is_empty() {
            return Ok(None);
        }
        let stage = &self.file.stage;
        let animation = match animation {
            Some(animation) => Some(animation),
            None => self.bound_animation(mesh.node)?,
        };
        let Some(animation) = animation else { return Ok(None) };
        let names = stage.value(animation, "blendShapes", f64::NEG_INFINITY)?;
        let weights = stage.attribute(animation, "blendShapeWeights")?;
        let (Some(names), Some(weights)) = (names, weights) else { return Ok(None) };
        let place = |name: &str| names.texts().iter().position(|n| &**n == name);
        let places: Vec<Option<usize>> = mesh.morphs.iter().map(|m| place(&m.name)).collect();
        if places.iter().all(Option::is_none) {
            return Ok(None);
        }
        let target = TrackTarget::MorphWeights(mesh.node);
        let width = places.len();
        let mut keys = Keys { target, width, times: Vec::new(), values: Vec::new() };
        for sample in 0..weights.samples() {
            let numbers = weights.sample(stage, sample)?.numbers();
            keys.times.push(weights.times.get(sample).copied().unwrap_or(f64::NEG_INFINITY));
            let weight = |p: &Option<usize>| p.and_then(|p| numbers.get(p)).copied().unwrap_or(0.0);
            let weight = |p| Some(weight(p) as f32).filter(|w| w.is_finite()).unwrap_or(0.0);
            keys.values.extend(places.iter().map(weight));
        }
        Ok(Some(keys))
    }

    /// The animation of the skeleton that a mesh's node is bound to.
    fn bound_animation(&self, node: usize) -> Result<Option<usize>> {
        let Some(prim) = self.prim_of(node) else { return Ok(None) };
        let stage = &self.file.stage;
        let bound = inherited(stage, prim, "skel:skeleton")?;
        match self.rigs.iter().find(|r| Some(r.prim) == bound) {
            Some(rig) => Ok(rig.animation),
            None => inherited(stage, prim, "skel:animationSource"),
        }
    }
}

/// Spreads the samples of an animation over the tracks of its joints.
fn read_samples(
    stage: &Stage,
    attribute: &Attribute,
    out: &mut [(usize, Keys)],
    width: usize,
    scale: f64,
) -> Result<()> {
    for sample in 0..attribute.samples() {
        let numbers = attribute.sample(stage, sample)?.numbers();
        let time = attribute.times.get(sample).copied().unwrap_or(f64::NEG_INFINITY);
        for (place, keys) in out.iter_mut() {
            let Some(value) = numbers.get(*place * width..(*place + 1) * width) else { continue };
            if let Some(value) = clean(value, scale) {
                keys.times.push(time);
                keys.values.extend(value);
            }
        }
    }
    Ok(())
}

/// A key that a track can take.
fn clean(value: &[f64], scale: f64) -> Option<Vec<f32>> {
    let value: Vec<f32> = match *value {
        [x, y, z] => (scale * DVec3::new(x, y, z)).as_vec3().to_array().to_vec(),
        [x, y, z, w] => {
            let q = DQuat::from_xyzw(x, y, z, w);
            let whole = q.is_finite() && q.length_squared() > 0.0;
            whole.then(|| q.normalize().as_quat().to_array().to_vec())?
        }
        _ => return None,
    };
    value.iter().all(|n| n.is_finite()).then_some(value)
}

impl Keys {
    /// A track whose times ascend from a start; a value without a time stands at the start.
    fn track(self, start: f64, rate: f64) -> Option<Track> {
        let (mut times, mut values): (Vec<f32>, Vec<f32>) = (Vec::new(), Vec::new());
        for (code, value) in self.times.iter().zip(self.values.chunks_exact(self.width)) {
            let time = if code.is_finite() { ((code - start) / rate) as f32 } else { 0.0 };
            if time.is_finite() && times.last().is_none_or(|&last| time > last) {
                times.push(time);
                values.extend(value);
            }
        }
        let interpolation = Interpolation::Linear;
        let (target, width) = (self.target, self.width);
        (!times.is_empty()).then_some(Track { target, interpolation, times, values, width })
    }
}

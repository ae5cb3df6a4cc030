//! Takes into clips.

use frisson::character::{Character, Clip, Interpolation, Track, TrackTarget};

use super::mesh::blend_channels;
use super::{FbxError, Importer, rotation, vector};

/// Keys a second for curves that straight lines cannot follow [Hz].
const RESAMPLE_HZ: f64 = 60.0;
/// Most keys of the weights of one mesh.
const MAX_WEIGHT_KEYS: usize = 1 << 18;

impl Importer<'_> {
    pub(super) fn add_takes(&mut self, character: &mut Character) -> Result<(), FbxError> {
        let scene = self.scene;
        for stack in scene.anim_stacks.iter() {
            let options = ufbx::BakeOpts {
                trim_start_time: true,
                resample_rate: RESAMPLE_HZ,
                ..Default::default()
            };
            let name = stack.element.name.to_string();
            let baked = match ufbx::bake_anim(scene, &stack.anim, options) {
                Ok(baked) => baked,
                Err(error) => {
                    self.warn(format!("take {name:?} is left out: {}", super::said(&error)));
                    continue;
                }
            };
            let mut tracks = Vec::new();
            for node in baked.nodes.iter() {
                add_node_tracks(node, character.skeleton.nodes().len(), &mut tracks);
            }
            self.add_weight_tracks(&stack.anim, &baked, character, &mut tracks);
            if !tracks.is_empty() {
                character.clips.push(Clip { name, tracks });
            }
        }
        Ok(())
    }

    /// Weights of blend shapes, at all keys of any of a mesh's channels.
    fn add_weight_tracks(
        &mut self,
        anim: &ufbx::Anim,
        baked: &ufbx::BakedAnim,
        character: &Character,
        tracks: &mut Vec<Track>,
    ) {
        let scene = self.scene;
        for node in scene.nodes.iter() {
            let Some(mesh) = node.mesh.as_ref() else { continue };
            let index = node.element.typed_id as usize;
            if !character.meshes.iter().any(|m| m.node == index && !m.morphs.is_empty()) {
                continue;
            }
            let channels: Vec<&ufbx::BlendChannel> = blend_channels(mesh).collect();
            let ids: Vec<u32> = channels.iter().map(|c| c.element.element_id).collect();
            let driven = baked.elements.iter().filter(|e| ids.contains(&e.element_id));
            let props = driven.flat_map(|e| e.props.iter()).filter(|p| &*p.name == "DeformPercent");
            let mut times: Vec<f64> = props.flat_map(|p| p.keys.iter().map(|k| k.time)).collect();
            times.sort_by(f64::total_cmp);
            // As single precision sees them: two that are one there would divide by nothing.
            times.dedup_by(|a, b| (*a as f32) <= (*b as f32));
            times.truncate(MAX_WEIGHT_KEYS);
            if times.is_empty() {
                continue;
            }
            // Keys were moved to begin at 0; the curves were not.
            let start = baked.playback_time_begin;
            let start = if baked.key_time_min >= start { start } else { 0.0 };
            let mut values = Vec::with_capacity(times.len() * channels.len());
            for &time in &times {
                for channel in &channels {
                    let weight = channel.evaluate_blend_weight(anim, time + start) as f32;
                    values.push(if weight.is_finite() { weight } else { 0.0 });
                }
            }
            tracks.push(Track {
                target: TrackTarget::MorphWeights(index),
                interpolation: Interpolation::Linear,
                times: times.iter().map(|&t| t as f32).collect(),
                values,
                width: channels.len(),
            });
        }
    }
}

fn add_node_tracks(node: &ufbx::BakedNode, nodes: usize, out: &mut Vec<Track>) {
    let index = node.typed_id as usize;
    if index >= nodes {
        return;
    }
    let vectors = |keys: &[ufbx::BakedVec3]| -> Vec<(f64, Option<Vec<f32>>)> {
        let value = |k: &ufbx::BakedVec3| vector(&k.value).map(|v| v.to_array().to_vec());
        keys.iter().map(|k| (k.time, value(k))).collect()
    };
    let turns = node.rotation_keys.iter().map(|k| {
        let value = rotation(&k.value).map(|q| q.to_array().to_vec());
        (k.time, value)
    });
    let places = vectors(&node.translation_keys);
    out.extend(track(TrackTarget::Translation(index), places, 3));
    out.extend(track(TrackTarget::Rotation(index), turns.collect(), 4));
    let scales = vectors(&node.scale_keys);
    out.extend(track(TrackTarget::Scale(index), scales, 3));
}

/// A track of finite keys whose times ascend.
fn track(target: TrackTarget, keys: Vec<(f64, Option<Vec<f32>>)>, width: usize) -> Option<Track> {
    let (mut times, mut values): (Vec<f32>, Vec<f32>) = (Vec::new(), Vec::new());
    for (time, value) in keys {
        let time = time as f32;
        let later = time.is_finite() && times.last().is_none_or(|&last| time > last);
        if let Some(value) = value.filter(|_| later) {
            times.push(time);
            values.extend(value);
        }
    }
    let interpolation = Interpolation::Linear;
    (!times.is_empty()).then_some(Track { target, interpolation, times, values, width })
}

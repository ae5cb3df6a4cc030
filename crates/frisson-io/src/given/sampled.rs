//! Meshes whose positions are stored sample by sample.

use std::sync::{Mutex, PoisonError};

use frisson::geometry::Mesh;
use frisson::stage::MeshSequence;
use glam::Vec3;

use super::GivenError;

/// Where the samples come from.
pub trait SampleSource: Send + Sync {
    /// Positions of all meshes in a sample, one after the other.
    fn read(&self, sample: usize) -> Result<Vec<Vec3>, GivenError>;
}

/// Meshes of constant topology with one set of positions a sample: straight lines between samples,
/// held at both ends.
pub struct SampledMeshes<S> {
    meshes: Vec<Mesh>,
    /// First vertex of each mesh in a sample.
    firsts: Vec<usize>,
    times: Vec<f64>,
    source: S,
    /// The two samples read last.
    read: Mutex<[(Option<usize>, Vec<Vec3>); 2]>,
}

impl<S: SampleSource> SampledMeshes<S> {
    /// Reads every sample once, so that nothing can fail while they play; `times` [s] ascend, one for
    /// each sample.
    pub fn new(meshes: Vec<Mesh>, times: Vec<f64>, source: S) -> Result<Self, GivenError> {
        let mut firsts = vec![0];
        for mesh in &meshes {
            firsts.push(firsts[firsts.len() - 1] + mesh.positions.len());
        }
        // Read and let go: memory holds two of them, however long the shot.
        for sample in 0..times.len() {
            source.read(sample)?;
        }
        Ok(Self { meshes, firsts, times, source, read: Mutex::default() })
    }

    /// Time of the last sample [s].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }
}

impl<S: SampleSource> MeshSequence for SampledMeshes<S> {
    fn meshes(&self) -> &[Mesh] {
        &self.meshes
    }

    fn positions_at(&self, mesh: usize, time: f64, out: &mut Vec<Vec3>) {
        let last = self.times.len().saturating_sub(1);
        let after = self.times.partition_point(|&t| t <= time).min(last);
        let before = self.times.partition_point(|&t| t <= time).saturating_sub(1);
        let span = self.times.get(after).unwrap_or(&0.0) - self.times.get(before).unwrap_or(&0.0);
        let start = self.times.get(before).copied().unwrap_or(0.0);
        let fraction = if span > 0.0 { ((time - start) / span).clamp(0.0, 1.0) } else { 0.0 };
        let range = self.firsts[mesh]..self.firsts[mesh + 1];
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (a, b) = (self.load(&mut read, before, before), self.load(&mut read, after, before));
        out.clear();
        match (read[a].1.get(range.clone()), read[b].1.get(range)) {
            (Some(a), Some(b)) => {
                out.extend(a.iter().zip(b).map(|(a, b)| a.lerp(*b, fraction as f32)));
            }
            // Only a file that changed under our hands comes here.
            _ => out.extend_from_slice(&self.meshes[mesh].positions),
        }
    }
}

impl<S: SampleSource> SampledMeshes<S> {
    /// Slot that holds a sample, read if need be into the slot that does not hold `keep`.
    fn load(
        &self,
        read: &mut [(Option<usize>, Vec<Vec3>); 2],
        sample: usize,
        keep: usize,
    ) -> usize {
        if let Some(slot) = read.iter().position(|(n, _)| *n == Some(sample)) {
            return slot;
        }
        let slot = usize::from(read[0].0 == Some(keep));
        read[slot] = match self.source.read(sample) {
            Ok(positions) => (Some(sample), positions),
            Err(_) => (None, Vec::new()),
        };
        slot
    }
}

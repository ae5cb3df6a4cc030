//! Values of attributes at any time.

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3, Vec3};

use super::layer::{Data, Name, Value};
use super::stage::Stage;
use super::{Result, UsdError};

/// Part of a sample's distance to the next below which a time counts as the sample's own: frame
/// times are rounded, and a sample before a change of topology must not show in its place.
const SNAP: f64 = 1e-6;

/// An attribute as its strongest opinion has it.
#[derive(Clone)]
pub(super) struct Attribute {
    /// Prim and name, for messages.
    place: String,
    layer: usize,
    /// Time codes, ascending; none for what does not change.
    pub times: Vec<f64>,
    values: Vec<Value>,
    pub type_name: Name,
    /// What the elements belong to: `constant`, `uniform`, `vertex`, `varying`, `faceVarying`.
    pub interpolation: Name,
    /// Elements that belong together.
    pub element_size: usize,
}

/// Where a time falls among samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub before: usize,
    pub after: usize,
    pub fraction: f64,
}

impl Stage {
    /// An attribute that has a value; nothing without one.
    pub fn attribute(&self, prim: usize, name: &str) -> Result<Option<Attribute>> {
        let place = format!("{}.{name}", self.prims[prim].path);
        let mut found: Option<Attribute> = None;
        let (mut interpolation, mut element_size) = (None, None);
        for (opinion, spec) in self.property(prim, name) {
            let layer = &self.layers[opinion.layer];
            let text = |field: &str| -> Result<Option<Name>> {
                let data = spec.field(field).map(|v| layer.data(v)).transpose()?;
                Ok(data.and_then(|d| d.text().cloned()))
            };
            if interpolation.is_none() {
                interpolation = text("interpolation")?;
            }
            if element_size.is_none() {
                let data = spec.field("elementSize").map(|v| layer.data(v)).transpose()?;
                element_size = data.and_then(|d| d.number());
            }
            if found.is_some() {
                continue;
            }
            let (mut times, values) = match (spec.field("timeSamples"), spec.field("default")) {
                (Some(samples), _) => layer.samples(samples)?,
                (None, Some(value)) => (Vec::new(), vec![value.clone()]),
                (None, None) => continue,
            };
            if values.is_empty() {
                continue;
            }
            let (offset, scale) = self.times(opinion);
            times.iter_mut().for_each(|t| *t = offset + scale * *t);
            if times.iter().any(|t| !t.is_finite()) || times.windows(2).any(|w| w[0] > w[1]) {
                return Err(UsdError::damaged(place, "its times do not ascend"));
            }
            let type_name = text("typeName")?.unwrap_or_else(|| "".into());
            found = Some(Attribute {
                place: place.clone(),
                layer: opinion.layer,
                times,
                values,
                type_name,
                interpolation: "".into(),
                element_size: 1,
            });
        }
        if let Some(attribute) = &mut found {
            attribute.interpolation = interpolation.unwrap_or_else(|| "".into());
            attribute.element_size = element_size.map_or(1, |n| n.clamp(1.0, 1e6) as usize);
        }
        Ok(found)
    }

    /// The value of an attribute at a time; nothing where it has none.
    pub fn value(&self, prim: usize, name: &str, time: f64) -> Result<Option<Arc<Data>>> {
        self.attribute(prim, name)?.map(|a| a.held(self, time)).transpose()
    }

    pub fn token(&self, prim: usize, name: &str) -> Result<Option<Name>> {
        Ok(self.value(prim, name, f64::NEG_INFINITY)?.and_then(|d| d.text().cloned()))
    }
}

impl Attribute {
    pub fn wrong(&self, problem: impl Into<String>) -> UsdError {
        UsdError::damaged(self.place.clone(), problem)
    }

    pub fn is_constant(&self) -> bool {
        self.values.len() < 2
    }

    /// Samples, one for what does not change.
    pub fn samples(&self) -> usize {
        self.values.len()
    }

    /// The samples around a time; the first and the last hold beyond them.
    pub fn locate(&self, time: f64) -> Place {
        let at = |sample| Place { before: sample, after: sample, fraction: 0.0 };
        let after = self.times.partition_point(|&t| t <= time);
        let Some(before) = after.checked_sub(1) else { return at(0) };
        if after >= self.times.len() {
            return at(before);
        }
        let (start, end) = (self.times[before], self.times[after]);
        let fraction = if end > start { (time - start) / (end - start) } else { 0.0 };
        if fraction > 1.0 - SNAP {
            at(after)
        } else if fraction < SNAP {
            at(before)
        } else {
            Place { before, after, fraction }
        }
    }

    /// A sample.
    pub fn sample(&self, stage: &Stage, sample: usize) -> Result<Arc<Data>> {
        match self.values.get(sample) {
            Some(value) => stage.layers[self.layer].data(value),
            None => Err(self.wrong(format!("there is no sample {sample}"))),
        }
    }

    /// The value at a time, the last sample held.
    pub fn held(&self, stage: &Stage, time: f64) -> Result<Arc<Data>> {
        self.sample(stage, self.locate(time).before)
    }

    /// The numbers at a time, on straight lines between samples of as many.
    pub fn numbers(&self, stage: &Stage, time: f64) -> Result<Vec<f64>> {
        let place = self.locate(time);
        let mut numbers = self.sample(stage, place.before)?.numbers();
        if place.before == place.after {
            return Ok(numbers);
        }
        let later = self.sample(stage, place.after)?.numbers();
        if later.len() != numbers.len() {
            return Ok(numbers);
        }
        if self.type_name.starts_with("quat") {
            for (a, b) in numbers.chunks_exact_mut(4).zip(later.chunks_exact(4)) {
                let [a0, b0] =
                    [&*a, b].map(|q| DQuat::from_xyzw(q[0], q[1], q[2], q[3]).normalize());
                a.copy_from_slice(&a0.slerp(b0, place.fraction).to_array());
            }
        } else {
            numbers.iter_mut().zip(later).for_each(|(a, b)| *a += (b - *a) * place.fraction);
        }
        Ok(numbers)
    }

    /// Vectors at a time, held where `hold`.
    pub fn vectors(&self, stage: &Stage, time: f64, hold: bool) -> Result<Vec<DVec3>> {
        let numbers = match hold {
            true => self.held(stage, time)?.numbers(),
            false => self.numbers(stage, time)?,
        };
        if numbers.len() % 3 != 0 {
            return Err(self.wrong(format!("{} numbers are no vectors", numbers.len())));
        }
        let vectors: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
        match vectors.iter().position(|v| !v.is_finite()) {
            Some(at) => Err(self.wrong(format!("element {at} is not finite"))),
            None => Ok(vectors),
        }
    }
}

/// A matrix as USD has it, row by row for row vectors: the columns of ours.
pub(super) fn matrix(numbers: &[f64]) -> Option<DMat4> {
    let columns: [f64; 16] = numbers.try_into().ok()?;
    Some(DMat4::from_cols_array(&columns)).filter(|m| m.is_finite())
}

pub(super) fn single(v: DVec3) -> Vec3 {
    v.as_vec3()
}

//! Transforms: lists of operations with a value each.

use glam::{DMat4, DQuat, DVec3};

use super::archive::{Object, compound, values};
use super::bytes::Bytes;
use super::sampling::TimeSampling;
use super::values::Values;
use super::{AlembicError, Result};

/// Where an object and all below it are, over time.
#[derive(Clone)]
pub(super) struct TransformTrack {
    path: String,
    ops: Vec<Op>,
    numbers: Option<Values>,
    inherits: Option<Values>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Scale,
    Translate,
    Rotate,
    Matrix,
    RotateX,
    RotateY,
    RotateZ,
}

impl Op {
    /// The kind is in the upper four bits; the lower ones say what a program calls it.
    fn from_code(code: i64) -> Option<Self> {
        Some(match code >> 4 {
            0 => Self::Scale,
            1 => Self::Translate,
            2 => Self::Rotate,
            3 => Self::Matrix,
            4 => Self::RotateX,
            5 => Self::RotateY,
            6 => Self::RotateZ,
            _ => return None,
        })
    }

    fn width(self) -> usize {
        match self {
            Self::Scale | Self::Translate => 3,
            Self::Rotate => 4,
            Self::Matrix => 16,
            Self::RotateX | Self::RotateY | Self::RotateZ => 1,
        }
    }

    /// Angles are in degrees.
    fn matrix(self, v: &[f64]) -> DMat4 {
        match self {
            Self::Scale => DMat4::from_scale(DVec3::from_slice(v)),
            Self::Translate => DMat4::from_translation(DVec3::from_slice(v)),
            Self::Rotate => {
                let axis = DVec3::from_slice(v).normalize_or_zero();
                DMat4::from_quat(DQuat::from_scaled_axis(axis * v[3].to_radians()))
            }
            // Stored for row vectors: row after row there is column after column here.
            Self::Matrix => {
                let mut columns = [0.0; 16];
                columns.copy_from_slice(&v[..16]);
                DMat4::from_cols_array(&columns)
            }
            Self::RotateX => DMat4::from_rotation_x(v[0].to_radians()),
            Self::RotateY => DMat4::from_rotation_y(v[0].to_radians()),
            Self::RotateZ => DMat4::from_rotation_z(v[0].to_radians()),
        }
    }
}

impl TransformTrack {
    /// The transform of an object; nothing if it has none or stays where it is.
    pub fn new(bytes: &Bytes, object: &Object, path: &str) -> Result<Option<Self>> {
        let Some(inner) = compound(&object.properties, ".xform") else { return Ok(None) };
        let codes = match values(inner, ".ops") {
            Some(ops) if ops.samples > 0 => ops.integers(bytes, 0)?,
            _ => Vec::new(),
        };
        let unknown = |code: i64| {
            AlembicError::damaged(path, format!("transform operation {code} is not known"))
        };
        let ops = codes.into_iter().map(|code| Op::from_code(code).ok_or_else(|| unknown(code)));
        let numbers = values(inner, ".vals").filter(|v| v.samples > 0).cloned();
        let inherits = values(inner, ".inherits").filter(|v| v.samples > 0).cloned();
        let path = path.to_owned();
        Ok(Some(Self { path, ops: ops.collect::<Result<_>>()?, numbers, inherits }))
    }

    /// Whether it is above what is below: a transform may cut the chain.
    pub fn inherits(&self, bytes: &Bytes, samplings: &[TimeSampling], time: f64) -> Result<bool> {
        let Some(flags) = &self.inherits else { return Ok(true) };
        let place = sampling(samplings, flags)?.locate(time, flags.samples);
        Ok(flags.integers(bytes, place.before)?.first().is_none_or(|&f| f != 0))
    }

    /// The matrix at a time: values on straight lines between samples, turns about the shorter way
    /// where only matrices are given.
    pub fn matrix(&self, bytes: &Bytes, samplings: &[TimeSampling], time: f64) -> Result<DMat4> {
        let Some(numbers) = &self.numbers else { return Ok(DMat4::IDENTITY) };
        let place = sampling(samplings, numbers)?.locate(time, numbers.samples);
        let a = self.sample(bytes, numbers, place.before)?;
        if place.before == place.after {
            return Ok(self.combine(&a));
        }
        let b = self.sample(bytes, numbers, place.after)?;
        let t = f64::from(place.fraction);
        if self.ops.contains(&Op::Matrix) {
            return Ok(interpolate_transform(self.combine(&a), self.combine(&b), t));
        }
        let between: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + t * (b - a)).collect();
        Ok(self.combine(&between))
    }

    fn sample(&self, bytes: &Bytes, numbers: &Values, sample: u64) -> Result<Vec<f64>> {
        let found = numbers.floats(bytes, sample)?;
        let needed: usize = self.ops.iter().map(|op| op.width()).sum();
        if found.len() < needed {
            let problem = format!("{} numbers for operations that need {needed}", found.len());
            return Err(AlembicError::damaged(self.path.clone(), problem));
        }
        Ok(found)
    }

    /// The first operation is the outermost.
    fn combine(&self, numbers: &[f64]) -> DMat4 {
        let mut rest = numbers;
        self.ops.iter().fold(DMat4::IDENTITY, |all, op| {
            let (own, others) = rest.split_at(op.width());
            rest = others;
            all * op.matrix(own)
        })
    }
}

/// Scale, turn and place in turn: straight lines between the numbers of a matrix would shrink what turns.
fn interpolate_transform(a: DMat4, b: DMat4, t: f64) -> DMat4 {
    let (sa, ra, ta) = a.to_scale_rotation_translation();
    let (sb, rb, tb) = b.to_scale_rotation_translation();
    let turned = ra.slerp(rb, t);
    let whole = DMat4::from_scale_rotation_translation(sa.lerp(sb, t), turned, ta.lerp(tb, t));
    // A matrix without a determinant has no rotation to turn by.
    if whole.is_finite() { whole } else { a }
}

/// The times of a property.
pub(super) fn sampling<'a>(
    samplings: &'a [TimeSampling],
    values: &Values,
) -> Result<&'a TimeSampling> {
    samplings.get(values.sampling).ok_or_else(|| {
        let problem = format!("there is no time sampling {}", values.sampling);
        AlembicError::damaged(format!("property {:?}", values.name), problem)
    })
}

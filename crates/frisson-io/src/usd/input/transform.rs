//! Where prims are: stacks of operations, each with its own times.

use glam::{DAffine3, DMat4, DQuat, DVec3};

use super::attribute::{Attribute, matrix};
use super::stage::Stage;
use super::{Result, UsdError};

/// One operation.
struct Operation {
    kind: String,
    is_inverse: bool,
    value: Attribute,
}

/// The transform of a prim in its parent.
#[derive(Default)]
pub(super) struct TransformTrack {
    operations: Vec<Operation>,
    /// Whether what is above counts no longer.
    pub resets: bool,
}

impl TransformTrack {
    pub fn read(stage: &Stage, prim: usize) -> Result<Self> {
        let mut out = Self::default();
        let order = stage.value(prim, "xformOpOrder", f64::NEG_INFINITY)?;
        for name in order.iter().flat_map(|o| o.texts()) {
            if &**name == "!resetXformStack!" {
                out = Self { resets: true, ..Self::default() };
                continue;
            }
            let (is_inverse, name) = match name.strip_prefix("!invert!") {
                Some(rest) => (true, rest),
                None => (false, &**name),
            };
            let kind = name.strip_prefix("xformOp:").unwrap_or_default();
            let kind = kind.split(':').next().unwrap_or_default().to_owned();
            let Some(value) = stage.attribute(prim, name)? else { continue };
            out.operations.push(Operation { kind, is_inverse, value });
        }
        Ok(out)
    }

    /// Times at which any operation has a sample.
    pub fn times(&self) -> Vec<f64> {
        let mut times: Vec<f64> =
            self.operations.iter().flat_map(|o| o.value.times.iter().copied()).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    pub fn is_constant(&self) -> bool {
        self.operations.iter().all(|o| o.value.is_constant())
    }

    /// Parent from prim, at a time.
    pub fn matrix(&self, stage: &Stage, time: f64) -> Result<DMat4> {
        let mut out = DMat4::IDENTITY;
        for operation in &self.operations {
            out *= operation.matrix(stage, time)?;
        }
        Ok(out)
    }
}

impl Operation {
    fn matrix(&self, stage: &Stage, time: f64) -> Result<DMat4> {
        let numbers = self.value.numbers(stage, time)?;
        let found = self.compute(&numbers).filter(DMat4::is_finite);
        let found = found.ok_or_else(|| self.value.wrong("it is no transform"))?;
        if !self.is_inverse {
            return Ok(found);
        }
        let inverse = Some(found.inverse()).filter(DMat4::is_finite);
        inverse.ok_or_else(|| self.value.wrong("it cannot be undone: a scale is 0"))
    }

    fn compute(&self, numbers: &[f64]) -> Option<DMat4> {
        let one = || numbers.first().copied();
        let vector = || (numbers.len() == 3).then(|| DVec3::from_slice(numbers));
        let turn = |axis: u8, degrees: f64| {
            let angle = degrees.to_radians();
            match axis {
                b'X' => DQuat::from_rotation_x(angle),
                b'Y' => DQuat::from_rotation_y(angle),
                _ => DQuat::from_rotation_z(angle),
            }
        };
        let along = |axis: u8, value: f64, rest: f64| match axis {
            b'X' => DVec3::new(value, rest, rest),
            b'Y' => DVec3::new(rest, value, rest),
            _ => DVec3::new(rest, rest, value),
        };
        let axes = self.kind.trim_start_matches(|c: char| c.is_lowercase()).as_bytes();
        Some(match (self.kind.trim_end_matches(['X', 'Y', 'Z']), axes) {
            ("translate", []) => DMat4::from_translation(vector()?),
            ("translate", [axis]) => DMat4::from_translation(along(*axis, one()?, 0.0)),
            ("scale", []) => DMat4::from_scale(vector()?),
            ("scale", [axis]) => DMat4::from_scale(along(*axis, one()?, 1.0)),
            ("rotate", [axis]) => DMat4::from_quat(turn(*axis, one()?)),
            ("rotate", [a, b, c]) => {
                // The first letter turns first; the numbers are always of X, Y, Z.
                let angles = vector()?;
                let of = |axis: u8| turn(axis, angles[usize::from(axis - b'X')]);
                DMat4::from_quat(of(*c) * of(*b) * of(*a))
            }
            ("orient", []) => {
                let q = (numbers.len() == 4).then(|| DQuat::from_slice(numbers))?;
                DMat4::from_quat(if q.length_squared() > 0.0 { q.normalize() } else { q })
            }
            ("transform", []) => matrix(numbers)?,
            _ => return None,
        })
    }
}

/// A prim's transforms from the top, of a stage whose unit and axes are brought to ours.
pub(super) struct Placement {
    tracks: Vec<TransformTrack>,
}

impl Placement {
    pub fn read(stage: &Stage, prim: usize) -> Result<Self> {
        let mut tracks = Vec::new();
        let mut at = Some(prim);
        while let Some(prim) = at {
            let track = TransformTrack::read(stage, prim)?;
            let resets = track.resets;
            tracks.push(track);
            at = stage.prims[prim].parent.filter(|_| !resets);
        }
        tracks.reverse();
        Ok(Self { tracks })
    }

    /// World from prim, in the file's unit and axes.
    pub fn matrix(&self, stage: &Stage, time: f64) -> Result<DMat4> {
        let mut out = DMat4::IDENTITY;
        for track in &self.tracks {
            out *= track.matrix(stage, time)?;
        }
        Ok(out)
    }

    pub fn is_constant(&self) -> bool {
        self.tracks.iter().all(TransformTrack::is_constant)
    }

    pub fn times(&self) -> Vec<f64> {
        self.tracks.iter().flat_map(TransformTrack::times).collect()
    }
}

/// Unit and axes of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Metres of a unit.
    pub unit: f64,
    pub is_z_up: bool,
}

impl Space {
    /// What the file says; USD's own word for files that say nothing is centimetres.
    pub fn read(stage: &mut Stage) -> Result<Self> {
        let unit = stage.metadata("metersPerUnit")?.and_then(|d| d.number());
        if unit.is_none() {
            stage.warn("it names no unit of length: taken for centimetres, as USD says".to_owned());
        }
        let unit = unit.unwrap_or(0.01);
        if !(unit.is_finite() && unit > 0.0) {
            return Err(UsdError::damaged("metersPerUnit", format!("{unit} is no length")));
        }
        let up = stage.metadata("upAxis")?;
        let is_z_up = up.as_ref().and_then(|d| d.text()).is_some_and(|t| &**t == "Z");
        Ok(Self { unit, is_z_up })
    }

    /// Ours from the file's, without the unit.
    pub fn turn(self) -> DQuat {
        match self.is_z_up {
            true => DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2),
            false => DQuat::IDENTITY,
        }
    }

    /// Metres with Y up from the file's world.
    pub fn matrix(self) -> DMat4 {
        let scale = DVec3::splat(self.unit);
        DMat4::from_scale_rotation_translation(scale, self.turn(), DVec3::ZERO)
    }

    /// The same motion in metres.
    pub fn in_metres(self, matrix: DMat4) -> DMat4 {
        let mut out = DAffine3::from_mat4(matrix);
        out.translation *= self.unit;
        DMat4::from(out)
    }
}

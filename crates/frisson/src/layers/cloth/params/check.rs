//! What a range cannot say of the parameters.

use super::{ClothCycle, ClothParams};
use crate::stage::LayerError;

impl ClothParams {
    /// Checks what the schema cannot.
    pub fn validate(&self) -> Result<(), LayerError> {
        let m = self.moduli();
        let positive = [("density", m.density), ("stretch", m.warp), ("weft", m.weft)];
        let not_negative = [
            ("shear", m.shear),
            ("bend", m.bend),
            ("friction", m.friction),
            ("stretch_limit", self.stretch_limit.unwrap_or(0.0)),
            ("compression_limit", self.compression_limit),
            ("drag", self.drag),
            ("lift", self.lift),
            ("air_mass", self.air_mass),
            ("damping", self.damping),
            ("settle", self.settle),
            ("soft_pins_hz", self.soft_pins_hz),
            ("dressing", self.dressing),
            ("crease_seconds", self.crease_seconds),
        ];
        for (name, value) in positive {
            require(name, value > 0.0 && value.is_finite(), value, "greater than 0")?;
        }
        for (name, value) in not_negative {
            require(name, value >= 0.0 && value.is_finite(), value, "0 or more")?;
        }
        require("thickness", m.thickness > 0.0, m.thickness, "greater than 0")?;
        require("quality", self.quality > 0.0, self.quality, "greater than 0")?;
        require("body_depth", self.body_depth > 0.0, self.body_depth, "greater than 0")?;
        if self.substeps == Some(0) {
            return Err(LayerError::parameter("substeps", "give at least 1, or leave it out"));
        }
        self.validate_air()?;
        self.validate_parts()?;
        if let Some(radius) = self.crease_radius {
            let sound = radius > 0.0 && radius.is_finite();
            require("crease_radius", sound, radius, "greater than 0")?;
        }
        self.cycle.iter().try_for_each(ClothCycle::validate)?;
        self.validate_tear()?;
        self.validate_with()?;
        for (index, attachment) in self.attachments.iter().enumerate() {
            attachment.validate(index)?;
        }
        Ok(())
    }

    fn validate_air(&self) -> Result<(), LayerError> {
        if let Some(pressure) = &self.pressure
            && !(pressure.is_well_formed() && pressure.values().all(|v| v > 0.0))
        {
            let problem = "must be greater than 0 at every key, in ascending frames";
            return Err(LayerError::parameter("pressure", problem));
        }
        if let Some(overpressure) = &self.overpressure {
            if !(overpressure.is_well_formed() && overpressure.values().all(|v| v.abs() <= 1e6)) {
                let problem = "must be at most 1e6 Pa at every key, in ascending frames";
                return Err(LayerError::parameter("overpressure", problem));
            }
            if self.pressure.is_some() {
                let problem = "give a volume (`pressure`) or an overpressure in Pa, not both";
                return Err(LayerError::parameter("overpressure", problem));
            }
        }
        Ok(())
    }

    fn validate_parts(&self) -> Result<(), LayerError> {
        for (index, seam) in self.seams.iter().enumerate() {
            let field = |key: &str| format!("seams[{index}].{key}");
            let sound = seam.bend >= 0.0 && seam.bend.is_finite();
            require(&field("bend"), sound, seam.bend, "0 or more")?;
            let sound = seam.weight > 0.0 && seam.weight.is_finite();
            require(&field("weight"), sound, seam.weight, "greater than 0")?;
        }
        for (index, sewing) in self.sewing.iter().enumerate() {
            let sound = sewing.close >= 0.0 && sewing.close.is_finite();
            require(&format!("sewing[{index}].close"), sound, sewing.close, "0 or more")?;
        }
        for (index, region) in self.regions.iter().enumerate() {
            for (name, value) in region.factors() {
                let sound = value > 0.0 && value.is_finite();
                require(&format!("regions[{index}].{name}"), sound, value, "greater than 0")?;
            }
        }
        Ok(())
    }

    fn validate_with(&self) -> Result<(), LayerError> {
        let others = [("subdivide", self.subdivide > 0), ("tear", self.tear.is_some())];
        match others.iter().find(|(_, given)| *given && !self.with.is_empty()) {
            Some((other, _)) => {
                let problem =
                    format!("garments together cannot have `{other}`: leave one of the two out");
                Err(LayerError::parameter("with", problem))
            }
            None => Ok(()),
        }
    }

    fn validate_tear(&self) -> Result<(), LayerError> {
        let Some(tear) = self.tear else { return Ok(()) };
        require("tear", tear > 1.0 && tear.is_finite(), tear, "greater than 1")?;
        let others = [
            ("pressure", self.pressure.is_some()),
            ("overpressure", self.overpressure.is_some()),
            ("cycle", self.cycle.is_some()),
            ("crease_radius", self.crease_radius.is_some()),
        ];
        match others.iter().find(|(_, given)| *given) {
            Some((other, _)) => {
                let problem = format!("cloth with `{other}` cannot tear: leave one of the two out");
                Err(LayerError::parameter("tear", problem))
            }
            None => Ok(()),
        }
    }
}

/// An error that names the parameter and its value, unless something holds.
pub(super) fn require(name: &str, holds: bool, value: f64, bound: &str) -> Result<(), LayerError> {
    if holds {
        return Ok(());
    }
    Err(LayerError::parameter(name, format!("is {value}, must be {bound}")))
}

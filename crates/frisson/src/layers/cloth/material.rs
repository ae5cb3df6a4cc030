//! Fabrics as numbers: moduli, weight, friction, thickness.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ready-made fabric. Any of its numbers can be overridden by the layer's own parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fabric {
    /// Light, fluid, slippery: 60 g/m².
    Silk,
    /// Shirt or bed sheet: 150 g/m².
    #[default]
    Cotton,
    /// Jeans: 400 g/m², stiff.
    Denim,
    /// Coat or blanket: 300 g/m², soft and yielding.
    Wool,
    /// Garment leather: 800 g/m², hardly folds.
    Leather,
    /// Rubber sheet of one millimetre: 1.1 kg/m², stretches.
    Rubber,
}

/// What a fabric is made of, per unit of area: independent of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moduli {
    /// Mass per area [kg/m²].
    pub density: f64,
    /// Tensile stiffness along the warp [N/m].
    pub warp: f64,
    /// Tensile stiffness along the weft [N/m].
    pub weft: f64,
    /// Shear stiffness between the threads [N/m].
    pub shear: f64,
    /// Bending rigidity [N·m].
    pub bend: f64,
    /// Friction coefficient against itself and others [-].
    pub friction: f64,
    /// Thickness [m].
    pub thickness: f64,
}

impl Fabric {
    /// Its numbers: tensile, shear and bending stiffness at small strain in the range that fabric
    /// testers (Kawabata's) report for such cloth; leather and rubber from their elastic modulus and
    /// thickness (`E h` and `E h³ / 12`).
    #[must_use]
    pub fn moduli(self) -> Moduli {
        let of = |density, warp, weft, shear, bend, friction, thickness| Moduli {
            density,
            warp,
            weft,
            shear,
            bend,
            friction,
            thickness,
        };
        match self {
            Self::Silk => of(0.06, 8.0e3, 5.0e3, 25.0, 3.0e-6, 0.2, 0.2e-3),
            Self::Cotton => of(0.15, 1.2e4, 8.0e3, 60.0, 8.0e-6, 0.45, 0.4e-3),
            Self::Denim => of(0.40, 3.0e4, 1.8e4, 200.0, 8.0e-5, 0.5, 0.9e-3),
            Self::Wool => of(0.30, 5.0e3, 4.0e3, 50.0, 1.5e-5, 0.5, 1.0e-3),
            Self::Leather => of(0.80, 2.5e4, 2.5e4, 5.0e3, 4.0e-4, 0.6, 1.2e-3),
            Self::Rubber => of(1.10, 1.5e3, 1.5e3, 500.0, 1.2e-4, 0.9, 1.0e-3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_order_as_a_tailor_would() {
        let m = Fabric::moduli;
        assert!(m(Fabric::Silk).bend < m(Fabric::Cotton).bend);
        assert!(m(Fabric::Cotton).bend < m(Fabric::Denim).bend);
        assert!(m(Fabric::Denim).bend < m(Fabric::Leather).bend);
        assert!(m(Fabric::Rubber).warp < m(Fabric::Wool).warp);
        assert!(m(Fabric::Silk).density < m(Fabric::Cotton).density);
    }
}

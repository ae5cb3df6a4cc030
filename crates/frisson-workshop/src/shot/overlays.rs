//! What to draw besides the surfaces, as typed.

use crate::WorkshopError;

/// What to draw besides the surfaces.
#[derive(Clone, Debug, Default)]
pub struct Overlays {
    /// Triangle edges.
    pub wireframe: bool,
    /// Grey surfaces.
    pub clay: bool,
    /// Velocities as lines.
    pub velocities: bool,
    /// Skeletons.
    pub joints: bool,
    /// Colliders of the scene.
    pub colliders: bool,
    /// A named vector attribute as segments.
    pub displacement: Option<String>,
    /// A named attribute as heat colours.
    pub attribute: Option<String>,
}

const KNOWN: &str =
    "wireframe, clay, velocities, joints, colliders, attribute:NAME, displacement:NAME";

impl Overlays {
    /// Reads a list such as `wireframe,attribute:strain`.
    pub fn parse(list: &[String]) -> Result<Self, WorkshopError> {
        let mut overlays = Self::default();
        for item in list.iter().flat_map(|l| l.split(',')).map(str::trim) {
            match item {
                "wireframe" => overlays.wireframe = true,
                "clay" => overlays.clay = true,
                "velocities" => overlays.velocities = true,
                "joints" => overlays.joints = true,
                "colliders" => overlays.colliders = true,
                "" => {}
                other => overlays.parse_named(other)?,
            }
        }
        Ok(overlays)
    }

    /// An overlay that names an attribute.
    fn parse_named(&mut self, item: &str) -> Result<(), WorkshopError> {
        if let Some(name) = item.strip_prefix("attribute:") {
            self.attribute = Some(name.to_owned());
        } else if let Some(name) = item.strip_prefix("displacement:") {
            self.displacement = Some(name.to_owned());
        } else {
            let text = format!("there is no overlay named {item:?}");
            return Err(WorkshopError::advised(text, format!("known are: {KNOWN}")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlays_are_named_or_refused() {
        let overlays = Overlays::parse(&["wireframe,attribute:strain".to_owned()]).unwrap();
        assert!(overlays.wireframe && overlays.attribute.as_deref() == Some("strain"));
        assert!(Overlays::parse(&["wirefame".to_owned()]).is_err());
    }
}

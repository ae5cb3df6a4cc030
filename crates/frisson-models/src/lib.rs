//! The built-in cast, made by code: every scene of the gallery runs without a single downloaded file.
//!
//! [`build`] makes a character by name; [`catalog`] lists who is there. All are in metres at natural
//! size, Y up, facing +Z, standing on y = 0. Building is deterministic: same name, same bits, on any
//! number of threads.
//!
//! ```
//! let cat = frisson_models::build("cat")?;
//! assert!(cat.clip_index("leap").is_some());
//! let ball = frisson_models::build("sphere?triangles=320&radius=0.2")?;
//! assert_eq!(ball.meshes[0].mesh.topology.triangles.len(), 320);
//! # Ok::<(), frisson_models::ModelError>(())
//! ```

mod cast;
mod clay;
mod clips;
mod options;

use frisson::character::Character;
use thiserror::Error;

use options::Options;

/// Why a character cannot be built.
#[derive(Debug, Error, PartialEq)]
pub enum ModelError {
    /// Nobody of that name.
    #[error("there is no built-in model named {name:?}{}", hint(.nearest))]
    Unknown {
        /// The name given.
        name: String,
        /// The closest existing name.
        nearest: Option<String>,
    },
    /// An option the model does not have.
    #[error("built-in model {model:?} has no option {option:?}{}", hint(.nearest))]
    UnknownOption {
        /// Model.
        model: String,
        /// The option given.
        option: String,
        /// The closest existing option.
        nearest: Option<String>,
    },
    /// An option's value is not a number or out of range.
    #[error(
        "option {option:?} of built-in model {model:?} must be a number from {low} to {high}, not {value:?}"
    )]
    Value {
        /// Model.
        model: String,
        /// Option.
        option: String,
        /// Text given.
        value: String,
        /// Smallest value.
        low: f32,
        /// Largest value.
        high: f32,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |n| format!("; did you mean {n:?}?"))
}

/// One member of the cast.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name for [`build`].
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its clips.
    pub clips: &'static [&'static str],
    /// Options it takes after `?`, with what they mean.
    pub options: &'static [(&'static str, &'static str)],
    make: fn(&mut Options) -> Result<Character, ModelError>,
}

/// Everyone, in the order of the book.
#[must_use]
pub fn catalog() -> &'static [Entry] {
    cast::CATALOG
}

/// Builds a character. After the name may follow options: `sphere?triangles=512&radius=0.1`.
pub fn build(name: &str) -> Result<Character, ModelError> {
    let (model, query) = name.split_once('?').unwrap_or((name, ""));
    let entry = catalog().iter().find(|e| e.name == model).ok_or_else(|| ModelError::Unknown {
        name: model.to_owned(),
        nearest: frisson::stage::nearest_name(model, catalog().iter().map(|e| e.name)),
    })?;
    let mut options = Options::parse(entry, query)?;
    (entry.make)(&mut options)
}

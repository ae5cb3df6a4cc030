//! Frisson's engine: what follows by itself when a character moves.
//!
//! A [`stage::Stage`] holds [`stage::Actor`]s (the primary motion) and an ordered stack of
//! [`stage::Layer`]s. Each tick of the [`stage::Clock`] the actors take their pose, then every layer
//! in turn reads the [`stage::Frame`] so far, advances its own state, and deforms a mesh or adds
//! shapes. The engine opens no file, reads no clock, prints nothing and has no globals.
//!
//! Units: metres, kilograms, seconds, radians; right-handed, Y up.
//!
//! Modules depend one way only: `math` ◄ `geometry` ◄ {`character`, `stage`} ◄ `layers`, and layers
//! never import each other.

pub mod character;
pub mod geometry;
pub mod layers;
pub mod math;
pub mod stage;
pub mod tolerances;

//! Frisson's engine: what follows by itself when a character moves.
//!
//! Everything goes through one entrance, the [`stage::Simulator`]. It holds [`stage::Actor`]s (the
//! primary motion: a clip, a file, or poses that the caller pushes) and an ordered stack of layers. By
//! ticks of 1/120 s the actors take their pose, then every layer in turn reads the [`stage::Frame`] so
//! far, advances its own state, and deforms a mesh or adds shapes. The engine opens no file, reads no
//! clock, prints nothing and has no globals.
//!
//! ```
//! use frisson::geometry::Mesh;
//! use frisson::layers::{LayerParams, cloth::ClothParams};
//! use frisson::stage::{Actor, EARTH_GRAVITY, Forces, Selection, Setup, Simulator};
//! use glam::Vec3;
//!
//! // A strip of cloth, held at its first two vertices.
//! let positions = (0..10).map(|i| Vec3::new(0.1 * (i / 2) as f32, 1.0, 0.1 * (i % 2) as f32));
//! let triangles = (0..8).map(|i| if i % 2 == 0 { [i, i + 1, i + 2] } else { [i, i + 2, i + 1] });
//! let strip = Mesh::new("strip", positions.collect(), triangles.collect());
//! let pins = Selection { vertices: Some(vec![0, 1]), ..Selection::default() };
//! let cloth = ClothParams { pins: Some(pins), ..ClothParams::new("cloth", "strip") };
//!
//! let mut simulator = Simulator::new(Setup {
//!     actors: vec![Actor::meshes_named("strip", vec![strip])],
//!     forces: Forces::new(EARTH_GRAVITY, vec![], 30.0),
//!     layers: vec![LayerParams::Cloth(cloth)],
//!     ..Setup::default()
//! })?;
//! for _ in 0..30 {
//!     simulator.step(1.0 / 50.0)?;
//! }
//! let tip = simulator.frame().meshes[0].positions[9];
//! assert!(tip.y < 0.8, "it hangs down");
//! # Ok::<(), frisson::stage::SimulatorError>(())
//! ```
//!
//! Units: metres, kilograms, seconds, radians; right-handed, Y up.
//!
//! Modules depend one way only: {`math`, `threads`} ◄ `geometry` ◄ {`character`, `stage`} ◄ `layers`, and layers
//! never import each other.

pub mod character;
pub mod geometry;
pub mod layers;
pub mod math;
pub mod stage;
pub mod threads;
pub mod tolerances;

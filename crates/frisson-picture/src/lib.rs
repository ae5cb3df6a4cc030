//! Ray-traced pictures, contact sheets and plots; no GPU needed.
//!
//! The way of a picture:
//!
//! ```text
//! Frame + Look ─► Scene          triangles, strands and balls in three BVHs, lights, ground
//! Frames ─► Framing ─► Camera    one camera for a whole shot, so that it does not jitter
//! Scene + Camera ─► Strokes      strands lit and projected once: hairs are thinner than pixels
//! Scene + Camera ─► Film         tiles in parallel; every random number is a function of
//!                                (pixel, sample, dimension): the same bits for any thread count
//! Film ─► filter ─► Image        diffuse light smoothed within its own measured noise, tone mapped
//! Images ─► sheet, side by side, animation
//! ```
//!
//! Units are those of the engine: metres, Y up; colours are linear RGB until the tone mapping.

pub mod accel;
pub mod animation;
pub mod bench;
pub mod camera;
pub mod compose;
pub mod environment;
pub mod error;
pub mod fibre;
pub mod film;
mod filter;
pub mod font;
pub mod image;
mod integrator;
pub mod look;
pub mod optics;
pub mod output;
pub mod overlay;
pub mod plot;
pub mod render;
pub mod sampling;
pub mod scene;
mod shape;
pub mod stock;
mod strands;
mod strokes;
mod surface;
mod volume;

pub use camera::{Camera, Framing, View};
pub use error::PictureError;
pub use film::Film;
pub use image::Image;
pub use look::{GroundChoice, Look};
pub use render::{RenderOptions, render, render_film, render_motion};
pub use scene::Scene;

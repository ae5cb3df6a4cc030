//! Numbers without geometry: oscillators, frames, splines, roots, random numbers.

pub mod frames;
pub mod oscillator;
pub mod random;
pub mod roots;
pub mod spline;

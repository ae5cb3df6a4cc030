//! Numbers without geometry: oscillators, frames, splines, roots, banded systems, random numbers.

pub mod frames;
pub mod oscillator;
pub mod random;
pub mod roots;
pub mod skyline;
pub mod spline;

//! Numbers without geometry: oscillators, frames, splines, bells, roots, banded systems, random numbers.

pub mod bell;
pub mod frames;
pub mod oscillator;
pub mod random;
pub mod roots;
pub mod skyline;
pub mod spline;

//! Numbers without geometry: oscillators, frames, splines, roots, random numbers.

pub mod random;

//! Skin and tight clothes that fold where the animation compresses them.

mod params;

pub use params::WrinklesParams;

//! Many short passes on many cores: a [`team`] of threads that stays together over all of them, and what is [`cut`] for it.

pub mod cut;
pub mod team;

pub use cut::Cut;
pub use team::{Team, together};

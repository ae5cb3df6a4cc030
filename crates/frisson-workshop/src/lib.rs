//! What every way to use Frisson needs above files and pictures: the command line, the studio and
//! Python all call this, so that none of them has to start another.
//!
//! - [`Loader`] finds actors in the built-in cast or in files;
//! - [`propose`] writes a first scene for a character;
//! - [`shot`] frames a cache for a camera, [`pictures`] makes sheets, animations and charts of it;
//! - [`judge_bake`] tells what layers did from what the animation brings along;
//! - [`show`] draws what a selection or a tool covers before anything is baked;
//! - [`report_page`] and [`gallery`] write pages for a browser;
//! - [`sweep`] tries many values of a scene's parameters side by side;
//! - [`farm`] writes the jobs of a farm;
//! - [`bench`] measures the speed tables, [`demos`] holds the scenes that need no file.
//!
//! Nothing here prints. Long jobs say how far they are to a [`Jobs`], which can also stop them.

pub mod bench;
pub mod demos;
mod error;
pub mod farm;
pub mod gallery;
pub mod garment;
mod html;
mod jobs;
mod judging;
mod limbs;
mod loader;
pub mod pictures;
pub mod propose;
pub mod report_page;
pub mod shot;
pub mod show;
pub mod sweep;

pub use error::WorkshopError;
pub use html::human_bytes;
pub use jobs::{Jobs, SilentJobs};
pub use judging::judge_bake;
pub use loader::Loader;

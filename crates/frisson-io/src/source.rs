//! What exporters and pictures read: a shot, frame by frame, in any order.

use frisson::stage::{Frame, Rate};
use thiserror::Error;

/// What is known of a shot before any frame is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ShotInfo {
    /// Output rate.
    pub rate: Rate,
    /// First frame.
    pub first_frame: i64,
    /// Last frame that can be read.
    pub last_frame: i64,
}

/// A frame that cannot be read.
#[derive(Debug, Error)]
pub enum SourceError {
    /// There is no such frame.
    #[error("frame {0} is not in this shot")]
    NoSuchFrame(i64),
    /// The stored bytes are damaged.
    #[error("frame {frame} is damaged: {problem}")]
    Damaged {
        /// Frame number.
        frame: i64,
        /// What is wrong.
        problem: String,
    },
    /// The disk says no.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A baked shot. Exporters ask for one frame at a time, so memory does not grow with the shot.
pub trait FrameSource {
    /// Rate and range.
    fn info(&self) -> &ShotInfo;

    /// Reads a frame into `out`, reusing its storage. Meshes whose topology did not change since the
    /// frame that `out` held keep the same `Arc`.
    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError>;
}

/// Told how far a long job is; answers whether to go on.
pub trait Progress {
    /// `done` of `total` frames; returns false to stop cleanly.
    fn advance(&mut self, done: u64, total: u64) -> bool;
}

/// Nobody listens; never stops.
pub struct Silent;

impl Progress for Silent {
    fn advance(&mut self, _done: u64, _total: u64) -> bool {
        true
    }
}

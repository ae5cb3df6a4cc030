//! What is ordered of a simulation, asked of it and known of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frisson_io::scene::SceneFile;
use serde::Serialize;
use serde_json::Value;

use crate::problems::Trouble;
use crate::reel::Reel;
use crate::reveal::Reveal;
use crate::roots::Roots;
use crate::wire::SentFrame;

/// What the simulation shall become.
#[derive(Clone)]
pub struct Order {
    /// The scene.
    pub scene: SceneFile,
    /// Whether heavy layers are made light.
    pub draft: bool,
    /// What is shown beyond the picture.
    pub reveal: Reveal,
    /// The frame that was looked at.
    pub at: i64,
    /// Simulate again from the start instead of going on from `at`.
    pub again: bool,
    /// Number of the text.
    pub revision: u64,
    /// Points of hair that may be shown, where the next of many edits is on its way, as from a slider that is dragged:
    /// then a picture that comes soon is worth more than a whole one.
    pub hasty: Option<u32>,
}

/// Work done since the start, which does not depend on what else the machine does.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct WorkDone {
    /// Orders followed.
    pub orders: u64,
    /// Orders that a newer one replaced before anybody began them.
    pub outdated: u64,
    /// Ticks simulated.
    pub ticks: u64,
    /// Frames packed, and those of them in haste.
    pub frames: u64,
    pub rough: u64,
    /// Bytes of these frames.
    pub bytes: u64,
    /// Time to become what the last order says, to pack its frame, and to save a state, lately [ms].
    pub follow_ms: f64,
    pub pack_ms: f64,
    pub save_ms: f64,
}

/// What is known of the simulation.
#[derive(Clone, Default)]
pub struct News {
    /// Text that it follows.
    pub revision: u64,
    /// Grows whenever frames become others.
    pub take: u64,
    /// First and last frame.
    pub range: [i64; 2],
    /// Frames a second of the shot.
    pub fps: f64,
    /// What it is doing: `building`, `simulating` or nothing.
    pub busy: &'static str,
    /// What is wrong.
    pub trouble: Vec<Trouble>,
    /// What the last change took.
    pub change: &'static str,
    /// How long that was [ms].
    pub change_ms: f64,
    /// How long a frame takes, lately [ms].
    pub frame_ms: f64,
    /// Whether the frames of the last edits were shown in haste, and will be shown again.
    pub rough: bool,
    /// Places that layers name.
    pub places: Arc<Vec<Value>>,
    /// Layers that are there: kind and name.
    pub layers: Vec<(String, String)>,
    /// What readers left out of the actors' files: whoever opened them must not wonder where it is.
    pub remarks: Vec<String>,
}

/// What the page asks of the reel.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// First frame.
    pub from: i64,
    /// Most frames in one answer.
    pub most: usize,
    /// Take that the page has frames of.
    pub have: u64,
    /// Text that must have been followed before.
    pub revision: u64,
    /// Longest time to wait for the first frame.
    pub wait: Duration,
    /// Whether the page looks at the first of them now.
    pub is_shown: bool,
}

/// Frames for the page.
pub struct Got {
    /// Their take.
    pub take: u64,
    /// The first frame that takes since the page's own have made others.
    pub cut: i64,
    /// As many as are there without a gap.
    pub frames: Vec<SentFrame>,
}

/// What the threads share.
pub(super) struct EngineState {
    pub order: Option<Order>,
    pub playhead: i64,
    pub reel: Reel,
    pub news: News,
    pub roots: Arc<Roots>,
    /// For each take: the first frame that it made others.
    pub cuts: Vec<(u64, i64)>,
    /// Until when whoever makes edits is taken to be at it.
    pub quiet_until: Option<Instant>,
    /// Whether the page plays.
    pub is_playing: bool,
    pub stop: bool,
    pub work: WorkDone,
}

/// After an edit, what comes later is left alone for so long: most edits are one of many that a slider
/// sends, and whoever drags it needs the cores for the picture.
const QUIET: Duration = Duration::from_millis(250);

/// The same where more edits are on their way: the page says when they have ended, and this is for one that does not.
/// It is longer than two whole pictures take where they are drawn slowly: a whole one that came between two edits would keep
/// the second waiting, and the third with it, for as long as somebody drags.
const HASTY_QUIET: Duration = Duration::from_secs(6);

/// Takes whose cuts are remembered; a page that is farther behind begins anew.
const REMEMBERED_CUTS: usize = 256;

impl EngineState {
    /// An order came: what is not looked at waits.
    pub fn hush(&mut self, hasty: bool) {
        self.quiet_until = Some(Instant::now() + if hasty { HASTY_QUIET } else { QUIET });
    }

    /// How long it is until whoever makes edits is taken to have ended; nothing where that is over.
    pub fn quiet(&self) -> Option<Duration> {
        let left = self.quiet_until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub fn new_take(&mut self, cut: i64) {
        self.news.take += 1;
        if self.cuts.len() >= REMEMBERED_CUTS {
            self.cuts.remove(0);
        }
        self.cuts.push((self.news.take, cut));
    }

    /// The first frame that differs from those of an earlier take.
    pub fn cut_since(&self, take: u64) -> i64 {
        if self.cuts.first().is_some_and(|(first, _)| *first > take + 1) {
            return i64::MIN;
        }
        let later = self.cuts.iter().filter(|(number, _)| *number > take);
        later.map(|(_, cut)| *cut).min().unwrap_or(i64::MAX)
    }
}

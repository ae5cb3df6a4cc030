//! One simulation in a thread of its own, or a finished cache: what is asked of it, and the frames it gives.

mod news;
mod playing;
mod worker;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use frisson_io::FrameSource;
use frisson_io::cache::CacheReader;
use serde_json::{Value, json};

use self::news::{EngineState, WorkDone};
pub use self::news::{Got, News, Order, Wanted};
use self::playing::play_cache;
use self::worker::Worker;
use crate::bell::{Bell, lock};
use crate::reel::{Reel, ReelLimits};
use crate::roots::Roots;
use crate::wire::SentFrame;

/// A simulation, or a finished cache, that is looked at.
pub struct Engine {
    state: Mutex<EngineState>,
    wake: Condvar,
    bell: Arc<Bell>,
}

/// Frames simulated ahead of the playhead where memory does not hold the whole shot.
const AHEAD: i64 = 48;

impl Engine {
    /// Starts a simulation that waits for its first order.
    #[must_use]
    pub fn simulate(bell: Arc<Bell>, number: u64) -> Arc<Self> {
        let engine = Self::empty(bell);
        let own = Arc::clone(&engine);
        std::thread::spawn(move || Worker::new(own, number).run());
        engine
    }

    /// Shows a cache.
    #[must_use]
    pub fn play(bell: Arc<Bell>, reader: CacheReader) -> Arc<Self> {
        let engine = Self::empty(bell);
        {
            let mut state = lock(&engine.state);
            let info = reader.info();
            state.news.range = [info.first_frame, info.last_frame];
            state.news.fps = info.rate.fps();
            state.news.layers = reader.header().layers.clone();
            state.playhead = info.first_frame;
        }
        let own = Arc::clone(&engine);
        std::thread::spawn(move || play_cache(&own, reader));
        engine
    }

    fn empty(bell: Arc<Bell>) -> Arc<Self> {
        let state = EngineState {
            order: None,
            playhead: 0,
            reel: Reel::new(ReelLimits::default()),
            news: News::default(),
            roots: Arc::default(),
            cuts: Vec::new(),
            quiet_until: None,
            is_playing: false,
            stop: false,
            work: WorkDone::default(),
        };
        Arc::new(Self { state: Mutex::new(state), wake: Condvar::new(), bell })
    }

    /// Gives an order; one that nobody has begun yet is replaced.
    pub fn order(&self, order: Order) {
        let mut state = lock(&self.state);
        let hasty = order.hasty.is_some();
        // What waits may ask for more than the newer one.
        let again = state.order.as_ref().is_some_and(|o| o.again);
        state.work.outdated += u64::from(state.order.is_some());
        state.order = Some(Order { again: order.again || again, ..order });
        state.hush(hasty);
        drop(state);
        self.wake.notify_all();
    }

    /// Says that the edits that followed each other have ended.
    pub fn rest(&self) {
        lock(&self.state).quiet_until = None;
        self.wake.notify_all();
    }

    /// Ends the thread.
    pub fn stop(&self) {
        lock(&self.state).stop = true;
        self.wake.notify_all();
    }

    /// What is known.
    #[must_use]
    pub fn news(&self) -> News {
        lock(&self.state).news.clone()
    }

    /// The actors' own meshes.
    #[must_use]
    pub fn roots(&self) -> Arc<Roots> {
        Arc::clone(&lock(&self.state).roots)
    }

    /// What is known, for the page.
    #[must_use]
    pub fn json(&self) -> Value {
        let state = lock(&self.state);
        let news = &state.news;
        json!({
            "revision": news.revision, "take": news.take, "range": news.range, "fps": news.fps,
            "busy": news.busy, "trouble": news.trouble, "change": news.change,
            "change_ms": news.change_ms, "frame_ms": news.frame_ms, "layers": news.layers,
            "ready": state.reel.runs(), "bytes": state.reel.bytes(), "rough": news.rough,
            "remarks": news.remarks, "work": state.work,
        })
    }

    /// What the layers measured in all frames that are there.
    #[must_use]
    pub fn measures(&self) -> Value {
        let state = lock(&self.state);
        // In the order in which layers report, which a map would lose; a search among a few dozen is quick.
        let mut series: Vec<(String, String, String, Vec<(i64, f64)>)> = Vec::new();
        for (number, frame) in state.reel.frames() {
            for (layer, name, unit, value) in &frame.measures {
                match series.iter_mut().find(|s| s.0 == *layer && s.1 == *name) {
                    Some(s) => s.3.push((number, *value)),
                    None => {
                        let first = vec![(number, *value)];
                        series.push((layer.clone(), name.clone(), unit.clone(), first));
                    }
                }
            }
        }
        let one = |(layer, name, unit, values): &(String, String, String, Vec<(i64, f64)>)| json!({ "layer": layer, "name": name, "unit": unit, "values": values });
        json!(series.iter().map(one).collect::<Vec<_>>())
    }

    /// Frames, once the first of them is there or the time is over.
    #[must_use]
    pub fn frames(&self, wanted: &Wanted) -> Got {
        let end = Instant::now() + wanted.wait;
        let mut state = lock(&self.state);
        if wanted.is_shown {
            // Who plays asks for many at a time.
            state.is_playing = wanted.most > 1;
            if state.playhead != wanted.from {
                state.playhead = wanted.from;
                self.wake.notify_all();
            }
        }
        loop {
            // A frame of the text before the edit would be seen as its effect.
            let follows = state.news.revision >= wanted.revision;
            let left = end.saturating_duration_since(Instant::now());
            if (follows && state.reel.frame(wanted.from).is_some()) || left.is_zero() {
                let numbers = (wanted.from..).take(wanted.most.max(1));
                let frames = numbers.map_while(|n| state.reel.frame(n).cloned()).collect();
                return Got { take: state.news.take, cut: state.cut_since(wanted.have), frames };
            }
            let (again, _) =
                self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            state = again;
        }
    }

    /// The frame at the playhead, once it is there or the time is over.
    #[must_use]
    pub fn first(&self, wait: Duration) -> Option<(u64, SentFrame)> {
        let end = Instant::now() + wait;
        let mut state = lock(&self.state);
        loop {
            let [first, last] = state.news.range;
            let found = state.reel.frame(state.playhead.clamp(first, last.max(first)));
            let left = end.saturating_duration_since(Instant::now());
            // The page shows what is wrong: it must not wait for a picture that never comes.
            let failed = !state.news.trouble.is_empty();
            if let Some(frame) = found {
                return Some((state.news.take, frame.clone()));
            }
            if left.is_zero() || failed {
                return None;
            }
            let (again, _) =
                self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            state = again;
        }
    }

    /// A topology that some frame refers to.
    #[must_use]
    pub fn topology(&self, id: u64) -> Option<Arc<Vec<u8>>> {
        let state = lock(&self.state);
        let mut all = state.reel.frames().flat_map(|(_, f)| &f.topologies);
        all.find(|t| t.id == id).map(|t| Arc::clone(&t.bytes))
    }

    /// A texture that some topology refers to.
    #[must_use]
    pub fn texture(&self, id: u64) -> Option<Arc<Vec<u8>>> {
        let state = lock(&self.state);
        let topologies = state.reel.frames().flat_map(|(_, f)| &f.topologies);
        let mut all = topologies.flat_map(|t| &t.textures);
        all.find(|(i, _)| *i == id).map(|(_, bytes)| Arc::clone(bytes))
    }

    fn say(&self, change: impl FnOnce(&mut News)) {
        change(&mut lock(&self.state).news);
        self.wake.notify_all();
        self.bell.ring();
    }
}

//! One simulation in a thread of its own: takes what the text says, fills the reel around the playhead.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use frisson::stage::Frame;
use frisson_io::FrameSource;
use frisson_io::cache::CacheReader;
use frisson_io::scene::SceneFile;
use serde_json::{Value, json};

use crate::bell::{Bell, lock};
use crate::live::Live;
use crate::problems::Trouble;
use crate::reel::{Reel, ReelLimits};
use crate::roots::Roots;
use crate::wire::{SentFrame, Topologies, pack};

/// What the simulation shall become.
pub struct Order {
    /// The scene.
    pub scene: SceneFile,
    /// Whether heavy layers are made light.
    pub draft: bool,
    /// The frame that was looked at.
    pub at: i64,
    /// Simulate again from the start instead of going on from `at`.
    pub again: bool,
    /// Number of the text.
    pub revision: u64,
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
    /// Places that layers name.
    pub places: Arc<Vec<Value>>,
    /// Layers that are there: kind and name.
    pub layers: Vec<(String, String)>,
}

struct State {
    order: Option<Order>,
    playhead: i64,
    reel: Reel,
    news: News,
    roots: Arc<Roots>,
    /// For each take: the first frame that it made others.
    cuts: Vec<(u64, i64)>,
    stop: bool,
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

/// A simulation, or a finished cache, that is looked at.
pub struct Engine {
    state: Mutex<State>,
    wake: Condvar,
    bell: Arc<Bell>,
}

/// Takes whose cuts are remembered; a page that is farther behind begins anew.
const REMEMBERED_CUTS: usize = 256;

impl State {
    fn new_take(&mut self, cut: i64) {
        self.news.take += 1;
        if self.cuts.len() >= REMEMBERED_CUTS {
            self.cuts.remove(0);
        }
        self.cuts.push((self.news.take, cut));
    }

    /// The first frame that differs from those of an earlier take.
    fn cut_since(&self, take: u64) -> i64 {
        if self.cuts.first().is_some_and(|(first, _)| *first > take + 1) {
            return i64::MIN;
        }
        let later = self.cuts.iter().filter(|(number, _)| *number > take);
        later.map(|(_, cut)| *cut).min().unwrap_or(i64::MAX)
    }
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
        let state = State {
            order: None,
            playhead: 0,
            reel: Reel::new(ReelLimits::default()),
            news: News::default(),
            roots: Arc::default(),
            cuts: Vec::new(),
            stop: false,
        };
        Arc::new(Self { state: Mutex::new(state), wake: Condvar::new(), bell })
    }

    /// Gives an order; one that nobody has begun yet is replaced.
    pub fn order(&self, order: Order) {
        let mut state = lock(&self.state);
        // What waits may ask for more than the newer one.
        let again = state.order.as_ref().is_some_and(|o| o.again);
        state.order = Some(Order { again: order.again || again, ..order });
        drop(state);
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
            "ready": state.reel.runs(), "bytes": state.reel.bytes(),
        })
    }

    /// What the layers measured in all frames that are there.
    #[must_use]
    pub fn measures(&self) -> Value {
        let state = lock(&self.state);
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
        if wanted.is_shown && state.playhead != wanted.from {
            state.playhead = wanted.from;
            self.wake.notify_all();
        }
        loop {
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

/// What the thread does next.
enum Task {
    Stop,
    Take(Box<Order>),
    Make(i64),
}

/// The thread's own things.
struct Worker {
    engine: Arc<Engine>,
    live: Option<Live>,
    topologies: Topologies,
    /// After a failure nothing is simulated until the next order.
    failed: bool,
}

impl Worker {
    fn new(engine: Arc<Engine>, number: u64) -> Self {
        Self { engine, live: None, topologies: Topologies::numbered(number, 16), failed: false }
    }

    fn run(mut self) {
        loop {
            let outcome = match self.next_task() {
                Task::Stop => return,
                Task::Take(order) => {
                    let revision = order.revision;
                    let taken = self.guarded(|w| w.take(*order));
                    // Followed as far as it can be: nobody must wait for more.
                    self.engine.say(|news| news.revision = revision);
                    taken
                }
                Task::Make(goal) => self.guarded(|w| w.make(goal)),
            };
            if let Err(trouble) = outcome {
                self.failed = true;
                self.engine.say(|news| {
                    news.trouble = trouble;
                    news.busy = "";
                });
            }
        }
    }

    /// A mistake in a layer must not take the text and the page with it.
    fn guarded(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), Vec<Trouble>>,
    ) -> Result<(), Vec<Trouble>> {
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            self.live = None;
            Err(vec![Trouble::said("a mistake in frisson itself stopped the simulation")])
        })
    }

    fn next_task(&mut self) -> Task {
        let engine = Arc::clone(&self.engine);
        let mut state = lock(&engine.state);
        loop {
            if state.stop {
                return Task::Stop;
            }
            if let Some(order) = state.order.take() {
                return Task::Take(Box::new(order));
            }
            if !self.failed && self.live.is_some() {
                let [first, last] = state.news.range;
                let playhead = state.playhead.clamp(first, last);
                let goal = state.reel.first_gap(playhead, last);
                let wanted = |g: &i64| state.reel.has_room() || g - playhead < AHEAD;
                if let Some(goal) = goal.filter(wanted) {
                    return Task::Make(goal);
                }
            }
            if !state.news.busy.is_empty() {
                state.news.busy = "";
                engine.bell.ring();
            }
            state = engine.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Follows a new text.
    fn take(&mut self, order: Order) -> Result<(), Vec<Trouble>> {
        let started = Instant::now();
        // A change of parameters is over before anybody could read that it has begun.
        let is_new = self.live.as_ref().is_none_or(|l| l.needs_build(&order));
        if is_new {
            self.engine.say(|news| news.busy = "building");
        }
        let engine = Arc::clone(&self.engine);
        let reach = |number: i64| lock(&engine.state).reel.state_before(number);
        let (change, kept) = match &mut self.live {
            Some(live) => live.follow(&order, &reach)?,
            None => {
                self.live = Some(Live::build(&order)?);
                ("build", None)
            }
        };
        self.failed = false;
        let Some(live) = &mut self.live else { return Ok(()) };
        let clock = *live.simulator().clock();
        let mut state = lock(&engine.state);
        if change != "none" {
            // What was simulated before the present stays as it was seen.
            let cut = kept.unwrap_or(i64::MIN);
            state.reel.cut(cut);
            state.new_take(cut);
            state.playhead = order.at.clamp(clock.first_frame, clock.last_frame);
        }
        state.news.range = [clock.first_frame, clock.last_frame];
        state.news.fps = clock.rate.fps();
        if change != "live" && change != "none" {
            // Points are built in: what is live moves none, and must not wait for the trees.
            let roots = Arc::new(Roots::of(live.simulator()));
            state.news.places = Arc::new(roots.places(&live.layers_json(), live.simulator()));
            state.roots = roots;
        }
        state.news.layers =
            live.simulator().layers().iter().map(|l| (l.kind().into(), l.name().into())).collect();
        drop(state);
        if change != "none" {
            self.keep()?;
        }
        self.engine.say(|news| {
            news.trouble = Vec::new();
            news.change = change;
            news.change_ms = started.elapsed().as_secs_f64() * 1e3;
            news.busy = "simulating";
        });
        Ok(())
    }

    /// Comes one frame nearer to the goal.
    fn make(&mut self, goal: i64) -> Result<(), Vec<Trouble>> {
        let started = Instant::now();
        let Some(live) = &mut self.live else { return Ok(()) };
        let engine = Arc::clone(&self.engine);
        let now = live.simulator().frame_number();
        let saved = lock(&engine.state).reel.state_before(goal);
        let jump = saved.filter(|(number, _)| now >= goal || *number > now);
        match jump {
            Some((number, state)) => {
                if live.load(&state).is_err() {
                    // Made by layers that were others.
                    lock(&engine.state).reel.forget_state(number);
                    return Ok(());
                }
            }
            None if now >= goal => live.restart()?,
            None => live.advance()?,
        }
        let elapsed = started.elapsed().as_secs_f64() * 1e3;
        self.keep()?;
        self.engine.say(|news| {
            news.busy = "simulating";
            news.frame_ms =
                if news.frame_ms == 0.0 { elapsed } else { 0.9 * news.frame_ms + 0.1 * elapsed };
        });
        Ok(())
    }

    /// Keeps the frame that the simulation shows, and its state.
    fn keep(&mut self) -> Result<(), Vec<Trouble>> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let number = live.simulator().frame_number();
        if number < live.simulator().clock().first_frame {
            return Ok(());
        }
        let (frame, names, reports) = live.shown();
        let sent = pack(frame, &names, &reports, &mut self.topologies);
        let saved = live.save()?;
        let mut state = lock(&self.engine.state);
        let playhead = state.playhead;
        state.reel.add_frame(number, sent, playhead);
        state.reel.add_state(number, saved);
        drop(state);
        self.engine.wake.notify_all();
        Ok(())
    }
}

fn play_cache(engine: &Engine, mut reader: CacheReader) {
    let mut topologies = Topologies::numbered(0, 16);
    let mut frame = Frame::default();
    let names: Vec<String> = reader.header().layers.iter().map(|(_, n)| n.clone()).collect();
    loop {
        let (goal, playhead) = {
            let mut state = lock(&engine.state);
            loop {
                if state.stop {
                    return;
                }
                let [first, last] = state.news.range;
                let playhead = state.playhead.clamp(first, last);
                let wanted = |g: &i64| state.reel.has_room() || g - playhead < AHEAD;
                match state.reel.first_gap(playhead, last).filter(wanted) {
                    Some(goal) => break (goal, playhead),
                    None => {
                        state = engine.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                    }
                }
            }
        };
        let reports = reader.read_reports(goal).unwrap_or_default();
        match reader.read_frame(goal, &mut frame) {
            Ok(()) => {
                frame.index = goal;
                let sent = pack(&frame, &names, &reports, &mut topologies);
                lock(&engine.state).reel.add_frame(goal, sent, playhead);
                engine.wake.notify_all();
                engine.bell.ring();
            }
            Err(error) => {
                engine.say(|news| {
                    news.trouble = vec![Trouble::said(error.to_string())];
                    news.range[1] = goal - 1;
                });
            }
        }
    }
}

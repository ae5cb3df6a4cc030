//! The thread that simulates: takes what the text says, fills the reel around the playhead.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use frisson::layers::LayerParams;
use frisson::stage::Observer;

use super::{AHEAD, Engine, Order};
use crate::bell::lock;
use crate::insides::insides;
use crate::live::Live;
use crate::problems::Trouble;
use crate::reveal::Reveal;
use crate::roots::Roots;
use crate::wire::{Seen, SentFrame, Topologies, pack};

/// What the thread does next.
enum Task {
    Stop,
    Take(Box<Order>),
    /// Show again what was shown in haste.
    Refine,
    Make(i64),
}

/// Leaves a frame unfinished where somebody has something else to do: an edit does not wait for it.
struct Patience<'a>(&'a Engine);

impl Observer for Patience<'_> {
    fn goes_on(&mut self) -> bool {
        let mut state = lock(&self.0.state);
        let goes_on = state.order.is_none() && !state.stop;
        state.work.ticks += u64::from(goes_on);
        goes_on
    }
}

/// The thread's own things.
pub(super) struct Worker {
    engine: Arc<Engine>,
    live: Option<Live>,
    topologies: Topologies,
    reveal: Reveal,
    /// After a failure nothing is simulated until the next order.
    failed: bool,
}

impl Worker {
    /// A thread that has nothing to do yet.
    pub fn new(engine: Arc<Engine>, number: u64) -> Self {
        let topologies = Topologies::numbered(number, 16);
        Self { engine, live: None, topologies, reveal: Reveal::default(), failed: false }
    }

    /// Works until it is told to stop.
    pub fn run(mut self) {
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
                Task::Refine => self.guarded(Self::refine),
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
            // Left in the middle of a step, it may be in any state.
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
                // Then what lies behind the playhead, where it has to be shown anew.
                let behind = || state.reel.first_gap(first, playhead);
                let goal = state.reel.first_gap(playhead, last).or_else(behind);
                let near = |g: &i64| (0..AHEAD).contains(&(g - playhead));
                let wanted = |g: &i64| state.reel.has_room() || near(g);
                let goal = goal.filter(wanted);
                let quiet = state.quiet();
                let is_rough = self.live.as_ref().is_some_and(Live::is_rough);
                if is_rough && quiet.is_none() {
                    return Task::Refine;
                }
                let is_looked_at = |g: &i64| *g == playhead || state.is_playing;
                if let Some(goal) = goal.filter(|g| quiet.is_none() || is_looked_at(g)) {
                    return Task::Make(goal);
                }
                if let Some(quiet) = quiet.filter(|_| is_rough || goal.is_some()) {
                    let waited = engine.wake.wait_timeout(state, quiet);
                    (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                    continue;
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
        if self.live.as_ref().is_some_and(|l| !l.stands_at(order.at)) {
            self.keep_state()?;
        }
        let engine = Arc::clone(&self.engine);
        let reach = |number: i64| lock(&engine.state).reel.state_before(number);
        let (change, kept) = match &mut self.live {
            Some(live) => live.follow(&order, &reach)?,
            None => {
                self.show_bare(&order);
                self.live = Some(Live::build(&order)?);
                ("build", None)
            }
        };
        self.failed = false;
        let Some(live) = &mut self.live else { return Ok(()) };
        let clock = *live.simulator().clock();
        let mut state = lock(&engine.state);
        state.work.orders += 1;
        state.work.follow_ms = started.elapsed().as_secs_f64() * 1e3;
        state.news.rough = live.is_rough();
        if change != "none" {
            // What was simulated before the present stays as it was seen.
            let cut = kept.unwrap_or(i64::MIN);
            state.reel.cut(cut);
            state.new_take(cut);
            state.playhead = order.at.clamp(clock.first_frame, clock.last_frame);
        }
        let shown_anew = self.reveal != order.reveal;
        if shown_anew {
            // The same motion, shown otherwise.
            self.reveal = order.reveal;
            state.reel.forget_looks();
            state.new_take(i64::MIN);
            state.playhead = order.at.clamp(clock.first_frame, clock.last_frame);
        }
        state.news.range = [clock.first_frame, clock.last_frame];
        state.news.fps = clock.rate.fps();
        state.news.layers =
            live.simulator().layers().iter().map(|l| (l.kind().into(), l.name().into())).collect();
        state.news.remarks = live.remarks().to_vec();
        drop(state);
        if change != "none" || shown_anew {
            // The picture first: nobody draws on it before it is seen.
            self.keep()?;
            self.engine.say(|news| news.revision = order.revision);
        }
        if change != "live" && change != "none" {
            self.learn_roots();
        }
        self.engine.say(|news| {
            news.trouble = Vec::new();
            news.change = change;
            news.change_ms = started.elapsed().as_secs_f64() * 1e3;
            news.busy = "simulating";
        });
        Ok(())
    }

    /// Shows the actors alone while layers are built that take their time.
    fn show_bare(&mut self, order: &Order) {
        let is_slow = |l: &LayerParams| matches!(l, LayerParams::Hair(_) | LayerParams::Soft(_));
        if !order.scene.scene.layers.iter().any(is_slow) {
            return;
        }
        let mut bare = order.clone();
        // Actors alone are built in a moment, and the camera can be set up by them.
        bare.scene.scene.layers.clear();
        // What is wrong with it is said when the whole is built.
        let Ok(live) = Live::build(&bare) else { return };
        let clock = *live.simulator().clock();
        self.live = Some(live);
        let mut state = lock(&self.engine.state);
        state.news.range = [clock.first_frame, clock.last_frame];
        state.news.fps = clock.rate.fps();
        state.playhead = order.at.clamp(clock.first_frame, clock.last_frame);
        state.new_take(i64::MIN);
        drop(state);
        if self.keep().is_ok() {
            self.engine.say(|_| {});
        }
        self.live = None;
    }

    /// Looks up what points and selections stick to; what is live moves none of it.
    fn learn_roots(&mut self) {
        let Some(live) = &self.live else { return };
        let layers = live.layers_json();
        let roots = Arc::new(Roots::of(live.simulator(), &layers));
        let places = Arc::new(roots.places(&layers, live.simulator()));
        let mut state = lock(&self.engine.state);
        (state.roots, state.news.places) = (roots, places);
    }

    /// Shows again what was shown in haste, now that there is time for all of it.
    fn refine(&mut self) -> Result<(), Vec<Trouble>> {
        let Some(live) = &mut self.live else { return Ok(()) };
        live.refine()?;
        let stands = live.stands_at(live.simulator().frame_number());
        let mut state = lock(&self.engine.state);
        if let Some(first) = state.reel.forget_rough() {
            state.new_take(first);
        }
        drop(state);
        if stands {
            self.keep()?;
        }
        self.engine.say(|news| news.rough = false);
        Ok(())
    }

    /// Comes one frame nearer to the goal.
    fn make(&mut self, goal: i64) -> Result<(), Vec<Trouble>> {
        self.keep_state()?;
        let started = Instant::now();
        let Some(live) = &mut self.live else { return Ok(()) };
        let engine = Arc::clone(&self.engine);
        let now = live.simulator().frame_number();
        let saved = lock(&engine.state).reel.state_before(goal);
        let jump = saved.filter(|(number, _)| now >= goal || *number > now);
        let is_simulated = jump.is_none() && now < goal;
        match jump {
            Some((number, state)) => {
                if live.load(&state).is_err() {
                    // Made by layers that were others.
                    lock(&engine.state).reel.forget_state(number);
                    return Ok(());
                }
            }
            None if now >= goal => live.restart()?,
            None => {
                if !live.advance(&mut Patience(&engine))? {
                    return Ok(());
                }
            }
        }
        let elapsed = started.elapsed().as_secs_f64() * 1e3;
        self.keep()?;
        self.engine.say(|news| {
            news.busy = "simulating";
            // A state that is taken back tells nothing about how long a frame takes.
            if is_simulated {
                let before = if news.frame_ms == 0.0 { elapsed } else { news.frame_ms };
                news.frame_ms = 0.9 * before + 0.1 * elapsed;
            }
        });
        Ok(())
    }

    /// Keeps the frame that the simulation shows.
    fn keep(&mut self) -> Result<(), Vec<Trouble>> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let number = live.simulator().frame_number();
        if number < live.simulator().clock().first_frame {
            return Ok(());
        }
        let started = Instant::now();
        let is_rough = live.is_rough();
        let inner = if self.reveal.insides { insides(live.simulator()) } else { Vec::new() };
        let (frame, names, reports) = live.shown(self.reveal);
        let seen = Seen { frame, names: &names, reports: &reports, insides: &inner };
        let sent = SentFrame { is_rough, ..pack(&seen, &mut self.topologies) };
        let mut state = lock(&self.engine.state);
        state.work.frames += 1;
        state.work.rough += u64::from(is_rough);
        state.work.bytes += sent.bytes.len() as u64;
        state.work.pack_ms = started.elapsed().as_secs_f64() * 1e3;
        let playhead = state.playhead;
        state.reel.add_frame(number, sent, playhead);
        drop(state);
        self.engine.wake.notify_all();
        Ok(())
    }

    /// Keeps the state of the frame that is about to be left, to come back to. Not before: whoever drags a slider
    /// waits for the picture, and the next edit needs no state of a frame that the simulation still stands at.
    fn keep_state(&mut self) -> Result<(), Vec<Trouble>> {
        let Some(live) = &self.live else { return Ok(()) };
        let number = live.simulator().frame_number();
        let is_before = number < live.simulator().clock().first_frame;
        if is_before || !live.stands_at(number) || lock(&self.engine.state).reel.has_state(number) {
            return Ok(());
        }
        let started = Instant::now();
        let saved = live.save()?;
        let mut state = lock(&self.engine.state);
        state.work.save_ms = started.elapsed().as_secs_f64() * 1e3;
        state.reel.add_state(number, saved);
        Ok(())
    }
}

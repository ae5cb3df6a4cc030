//! The thread that reads a finished cache.

use std::sync::PoisonError;

use frisson::stage::Frame;
use frisson_io::FrameSource;
use frisson_io::cache::CacheReader;

use super::{AHEAD, Engine};
use crate::bell::lock;
use crate::problems::Trouble;
use crate::wire::{Seen, Topologies, pack};

/// Fills the reel around the playhead.
pub(super) fn play_cache(engine: &Engine, mut reader: CacheReader) {
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
                let seen = Seen { frame: &frame, names: &names, reports: &reports, insides: &[] };
                let sent = pack(&seen, &mut topologies);
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

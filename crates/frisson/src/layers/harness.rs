//! For tests: one layer alone behind the door, with its insides open, and the laws that hold for all.

use std::marker::PhantomData;

use crate::stage::{
    Frame, Layer, LayerReport, NoObserver, Running, Setup, Simulator, SimulatorError,
};

/// A simulator whose last layer is of a known kind.
pub(crate) struct Alone<L: Layer> {
    pub simulator: Simulator,
    kind: PhantomData<L>,
}

impl<L: Layer> Alone<L> {
    /// Builds and starts it.
    pub fn new(setup: Setup) -> Result<Self, SimulatorError> {
        Ok(Self { simulator: Simulator::new(setup)?, kind: PhantomData })
    }

    /// The layer.
    pub fn layer(&self) -> &Running<L> {
        let last = self.simulator.layers().last().expect("a layer");
        last.as_any().downcast_ref().expect("a layer of this kind")
    }

    /// The layer, to set a situation up.
    pub fn layer_mut(&mut self) -> &mut Running<L> {
        let last = self.simulator.layers_mut().last_mut().expect("a layer");
        last.as_any_mut().downcast_mut().expect("a layer of this kind")
    }

    /// What the layer computed once.
    pub fn rest(&self) -> &L::Rest {
        self.layer().rest()
    }

    /// What evolves.
    pub fn state(&self) -> &L::State {
        self.layer().state().expect("a started layer")
    }

    /// What evolves, to set a situation up.
    pub fn state_mut(&mut self) -> &mut L::State {
        self.layer_mut().state_mut().expect("a started layer")
    }

    /// Advances by whole ticks.
    pub fn ticks(&mut self, count: u64) {
        let seconds = self.simulator.clock().tick_seconds();
        for _ in 0..count {
            self.simulator.step(seconds).expect("a sound step");
        }
    }

    /// Advances by output frames.
    pub fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.simulator.advance_frame(&mut NoObserver).expect("a sound frame");
        }
    }

    /// What is shown.
    pub fn frame(&self) -> &Frame {
        self.simulator.frame()
    }

    /// What the layer says of itself.
    pub fn report(&self) -> LayerReport {
        self.simulator.reports().pop().expect("a report")
    }
}

/// The frames and reports of a run, as bytes.
fn seen(simulator: &mut Simulator, frames: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for _ in 0..frames {
        simulator.advance_frame(&mut NoObserver).expect("a sound frame");
        let said = (simulator.frame(), simulator.reports());
        all.push(postcard::to_stdvec(&said).expect("plain data"));
    }
    all
}

/// Same bits on one thread and on three, twice, after a resume at any frame, and with a scratch that is
/// lost before every frame.
pub(crate) fn check_same_bits<L: Layer>(setup: &Setup, frames: usize) {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| seen(&mut Simulator::new(setup.clone()).expect("a simulator"), frames))
    };
    let straight = run(1);
    assert!(straight == run(1), "two runs differ");
    // Three: an odd number cuts the work at other places than two would.
    assert!(straight == run(3), "three threads differ from one");
    // Right after the start, where buffers are still growing, and in the middle of the motion.
    for at in [1, frames / 2] {
        let mut first = Simulator::new(setup.clone()).expect("a simulator");
        seen(&mut first, at);
        let saved = first.save().expect("a snapshot");
        let mut second = Simulator::new(setup.clone()).expect("a simulator");
        second.load(&saved).expect("a fitting snapshot");
        assert!(straight[at..] == seen(&mut second, frames - at), "resumed after frame {at}");
    }
    let mut forgetful = Alone::<L>::new(setup.clone()).expect("a simulator");
    for (frame, wanted) in straight.iter().enumerate() {
        forgetful.layer_mut().forget_scratch();
        let got = seen(&mut forgetful.simulator, 1);
        assert!(*wanted == got[0], "frame {frame} differs without scratch");
    }
}

/// The same motion whatever is looked at in between: frames at 30 fps and the same instants of 24, 25, 50,
/// 60 and 240 fps, by a law on the shapes' points.
pub(crate) fn check_rates(setup: &Setup, seconds: u32) {
    let points = |fps: u32| {
        let mut own = setup.clone();
        own.clock.rate = crate::stage::Rate::whole(fps);
        let mut simulator = Simulator::new(own).expect("a simulator");
        for _ in 0..fps * seconds {
            simulator.advance_frame(&mut NoObserver).expect("a sound frame");
        }
        let frame = simulator.frame();
        let meshes = frame.meshes.iter().flat_map(|m| m.positions.iter().copied());
        let curves = frame.curves.iter().flat_map(|c| c.points.iter().copied());
        let drops = frame.points.iter().flat_map(|p| p.positions.iter().copied());
        meshes.chain(curves).chain(drops).collect::<Vec<glam::Vec3>>()
    };
    let wanted = points(30);
    for fps in [24, 25, 50, 60, 240] {
        assert!(points(fps) == wanted, "{fps} frames a second end elsewhere");
    }
}

//! A running simulation that follows its scene's text.

use std::sync::Arc;

use frisson::layers::LayerParams;
use frisson::stage::{Change, Frame, LayerReport, NoObserver, Observer, Simulator, SimulatorError};
use frisson_io::bake::OutputNormals;
use frisson_io::scene::{Scene, SceneFile};
use frisson_workshop::Loader;
use serde_json::Value;

use crate::draft::lighten;
use crate::engine::Order;
use crate::problems::{Trouble, troubles};
use crate::reveal::{Depths, Reveal, write_fold_factors};
use crate::rough::roughen;

/// A simulator and the scene it is made from.
pub struct Live {
    simulator: Simulator,
    /// The scene as it is simulated here, with all that there is to be seen.
    scene: SceneFile,
    draft: bool,
    /// Whether less of it is shown.
    is_rough: bool,
    normals: OutputNormals,
    shown: Frame,
    depths: Depths,
    remarks: Vec<String>,
}

/// The last state at or before a frame.
pub type Reach<'a> = &'a dyn Fn(i64) -> Option<(i64, Arc<Vec<u8>>)>;

impl Live {
    /// Builds a scene.
    pub fn build(order: &Order) -> Result<Self, Vec<Trouble>> {
        let scene = prepared(order);
        let built = scene.build(&Loader).map_err(|e| troubles(&e))?;
        Ok(Self {
            normals: OutputNormals::new(built.stage.frame()),
            simulator: built.stage,
            scene,
            draft: order.draft,
            is_rough: false,
            shown: Frame::default(),
            depths: Depths::default(),
            remarks: built.remarks,
        })
    }

    /// What readers left out of the actors' files.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether less is shown than there is, for the sake of time.
    #[must_use]
    pub fn is_rough(&self) -> bool {
        self.is_rough
    }

    /// Shows all that there is; the motion stays as it is.
    pub fn refine(&mut self) -> Result<(), Vec<Trouble>> {
        let layers = self.scene.stage_layers().map_err(|e| troubles(&e))?;
        self.simulator.set_all_params(&layers).map_err(|e| self.failed(&e))?;
        self.is_rough = false;
        Ok(())
    }

    /// The simulator.
    #[must_use]
    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Parameters of the layers as JSON.
    #[must_use]
    pub fn layers_json(&self) -> Vec<Value> {
        let all = self.simulator.params().iter();
        all.map(|p| serde_json::to_value(p).unwrap_or_default()).collect()
    }

    /// Whether the scene has to be built anew: everything but layers and forces is built in.
    #[must_use]
    pub fn needs_build(&self, order: &Order) -> bool {
        self.draft != order.draft || fixed(&self.scene.scene) != fixed(&prepared(order).scene)
    }

    /// Becomes what an order says, at the frame that was looked at. Says what that took and from which
    /// frame on everything is new; nothing where all of it is.
    pub fn follow(
        &mut self,
        order: &Order,
        reach: Reach,
    ) -> Result<(&'static str, Option<i64>), Vec<Trouble>> {
        if self.needs_build(order) {
            return self.build_again(order, reach);
        }
        let scene = prepared(order);
        let mut layers = scene.stage_layers().map_err(|e| troubles(&e))?;
        let is_rough = order.hasty.is_some_and(|room| roughen(&mut layers, room));
        let same_forces = scene.scene.gravity == self.scene.scene.gravity
            && scene.scene.forces == self.scene.scene.forces;
        if layers == self.simulator.params() && same_forces {
            self.scene = scene;
            return Ok(("none", None));
        }
        self.is_rough = is_rough;
        let change = match self.jump_with(order, reach, &layers) {
            Some(changed) => named(changed.map_err(|e| stage_trouble(&scene, &e))?),
            None => {
                if !order.again {
                    self.go_to(order.at, reach)?;
                }
                self.set_layers(&scene, &layers)?
            }
        };
        self.simulator.set_forces(scene.stage_forces());
        self.scene = scene;
        if order.again {
            self.restart()?;
            return Ok((change, None));
        }
        // Layers show what they were given; forces act from the next step on.
        Ok((change, Some(self.simulator.frame_number())))
    }

    /// The usual edit: the same layers with other values, at a frame whose state is known. Every layer is
    /// shown once, where going there first and tuning then would show it twice.
    fn jump_with(
        &mut self,
        order: &Order,
        reach: Reach,
        layers: &[LayerParams],
    ) -> Option<Result<Change, SimulatorError>> {
        let same_stack = self
            .simulator
            .params()
            .iter()
            .map(LayerParams::name)
            .eq(layers.iter().map(LayerParams::name));
        if order.again || !same_stack || self.stands_at(order.at) {
            return None;
        }
        let (_, state) = reach(order.at).filter(|(number, _)| *number == order.at)?;
        match self.simulator.load_with(&state, layers) {
            // Made by layers that were others.
            Err(SimulatorError::Snapshot(_)) => None,
            changed => Some(changed),
        }
    }

    /// Builds everything; the motion goes on where the states still fit.
    fn build_again(
        &mut self,
        order: &Order,
        reach: Reach,
    ) -> Result<(&'static str, Option<i64>), Vec<Trouble>> {
        let mut new = Self::build(order)?;
        // Frames of another rate are other moments: a state of one is none of the other.
        let same_clock = new.simulator.clock() == self.simulator.clock();
        let mut kept = None;
        if !order.again && same_clock && self.go_to(order.at, reach).is_ok() {
            let state = self.save()?;
            // States of other layers do not fit: then it starts again.
            match new.simulator.load(&state) {
                Ok(()) => kept = Some(new.simulator.frame_number()),
                Err(_) => new.restart()?,
            }
        }
        *self = new;
        Ok(("build", kept))
    }

    /// Gives layers their parameters; adds, removes and reorders them.
    fn set_layers(
        &mut self,
        scene: &SceneFile,
        layers: &[LayerParams],
    ) -> Result<&'static str, Vec<Trouble>> {
        let failed = |e: &SimulatorError| stage_trouble(scene, e);
        let old: Vec<String> =
            self.simulator.params().iter().map(|p| p.name().to_owned()).collect();
        let mut most = Change::None;
        // Out first: a layer may not be added under a name that is still taken.
        for name in &old {
            if !layers.iter().any(|l| l.name() == name) {
                self.simulator.remove_layer(name).map_err(|e| failed(&e))?;
                most = Change::Rebuild;
            }
        }
        let is_old = |layer: &&LayerParams| old.iter().any(|n| n == layer.name());
        let kept: Vec<LayerParams> = layers.iter().filter(is_old).cloned().collect();
        most = most.max(self.simulator.set_all_params(&kept).map_err(|e| failed(&e))?);
        for (index, layer) in layers.iter().enumerate().filter(|(_, l)| !is_old(l)) {
            self.simulator.add_layer(index, layer.clone()).map_err(|e| failed(&e))?;
            most = Change::Rebuild;
        }
        let names: Vec<&str> = layers.iter().map(LayerParams::name).collect();
        let now: Vec<&str> = self.simulator.params().iter().map(LayerParams::name).collect();
        if now != names {
            self.simulator.reorder_layers(&names).map_err(|e| failed(&e))?;
            most = Change::Rebuild;
        }
        Ok(named(most))
    }

    /// Whether it stands at a frame, not between it and the next.
    pub fn stands_at(&self, frame: i64) -> bool {
        (self.simulator.clock().frame_time(frame) - self.simulator.time()).abs() < SAME_TIME
    }

    /// Stands at a frame that was simulated before, or as near before it as can be.
    fn go_to(&mut self, frame: i64, reach: Reach) -> Result<(), Vec<Trouble>> {
        if self.stands_at(frame) {
            return Ok(());
        }
        // An interrupted frame stands after the one before it.
        let now = self.simulator.frame_number();
        let saved = reach(frame);
        // Time does not run backwards: without a state before the frame it is simulated from the start.
        let is_behind = saved.is_none() && now >= frame;
        let nearer = saved.filter(|(number, _)| now >= frame || *number > now);
        // A state that does not fit is as good as none.
        if is_behind || nearer.is_some_and(|(_, state)| self.load(&state).is_err()) {
            self.restart()?;
        }
        let last = self.simulator.clock().last_frame;
        while self.simulator.frame_number() < frame.min(last) {
            self.advance(&mut NoObserver)?;
        }
        Ok(())
    }

    /// One frame on; says whether it is there, or the observer wanted something else first.
    pub fn advance(&mut self, observer: &mut dyn Observer) -> Result<bool, Vec<Trouble>> {
        match self.simulator.advance_frame(observer) {
            Ok(_) => Ok(true),
            Err(SimulatorError::Interrupted) => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Back to the start.
    pub fn restart(&mut self) -> Result<(), Vec<Trouble>> {
        self.simulator.start().map_err(|e| self.failed(&e))
    }

    /// All that evolves.
    pub fn save(&self) -> Result<Vec<u8>, Vec<Trouble>> {
        self.simulator.save().map_err(|e| self.failed(&e))
    }

    /// Takes a state back.
    pub fn load(&mut self, state: &[u8]) -> Result<(), SimulatorError> {
        self.simulator.load(state)
    }

    /// The frame with its normals, the names of the layers and what they measured.
    pub fn shown(&mut self, reveal: Reveal) -> (&Frame, Vec<String>, Vec<LayerReport>) {
        self.shown.clone_from(self.simulator.frame());
        self.shown.index = self.simulator.frame_number();
        self.normals.complete(&mut self.shown);
        if reveal.attributes {
            write_fold_factors(&mut self.shown, &self.simulator);
        }
        if reveal.penetration {
            self.depths.write(&mut self.shown, self.simulator.colliders());
        }
        let names = self.simulator.params().iter().map(|p| p.name().to_owned()).collect();
        (&self.shown, names, self.simulator.reports())
    }

    fn failed(&self, error: &SimulatorError) -> Vec<Trouble> {
        stage_trouble(&self.scene, error)
    }
}

/// Times nearer to each other than this are one [s].
const SAME_TIME: f64 = 1e-9;

fn stage_trouble(scene: &SceneFile, error: &SimulatorError) -> Vec<Trouble> {
    vec![Trouble::at(scene, &scene.stage_problem(error))]
}

fn named(change: Change) -> &'static str {
    match change {
        Change::None | Change::Live => "live",
        Change::Rebuild => "rebuild",
        Change::Restart => "restart",
    }
}

/// The scene as it is simulated here.
fn prepared(order: &Order) -> SceneFile {
    let mut scene = order.scene.clone();
    // What is promised of a layer does not keep it from being switched off.
    scene.scene.expect.clear();
    if order.draft {
        lighten(&mut scene.scene);
    }
    order.reveal.apply(&mut scene.scene);
    scene.scene.layers.iter_mut().for_each(leave_out_unseen);
    scene
}

/// Takes away what the page does not show and costs time: an image of wetness is scanned whole in every frame. The same
/// trails are seen as a mesh.
fn leave_out_unseen(layer: &mut LayerParams) {
    if let LayerParams::Drops(own) = layer
        && own.trails.image > 0
    {
        (own.trails.image, own.trails.mesh) = (0, true);
    }
}

/// What cannot change while it runs.
fn fixed(scene: &Scene) -> Scene {
    Scene {
        gravity: [0.0; 3],
        forces: Vec::new(),
        layers: Vec::new(),
        exports: Vec::new(),
        expect: Vec::new(),
        gallery: None,
        camera: Default::default(),
        ..scene.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reveal::Reveal;
    use std::path::Path;

    const SHEET: &str = "frisson = 2\nframes = [0, 3]\n[actors.sheet]\n\
        source = \"builtin:sheet?cells=8&size=1&height=0\"\n[[layers]]\n[layers.cloth]\n\
        name = \"cloth\"\non = \"sheet\"\npins = { vertices = [0, 8] }\n";

    fn order(text: &str) -> Order {
        let scene = SceneFile::parse(Path::new("sheet.toml"), text).unwrap();
        Order {
            scene,
            draft: false,
            reveal: Reveal::default(),
            at: 0,
            again: false,
            revision: 1,
            hasty: None,
        }
    }

    const HAIR: &str = "frisson = 2\nframes = [0, 4]\n[actors.ball]\n\
        source = \"builtin:sphere?radius=0.1\"\npath = [[0,0,0,0,0,0,0],[4,0,0,0,0,60,0]]\n[[layers]]\n\
        [layers.hair]\nname = \"hair\"\non = \"ball\"\nwisps = 12\nlength = 0.1\ngoal_hz = 1.0\n\
        strands = { per_wisp = 400, points = 16 }\n";
    const SOFT: &str = include_str!("../scenes/soft-two-points.toml");

    /// An edit of one line, then two frames; in haste or not. The motion, and how much was shown of it before and
    /// after there was time.
    fn edited(text: &str, (from, to): (&str, &str), hasty: bool) -> (Vec<u8>, [usize; 2], Frame) {
        let size = |live: &Live| {
            let frame = live.simulator().frame();
            let meshes = frame.meshes.iter().map(|m| m.positions.len()).sum::<usize>();
            meshes + frame.curves.iter().map(|c| c.points.len()).sum::<usize>()
        };
        let mut live = Live::build(&order(text)).unwrap();
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed);
        let (change, _) = live
            .follow(&Order { hasty: hasty.then_some(0), ..order(&changed) }, &|_| None)
            .unwrap();
        assert_eq!((change, live.is_rough()), ("live", hasty));
        (0..2).for_each(|_| assert!(live.advance(&mut NoObserver).unwrap()));
        let rough = size(&live);
        live.refine().unwrap();
        assert!(!live.is_rough());
        (live.save().unwrap(), [rough, size(&live)], live.simulator().frame().clone())
    }

    /// What is shown in haste is less, moves as the whole does, and is the same as ever once there is time.
    #[test]
    fn haste_changes_what_is_drawn_and_not_what_moves() {
        for (text, edit) in [
            (HAIR, ("goal_hz = 1.0", "goal_hz = 2.0")),
            (SOFT, ("name = \"pair\"", "name = \"pair\"\nfriction = 0.7")),
        ] {
            let (motion, [all, same], frame) = edited(text, edit, false);
            let (in_haste, [less, whole], refined) = edited(text, edit, true);
            assert!(motion == in_haste, "{edit:?}: another motion");
            assert!(less < all && whole == same && same == all, "{less} of {all}, {whole}");
            let places = |f: &Frame| {
                let meshes = f.meshes.iter().flat_map(|m| m.positions.clone());
                meshes.chain(f.curves.iter().flat_map(|c| c.points.clone())).collect::<Vec<_>>()
            };
            assert!(places(&frame) == places(&refined), "{edit:?}: another picture");
        }
    }

    /// A fold below wrinkles refines the mesh that they are drawn on: their triangles are the actor's own all the same.
    #[test]
    fn what_is_drawn_on_a_triangle_stays_where_it_was_when_a_layer_comes_below() {
        let fold = "[[layers]]\nfolds = { name = \"fold\", on = \"wrist\", folds = [{ name = \"one\", \
            points = [[-0.012, 0.236, -0.03], [0.012, 0.231, 0.008]], amplitude = 0.004, width = 0.012 }] }\n";
        let text = include_str!("../scenes/wrinkles-wrist.toml");
        let below = text.replacen("[[layers]]\n", &format!("{fold}[[layers]]\n"), 1);
        let [alone, with] = [text, &below].map(|t| Live::build(&order(t)).unwrap());
        let count = |live: &Live| live.simulator().frame().meshes[0].topology.triangles.len();
        assert!(count(&with) > count(&alone) && with.simulator().layers().len() == 2);
        let weights = [0.2, 0.3, 0.5];
        for triangle in (0..5500).step_by(97) {
            let anchor = frisson::stage::Anchor::OnTriangle { triangle, weights };
            let [one, other] =
                [&alone, &with].map(|live| live.simulator().place("test", 0, &anchor).unwrap());
            assert!(one.distance(other) < 1e-7, "{triangle}: {one} {other}");
        }
    }

    /// Nodes of cloth are numbered from its pins: a state with other pins is not this cloth's.
    #[test]
    fn cloth_with_other_pins_is_not_shuffled() {
        let mut live = Live::build(&order(SHEET)).unwrap();
        let flat = live.simulator().frame().meshes[0].positions.clone();
        let before = live.save().unwrap();
        let pinned = SHEET.replace("[0, 8]", "[0, 8, 40, 41]");
        live.follow(&order(&pinned), &|_| None).unwrap();
        let now = &live.simulator().frame().meshes[0].positions;
        let worst = flat.iter().zip(now).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(worst < 1e-6, "{worst}");
        assert!(live.load(&before).is_err(), "a state of the other pins does not fit");
    }
}

//! The door, opened to Python.

use std::sync::{Mutex, MutexGuard, PoisonError};

use frisson::layers::LayerParams;
use frisson::stage::{Change, ForceParams, Forces, Frame, Simulator as Engine, nearest_name};
use glam::Vec3;
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{self, Rows, points};
use crate::frame::{Known, to_dict};
use crate::scene::{Actors, Given, Scene};
use crate::trouble::Trouble;

/// Longest time that is simulated without asking whether somebody pressed Ctrl-C [s].
const DEAF: f64 = 0.25;

/// Actors and layers at some time.
#[pyclass(module = "frisson._native", frozen)]
pub struct Simulator {
    inner: Mutex<Running>,
}

struct Running {
    engine: Engine,
    known: Known,
}

impl Simulator {
    // Nobody waits for Python's lock while holding this one: closures given to `detach` take and leave it.
    fn running(&self) -> MutexGuard<'_, Running> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Simulator {
    /// Reads a scene's actors and builds its layers. Actors named in `live` are moved by what is pushed.
    #[new]
    fn new(
        py: Python<'_>,
        scene: &Scene,
        actors: Actors,
        live: Vec<String>,
    ) -> Result<Self, Trouble> {
        let given = Given::new(py, &actors);
        let engine = py.detach(|| -> Result<Engine, Trouble> {
            let mut read = scene.file.read_all(&given)?;
            for name in &live {
                let names: Vec<&str> = read.setup.actors.iter().map(|a| a.name.as_str()).collect();
                let Some(index) = names.iter().position(|n| n == name) else {
                    let near = nearest_name(name, names.iter().copied());
                    let help = near.map(|n| format!("did you mean {n:?}?"));
                    return Err(Trouble::Input(format!("there is no actor named {name:?}"), help));
                };
                let actor = read.setup.actors[index].clone();
                read.setup.actors[index] = actor.live();
            }
            Ok(scene.file.simulator(read.setup)?)
        })?;
        Ok(Self { inner: Mutex::new(Running { engine, known: Known::default() }) })
    }

    /// Goes back to the start and starts every layer again.
    fn start(&self, py: Python<'_>) -> Result<(), Trouble> {
        Ok(py.detach(|| self.running().engine.start())?)
    }

    /// Advances to a time [s].
    fn advance_to(&self, py: Python<'_>, time: f64) -> Result<(), Trouble> {
        loop {
            let there = py.detach(|| -> Result<bool, Trouble> {
                let engine = &mut self.running().engine;
                let next = (engine.time() + DEAF).min(time);
                // A time that cannot be reached is for the engine to refuse.
                let next = if time.is_finite() { next } else { time };
                engine.advance_to(next)?;
                Ok(next >= time)
            })?;
            if there {
                return Ok(());
            }
            py.check_signals()?;
        }
    }

    /// The present [s].
    #[getter]
    fn time(&self) -> f64 {
        self.running().engine.time()
    }

    /// Frames per second, first and last frame of the scene.
    fn clock(&self) -> (f64, i64, i64) {
        let running = self.running();
        let clock = running.engine.clock();
        (clock.rate.fps(), clock.first_frame, clock.last_frame)
    }

    /// Number of the frame that is shown.
    #[getter]
    fn frame_number(&self) -> i64 {
        self.running().engine.frame_number()
    }

    /// Time of an output frame [s].
    fn frame_time(&self, frame: i64) -> f64 {
        self.running().engine.clock().frame_time(frame)
    }

    /// All that is shown, as dictionaries of arrays.
    fn frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let running = &mut *self.running();
        to_dict(py, running.engine.frame(), &mut running.known)
    }

    /// Positions of one mesh.
    fn positions<'py>(
        &self,
        py: Python<'py>,
        mesh: &str,
    ) -> Result<Bound<'py, PyArray2<f32>>, Trouble> {
        let running = self.running();
        let frame = running.engine.frame();
        let index = frame.mesh_index(mesh).ok_or_else(|| no_mesh(frame, mesh))?;
        Ok(points(py, &frame.meshes[index].positions)?)
    }

    /// Names of the meshes that are shown.
    fn mesh_names(&self) -> Vec<String> {
        self.running().engine.frame().meshes.iter().map(|m| m.name.clone()).collect()
    }

    /// Matrices of all joints of a live actor, at a time.
    #[pyo3(signature = (actor, time, matrices, weights = None))]
    fn push_pose(
        &self,
        actor: &str,
        time: f64,
        matrices: Bound<'_, PyAny>,
        weights: Option<Bound<'_, PyAny>>,
    ) -> Result<(), Trouble> {
        let matrices = arrays::matrices(&matrices, "matrices")?;
        let weights = match weights {
            Some(weights) => arrays::numbers(&weights, "weights")?,
            None => Vec::new(),
        };
        Ok(self.running().engine.push_pose(actor, time, &matrices, &weights)?)
    }

    /// Positions of one mesh of a live actor, at a time.
    #[pyo3(signature = (actor, time, positions, mesh = 0))]
    fn push_positions(
        &self,
        actor: &str,
        time: f64,
        positions: Bound<'_, PyAny>,
        mesh: usize,
    ) -> Result<(), Trouble> {
        let rows = Rows::<3>::of(&positions, "positions")?;
        Ok(self.running().engine.push_positions(actor, mesh, time, rows.rows())?)
    }

    /// All that evolves.
    fn save<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Trouble> {
        let bytes = py.detach(|| self.running().engine.save())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Takes back what `save` gave.
    fn load(&self, py: Python<'_>, state: &[u8]) -> Result<(), Trouble> {
        Ok(py.detach(|| self.running().engine.load(state))?)
    }

    /// The layers' parameters, as JSON.
    fn layers(&self) -> Result<String, Trouble> {
        Trouble::json(&self.running().engine.params())
    }

    /// What the layers measured, as JSON.
    fn reports(&self) -> Result<String, Trouble> {
        Trouble::json(&self.running().engine.reports())
    }

    /// Gives a layer new parameters, as JSON; answers what that took.
    fn set_params(&self, py: Python<'_>, params: &str) -> Result<&'static str, Trouble> {
        let params: LayerParams = serde_json::from_str(params)?;
        let change = py.detach(|| self.running().engine.set_params(&params))?;
        Ok(match change {
            Change::None => "none",
            Change::Live => "live",
            Change::Rebuild => "rebuild",
            Change::Restart => "restart",
        })
    }

    /// Adds a layer, given as JSON, at a place of the stack.
    fn add_layer(&self, py: Python<'_>, index: usize, params: &str) -> Result<(), Trouble> {
        let params: LayerParams = serde_json::from_str(params)?;
        Ok(py.detach(|| self.running().engine.add_layer(index, params))?)
    }

    /// Removes a layer.
    fn remove_layer(&self, py: Python<'_>, name: &str) -> Result<(), Trouble> {
        Ok(py.detach(|| self.running().engine.remove_layer(name))?)
    }

    /// Puts the layers in another order.
    fn reorder_layers(&self, py: Python<'_>, names: Vec<String>) -> Result<(), Trouble> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(py.detach(|| self.running().engine.reorder_layers(&names))?)
    }

    /// Other gravity and fields (JSON like `[[forces]]`), from the next step on.
    fn set_forces(&self, gravity: [f32; 3], forces: &str) -> Result<(), Trouble> {
        let fields: Vec<ForceParams> = serde_json::from_str(forces)?;
        let engine = &mut self.running().engine;
        let fps = engine.clock().rate.fps();
        engine.set_forces(Forces::new(Vec3::from_array(gravity), fields, fps));
        Ok(())
    }
}

fn no_mesh(frame: &Frame, name: &str) -> Trouble {
    let names: Vec<&str> = frame.meshes.iter().map(|m| m.name.as_str()).collect();
    let help = format!("its meshes: {}", names.join(", "));
    Trouble::Input(format!("there is no mesh named {name:?}"), Some(help))
}

//! What went wrong, as an exception that says file, line and what to do.

use frisson::stage::SimulatorError;
use frisson_io::SourceError;
use frisson_io::bake::BakeError;
use frisson_io::cache::CacheError;
use frisson_io::export::ExportError;
use frisson_io::gltf::GltfError;
use frisson_io::scene::{ReadSceneError, SceneError};
use frisson_judge::JudgeError;
use frisson_picture::PictureError;
use frisson_workshop::WorkshopError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use serde::Serialize;

/// Any failure; becomes one of the classes in `frisson.errors`.
pub enum Trouble {
    /// A scene says something it may not.
    Scene(Box<SceneError>),
    /// The simulation stopped.
    Simulation(String),
    /// Something is wrong with what was given; perhaps what to do about it.
    Input(String, Option<String>),
    /// The progress function said stop; frames up to this one are kept.
    Stopped(Option<i64>),
    /// Python's own.
    Python(PyErr),
}

impl Trouble {
    /// What was given is wrong.
    pub fn input(text: impl Into<String>) -> Self {
        Self::Input(text.into(), None)
    }

    /// Anything as JSON text.
    pub fn json(value: &impl Serialize) -> Result<String, Self> {
        serde_json::to_string(value).map_err(|e| Self::input(e.to_string()))
    }
}

impl From<Trouble> for PyErr {
    fn from(trouble: Trouble) -> Self {
        Python::attach(|py| match make(py, trouble) {
            Ok(error) | Err(error) => error,
        })
    }
}

fn make(py: Python<'_>, trouble: Trouble) -> PyResult<PyErr> {
    let errors = py.import("frisson.errors")?;
    let made = match trouble {
        Trouble::Python(error) => return Ok(error),
        Trouble::Scene(error) => {
            let problem = |p: &frisson_io::scene::Problem| {
                let (line, column) = error.position(p);
                (p.message.clone(), line, column, p.label.clone(), p.help.clone())
            };
            let problems: Vec<_> = error.problems.iter().map(problem).collect();
            let path = error.path.display().to_string();
            errors.getattr("SceneError")?.call1((error.to_string(), path, problems))?
        }
        Trouble::Simulation(text) => errors.getattr("SimulationError")?.call1((text,))?,
        Trouble::Input(text, help) => {
            let said = (in_python(&text), help.as_deref().map(in_python));
            errors.getattr("InputError")?.call1(said)?
        }
        Trouble::Stopped(frame) => errors.getattr("Stopped")?.call1((frame,))?,
    };
    Ok(PyErr::from_value(made))
}

/// The command's words for what to do, as they are spelled here.
fn in_python(text: &str) -> String {
    text.replace("--force", "force=True").replace("--resume", "resume=True")
}

impl From<PyErr> for Trouble {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<SceneError> for Trouble {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}

impl From<ReadSceneError> for Trouble {
    fn from(error: ReadSceneError) -> Self {
        match error {
            ReadSceneError::Scene(error) => error.into(),
            file => Self::input(file.to_string()),
        }
    }
}

impl From<BakeError> for Trouble {
    fn from(error: BakeError) -> Self {
        match error {
            BakeError::Scene(error) => error.into(),
            BakeError::Simulation { .. } => Self::Simulation(error.to_string()),
            other => Self::input(other.to_string()),
        }
    }
}

impl From<SimulatorError> for Trouble {
    fn from(error: SimulatorError) -> Self {
        match error {
            SimulatorError::NonFinite { .. } => Self::Simulation(error.to_string()),
            other => Self::input(other.to_string()),
        }
    }
}

impl From<WorkshopError> for Trouble {
    fn from(error: WorkshopError) -> Self {
        match error {
            WorkshopError::Scene(error) => Self::Scene(error),
            WorkshopError::Simulation(text) => Self::Simulation(text),
            WorkshopError::Stopped => Self::Stopped(None),
            WorkshopError::Input { text, help } => Self::Input(text, help),
            other => Self::input(other.to_string()),
        }
    }
}

impl From<JudgeError> for Trouble {
    fn from(error: JudgeError) -> Self {
        match error {
            JudgeError::Stopped => Self::Stopped(None),
            other => Self::input(other.to_string()),
        }
    }
}

macro_rules! by_its_words {
    ($($error:ty),*) => {
        $(impl From<$error> for Trouble {
            fn from(error: $error) -> Self {
                Self::input(error.to_string())
            }
        })*
    };
}

by_its_words!(CacheError, SourceError, ExportError, GltfError, PictureError, serde_json::Error);

/// Asks Python's signals and a progress function at every frame of a long job.
pub struct Listener {
    function: Option<Py<PyAny>>,
    /// What ended the job, if it was Python.
    pub raised: Option<PyErr>,
}

impl Listener {
    /// Listens for Ctrl-C, and tells a function `(done, total)`; it stops the job by answering False.
    pub fn new(function: Option<Py<PyAny>>) -> Self {
        Self { function, raised: None }
    }

    /// The job's own end, unless Python ended it.
    pub fn end<T>(&mut self, result: Result<T, Trouble>) -> Result<T, Trouble> {
        match self.raised.take() {
            Some(error) => Err(Trouble::Python(error)),
            None => result,
        }
    }
}

impl frisson_io::Progress for Listener {
    fn advance(&mut self, done: u64, total: u64) -> bool {
        Python::attach(|py| {
            let answer = py.check_signals().and_then(|()| match &self.function {
                None => Ok(true),
                // Only a plain False stops: functions that return nothing go on.
                Some(function) => {
                    let answer = function.bind(py).call1((done, total))?;
                    Ok(answer.cast::<PyBool>().map_or(true, |said| said.is_true()))
                }
            });
            answer.unwrap_or_else(|error| {
                self.raised = Some(error);
                false
            })
        })
    }
}

//! What went wrong, as an exit code and a message a person can act on.

use frisson_io::SourceError;
use frisson_io::bake::BakeError;
use frisson_io::cache::CacheError;
use frisson_io::outputs::OutputError;
use frisson_io::scene::{ReadSceneError, SceneError};
use frisson_judge::JudgeError;
use frisson_workshop::WorkshopError;

/// Exit codes, as `frisson --help` lists them. 2 is clap's, 5 is [`crate::last_resort`]'s.
const INPUT: u8 = 1;
const SIMULATION: u8 = 3;
const BROKEN: u8 = 4;
/// As shells count an end by Ctrl-C: 128 and the signal's number.
pub const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// A scene file says something it may not.
    Scene(Box<SceneError>),
    /// Anything else, with its exit code and what to do.
    Message {
        /// Exit code.
        code: u8,
        /// What happened.
        text: String,
        /// What to do.
        help: Option<String>,
    },
}

impl Failure {
    /// Something is wrong with what was given.
    pub fn input(text: impl Into<String>) -> Self {
        Self::Message { code: INPUT, text: text.into(), help: None }
    }

    /// The simulation stopped.
    pub fn simulation(text: impl Into<String>) -> Self {
        Self::Message { code: SIMULATION, text: text.into(), help: None }
    }

    /// The shot is not as it should be.
    pub fn broken(text: impl Into<String>) -> Self {
        Self::Message { code: BROKEN, text: text.into(), help: None }
    }

    /// Ctrl-C.
    pub fn interrupted(text: impl Into<String>) -> Self {
        Self::Message { code: INTERRUPTED, text: text.into(), help: None }
    }

    /// Adds what to do.
    pub fn help(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Message { code, text, .. } => {
                Self::Message { code, text, help: Some(advice.into()) }
            }
            scene => scene,
        }
    }

    /// Exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Scene(_) => INPUT,
            Self::Message { code, .. } => *code,
        }
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}

impl From<ReadSceneError> for Failure {
    fn from(error: ReadSceneError) -> Self {
        match error {
            ReadSceneError::Scene(error) => error.into(),
            file => Self::input(file.to_string()),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<BakeError> for Failure {
    fn from(error: BakeError) -> Self {
        match error {
            BakeError::Scene(error) => error.into(),
            BakeError::Simulation { .. } => Self::simulation(error.to_string()),
            other => Self::input(other.to_string()),
        }
    }
}

impl From<JudgeError> for Failure {
    fn from(error: JudgeError) -> Self {
        match error {
            JudgeError::Stopped => Self::interrupted("interrupted"),
            other => Self::input(other.to_string()),
        }
    }
}

impl From<WorkshopError> for Failure {
    fn from(error: WorkshopError) -> Self {
        match error {
            WorkshopError::Scene(error) => Self::Scene(error),
            WorkshopError::Simulation(text) => Self::simulation(text),
            WorkshopError::Stopped => Self::interrupted(WorkshopError::Stopped.to_string()),
            WorkshopError::Input { text, help } => Self::Message { code: INPUT, text, help },
            file @ WorkshopError::File { .. } => Self::input(file.to_string()),
        }
    }
}

/// A file operation that failed, with the file's name.
pub fn file_error(path: &std::path::Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}

/// Refuses to write over a file that is there, unless that was asked for.
pub fn refuse_existing(path: &std::path::Path, force: bool) -> Result<(), Failure> {
    if force || !path.exists() {
        return Ok(());
    }
    let problem = format!("{} is already there", path.display());
    Err(Failure::input(problem).help("give another name with -o, or --force"))
}

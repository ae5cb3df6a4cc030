//! Bakes of a scene that measures compare: as it is, without a layer, at another rate, longer.

use std::path::{Path, PathBuf};

use frisson::stage::Rate;
use frisson_io::Progress;
use frisson_io::bake::{BakeError, BakeOptions, BakeOutcome, bake};
use frisson_io::cache::{CacheReader, IfExists};
use frisson_io::scene::{ActorLoader, SceneFile};

use crate::measure::JudgeError;
use crate::retime::retimed;

/// How a bake differs from the scene as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Leave out this layer.
    pub without: Option<String>,
    /// Another output rate.
    pub rate: Option<Rate>,
    /// Go on to this frame, counted at the scene's rate.
    pub bake_to: Option<i64>,
    /// Change gravity by a millionth.
    pub nudged: bool,
}

impl Variant {
    fn describe(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.without.as_ref().map(|l| format!("without {l}")));
        words.extend(self.rate.map(|r| format!("at {} frames per second", r.fps())));
        words.extend(self.bake_to.map(|f| format!("to frame {f}")));
        if self.nudged {
            words.push("nudged".to_owned());
        }
        if words.is_empty() { "as it is".to_owned() } else { words.join(", ") }
    }

    fn file_name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        format!("{}.frisson", self.describe().chars().map(plain).collect::<String>())
    }
}

/// How much gravity is changed by a nudge [-].
const NUDGE: f32 = 1e-6;

/// Bakes variants of a scene into a folder, each once.
pub struct Bakery<'a> {
    scene: &'a SceneFile,
    loader: &'a dyn ActorLoader,
    folder: PathBuf,
    progress: &'a mut dyn Progress,
    given: Option<PathBuf>,
    baked: Vec<(Variant, PathBuf)>,
}

impl<'a> Bakery<'a> {
    /// A bakery that writes into `folder`, which must be there. Finished bakes of the same scene that lie
    /// in it are used again.
    pub fn new(
        scene: &'a SceneFile,
        loader: &'a dyn ActorLoader,
        folder: &Path,
        progress: &'a mut dyn Progress,
    ) -> Self {
        Self { scene, loader, folder: folder.to_owned(), progress, given: None, baked: Vec::new() }
    }

    /// Uses a cache as the bake of the scene as it is. It is not compared with the scene.
    #[must_use]
    pub fn with_cache(mut self, cache: &Path) -> Self {
        self.given = Some(cache.to_owned());
        self
    }

    /// The scene.
    #[must_use]
    pub fn scene(&self) -> &SceneFile {
        self.scene
    }

    /// Who listens.
    pub fn progress(&mut self) -> &mut dyn Progress {
        self.progress
    }

    /// The cache of a variant, baked if need be.
    pub fn open(&mut self, variant: &Variant) -> Result<CacheReader, JudgeError> {
        if let (Some(given), true) = (&self.given, *variant == Variant::default()) {
            return Ok(CacheReader::open(given)?);
        }
        if let Some((_, path)) = self.baked.iter().find(|(v, _)| v == variant) {
            return Ok(CacheReader::open(path)?);
        }
        let path = self.folder.join(variant.file_name());
        let scene = self.varied(variant)?;
        if !is_baked(&scene, self.loader, &path) {
            self.bake(&scene, variant, &path)?;
        }
        self.baked.push((variant.clone(), path.clone()));
        Ok(CacheReader::open(&path)?)
    }

    fn bake(
        &mut self,
        scene: &SceneFile,
        variant: &Variant,
        path: &Path,
    ) -> Result<(), JudgeError> {
        let fail = |error: BakeError| JudgeError::Bake {
            what: format!("{}, baked {}", self.scene.path.display(), variant.describe()),
            error: Box::new(error),
        };
        let options = BakeOptions { cache: path.to_owned(), if_exists: IfExists::Replace };
        match bake(scene, self.loader, &options, self.progress).map_err(fail)? {
            BakeOutcome::Finished(_) => Ok(()),
            BakeOutcome::Paused { .. } => Err(JudgeError::Stopped),
        }
    }

    fn varied(&self, variant: &Variant) -> Result<SceneFile, JudgeError> {
        let mut file = self.scene.clone();
        let scene = &mut file.scene;
        scene.exports = Vec::new();
        if let Some(name) = &variant.without {
            scene.layers.retain(|l| l.name() != name);
        }
        if let Some(last) = variant.bake_to {
            let first = scene.frames.map_or(0, |f| f[0]);
            scene.frames = Some([first, last]);
        }
        if variant.nudged {
            scene.gravity = scene.gravity.map(|g| g * (1.0 + NUDGE));
        }
        if let Some(rate) = variant.rate.filter(|r| *r != scene.fps.0) {
            *scene = retimed(scene, rate)?;
        }
        // Promises speak of the whole scene: a variant may lack what they name.
        file.scene.expect = Vec::new();
        Ok(file)
    }
}

/// Whether a whole bake of this very scene is there.
fn is_baked(scene: &SceneFile, loader: &dyn ActorLoader, path: &Path) -> bool {
    let Ok(reader) = CacheReader::open(path) else { return false };
    let same = scene.build(loader).is_ok_and(|b| b.hash == reader.header().scene_hash);
    same && reader.is_finished()
}

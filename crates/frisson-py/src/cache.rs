//! A baked shot, read back as arrays.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use frisson::stage::Frame;
use frisson_io::FrameSource as _;
use frisson_io::bake::{export_cache, read_reports};
use frisson_io::cache::CacheReader;
use frisson_io::export::ExportParams;
use frisson_io::scene::Measure;
use frisson_judge::Limits;
use frisson_workshop::judge_bake;
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::frame::{Known, to_dict};
use crate::pictures::{self, Look};
use crate::trouble::{Listener, Trouble};

/// A cache. Frames are read when they are asked for.
#[pyclass(module = "frisson._native", frozen)]
pub struct Cache {
    path: PathBuf,
    inner: Mutex<Open>,
}

struct Open {
    reader: CacheReader,
    frame: Frame,
    known: Known,
}

impl Cache {
    fn open_cache(&self) -> MutexGuard<'_, Open> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Cache {
    /// Opens a cache, finished or not.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> Result<Self, Trouble> {
        let reader = py.detach(|| CacheReader::open(&path))?;
        let open = Open { reader, frame: Frame::default(), known: Known::default() };
        Ok(Self { path, inner: Mutex::new(open) })
    }

    /// First and last frame that can be read, and frames per second.
    fn range(&self) -> (i64, i64, f64) {
        let open = self.open_cache();
        let info = open.reader.info();
        (info.first_frame, info.last_frame, info.rate.fps())
    }

    /// Whether the bake came to its end.
    fn is_finished(&self) -> bool {
        self.open_cache().reader.is_finished()
    }

    /// The scene's text.
    fn scene_text(&self) -> String {
        self.open_cache().reader.header().scene_text.clone()
    }

    /// Kind and name of the layers.
    fn layers(&self) -> Vec<(String, String)> {
        self.open_cache().reader.header().layers.clone()
    }

    /// A frame, as dictionaries of arrays.
    fn frame<'py>(&self, py: Python<'py>, number: i64) -> Result<Bound<'py, PyDict>, Trouble> {
        py.detach(|| {
            let open = &mut *self.open_cache();
            open.reader.read_frame(number, &mut open.frame)
        })?;
        let open = &mut *self.open_cache();
        Ok(to_dict(py, &open.frame, &mut open.known)?)
    }

    /// Positions of one mesh over frames, with shape (frames, vertices, 3).
    fn positions<'py>(
        &self,
        py: Python<'py>,
        mesh: &str,
        first: i64,
        last: i64,
    ) -> Result<Bound<'py, PyArray3<f32>>, Trouble> {
        let (numbers, count) = py.detach(|| self.gather(mesh, first, last))?;
        let frames = (last - first + 1).max(0) as usize;
        Ok(PyArray1::from_vec(py, numbers).reshape([frames, count, 3])?)
    }

    /// What the layers measured, as JSON: series over the frames.
    fn measures(&self, py: Python<'_>) -> Result<String, Trouble> {
        let said = py.detach(|| read_reports(&mut self.open_cache().reader))?;
        Trouble::json(&said.measures)
    }

    /// What an animator would complain of, as JSON.
    fn judge(
        &self,
        py: Python<'_>,
        limits: Vec<(String, f64)>,
        frames: Option<(i64, i64)>,
    ) -> Result<String, Trouble> {
        let mut set = Limits::default();
        for (name, limit) in limits {
            let measure: Measure = serde_json::from_value(name.clone().into()).map_err(|_| {
                let help = "see frisson.explain(\"measure\")".to_owned();
                Trouble::Input(format!("there is no measure {name:?}"), Some(help))
            })?;
            set.set(measure, limit);
        }
        let mut listener = Listener::new(None);
        let judged = py.detach(|| {
            let open = &mut *self.open_cache();
            judge_bake(&mut open.reader, &self.path, &set, frames, &mut listener)
        });
        Trouble::json(&listener.end(judged.map_err(Trouble::from))?)
    }

    /// Pictures of frames: width, height and RGBA bytes of all of them, one after the other.
    fn render<'py>(
        &self,
        py: Python<'py>,
        frames: Vec<i64>,
        look: Look,
    ) -> Result<(u32, u32, Bound<'py, PyArray1<u8>>), Trouble> {
        let (width, height, bytes) = py.detach(|| pictures::render(&self.path, &frames, &look))?;
        Ok((width, height, PyArray1::from_vec(py, bytes)))
    }

    /// The most telling frames on one sheet: width, height, RGBA bytes.
    fn sheet<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        look: Look,
    ) -> Result<(u32, u32, Bound<'py, PyArray1<u8>>), Trouble> {
        let mut listener = Listener::new(None);
        let made = py.detach(|| pictures::sheet(&self.path, count, &look, &mut listener));
        let (width, height, bytes) = listener.end(made)?;
        Ok((width, height, PyArray1::from_vec(py, bytes)))
    }

    /// Writes an animation (.png, .gif, .webp, as the command takes them).
    fn animate(
        &self,
        py: Python<'_>,
        output: PathBuf,
        every: usize,
        look: Look,
    ) -> Result<(), Trouble> {
        let mut listener = Listener::new(None);
        let made =
            py.detach(|| pictures::animate(&self.path, &output, every, &look, &mut listener));
        listener.end(made)
    }

    /// Writes one export, given as JSON like an `[[exports]]` entry; answers the files.
    fn export(
        &self,
        py: Python<'_>,
        params: &str,
        folder: PathBuf,
        overwrite: bool,
    ) -> Result<Vec<String>, Trouble> {
        let params: ExportParams = serde_json::from_str(params)?;
        let mut listener = Listener::new(None);
        let written = py.detach(|| {
            let reader = &mut self.open_cache().reader;
            let beside = self.path.parent().map(PathBuf::from).unwrap_or_default();
            export_cache(reader, &params, &folder, &beside, overwrite, &mut listener)
        });
        let files = listener.end(written.map_err(Trouble::from))?;
        Ok(files.iter().map(|f| f.path.display().to_string()).collect())
    }
}

impl Cache {
    fn gather(&self, mesh: &str, first: i64, last: i64) -> Result<(Vec<f32>, usize), Trouble> {
        let open = &mut *self.open_cache();
        let (mut numbers, mut count) = (Vec::new(), None);
        for number in first..=last {
            open.reader.read_frame(number, &mut open.frame)?;
            let index = open.frame.mesh_index(mesh).ok_or_else(|| {
                let names: Vec<&str> = open.frame.meshes.iter().map(|m| m.name.as_str()).collect();
                let help = format!("its meshes: {}", names.join(", "));
                Trouble::Input(format!("frame {number} has no mesh named {mesh:?}"), Some(help))
            })?;
            let positions = &open.frame.meshes[index].positions;
            if *count.get_or_insert(positions.len()) != positions.len() {
                let help = "read it frame by frame".to_owned();
                let text = format!("{mesh:?} changes its vertices at frame {number}");
                return Err(Trouble::Input(text, Some(help)));
            }
            numbers.extend_from_slice(bytemuck::cast_slice(positions));
        }
        Ok((numbers, count.unwrap_or(0)))
    }
}

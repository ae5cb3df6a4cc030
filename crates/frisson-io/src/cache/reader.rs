//! Reading a cache: any frame, in any order; damage is found and everything before it is usable.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frisson::geometry::MeshTopology;
use frisson::stage::{Frame, LayerReport};

use super::block::{self, Entry, Kind, Scan};
use super::codec::decode_frame;
use super::{CacheError, CacheHeader, part_path};
use crate::inputs::open_regular;
use crate::source::{FrameSource, ShotInfo, SourceError};

/// Where a file stops being readable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the first bad block.
    pub offset: u64,
    /// What is wrong.
    pub problem: String,
}

/// Anything a cache can be read from.
pub trait CacheBytes: Read + Seek + Send {}
impl<T: Read + Seek + Send> CacheBytes for T {}

/// An open cache.
pub struct CacheReader {
    bytes: Box<dyn CacheBytes>,
    header: CacheHeader,
    info: ShotInfo,
    entries: Vec<Entry>,
    /// Entry of each frame, from the first frame on.
    frames: Vec<usize>,
    reports: Vec<Option<usize>>,
    topologies: Vec<usize>,
    damage: Option<Damage>,
    finished: bool,
    /// Topologies read lately, newest last.
    recent: Vec<(u32, Arc<MeshTopology>)>,
    stored: Vec<u8>,
    raw: Vec<u8>,
}

/// No frame number is larger than this, so that they can be added and subtracted.
const FAR_FRAME: i64 = 1 << 40;

/// Topologies kept beyond those of the current frame: enough to step back and forth in a shot whose
/// topology changes, few enough to keep memory flat.
const SPARE_TOPOLOGIES: usize = 8;

impl CacheReader {
    /// Opens a cache; an unfinished one (`NAME.frisson.part`) when there is no finished one.
    pub fn open(path: &Path) -> Result<Self, CacheError> {
        let part = part_path(path);
        let path = if !path.exists() && part.exists() { &part } else { path };
        let (file, _) = open_regular(path)?;
        Self::from_bytes(Box::new(BufReader::with_capacity(1 << 16, file)), path)
    }

    /// Reads a cache from anything; `path` is for messages.
    pub fn from_bytes(mut bytes: Box<dyn CacheBytes>, path: &Path) -> Result<Self, CacheError> {
        let io = |error| CacheError::Io { path: path.to_owned(), error };
        check_preamble(&mut bytes, path)?;
        let index = block::read_index(&mut bytes).map_err(io)?;
        let finished = index.is_some();
        let scan = match index {
            Some(entries) => Scan { entries, ..Scan::default() },
            // Unfinished or damaged: slower, and as far as it goes.
            None => block::scan(&mut bytes).map_err(io)?,
        };
        let damage = scan.damage.map(|problem| Damage { offset: scan.good_until, problem });
        let header = read_header(&mut bytes, scan.entries.first(), path)?;
        let mut reader = Self {
            info: ShotInfo {
                rate: header.rate,
                first_frame: header.first_frame,
                // No frame yet; `FAR_FRAME` keeps the subtraction from overflowing.
                last_frame: header.first_frame - 1,
            },
            bytes,
            header,
            entries: scan.entries,
            frames: Vec::new(),
            reports: Vec::new(),
            topologies: Vec::new(),
            damage,
            finished,
            recent: Vec::new(),
            stored: Vec::new(),
            raw: Vec::new(),
        };
        reader.sort_entries();
        Ok(reader)
    }

    fn sort_entries(&mut self) {
        let mut report = None;
        for (index, entry) in self.entries.iter().enumerate() {
            match entry.kind {
                Kind::Topology if entry.number == self.topologies.len() as i64 => {
                    self.topologies.push(index);
                }
                Kind::Report => report = Some((entry.number, index)),
                // Frames count up without gaps; what comes out of turn is left over from a run that was cut short.
                Kind::Frame if entry.number == self.info.last_frame.saturating_add(1) => {
                    self.frames.push(index);
                    self.reports.push(report.filter(|r| r.0 == entry.number).map(|r| r.1));
                    self.info.last_frame = entry.number;
                }
                _ => {}
            }
        }
    }

    /// What the shot is.
    #[must_use]
    pub fn header(&self) -> &CacheHeader {
        &self.header
    }

    /// Whether the bake ended and the file's end is whole.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Where the file stops being readable, as far as opening it could tell.
    #[must_use]
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Number of readable frames.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// Every block: kind, number, stored and raw bytes.
    #[must_use]
    pub fn blocks(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads every block and says where the first damage is.
    pub fn verify(&mut self) -> Result<Option<Damage>, CacheError> {
        for index in 0..self.entries.len() {
            if let Err(problem) = self.read_entry(index)? {
                let offset = self.entries[index].offset;
                return Ok(Some(Damage { offset, problem }));
            }
        }
        Ok(self.damage.clone())
    }

    /// What the layers measured at a frame, in the order of the stack.
    pub fn read_reports(&mut self, frame: i64) -> Result<Vec<LayerReport>, SourceError> {
        let slot = self.slot(frame)?;
        let Some(index) = self.reports[slot] else { return Ok(Vec::new()) };
        let damaged = |problem| SourceError::Damaged { frame, problem };
        self.read_entry(index).map_err(SourceError::from)?.map_err(damaged)?;
        postcard::from_bytes(&self.raw).map_err(|e| damaged(e.to_string()))
    }

    fn slot(&self, frame: i64) -> Result<usize, SourceError> {
        if frame < self.info.first_frame || frame > self.info.last_frame {
            return Err(SourceError::NoSuchFrame(frame));
        }
        Ok((frame - self.info.first_frame) as usize)
    }

    /// Reads a block into `self.raw`.
    fn read_entry(&mut self, index: usize) -> std::io::Result<Result<(), String>> {
        let entry = self.entries[index];
        block::read_block(&mut self.bytes, &entry, &mut self.stored, &mut self.raw)
    }

    fn topology(&mut self, number: u32) -> Result<Arc<MeshTopology>, String> {
        if let Some(at) = self.recent.iter().position(|(n, _)| *n == number) {
            // Used again: it goes to the end, and the ones that were not go first.
            let known = self.recent.remove(at);
            self.recent.push(known);
        } else {
            let index = *self
                .topologies
                .get(number as usize)
                .ok_or_else(|| format!("topology {number} is missing"))?;
            self.read_entry(index).map_err(|e| e.to_string())??;
            let topology: MeshTopology =
                postcard::from_bytes(&self.raw).map_err(|e| e.to_string())?;
            check_topology(&topology)?;
            self.recent.push((number, Arc::new(topology)));
        }
        Ok(self.recent[self.recent.len() - 1].1.clone())
    }
}

impl FrameSource for CacheReader {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        let damaged = |problem| SourceError::Damaged { frame, problem };
        let index = self.frames[self.slot(frame)?];
        self.read_entry(index)?.map_err(damaged)?;
        // Reading a topology uses the same buffer: the frame takes its own out of the way.
        let bytes = std::mem::take(&mut self.raw);
        let decoded = decode_frame(&bytes, out, |number| self.topology(number));
        self.raw = bytes;
        decoded.map_err(damaged)?;
        let spare = self.recent.len().saturating_sub(out.meshes.len() + SPARE_TOPOLOGIES);
        // The oldest first: those of this frame were pushed last.
        self.recent.drain(..spare);
        Ok(())
    }
}

fn check_preamble(bytes: &mut dyn CacheBytes, path: &Path) -> Result<(), CacheError> {
    let io = |error| CacheError::Io { path: path.to_owned(), error };
    let mut preamble = [0; block::PREAMBLE as usize];
    bytes.seek(SeekFrom::Start(0)).map_err(io)?;
    let whole = bytes.read_exact(&mut preamble).is_ok();
    if !whole || preamble[..8] != block::SIGNATURE {
        return Err(CacheError::NotACache(path.to_owned()));
    }
    let version = u32::from_le_bytes(std::array::from_fn(|i| preamble[8 + i]));
    if version != block::VERSION {
        return Err(CacheError::Version { path: path.to_owned(), version });
    }
    Ok(())
}

fn read_header(
    bytes: &mut dyn CacheBytes,
    entry: Option<&Entry>,
    path: &Path,
) -> Result<CacheHeader, CacheError> {
    let damaged = |problem: String| CacheError::Damaged { path: PathBuf::from(path), problem };
    let entry = entry
        .filter(|e| e.kind == Kind::Header)
        .ok_or_else(|| damaged("its header is missing".to_owned()))?;
    let (mut stored, mut raw) = (Vec::new(), Vec::new());
    let mut bytes = bytes;
    block::read_block(&mut bytes, entry, &mut stored, &mut raw)
        .map_err(|error| CacheError::Io { path: path.to_owned(), error })?
        .map_err(damaged)?;
    let header: CacheHeader = postcard::from_bytes(&raw).map_err(|e| damaged(e.to_string()))?;
    if header.rate.numerator == 0 || header.rate.denominator == 0 {
        return Err(damaged("its rate makes no sense".to_owned()));
    }
    let believable = -FAR_FRAME..=FAR_FRAME;
    if !believable.contains(&header.first_frame) || !believable.contains(&header.last_frame) {
        return Err(damaged("its frame numbers make no sense".to_owned()));
    }
    Ok(header)
}

/// Whoever reads frames may trust indices and lengths.
fn check_topology(topology: &MeshTopology) -> Result<(), String> {
    let count = topology.vertex_count;
    let per_vertex = |length: usize| length == 0 || length == count;
    let materials = topology.materials.len();
    let material = |m: &u16| usize::from(*m) < materials;
    let sound = topology.triangles.iter().flatten().all(|&v| (v as usize) < count)
        && per_vertex(topology.uvs.len())
        && per_vertex(topology.colors.len())
        && per_vertex(topology.smoothing.len())
        && [0, topology.triangles.len()].contains(&topology.triangle_materials.len())
        && topology.triangle_materials.iter().all(material)
        && topology.regions.values().flatten().all(|&v| (v as usize) < count);
    if sound { Ok(()) } else { Err("a topology contradicts itself".to_owned()) }
}

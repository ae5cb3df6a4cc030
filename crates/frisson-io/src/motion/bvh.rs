//! BVH motion capture: a skeleton and one clip.

use frisson::character::{
    Character, Clip, Interpolation, Node, Skeleton, Track, TrackTarget, Transform,
};
use glam::{Quat, Vec3};
use thiserror::Error;

/// Deepest nesting of joints.
const MAX_DEPTH: usize = 256;

/// What is wrong in a file, and where.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct BvhError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channel {
    Position(usize),
    Rotation(usize),
}

impl Channel {
    fn from_name(name: &str) -> Option<Self> {
        let axis = "xyz".find(name.chars().next()?.to_ascii_lowercase())?;
        match name.get(1..)?.to_ascii_lowercase().as_str() {
            "position" => Some(Self::Position(axis)),
            "rotation" => Some(Self::Rotation(axis)),
            _ => None,
        }
    }
}

/// Words with the lines they stand on.
struct Words<'a> {
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let lines = text.lines().enumerate();
        let words =
            lines.flat_map(|(n, line)| line.split_ascii_whitespace().map(move |w| (n + 1, w)));
        Self { words: Box::new(words), line: 1 }
    }

    fn wrong(&self, problem: impl Into<String>) -> BvhError {
        BvhError { line: self.line, problem: problem.into() }
    }

    fn maybe(&mut self) -> Option<&'a str> {
        let (line, word) = self.words.next()?;
        self.line = line;
        Some(word)
    }

    fn next(&mut self) -> Result<&'a str, BvhError> {
        self.maybe().ok_or_else(|| self.wrong("the file ends too early"))
    }

    fn expect(&mut self, wanted: &str) -> Result<(), BvhError> {
        let word = self.next()?;
        if word.eq_ignore_ascii_case(wanted) {
            return Ok(());
        }
        Err(self.wrong(format!("{word:?} where {wanted:?} is needed")))
    }

    fn number(&mut self) -> Result<f64, BvhError> {
        let word = self.next()?;
        let number = word.parse::<f64>().ok().filter(|n| n.is_finite());
        number.ok_or_else(|| self.wrong(format!("{word:?} is no number")))
    }

    fn whole(&mut self) -> Result<usize, BvhError> {
        let word = self.next()?;
        word.parse().map_err(|_| self.wrong(format!("{word:?} is no count")))
    }

    fn vector(&mut self) -> Result<Vec3, BvhError> {
        Ok(Vec3::new(self.number()? as f32, self.number()? as f32, self.number()? as f32))
    }
}

#[derive(Default)]
struct Hierarchy {
    nodes: Vec<Node>,
    /// Node and what drives it, in the order of the numbers of a frame.
    channels: Vec<(usize, Channel)>,
}

/// Reads a BVH file as a character without meshes and with one clip. Lengths are the file's.
pub fn read_bvh(text: &str) -> Result<Character, BvhError> {
    let mut words = Words::new(text);
    words.expect("HIERARCHY")?;
    let mut hierarchy = Hierarchy::default();
    loop {
        match words.next()? {
            w if w.eq_ignore_ascii_case("ROOT") => joint(&mut words, &mut hierarchy, None, 0)?,
            w if w.eq_ignore_ascii_case("MOTION") => break,
            other => return Err(words.wrong(format!("{other:?} where ROOT or MOTION is needed"))),
        }
    }
    let clip = motion(&mut words, &hierarchy)?;
    let skeleton =
        Skeleton::new(hierarchy.nodes).map_err(|e| BvhError { line: 1, problem: e.to_string() })?;
    Ok(Character { name: "bvh".to_owned(), skeleton, clips: vec![clip], ..Character::default() })
}

fn joint(
    words: &mut Words<'_>,
    out: &mut Hierarchy,
    parent: Option<usize>,
    depth: usize,
) -> Result<(), BvhError> {
    if depth > MAX_DEPTH {
        return Err(words.wrong("joints are nested too deeply"));
    }
    let mut name = words.next()?.to_owned();
    // Clips and tables find joints by name.
    while out.nodes.iter().any(|n| n.name == name) {
        name.push_str(".2");
    }
    let node = out.nodes.len();
    out.nodes.push(Node { name: name.clone(), parent, rest: Transform::default() });
    words.expect("{")?;
    loop {
        match words.next()?.to_ascii_uppercase().as_str() {
            "OFFSET" => out.nodes[node].rest.translation = words.vector()?,
            "CHANNELS" => {
                for _ in 0..words.whole()? {
                    let word = words.next()?;
                    let channel = Channel::from_name(word)
                        .ok_or_else(|| words.wrong(format!("{word:?} is no channel")))?;
                    out.channels.push((node, channel));
                }
            }
            "JOINT" => joint(words, out, Some(node), depth + 1)?,
            "END" => {
                words.expect("Site")?;
                words.expect("{")?;
                words.expect("OFFSET")?;
                let rest = Transform::from_translation(words.vector()?);
                words.expect("}")?;
                out.nodes.push(Node { name: format!("{name}_end"), parent: Some(node), rest });
            }
            "}" => return Ok(()),
            other => return Err(words.wrong(format!("{other:?} inside a joint"))),
        }
    }
}

fn motion(words: &mut Words<'_>, hierarchy: &Hierarchy) -> Result<Clip, BvhError> {
    words.expect("Frames:")?;
    let frames = words.whole()?;
    words.expect("Frame")?;
    words.expect("Time:")?;
    let step = words.number()?;
    if step <= 0.0 {
        return Err(words.wrong("the time of a frame must be positive"));
    }
    let count = hierarchy.nodes.len();
    let has = |node: usize, rotation: bool| {
        let same = |c: &Channel| matches!(c, Channel::Rotation(_)) == rotation;
        hierarchy.channels.iter().any(|(n, c)| *n == node && same(c))
    };
    let track = |node: usize, rotation: bool| Track {
        target: match rotation {
            true => TrackTarget::Rotation(node),
            false => TrackTarget::Translation(node),
        },
        interpolation: Interpolation::Linear,
        times: Vec::new(),
        values: Vec::new(),
        width: if rotation { 4 } else { 3 },
    };
    let mut tracks: Vec<(usize, Track)> = Vec::new();
    for node in 0..count {
        for rotation in [false, true] {
            if has(node, rotation) {
                tracks.push((node, track(node, rotation)));
            }
        }
    }
    let mut turns = vec![Quat::IDENTITY; count];
    let mut places: Vec<Vec3> = hierarchy.nodes.iter().map(|n| n.rest.translation).collect();
    for frame in 0..frames {
        turns.fill(Quat::IDENTITY);
        for &(node, channel) in &hierarchy.channels {
            let number = words.number()? as f32;
            match channel {
                // Positions stand for the offset, they are not added to it.
                Channel::Position(axis) => places[node][axis] = number,
                Channel::Rotation(axis) => {
                    let axis = [Vec3::X, Vec3::Y, Vec3::Z][axis];
                    // In the order of the channels: that is what the format means by it.
                    turns[node] *= Quat::from_axis_angle(axis, number.to_radians());
                }
            }
        }
        for (node, track) in &mut tracks {
            track.times.push((frame as f64 * step) as f32);
            match track.target {
                TrackTarget::Rotation(_) => {
                    track.values.extend(turns[*node].normalize().to_array())
                }
                _ => track.values.extend(places[*node].to_array()),
            }
        }
    }
    // Times that do not ascend in single precision would divide by nothing.
    let rising = |t: &Track| t.times.windows(2).all(|w| w[0] < w[1]);
    if tracks.iter().any(|(_, t)| !rising(t)) {
        return Err(words.wrong("the time of a frame is too short"));
    }
    let tracks = tracks.into_iter().map(|(_, t)| t).filter(|t| !t.times.is_empty());
    Ok(Clip { name: "motion".to_owned(), tracks: tracks.collect() })
}

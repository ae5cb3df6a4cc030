//! Shots made by a formula, and shapes whose measures are known.

use std::f32::consts::TAU;

use frisson::geometry::Mesh;
use frisson::stage::{Curves, Frame, Points, Rate};
use frisson_io::scene::{Measure, OverFrames, Subject};
use frisson_io::{FrameSource, ShotInfo, Silent, SourceError};
use frisson_judge::{Judgement, Limits, Reading, Request, judge_shot, measure};
use glam::Vec3;

/// A shot whose frames are a function of time.
pub struct Formula<F: Fn(f64) -> Frame> {
    info: ShotInfo,
    of: F,
    /// Topologies of a shot are shared from frame to frame, as in a cache.
    first: Option<Frame>,
}

impl<F: Fn(f64) -> Frame> Formula<F> {
    /// Frames 0 to `last` at a rate.
    pub fn new(fps: u32, last: i64, of: F) -> Self {
        Self {
            info: ShotInfo { rate: Rate::whole(fps), first_frame: 0, last_frame: last },
            of,
            first: None,
        }
    }
}

impl<F: Fn(f64) -> Frame> FrameSource for Formula<F> {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        let time = frame as f64 / self.info.rate.fps();
        *out = (self.of)(time);
        (out.index, out.time) = (frame, time);
        let first = self.first.get_or_insert_with(|| out.clone());
        for (mesh, known) in out.meshes.iter_mut().zip(&first.meshes) {
            if mesh.topology == known.topology {
                mesh.topology = known.topology.clone();
            }
        }
        Ok(())
    }
}

/// One measure of a shot, over its frames.
#[allow(dead_code, reason = "every test file uses its own part")]
pub fn read(
    shot: &mut dyn FrameSource,
    what: Measure,
    subject: Subject,
    over: OverFrames,
) -> Option<Reading> {
    let request = Request::new(what, subject);
    measure(shot, None, &[request], &mut Silent).unwrap()[0].over(over)
}

/// What is found in a shot with default limits.
#[allow(dead_code, reason = "every test file uses its own part")]
pub fn judged(shot: &mut dyn FrameSource) -> Judgement {
    judge_shot(shot, &[], &Limits::default(), None, &mut Silent).unwrap()
}

/// The subject of that name.
#[allow(dead_code, reason = "every test file uses its own part")]
pub fn of(shape: &str) -> Subject {
    Subject { shape: Some(shape.to_owned()), ..Subject::default() }
}

/// A frame of meshes.
pub fn meshes(meshes: Vec<Mesh>) -> Frame {
    Frame { meshes, ..Frame::default() }
}

/// A square grid of `cells` cells a side in the xz plane, `size` wide, around the origin.
pub fn sheet(name: &str, cells: u32, size: f32) -> Mesh {
    let at = |i: u32| size * (i as f32 / cells as f32 - 0.5);
    let row = cells + 1;
    let positions = (0..row * row).map(|i| Vec3::new(at(i % row), 0.0, at(i / row))).collect();
    let cell = |c: u32| {
        let a = c / cells * row + c % cells;
        [[a, a + row, a + 1], [a + 1, a + row, a + row + 1]]
    };
    Mesh::new(name, positions, (0..cells * cells).flat_map(cell).collect())
}

/// A sphere of about that many triangles.
pub fn ball(name: &str, radius: f32, rings: u32) -> Mesh {
    let sides = 2 * rings;
    let mut positions = vec![Vec3::Y * radius];
    for r in 1..rings {
        let polar = std::f32::consts::PI * r as f32 / rings as f32;
        for s in 0..sides {
            let around = TAU * s as f32 / sides as f32;
            let flat = polar.sin();
            positions
                .push(radius * Vec3::new(flat * around.cos(), polar.cos(), flat * around.sin()));
        }
    }
    positions.push(Vec3::NEG_Y * radius);
    let last = positions.len() as u32 - 1;
    let point = |r: u32, s: u32| 1 + (r - 1) * sides + s % sides;
    let mut triangles = Vec::new();
    for s in 0..sides {
        triangles.push([0, point(1, s + 1), point(1, s)]);
        triangles.push([last, point(rings - 1, s), point(rings - 1, s + 1)]);
        for r in 1..rings - 1 {
            let [a, b, c, d] = [point(r, s), point(r, s + 1), point(r + 1, s), point(r + 1, s + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    Mesh::new(name, positions, triangles)
}

/// A torus around the y axis.
#[allow(dead_code, reason = "every test file uses its own part")]
pub fn torus(name: &str, large: f32, small: f32, cells: u32) -> Mesh {
    let angle = |i: u32| TAU * i as f32 / cells as f32;
    let place = |i: u32| {
        let (u, v) = (angle(i / cells), angle(i % cells));
        let out = large + small * v.cos();
        Vec3::new(out * u.cos(), small * v.sin(), out * u.sin())
    };
    let cell = |i: u32| {
        let (u, v) = (i / cells, i % cells);
        let at = |u: u32, v: u32| (u % cells) * cells + v % cells;
        let [a, b, c, d] = [at(u, v), at(u + 1, v), at(u, v + 1), at(u + 1, v + 1)];
        [[a, c, b], [b, c, d]]
    };
    let count = cells * cells;
    Mesh::new(name, (0..count).map(place).collect(), (0..count).flat_map(cell).collect())
}

/// A mesh moved.
pub fn moved(mut mesh: Mesh, by: Vec3) -> Mesh {
    mesh.positions.iter_mut().for_each(|p| *p += by);
    mesh
}

/// Straight strands that hang from y = 0, one a centimetre apart.
#[allow(dead_code, reason = "every test file uses its own part")]
pub fn strands(count: u32, points: u32, length: f32) -> Curves {
    let along = |k: u32| length * k as f32 / (points - 1) as f32;
    let point = |i: u32| Vec3::new(0.01 * (i / points) as f32, -along(i % points), 0.0);
    Curves {
        name: "hair".into(),
        counts: vec![points; count as usize],
        points: (0..count * points).map(point).collect(),
        widths: vec![1e-4; (count * points) as usize],
        ids: (0..u64::from(count)).collect(),
        ..Curves::default()
    }
}

/// Points with their ids.
#[allow(dead_code, reason = "every test file uses its own part")]
pub fn points(name: &str, places: &[(u64, Vec3)]) -> Points {
    Points {
        name: name.into(),
        positions: places.iter().map(|p| p.1).collect(),
        widths: vec![1e-3; places.len()],
        ids: places.iter().map(|p| p.0).collect(),
        ..Points::default()
    }
}

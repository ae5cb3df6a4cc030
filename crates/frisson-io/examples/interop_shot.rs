//! Writes a synthetic shot in every format, with the expected positions as JSON, for
//! `tests/interop`: `cargo run -p frisson-io --example interop_shot -- FOLDER`.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use frisson::geometry::{Attribute, AttributeValues, Material, Mesh, MeshTopology};
use frisson::stage::{Curves, Frame, Points, Rate};
use frisson_io::export::{ExportParams, export};
use frisson_io::{FrameSource, ShotInfo, Silent, SourceError};
use glam::{Vec2, Vec3, vec2, vec3};
use serde_json::{Value, json};

const FIRST: i64 = 1;
const LAST: i64 = 12;
/// The frame in which the drop has no vertices.
const EMPTY: i64 = 5;

struct Shot {
    info: ShotInfo,
    sheet: Arc<MeshTopology>,
    ball: Arc<MeshTopology>,
}

/// Triangles of a grid of `columns` by `rows` points, facing +Y when rows go along +Z.
fn grid(columns: u32, rows: u32) -> Vec<[u32; 3]> {
    let cells = (0..rows - 1).flat_map(|r| (0..columns - 1).map(move |c| r * columns + c));
    cells.flat_map(|a| [[a, a + columns, a + 1], [a + 1, a + columns, a + columns + 1]]).collect()
}

fn sheet_topology() -> MeshTopology {
    let triangles = grid(12, 8);
    let uvs: Vec<Vec2> =
        (0..96).map(|i| vec2((i % 12) as f32 / 11.0, (i / 12) as f32 / 7.0)).collect();
    let red = Material {
        name: "red cloth".to_owned(),
        base_color: [0.8, 0.1, 0.1, 1.0],
        ..Material::default()
    };
    let blue = Material {
        name: "blue".to_owned(),
        base_color: [0.1, 0.1, 0.8, 1.0],
        ..Material::default()
    };
    MeshTopology {
        vertex_count: 96,
        colors: uvs.iter().map(|uv| [uv.x, uv.y, 0.5, 1.0]).collect(),
        triangle_materials: (0..triangles.len()).map(|t| u16::from(t % 3 == 0)).collect(),
        triangles,
        uvs,
        materials: vec![red, blue],
        ..MeshTopology::default()
    }
}

fn sheet(topology: &Arc<MeshTopology>, time: f32) -> Mesh {
    let height = |x: f32, z: f32| 0.15 * (5.0 * x + 6.0 * time).sin() * (4.0 * z).cos();
    let place = topology.uvs.iter().map(|uv| {
        let (x, z) = (2.0 * uv.x, uv.y);
        vec3(x, height(x, z), z)
    });
    let positions: Vec<Vec3> = place.collect();
    let wetness = positions.iter().map(|p| p.y).collect();
    let drift = positions.iter().map(|p| vec3(p.y, 0.0, 1.0)).collect();
    Mesh {
        name: "actor/wave sheet".to_owned(),
        topology: Arc::clone(topology),
        normals: vec![Vec3::Y; positions.len()],
        positions,
        attributes: vec![
            Attribute { name: "wetness".to_owned(), values: AttributeValues::Scalar(wetness) },
            Attribute { name: "drift".to_owned(), values: AttributeValues::Vector(drift) },
        ],
        ..Mesh::default()
    }
}

/// An octahedron, counter-clockwise from outside: tells whether faces point outwards.
fn ball_topology() -> MeshTopology {
    let triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    MeshTopology {
        vertex_count: 6,
        triangles,
        materials: vec![Material::default()],
        ..MeshTopology::default()
    }
}

fn ball(topology: &Arc<MeshTopology>, time: f32) -> Mesh {
    let axes = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
    let center = vec3(0.0, 2.0 + time, 0.0);
    let positions: Vec<Vec3> = axes.iter().map(|a| center + 0.5 * *a).collect();
    Mesh { name: "ball".to_owned(), topology: Arc::clone(topology), positions, ..Mesh::default() }
}

fn drop_mesh(frame: i64) -> Option<Mesh> {
    match frame {
        1 | 2 => None,
        EMPTY => Some(Mesh::new("drop", Vec::new(), Vec::new())),
        _ => {
            let side = 3 + frame as u32 % 4;
            let points = (0..side * side).map(|i| {
                let (x, z) = ((i % side) as f32, (i / side) as f32);
                vec3(3.0 + 0.1 * x, 0.05 * frame as f32, 0.1 * z)
            });
            let mut mesh = Mesh::new("drop", points.collect(), grid(side, side));
            mesh.velocities = vec![vec3(0.0, 1.25, 0.0); mesh.positions.len()];
            Some(mesh)
        }
    }
}

fn hair(time: f32) -> Curves {
    let counts = vec![6, 4, 5];
    let roots = counts
        .iter()
        .enumerate()
        .flat_map(|(strand, &count)| (0..count).map(move |k| (strand as f32, k as f32)));
    let points =
        roots.map(|(s, k)| vec3(0.2 * s, 1.0 + 0.1 * k, 0.02 * k * (8.0 * time + s).sin()));
    let points: Vec<Vec3> = points.collect();
    Curves {
        name: "hair".to_owned(),
        widths: (0..points.len()).map(|i| 0.01 + 0.001 * i as f32).collect(),
        ids: vec![3, 5, 8],
        root_uvs: vec![vec2(0.1, 0.2), vec2(0.3, 0.4), vec2(0.5, 0.6)],
        color: vec3(0.3, 0.2, 0.1),
        attributes: vec![Attribute {
            name: "clump".to_owned(),
            values: AttributeValues::Scalar(vec![0.0, 0.5, 1.0]),
        }],
        counts,
        points,
        ..Curves::default()
    }
}

fn spray(frame: i64) -> Points {
    let count = (frame as usize * 3) % 10;
    let fall = 0.01 * frame as f32;
    Points {
        name: "spray".to_owned(),
        positions: (0..count).map(|i| vec3(0.1 * i as f32, 1.0 - fall, -1.0)).collect(),
        widths: (0..count).map(|i| 0.02 + 0.001 * i as f32).collect(),
        ids: (0..count).map(|i| 100 + i as u64).collect(),
        velocities: vec![vec3(0.0, -0.25, 0.0); count],
        attributes: vec![Attribute {
            name: "age".to_owned(),
            values: AttributeValues::Scalar(vec![frame as f32; count]),
        }],
    }
}

impl FrameSource for Shot {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        if !(FIRST..=LAST).contains(&frame) {
            return Err(SourceError::NoSuchFrame(frame));
        }
        let time = frame as f64 / self.info.rate.fps();
        let mut meshes = vec![sheet(&self.sheet, time as f32), ball(&self.ball, time as f32)];
        meshes.extend(drop_mesh(frame));
        let (curves, points) = (vec![hair(time as f32)], vec![spray(frame)]);
        *out = Frame { index: frame, time, meshes, curves, points, ..Frame::default() };
        Ok(())
    }
}

fn expected(shot: &mut Shot) -> Result<Value, Box<dyn Error>> {
    let flat = |points: &[Vec3]| json!(points.iter().map(|p| p.to_array()).collect::<Vec<_>>());
    let mut frames = serde_json::Map::new();
    let mut frame = Frame::default();
    for number in FIRST..=LAST {
        shot.read_frame(number, &mut frame)?;
        let mut shapes = serde_json::Map::new();
        for mesh in &frame.meshes {
            let triangles = &mesh.topology.triangles;
            let uvs: Vec<[f32; 2]> = mesh.topology.uvs.iter().map(|uv| uv.to_array()).collect();
            let value =
                json!({"points": flat(&mesh.positions), "triangles": triangles, "uvs": uvs});
            shapes.insert(mesh.name.clone(), value);
        }
        for curves in &frame.curves {
            let value = json!({"points": flat(&curves.points), "counts": curves.counts, "widths": curves.widths});
            shapes.insert(curves.name.clone(), value);
        }
        for points in &frame.points {
            let value = json!({"points": flat(&points.positions), "ids": points.ids, "widths": points.widths});
            shapes.insert(points.name.clone(), value);
        }
        frames.insert(number.to_string(), Value::Object(shapes));
    }
    let fps = shot.info.rate.fps();
    Ok(json!({"fps": fps, "first": FIRST, "last": LAST, "empty": EMPTY, "frames": frames}))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: interop_shot FOLDER")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let info = ShotInfo { rate: Rate::whole(25), first_frame: FIRST, last_frame: LAST };
    let (sheet, ball) = (Arc::new(sheet_topology()), Arc::new(ball_topology()));
    let mut shot = Shot { info, sheet, ball };
    for name in
        ["shot.abc", "shot.usdc", "shot.usda", "shot.obj", "shot.pc2", "shot.mdd", "shot.glb"]
    {
        let mut params = ExportParams::to_file(Path::new(name))?;
        if ["shot.pc2", "shot.mdd", "shot.glb"].contains(&name) {
            params.meshes = vec!["actor/wave sheet".to_owned(), "ball".to_owned()];
        }
        for file in export(&mut shot, &params, folder, true, &mut Silent)? {
            println!("{} {} bytes", file.path.display(), file.bytes);
        }
    }
    std::fs::write(folder.join("expected.json"), serde_json::to_vec(&expected(&mut shot)?)?)?;
    Ok(())
}

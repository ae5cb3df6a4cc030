//! Shots in memory, and what every export must do.

use std::io;
use std::sync::Arc;

use frisson::geometry::{Attribute, AttributeValues, Material, Mesh, MeshTopology};
use frisson::stage::{Curves, Frame, Points, Rate};
use glam::{Vec2, Vec3, vec2, vec3};

use super::*;
use crate::source::SourceError;
use crate::source::{ShotInfo, Silent};

pub(crate) struct MemorySource {
    pub(crate) info: ShotInfo,
    pub(crate) frames: Vec<Frame>,
}

impl MemorySource {
    pub(crate) fn new(frames: Vec<Frame>) -> Self {
        let last_frame = 10 + frames.len() as i64 - 1;
        Self { info: ShotInfo { rate: Rate::whole(25), first_frame: 10, last_frame }, frames }
    }
}

impl FrameSource for MemorySource {
    fn info(&self) -> &ShotInfo {
        &self.info
    }

    fn read_frame(&mut self, frame: i64, out: &mut Frame) -> Result<(), SourceError> {
        let index = usize::try_from(frame - self.info.first_frame).ok();
        let stored = index.and_then(|i| self.frames.get(i));
        out.clone_from(stored.ok_or(SourceError::NoSuchFrame(frame))?);
        Ok(())
    }
}

fn wave(time: f32) -> Mesh {
    let side = 3;
    let grid = |f: &dyn Fn(f32, f32) -> Vec3| -> Vec<Vec3> {
        (0..side * side).map(|i| f((i % side) as f32, (i / side) as f32)).collect()
    };
    let triangles = (0..side - 1).flat_map(|z| {
        (0..side - 1).flat_map(move |x| {
            let a = (z * side + x) as u32;
            let below = a + side as u32;
            [[a, below, a + 1], [a + 1, below, below + 1]]
        })
    });
    let triangles: Vec<[u32; 3]> = triangles.collect();
    let topology = MeshTopology {
        vertex_count: 9,
        uvs: grid(&|x, z| vec3(x / 2.0, z / 2.0, 0.0)).iter().map(|p| vec2(p.x, p.y)).collect(),
        triangle_materials: (0..triangles.len()).map(|i| (i % 2) as u16).collect(),
        triangles,
        materials: vec![
            Material::default(),
            Material { name: "2nd".to_owned(), ..Material::default() },
        ],
        ..MeshTopology::default()
    };
    Mesh {
        name: "wave".to_owned(),
        topology: Arc::new(topology),
        positions: grid(&|x, z| vec3(x, 0.1 * (x + z + time * time).sin(), z)),
        normals: vec![Vec3::Y; 9],
        attributes: vec![
            Attribute {
                name: "wet ness".to_owned(),
                values: AttributeValues::Scalar(vec![time; 9]),
            },
            Attribute {
                name: "tint".to_owned(),
                values: AttributeValues::Color(vec![Vec3::ONE; 9]),
            },
        ],
        ..Mesh::default()
    }
}

/// Four frames from 10 at 25 fps: a moving mesh, one that comes and goes, hair, spray.
pub(crate) fn small_shot() -> MemorySource {
    let frames = (0..4).map(|index| {
        let time = index as f32;
        let mut frame =
            Frame { index: 10 + index, time: 0.4 + 0.04 * index as f64, ..Frame::default() };
        frame.meshes.push(wave(time));
        let triangle = [[0, 1, 2]];
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE];
        match index {
            1 => frame.meshes.push(Mesh::new("blob", corners[..3].to_vec(), triangle.to_vec())),
            2 => frame.meshes.push(Mesh::new("blob", Vec::new(), Vec::new())),
            3 => frame.meshes.push(Mesh::new("blob", corners.to_vec(), vec![[0, 1, 2], [1, 3, 2]])),
            _ => {}
        }
        frame.curves.push(Curves {
            name: "hair".to_owned(),
            counts: vec![3, 2],
            points: (0..5).map(|i| vec3(i as f32, time, 0.0)).collect(),
            widths: vec![0.01; 5],
            ids: vec![7, 8],
            root_uvs: vec![Vec2::ZERO, Vec2::ONE],
            color: vec3(0.2, 0.1, 0.0),
            ..Curves::default()
        });
        let count = (index as usize + 1) % 4;
        frame.points.push(Points {
            name: "spray".to_owned(),
            positions: (0..count).map(|i| vec3(i as f32, time, 1.0)).collect(),
            widths: vec![0.02; count],
            ids: (0..count as u64).collect(),
            velocities: vec![Vec3::Y; count],
            ..Points::default()
        });
        frame
    });
    MemorySource::new(frames.collect())
}

/// Small numbers in a fixed sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> usize {
        self.0 = xxhash_rust::xxh3::xxh3_64(&self.0.to_le_bytes());
        (self.0 % limit.max(1)) as usize
    }

    fn points(&mut self, count: usize) -> Vec<Vec3> {
        let mut number = || self.below(2000) as f32 / 1000.0 - 1.0;
        (0..count).map(|_| vec3(number(), number(), number())).collect()
    }
}

/// Shapes that appear, disappear, change and empty at random.
pub(crate) fn random_shot(seed: u64, frames: usize) -> MemorySource {
    let mut dice = Dice(seed);
    let frames = (0..frames).map(|index| {
        let mut frame = Frame { index: 10 + index as i64, ..Frame::default() };
        for name in ["a", "b"].iter().take(dice.below(3)) {
            frame.meshes.push(random_mesh(name, &mut dice));
        }
        if dice.below(2) == 1 {
            frame.curves.push(random_curves(&mut dice));
        }
        if dice.below(2) == 1 {
            let count = dice.below(5);
            frame.points.push(Points {
                name: "points".to_owned(),
                positions: dice.points(count),
                ids: (0..count as u64).collect(),
                widths: vec![0.1; count * dice.below(2)],
                ..Points::default()
            });
        }
        frame
    });
    MemorySource::new(frames.collect())
}

fn random_mesh(name: &str, dice: &mut Dice) -> Mesh {
    let count = dice.below(6);
    let faces = if count == 0 { 0 } else { dice.below(5) };
    let mut corner = || dice.below(count as u64) as u32;
    let triangles = (0..faces).map(|_| [corner(), corner(), corner()]).collect();
    let mut mesh = Mesh::new(name, dice.points(count), triangles);
    let topology = Arc::make_mut(&mut mesh.topology);
    if dice.below(2) == 1 {
        topology.uvs = vec![vec2(0.25, 0.5); count];
    }
    if dice.below(3) == 1 {
        topology.materials.push(Material::default());
        topology.triangle_materials = (0..faces).map(|_| dice.below(2) as u16).collect();
    }
    if dice.below(2) == 1 {
        mesh.normals = vec![Vec3::Y; count];
    }
    if dice.below(2) == 1 {
        mesh.set_scalar("heat", |values| values.fill(0.5));
    }
    mesh
}

fn random_curves(dice: &mut Dice) -> Curves {
    let counts: Vec<u32> = (0..dice.below(4)).map(|_| 2 + dice.below(3) as u32).collect();
    let total = counts.iter().sum::<u32>() as usize;
    Curves {
        name: "curves".to_owned(),
        points: dice.points(total),
        widths: vec![0.1; total * dice.below(2)],
        ids: (0..counts.len() as u64).collect(),
        counts,
        ..Curves::default()
    }
}

pub(crate) fn export_with(
    source: &mut MemorySource,
    folder: &Path,
    text: &str,
) -> Result<Vec<WrittenFile>, ExportError> {
    let params: ExportParams = toml::from_str(text).unwrap();
    export(source, &params, folder, false, &mut Silent)
}

/// The bytes of the one file that an export writes.
pub(crate) fn exported_bytes(source: &mut MemorySource, text: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let written = export_with(source, folder.path(), text).unwrap();
    std::fs::read(&written[0].path).unwrap()
}

fn export_to(folder: &Path, text: &str) -> Result<Vec<WrittenFile>, ExportError> {
    export_with(&mut small_shot(), folder, text)
}

#[test]
fn a_scene_entry_is_short() {
    let params: ExportParams = toml::from_str("alembic = \"cat.abc\"").unwrap();
    assert_eq!(params.target().unwrap(), (ExportFormat::Alembic, Path::new("cat.abc")));
    assert!(toml::from_str::<ExportParams>("alembic = \"a.abc\"\nnormal = true").is_err());
    let both: ExportParams = toml::from_str("alembic = \"a.abc\"\nusd = \"a.usd\"").unwrap();
    assert!(matches!(both.target(), Err(ExportError::SeveralFormats("alembic", "usd"))));
    assert!(matches!(ExportParams::default().target(), Err(ExportError::NoFormat)));
    let params = ExportParams::to_file(Path::new("x.usda")).unwrap();
    assert_eq!(params.target().unwrap().0, ExportFormat::Usd);
    assert!(ExportParams::to_file(Path::new("x.fbx")).is_err());
}

#[test]
fn images_become_one_png_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let pixel = |i: u8| [10 * i, 255 - i, 0, 255];
    let image = |name: &str, frame: u8| frisson::stage::Image {
        name: name.to_owned(),
        mesh: "sheet".to_owned(),
        texture: Arc::new(frisson::geometry::Texture {
            width: 3,
            height: 2,
            rgba: (0..6).flat_map(|i| pixel(i + frame)).collect(),
        }),
    };
    let shot = |names: &[&str]| {
        let frame = |index: u8| Frame {
            index: i64::from(index),
            time: f64::from(index) / 25.0,
            images: names.iter().map(|n| image(n, index)).collect(),
            ..Frame::default()
        };
        MemorySource::new((4..6).map(frame).collect())
    };
    let written =
        export_with(&mut shot(&["rain.wetness"]), folder.path(), "png = \"wet.png\"").unwrap();
    let names: Vec<_> = written.iter().map(|w| w.path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["wet.0004.png", "wet.0005.png"]);
    let file = io::BufReader::new(std::fs::File::open(&written[1].path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (3, 2, png::ColorType::Rgba));
    assert_eq!(bytes, image("rain.wetness", 5).texture.rgba);
    // Two images: both names are in the files' names.
    let two =
        export_with(&mut shot(&["rain.wetness", "mud"]), folder.path(), "png = \"b.png\"").unwrap();
    assert_eq!(two.len(), 4);
    let none = export_with(&mut shot(&[]), folder.path(), "png = \"c.png\"");
    assert!(matches!(none, Err(ExportError::Nothing(ExportFormat::Png))));
}

#[test]
fn existing_files_are_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let written = export_to(folder.path(), "alembic = \"a.abc\"").unwrap();
    let before = std::fs::read(&written[0].path).unwrap();
    assert_eq!(before.len() as u64, written[0].bytes);
    let error = export_to(folder.path(), "alembic = \"a.abc\"").unwrap_err();
    assert!(matches!(error, ExportError::Exists(_)), "{error}");
    assert_eq!(std::fs::read(&written[0].path).unwrap(), before);
}

#[test]
fn a_failed_export_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = small_shot();
    source.frames[2].meshes[0].positions[4].y = f32::NAN;
    let params: ExportParams = toml::from_str("alembic = \"a.abc\"").unwrap();
    let error = export(&mut source, &params, folder.path(), false, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("frame 12, `wave`: point 4 is not finite"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    struct Impatient;
    impl Progress for Impatient {
        fn advance(&mut self, done: u64, _total: u64) -> bool {
            done < 2
        }
    }
    let error = export(&mut small_shot(), &params, folder.path(), false, &mut Impatient);
    assert!(matches!(error, Err(ExportError::Stopped)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn unknown_shapes_are_named_with_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let error = export_to(folder.path(), "alembic = \"a.abc\"\nmeshes = [\"wav\"]").unwrap_err();
    assert!(error.to_string().contains("`wav`; there are: blob, hair, spray, wave"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn frames_that_contradict_themselves_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let params: ExportParams = toml::from_str("alembic = \"a.abc\"").unwrap();
    let refuse = |change: &dyn Fn(&mut Frame)| {
        let mut source = small_shot();
        change(&mut source.frames[1]);
        export(&mut source, &params, folder.path(), false, &mut Silent).unwrap_err().to_string()
    };
    let text = refuse(&|f| Arc::make_mut(&mut f.meshes[0].topology).triangles[0][1] = 9);
    assert!(text.contains("a triangle names vertex 9 of 9"), "{text}");
    let text = refuse(&|f| f.curves[0].counts[0] = 4);
    assert!(text.contains("5 points where there should be 6"), "{text}");
    let text = refuse(&|f| f.points[0].name = "wave".to_owned());
    assert!(text.contains("used twice"), "{text}");
}

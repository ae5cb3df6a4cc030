//! A session: a folder, the real binary, and a small character to bake.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use frisson::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Node, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use frisson::geometry::Mesh;
use glam::{Mat4, Quat, Vec3};

/// Every scene of the repository.
pub fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut scenes: Vec<PathBuf> =
        files.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    scenes.sort();
    assert!(!scenes.is_empty());
    scenes
}

/// A folder to work in, removed at the end.
pub struct Session {
    folder: tempfile::TempDir,
}

impl Session {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with `worm.glb` and `worm.toml`: a tube that wags for `frames`, with flesh on it.
    pub fn with_worm(rings: u32, frames: u32) -> Self {
        let session = Self::new();
        let character = worm(rings);
        frisson_io::gltf::write_character(&character, &session.path("worm.glb"), false).unwrap();
        session.write("worm.toml", &worm_scene(frames));
        session
    }

    /// A file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The command, not yet run.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frisson"));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs `frisson` and gives exit code, standard output and standard error.
    pub fn frisson(&self, arguments: &str) -> (i32, String, String) {
        said(&self.command(arguments).output().unwrap())
    }

    /// Runs `frisson` and expects success.
    #[track_caller]
    pub fn ok(&self, arguments: &str) -> String {
        let (code, out, err) = self.frisson(arguments);
        assert_eq!(code, 0, "frisson {arguments}\n{out}\n{err}");
        out
    }

    /// Runs `frisson`, expects an exit code, and gives what it said about it.
    #[track_caller]
    pub fn fails(&self, arguments: &str, expected: i32) -> String {
        let (code, out, err) = self.frisson(arguments);
        assert_eq!(code, expected, "frisson {arguments}\n{out}\n{err}");
        err
    }

    /// Names of all files in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        list(self.folder.path())
    }
}

/// Exit code, standard output and standard error.
pub fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn list(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn worm_scene(frames: u32) -> String {
    format!(
        "frisson = 1\nfps = 24\nframes = [1, {frames}]\n\n[actors.worm]\nsource = \"worm.glb\"\n\
         loop = true\n\n[[layers]]\nflesh = {{ name = \"belly\", on = \"worm\", from = \"joint1\", \
         to = [\"joint3\"], frequency_hz = 2.0, damping_ratio = 0.1 }}\n"
    )
}

const SIDES: u32 = 24;

/// A tube along y with four joints, the lower one wagging.
fn worm(rings: u32) -> Character {
    let node = |i: usize| Node {
        name: format!("joint{i}"),
        parent: i.checked_sub(1),
        rest: Transform::from_translation(if i == 0 { Vec3::ZERO } else { Vec3::Y * 0.3 }),
    };
    let skeleton = Skeleton::new((0..4).map(node).collect()).unwrap();
    let inverse_bind: Vec<Mat4> =
        (0..4).map(|i| Mat4::from_translation(-Vec3::Y * 0.3 * i as f32)).collect();
    let mut positions = Vec::new();
    let mut lists = Vec::new();
    for ring in 0..rings {
        let height = 1.0 * ring as f32 / (rings - 1) as f32;
        for side in 0..SIDES {
            let angle = std::f32::consts::TAU * side as f32 / SIDES as f32;
            positions.push(Vec3::new(0.1 * angle.cos(), height, 0.1 * angle.sin()));
            let at = (height / 0.3).clamp(0.0, 2.999);
            let (joint, t) = (at.floor(), at.fract());
            lists.push(vec![(joint as u16, 1.0 - t), (joint as u16 + 1, t)]);
        }
    }
    let mut triangles = Vec::new();
    for ring in 0..rings - 1 {
        for side in 0..SIDES {
            let (a, b) = (ring * SIDES + side, ring * SIDES + (side + 1) % SIDES);
            triangles.push([a, a + SIDES, b]);
            triangles.push([b, a + SIDES, b + SIDES]);
        }
    }
    let times: Vec<f32> = (0..=20).map(|i| i as f32 * 0.05).collect();
    let wag = |t: &f32| Quat::from_rotation_z(0.6 * (std::f32::consts::TAU * t).sin());
    let values = times.iter().flat_map(|t| wag(t).to_array()).collect();
    let track = Track {
        target: TrackTarget::Rotation(1),
        interpolation: Interpolation::Linear,
        times,
        values,
        width: 4,
    };
    Character {
        name: "worm".to_owned(),
        skeleton,
        skins: vec![Skin { name: "skin".to_owned(), joints: vec![0, 1, 2, 3], inverse_bind }],
        meshes: vec![CharacterMesh::skinned(
            Mesh::new("worm", positions, triangles),
            Influences::from_lists(&lists),
        )],
        clips: vec![Clip { name: "wag".to_owned(), tracks: vec![track] }],
    }
}

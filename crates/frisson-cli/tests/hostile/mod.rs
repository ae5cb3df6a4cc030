//! Small scenes that nobody would make on purpose: bad meshes, bad motion, bad numbers. A seed gives
//! one scene.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use frisson::character::{
    Character, CharacterMesh, Clip, Influences, Interpolation, Node, Skeleton, Skin, Track,
    TrackTarget, Transform,
};
use frisson::geometry::Mesh;
use frisson_io::scene::{ActorContent, ActorLoader, LoadError, LoadedActor};
use glam::{Mat4, Vec3};

/// Numbers from a seed (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[(self.next() % items.len() as u64) as usize]
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count.max(1)
    }
}

const MESHES: [&str; 8] =
    ["grid", "fan", "moebius", "doubled", "needles", "flat", "fins", "puppet"];
const FPS: [&str; 5] = ["1", "24", "30", "1000", "\"24000/1001\""];
const SCALES: [&str; 5] = ["1", "1", "1e-3", "1e3", "0.1"];
const PLACES: [&str; 4] = ["[0, 0, 0]", "[0, 0, 0]", "[1e6, 0, 0]", "[-1e6, 1e6, 3]"];
const STRENGTHS: [&str; 6] = ["1", "100", "1e4", "1e9", "1e12", "1e-3"];

/// The text of a scene.
pub fn scene(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mesh = *dice.pick(&MESHES);
    let mut text = format!(
        "frisson = 2\nfps = {}\nframes = [0, {}]\ngravity = [0, {}, 0]\nseed = {seed}\n",
        dice.pick(&FPS),
        1 + dice.below(4),
        dice.pick(&["-9.81", "-9.81", "0", "-1e4", "1e3"]),
    );
    text += &format!(
        "\n[actors.a]\nsource = \"made:{mesh}\"\nplacement = {{ scale = {}, translate = {} }}\n",
        dice.pick(&SCALES),
        dice.pick(&PLACES),
    );
    if mesh != "puppet" && dice.below(3) == 0 {
        text += *dice.pick(&TELEPORTS);
    }
    for index in 0..=dice.below(2) {
        text += &layer(&mut dice, index);
    }
    text
}

const TELEPORTS: [&str; 3] = [
    "path = [[0, 0, 0, 0, 0, 0, 0], [1, 1e6, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0]]\n",
    "path = [[0, 0, 0, 0, 0, 0, 0], [1, 0, 5, 0, 720, 9000, 1e7]]\n",
    "path = [[0, 0, 0, 0, 0, 0, 0], [1e-6, 3, 3, 3, 0, 0, 0], [2, -3, 0, 0, 180, 0, 0]]\n",
];

fn layer(dice: &mut Dice, index: u64) -> String {
    let strength = *dice.pick(&STRENGTHS);
    let small = *dice.pick(&["0.01", "0.05", "1e-5", "0.3", "1"]);
    let body = match dice.below(7) {
        0 => format!(
            "cloth = {{ name = \"l{index}\", on = \"a\", material = \"{}\", stretch = {strength}, \
             bend = {}, thickness = {small}, self_collision = {}, pins = {{ box = {} }} }}",
            dice.pick(&["cotton", "wool", "silk"]),
            dice.pick(&["0", "1e-4", "1", "1e3"]),
            dice.pick(&["true", "false"]),
            dice.pick(&["[-9, 0.9, -9, 9, 9, 9]", "[-2e6, -2e6, -9, 2e6, 2e6, 9]"]),
        ),
        1 => format!(
            "hair = {{ name = \"l{index}\", on = \"a\", wisps = {}, length = {}, radius = {small}, \
             strands = {{ per_wisp = 3 }} }}",
            dice.pick(&["1", "7", "40"]),
            dice.pick(&["0.2", "1e-3", "10"]),
        ),
        2 => format!(
            "drops = {{ name = \"l{index}\", on = \"a\", sources = [{{ condensation = {{ count = {}, \
             mass = {}, growth = 4e-6, over = 2, until = 3 }} }}] }}",
            dice.pick(&["1", "30"]),
            dice.pick(&["3e-6", "1e-9", "1"]),
        ),
        3 => format!(
            "soft = {{ name = \"l{index}\", cell = {}, objects = [{{ name = \"o\", thickness = {small}, \
             primitives = [{{ segment = [[0, 0, 0], [0, {}, 0]] }}] }}] }}",
            dice.pick(&["0.05", "0.02", "0.2"]),
            dice.pick(&["0.3", "3", "1e-6", "1e9"]),
        ),
        4 => format!(
            "wrinkles = {{ name = \"l{index}\", on = \"a\", max_level = 1, tools = [{{ name = \"t\", \
             a = {}, b = {}, width = {small}, folds = {} }}] }}",
            dice.below(4),
            2 + dice.below(9),
            1 + dice.below(5),
        ),
        5 => format!(
            "folds = {{ name = \"l{index}\", on = \"a\", folds = [{{ name = \"f\", \
             points = [[-0.3, 0, 0], [0.3, 0, {}]], width = {small}, amplitude = {} }}] }}",
            dice.pick(&["0", "0.3", "1e6"]),
            dice.pick(&["0.05", "1", "1e-6"]),
        ),
        _ => format!(
            "flesh = {{ name = \"l{index}\", on = \"a\", from = \"joint0\", to = [\"joint1\"], \
             frequency_hz = {}, damping_ratio = {} }}",
            dice.pick(&["2", "0.01", "100"]),
            dice.pick(&["0", "0.1", "1"]),
        ),
    };
    format!("\n[[layers]]\n{body}\n")
}

/// Processor time of this process so far, in hundredths of a second: wall-clock time says little on a
/// machine that others use.
pub fn busy() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        after_name.split(' ').skip(12).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Makes what the scenes name.
pub struct Workshop;

impl ActorLoader for Workshop {
    fn load(&self, source: &str, _folder: &Path) -> Result<LoadedActor, LoadError> {
        let kind = source.strip_prefix("made:").unwrap_or(source);
        let content = match kind {
            "puppet" => ActorContent::Character(Arc::new(puppet())),
            other => ActorContent::Meshes(vec![mesh(other)]),
        };
        Ok(LoadedActor::without_files(content, source))
    }
}

fn grid(side: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let at = |i: u32| (i % side) as f32 / (side - 1) as f32 - 0.5;
    let positions =
        (0..side * side).map(|i| Vec3::new(at(i), 0.0, (i / side) as f32 / side as f32)).collect();
    let mut triangles = Vec::new();
    for z in 0..side - 1 {
        for x in 0..side - 1 {
            let a = z * side + x;
            triangles.push([a, a + side, a + 1]);
            triangles.push([a + 1, a + side, a + side + 1]);
        }
    }
    (positions, triangles)
}

fn mesh(kind: &str) -> Mesh {
    let (mut positions, mut triangles) = grid(6);
    match kind {
        // Thirty slivers around one point.
        "fan" => {
            let tip = |i: u32| {
                let angle = i as f32 * 1e-3;
                Vec3::new(angle.cos(), 0.1 * (i % 2) as f32, angle.sin())
            };
            positions = std::iter::once(Vec3::ZERO).chain((0..31).map(tip)).collect();
            triangles = (1..31).map(|i| [0, i + 1, i]).collect();
        }
        // One side only.
        "moebius" => {
            let count = 24;
            let point = |i: u32| {
                let turn = std::f32::consts::TAU * (i / 2) as f32 / count as f32;
                let across = if i.is_multiple_of(2) { 0.1 } else { -0.1 };
                let out = 0.5 + across * (0.5 * turn).cos();
                Vec3::new(out * turn.cos(), across * (0.5 * turn).sin(), out * turn.sin())
            };
            positions = (0..2 * count).map(point).collect();
            triangles = (0..count - 1)
                .flat_map(|i| [[2 * i, 2 * i + 1, 2 * i + 2], [2 * i + 1, 2 * i + 3, 2 * i + 2]])
                .collect();
            triangles.push([2 * count - 2, 2 * count - 1, 1]);
            triangles.push([2 * count - 1, 0, 1]);
        }
        // Every triangle twice, once turned round.
        "doubled" => {
            let turned: Vec<[u32; 3]> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
            triangles.extend(turned);
        }
        // A thousand times as long as wide.
        "needles" => positions.iter_mut().for_each(|p| *p *= Vec3::new(1.0, 1.0, 1e-3)),
        // All vertices at a few places.
        "flat" => positions.iter_mut().for_each(|p| p.x = p.x.round()),
        // Three sheets on one edge.
        "fins" => {
            positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, -Vec3::Y, Vec3::ONE];
            triangles = vec![[0, 1, 2], [0, 1, 3], [0, 1, 4], [2, 3, 5], [0, 0, 1]];
        }
        _ => {}
    }
    Mesh::new(kind, positions, triangles)
}

/// Two joints; the upper one jumps, turns over and comes back.
fn puppet() -> Character {
    let node = |i: usize| Node {
        name: format!("joint{i}"),
        parent: i.checked_sub(1),
        rest: Transform::from_translation(if i == 0 { Vec3::ZERO } else { 0.5 * Vec3::Y }),
    };
    let skeleton = Skeleton::new(vec![node(0), node(1)]).unwrap();
    let inverse_bind = vec![Mat4::IDENTITY, Mat4::from_translation(-0.5 * Vec3::Y)];
    let (flat, triangles) = grid(6);
    let positions: Vec<Vec3> = flat.iter().map(|p| Vec3::new(p.x, p.z, 0.1 * p.x * p.x)).collect();
    let lists: Vec<Vec<(u16, f32)>> =
        positions.iter().map(|p| vec![(0, 1.0 - p.y), (1, p.y)]).collect();
    let jumps = [Vec3::ZERO, Vec3::new(1e6, 0.0, 0.0), Vec3::new(0.0, -3.0, 0.0), Vec3::ZERO];
    let track = Track {
        target: TrackTarget::Translation(1),
        interpolation: Interpolation::Step,
        times: vec![0.0, 0.02, 0.05, 0.5],
        values: jumps.iter().flat_map(|p| p.to_array()).collect(),
        width: 3,
    };
    Character {
        name: "puppet".to_owned(),
        skeleton,
        skins: vec![Skin { name: "skin".to_owned(), joints: vec![0, 1], inverse_bind }],
        meshes: vec![CharacterMesh::skinned(
            Mesh::new("puppet", positions, triangles),
            Influences::from_lists(&lists),
        )],
        clips: vec![Clip { name: "jump".to_owned(), tracks: vec![track] }],
    }
}

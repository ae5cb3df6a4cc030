//! A tunic as it is cut: two flat panels, one before and one behind the figure.
//!
//! ```text
//!      _____       _____
//!     |  s  |_____|  s  |      s: shoulder seams, beside the neck
//!     |                 |      a: open for the arms
//!   a |                 | a
//!     |                 |
//!   t |                 | t    t: side seams, down to the hem
//!     |_________________|
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::character::{CharacterMesh, Influences};
use frisson::geometry::{Mesh, MeshTopology};
use glam::{Vec2, Vec3};

use super::cloth::Grid;
use super::figure::Person;
use super::{material, srgb};

/// Squares across and down a panel.
const SQUARES: (usize, usize) = (30, 40);
/// Half the width [m], heights of the upper border and the hem [m].
const HALF: f32 = 0.25;
const TOP: f32 = 1.56;
const HEM: f32 = 0.80;
/// Half the width of the neck's opening [m], and the height where the side seams begin [m].
const NECK: f32 = 0.105;
const ARMPIT: f32 = 1.22;
/// How far before the figure's middle the front panel is, and behind it the other [m].
const BEFORE: f32 = 0.17;
const BEHIND: f32 = -0.20;

/// Both panels as one mesh, with the lines to be sewn as regions: `shoulder_left_front`,
/// `side_left_front` and so on.
pub(super) fn panels(p: &Person) -> CharacterMesh {
    let grid = Grid { columns: SQUARES.0, rows: SQUARES.1, round: false };
    let look = || material("tunic", 0xFFFFFF, 0.85);
    let place =
        |uv: Vec2, z: f32| Vec3::new((2.0 * uv.x - 1.0) * HALF, TOP + (HEM - TOP) * uv.y, z);
    let front = grid.mesh("tunic", look(), |uv| place(Vec2::new(uv.x, uv.y), BEFORE)).mesh;
    // Seen from behind, so that its outside is outside.
    let back = grid.mesh("tunic", look(), |uv| place(Vec2::new(1.0 - uv.x, uv.y), BEHIND)).mesh;
    let first = front.positions.len() as u32;
    let (a, b) = (&front.topology, &back.topology);
    let moved = b.triangles.iter().map(|t| t.map(|v| v + first));
    let positions = [front.positions.clone(), back.positions.clone()].concat();
    let (red, band) = (srgb(0x8C3B4A), srgb(0xE8D3A2));
    let color = |q: &Vec3| {
        let trim = q.y < HEM + 0.05 && q.y > HEM + 0.02;
        (if trim { band } else { red }).extend(1.0).to_array()
    };
    let topology = MeshTopology {
        vertex_count: positions.len(),
        triangles: a.triangles.iter().copied().chain(moved).collect(),
        uvs: [a.uvs.clone(), b.uvs.clone()].concat(),
        colors: positions.iter().map(color).collect(),
        materials: vec![look()],
        regions: seams(&positions, first as usize),
        ..MeshTopology::default()
    };
    let normals = [front.normals, back.normals].concat();
    let count = positions.len();
    let mesh = Mesh {
        name: "tunic".to_owned(),
        topology: Arc::new(topology),
        positions,
        normals,
        ..Mesh::default()
    };
    let mut mesh = CharacterMesh::carried(mesh, 0, None);
    mesh.influences = Influences::from_lists(&vec![vec![(p.chest as u16, 1.0)]; count]);
    mesh.skin = Some(0);
    mesh
}

/// Vertices along the lines to be sewn; those of the front come before `first`.
fn seams(positions: &[Vec3], first: usize) -> BTreeMap<String, Vec<u32>> {
    const NEAR: f32 = 1e-4;
    let mut regions = BTreeMap::new();
    for (panel, range) in [("front", 0..first), ("back", first..positions.len())] {
        for (side, x) in [("left", 1.0), ("right", -1.0)] {
            let pick = |test: &dyn Fn(Vec3) -> bool| -> Vec<u32> {
                range.clone().filter(|&v| test(positions[v])).map(|v| v as u32).collect()
            };
            let shoulder = pick(&|q| q.y > TOP - NEAR && x * q.x > NECK);
            let border = pick(&|q| x * q.x > HALF - NEAR && q.y < ARMPIT);
            regions.insert(format!("shoulder_{side}_{panel}"), shoulder);
            regions.insert(format!("side_{side}_{panel}"), border);
        }
    }
    regions
}

//! Linear-blend skinning: 100k vertices, 50 joints, 4 influences each.

use std::hint::black_box;

use frisson::character::{
    Character, CharacterMesh, Influences, Node, Pose, Sampling, Skeleton, Skin, Transform,
};
use frisson::geometry::Mesh;
use frisson::math::random;
use glam::{Mat4, Vec3};

use super::{BenchOptions, Table};
use crate::WorkshopError;

const JOINTS: usize = 50;
const INFLUENCES: u64 = 4;

/// Measures.
pub fn run(options: &BenchOptions) -> Result<Vec<Table>, WorkshopError> {
    let sizes: &[usize] = if options.quick { &[100_000] } else { &[10_000, 100_000, 1_000_000] };
    let title = format!("Skinning, {JOINTS} joints, {INFLUENCES} influences a vertex");
    let mut table =
        Table::new(title, &["vertices", "skinning [ms]", "Mvertices/s", "copy [ms]", "ratio"]);
    for &count in sizes {
        let character = build_character(count)?;
        let mut pose = Pose::default();
        pose.set(&character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
        let mut out = Vec::new();
        let skinning = options.median_seconds(|| {
            character.deform_mesh_positions(0, &pose, &mut out);
            black_box(&out);
        });
        let bytes = 12 * count;
        let (source, mut target) = (vec![1u8; bytes], vec![0u8; bytes]);
        let copy = options.median_seconds(|| {
            target.copy_from_slice(black_box(&source));
            black_box(&target);
        });
        table.row([
            count.to_string(),
            format!("{:.3}", 1e3 * skinning),
            format!("{:.1}", count as f64 / skinning / 1e6),
            format!("{:.4}", 1e3 * copy),
            format!("{:.1}", skinning / copy),
        ]);
    }
    table.note(format!("{} threads; the copy moves the same 12 bytes a vertex on one thread", {
        rayon::current_num_threads()
    }));
    Ok(vec![table])
}

fn build_character(count: usize) -> Result<Character, WorkshopError> {
    let node = |i: usize| Node {
        name: format!("joint{i}"),
        parent: i.checked_sub(1),
        rest: Transform::from_translation(Vec3::Y * 0.1),
    };
    let skeleton = Skeleton::new((0..JOINTS).map(node).collect()).map_err(WorkshopError::of)?;
    let unit = |vertex: usize, k: u64| random::signed(1, vertex as u64, k) as f32;
    let positions = (0..count).map(|v| Vec3::new(unit(v, 0), unit(v, 1), unit(v, 2))).collect();
    let influence = |v: usize, k: u64| {
        let joint = (random::hash(2, v as u64, k) % JOINTS as u64) as u16;
        (joint, 1.0 + 0.5 * unit(v, 10 + k))
    };
    let lists: Vec<Vec<(u16, f32)>> =
        (0..count).map(|v| (0..INFLUENCES).map(|k| influence(v, k)).collect()).collect();
    let mesh = CharacterMesh::skinned(
        Mesh::new("cloud", positions, Vec::new()),
        Influences::from_lists(&lists),
    );
    let skin = Skin {
        name: "skin".to_owned(),
        joints: (0..JOINTS).collect(),
        inverse_bind: vec![Mat4::IDENTITY; JOINTS],
    };
    Ok(Character {
        name: "cloud".to_owned(),
        skeleton,
        skins: vec![skin],
        meshes: vec![mesh],
        clips: Vec::new(),
    })
}

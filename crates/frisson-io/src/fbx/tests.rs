//! A strip of two bones with a blend shape, written by Blender; bytes that are no FBX file.

use frisson::character::{Pose, Sampling};
use proptest::prelude::*;

use super::*;

const STRIP: &[u8] = include_bytes!("../../tests/data/strip.fbx");

fn read(bytes: &[u8]) -> Result<FbxImported, FbxError> {
    read_fbx(bytes, None, &InputSet::new())
}

#[test]
fn skin_blend_shape_and_take_move_as_in_the_program_that_wrote_them() {
    let imported = read(STRIP).unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let character = imported.character;
    let mesh = &character.meshes[0];
    assert_eq!((mesh.mesh.name.as_str(), mesh.morphs[0].name.as_str()), ("strip", "bulge"));
    assert!(mesh.skin.is_some() && character.skeleton.find("upper").is_some());
    assert_eq!(mesh.mesh.topology.triangles.len(), 2);
    // Blender's own evaluated vertices, turned to Y up, at frames 1, 6 and 11 of 24 a second.
    let expected = [
        (0.0, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, 0.0]]),
        (5.0, [[0.0; 3], [1.25, 0.0, 0.0], [0.0, 1.78033, 0.53033], [1.0, 1.78033, 0.53033]]),
        (10.0, [[0.0; 3], [1.5, 0.0, 0.0], [0.0, 1.25, 0.75], [1.0, 1.25, 0.75]]),
    ];
    let (mut pose, mut positions) = (Pose::default(), Vec::new());
    for (frame, points) in expected {
        let clip = Some(&character.clips[0]);
        pose.set(&character, clip, frame / 24.0, Sampling::AsAuthored, Mat4::IDENTITY);
        character.deform_mesh_positions(0, &pose, &mut positions);
        for point in points.map(Vec3::from) {
            let nearest = positions.iter().map(|p| p.distance(point)).fold(f32::MAX, f32::min);
            assert!(nearest < 2e-6, "frame {frame}: {point} is off by {nearest}");
        }
    }
    // v goes down: the foot of the strip is at 1.
    let on_foot = |p: &Vec3| pose_height(&character, p) < 0.5;
    let pairs = mesh.mesh.positions.iter().zip(&mesh.mesh.topology.uvs);
    assert!(pairs.clone().all(|(p, uv)| (uv.y == 1.0) == on_foot(p)));
}

/// Height of a bind point where the file stands.
fn pose_height(character: &Character, point: &Vec3) -> f32 {
    let mut pose = Pose::default();
    pose.set(character, None, 0.0, Sampling::AsAuthored, Mat4::IDENTITY);
    pose.world_from_node[character.meshes[0].node].transform_point3(*point).y
}

#[test]
fn other_files_are_refused_by_name() {
    for bytes in [&b""[..], b"glTF", b"Kaydara FBX Binary  \0", b"v 0 0 0\nf 1 1 1\n"] {
        let said = read(bytes).unwrap_err().to_string();
        assert!(said.contains("FBX"), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_are_refused_or_read(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut bytes = STRIP.to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(imported) = read(&bytes) {
            // Whatever came through can be posed.
            let mut pose = Pose::default();
            let (mut positions, character) = (Vec::new(), imported.character);
            pose.set(&character, character.clips.first(), 0.2, Sampling::AsAuthored, Mat4::IDENTITY);
            for mesh in 0..character.meshes.len() {
                character.deform_mesh_positions(mesh, &pose, &mut positions);
            }
        }
    }
}

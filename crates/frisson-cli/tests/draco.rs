//! Draco blocks are unpacked by a helper process, which is the command itself.

use std::path::Path;

use frisson_io::gltf::{Document, ReadOptions, set_draco_helper, to_character};

/// A grid of nine points with two sets of texture coordinates, packed with Draco.
#[test]
fn a_draco_input_comes_out_plain_with_all_its_attributes() {
    let helper = env!("CARGO_BIN_EXE_frisson").into();
    set_draco_helper(helper, vec!["unpack-draco".to_owned()]);
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../frisson-io/tests/data/grid_draco.glb");
    let input = Document::parse(&std::fs::read(path).unwrap(), None).unwrap();
    let before = to_character(&input, &ReadOptions::default()).unwrap().0;
    let plain = input.plain().unwrap();
    let after = to_character(&plain, &ReadOptions::default()).unwrap().0;
    assert!(!serde_json::to_string(&plain.json).unwrap().contains("draco"));
    assert_eq!(before.meshes[0].mesh.positions, after.meshes[0].mesh.positions);
    assert_eq!(before.meshes[0].mesh.topology, after.meshes[0].mesh.topology);
    let attributes = &plain.json["meshes"][0]["primitives"][0]["attributes"];
    for name in ["TEXCOORD_0", "TEXCOORD_1"] {
        assert!(attributes[name].is_u64(), "{name}");
    }
}

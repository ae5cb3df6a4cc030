//! Files that break the rules: an error that names the culprit, never a panic, never a flood.

use frisson_io::gltf::{GlbBuilder, read_bytes};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files::*;

fn broken(change: impl FnOnce(&mut GlbBuilder)) -> String {
    let mut builder = bent_strip();
    change(&mut builder);
    problem(builder)
}

#[test]
fn the_culprit_is_named() {
    let table: [(&str, fn(&mut GlbBuilder), &str); 13] = [
        ("count 0", |b| b.json["accessors"][0]["count"] = json!(0), "accessor 0: \"count\" is 0"),
        ("huge count", |b| b.json["accessors"][0]["count"] = json!(4_000_000_000u64), "accessor 0"),
        ("past the view", |b| b.json["accessors"][0]["count"] = json!(11), "buffer view 0"),
        ("type", |b| b.json["accessors"][0]["type"] = json!("VEC9"), "accessor 0: \"type\""),
        (
            "view range",
            |b| b.json["bufferViews"][0]["byteLength"] = json!(1 << 30),
            "buffer view 0",
        ),
        ("stride", |b| b.json["bufferViews"][0]["byteStride"] = json!(4), "stride of 4"),
        ("cycle", |b| b.json["nodes"][0]["children"] = json!([2]), "its own ancestor"),
        ("two parents", |b| b.json["nodes"][1]["children"] = json!([0]), "node 0 is a child"),
        ("missing child", |b| b.json["nodes"][1]["children"] = json!([99]), "there is no node 99"),
        ("missing joint", |b| b.json["skins"][0]["joints"] = json!([0, 99]), "skin 0"),
        ("few joints", |b| b.json["skins"][0]["joints"] = json!([0]), "follows joint 1"),
        ("mode", |b| primitive_mut(b)["mode"] = json!(9), "mesh 0 \"Strip\", primitive 0: mode 9"),
        (
            "interpolation",
            |b| b.json["animations"][1]["samplers"][0]["interpolation"] = json!("MAGIC"),
            "animation 1 \"bulge\", channel 0: interpolation \"MAGIC\"",
        ),
    ];
    for (case, change, expected) in table {
        let said = broken(change);
        assert!(said.contains(expected), "{case}: {said}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut builder = triangle();
        let points = [glam::Vec3::ZERO, glam::Vec3::X, glam::Vec3::splat(bad)];
        let accessor =
            builder.floats(bytemuck::cast_slice(&points), 3, frisson_io::gltf::ViewUse::Vertices);
        primitive_mut(&mut builder)["attributes"]["POSITION"] = json!(accessor.unwrap());
        let said = problem(builder);
        assert!(said.contains("accessor 1: it holds"), "{said}");
    }
}

#[test]
fn a_small_file_cannot_ask_for_a_lot_of_memory() {
    // Two thousand nodes show one mesh of a million zeros: 30 kB asking for 24 GB.
    let mut builder = triangle();
    let zeros = json!({ "componentType": 5126, "count": 1_000_000, "type": "VEC3" });
    let zeros = builder.push("accessors", zeros);
    primitive_mut(&mut builder)["attributes"]["POSITION"] = json!(zeros);
    for _ in 0..2000 {
        let node = builder.push("nodes", json!({ "mesh": 0 }));
        builder.add_to_scene(node);
    }
    assert!(problem(builder).contains("do not fit a file of this size"));
}

/// Forty textures that name one image, and an image that is named as too large.
#[test]
fn one_image_is_unpacked_once_and_a_bomb_never() {
    let picture = |width: u32, height: u32| {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_depth(png::BitDepth::One);
        let row = (width as usize).div_ceil(8);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&vec![0; row * height as usize]).unwrap();
        writer.finish().unwrap();
        bytes
    };
    let read = |image: Vec<u8>| {
        let mut builder = triangle();
        let view = builder.view(&image, frisson_io::gltf::ViewUse::Other, None).unwrap();
        builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
        let first = builder.json["meshes"][0]["primitives"][0].clone();
        for texture in 0..40 {
            builder.push("textures", json!({ "source": 0 }));
            let index = json!({ "index": texture });
            builder.push(
                "materials",
                json!({ "pbrMetallicRoughness": { "baseColorTexture": index } }),
            );
            let mut primitive = first.clone();
            primitive["material"] = json!(texture);
            let primitives = builder.json["meshes"][0]["primitives"].as_array_mut().unwrap();
            primitives.push(primitive);
        }
        import(builder)
    };
    let imported = read(picture(16, 16));
    let textures: Vec<_> = imported.character.meshes[0]
        .mesh
        .topology
        .materials
        .iter()
        .filter_map(|m| m.texture.clone())
        .collect();
    assert_eq!(textures.len(), 40);
    assert!(textures.iter().all(|t| std::sync::Arc::ptr_eq(t, &textures[0])));
    // A hundred kilobytes that would unpack to a gigabyte.
    let imported = read(picture(16_000, 17_000));
    let left_out = imported.warnings.iter().filter(|w| w.contains("more than the limit")).count();
    assert_eq!(left_out, 1, "{:?}", imported.warnings);
}

#[test]
fn other_files_are_not_gltf() {
    for bytes in
        [&b""[..], b"hello", b"{}", b"glTF", b"glTF\x02\0\0\0\xff\xff\0\0", b"{\"asset\":1}"]
    {
        let said = read_bytes(bytes, None).unwrap_err().to_string();
        assert!(said.contains("glTF") || said.contains("GLB"), "{said}");
    }
}

#[test]
fn an_unknown_required_extension_is_refused_and_an_unknown_used_one_is_not() {
    let mut builder = triangle();
    builder.use_extension("ACME_wobble", false);
    import(builder);
    let mut builder = triangle();
    builder.use_extension("ACME_wobble", true);
    assert!(problem(builder).contains("ACME_wobble"));
}

/// Replaces the `n`-th number of the document.
fn set_number(value: &mut Value, n: &mut usize, new: &Value) -> bool {
    match value {
        Value::Number(_) if *n == 0 => {
            *value = new.clone();
            true
        }
        Value::Number(_) => {
            *n -= 1;
            false
        }
        Value::Array(entries) => entries.iter_mut().any(|v| set_number(v, n, new)),
        Value::Object(entries) => entries.iter_mut().any(|(_, v)| set_number(v, n, new)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits_never_panic(flips in prop::collection::vec((0usize..6000, 0u8..8), 1..12)) {
        let mut bytes = bent_strip().into_bytes().unwrap();
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        let _ = read_bytes(&bytes, None);
    }

    #[test]
    fn truncated_files_are_errors(keep in 0.0f64..1.0) {
        let bytes = bent_strip().into_bytes().unwrap();
        let length = (bytes.len() as f64 * keep) as usize;
        prop_assert!(read_bytes(&bytes[..length], None).is_err());
    }

    #[test]
    fn changed_numbers_never_panic(
        changes in prop::collection::vec(
            (0usize..400, prop_oneof![
                Just(json!(-1)), Just(json!(0)), Just(json!(1)), Just(json!(2)), Just(json!(3)),
                Just(json!(7)), Just(json!(255)), Just(json!(65536)), Just(json!(4294967295u64)),
                Just(json!(18446744073709551615u64)), Just(json!(0.5)), Just(json!(1e30)), Just(json!(5121)),
                Just(json!(5123)), Just(json!(5125)),
            ]), 1..6),
    ) {
        let mut builder = bent_strip();
        for (at, new) in changes {
            set_number(&mut builder.json, &mut { at }, &new);
        }
        let _ = read_bytes(&builder.into_bytes().unwrap(), None);
    }
}

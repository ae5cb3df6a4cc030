//! Any bytes: a character or an error, never a panic, never a huge allocation.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = frisson_io::gltf::read_bytes(bytes, None);
});

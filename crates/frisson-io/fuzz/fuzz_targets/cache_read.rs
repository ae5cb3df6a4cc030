//! Any bytes as a cache: an error, or frames whose indices and lengths can be trusted. Checksums
//! would keep the fuzzer out, so that it gets to write the blocks' contents: see `seal`.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use frisson::stage::Frame;
use frisson_io::FrameSource;
use frisson_io::cache::{CacheReader, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    seal(&mut bytes);
    let path = Path::new("fuzz.frisson");
    let Ok(mut reader) = CacheReader::from_bytes(Box::new(Cursor::new(bytes)), path) else {
        return;
    };
    let _ = reader.verify();
    let info = reader.info().clone();
    let mut frame = Frame::default();
    let last = info.last_frame.min(info.first_frame.saturating_add(8));
    for number in info.first_frame..=last {
        let _ = reader.read_reports(number);
        if reader.read_frame(number, &mut frame).is_ok() {
            for mesh in &frame.meshes {
                assert_eq!(mesh.positions.len(), mesh.topology.vertex_count);
                for corner in mesh.topology.triangles.iter().flatten() {
                    let _ = mesh.positions[*corner as usize];
                }
            }
        }
    }
});

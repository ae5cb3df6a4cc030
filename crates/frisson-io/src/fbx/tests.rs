//! Bytes that are no FBX file are refused.

use proptest::prelude::*;

use super::*;

#[test]
fn other_files_are_refused_by_name() {
    for bytes in [&b""[..], b"glTF", b"Kaydara FBX Binary  \0", b"v 0 0 0\nf 1 1 1\n"] {
        let said = read_fbx(bytes, None, &InputSet::new()).unwrap_err().to_string();
        assert!(said.contains("FBX"), "{said}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_read(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        bytes.splice(0..0, *b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0");
        let _ = read_fbx(&bytes, None, &InputSet::new());
    }
}

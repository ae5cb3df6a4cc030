//! `EXT_meshopt_compression` and `KHR_meshopt_compression`: unpacking a buffer view.

use meshopt::{
    decode_filter_color, decode_filter_exp, decode_filter_oct, decode_filter_quat,
    decode_index_buffer, decode_index_sequence, decode_vertex_buffer,
};

/// An element of `N` bytes; arrays beyond 32 have no `Default` of their own.
#[derive(Clone, Copy)]
struct Element<const N: usize>([u8; N]);

impl<const N: usize> Default for Element<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

/// `count` elements of `stride` bytes each.
pub(super) fn unpack(
    packed: &[u8],
    count: usize,
    stride: usize,
    mode: &str,
    filter: &str,
) -> Result<Vec<u8>, String> {
    match mode {
        "ATTRIBUTES" => {
            let mut bytes = unpack_vertices(packed, count, stride)?;
            apply_filter(&mut bytes, stride, filter)?;
            Ok(bytes)
        }
        "TRIANGLES" if !count.is_multiple_of(3) => {
            Err(format!("{count} indices do not make triangles"))
        }
        "TRIANGLES" => match stride {
            2 => decode_index_buffer::<u16>(packed, count).map(|v| words(&v)).map_err(broken),
            4 => decode_index_buffer::<u32>(packed, count).map(|v| words(&v)).map_err(broken),
            _ => Err(format!("indices of {stride} bytes")),
        },
        "INDICES" => match stride {
            2 => decode_index_sequence::<u16>(packed, count).map(|v| words(&v)).map_err(broken),
            4 => decode_index_sequence::<u32>(packed, count).map(|v| words(&v)).map_err(broken),
            _ => Err(format!("indices of {stride} bytes")),
        },
        other => Err(format!("meshopt mode {other:?} is not known")),
    }
}

fn broken(error: impl std::fmt::Display) -> String {
    format!("the meshopt data is damaged: {error}")
}

fn words<T: bytemuck::NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

fn unpack_sized<const N: usize>(packed: &[u8], count: usize) -> Result<Vec<u8>, String> {
    let elements: Vec<Element<N>> = decode_vertex_buffer(packed, count).map_err(broken)?;
    Ok(elements.iter().flat_map(|e| e.0).collect())
}

/// The codec is generic over the element's size, which is only known here at run time.
fn unpack_vertices(packed: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, String> {
    macro_rules! by_size {
        ($($size:literal)*) => {
            match stride {
                $($size => unpack_sized::<$size>(packed, count),)*
                _ => Err(format!("an element of {stride} bytes (multiples of 4 up to 256 exist)")),
            }
        };
    }
    by_size!(4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112
        116 120 124 128 132 136 140 144 148 152 156 160 164 168 172 176 180 184 188 192 196 200 204
        208 212 216 220 224 228 232 236 240 244 248 252 256)
}

fn apply_filter(bytes: &mut [u8], stride: usize, filter: &str) -> Result<(), String> {
    let wrong = || format!("the {filter} filter does not fit elements of {stride} bytes");
    match (filter, stride) {
        ("NONE", _) => {}
        ("OCTAHEDRAL", 4) => with::<[i8; 4]>(bytes, decode_filter_oct),
        ("OCTAHEDRAL", 8) => with::<[i16; 4]>(bytes, decode_filter_oct),
        ("QUATERNION", 8) => with::<[i16; 4]>(bytes, decode_filter_quat),
        // Each number is decoded alone, so that one number per element does for every stride.
        ("EXPONENTIAL", _) if stride.is_multiple_of(4) => {
            with::<[u32; 1]>(bytes, decode_filter_exp);
        }
        ("COLOR", 4) => with::<[u8; 4]>(bytes, decode_filter_color),
        ("COLOR", 8) => with::<[u16; 4]>(bytes, decode_filter_color),
        ("OCTAHEDRAL" | "QUATERNION" | "EXPONENTIAL" | "COLOR", _) => return Err(wrong()),
        _ => return Err(format!("meshopt filter {filter:?} is not known")),
    }
    Ok(())
}

/// Runs a filter over the bytes as elements of another type; through a copy, because a byte vector
/// is not aligned.
fn with<T: bytemuck::Pod>(bytes: &mut [u8], run: impl FnOnce(&mut [T])) {
    let mut elements: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
    run(&mut elements);
    bytes.copy_from_slice(bytemuck::cast_slice(&elements));
}

//! PNG and JPEG images into plain RGBA. Whatever cannot be read is a warning: a bake does not need
//! pictures.

use std::io::Cursor;

use frisson::geometry::Texture;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Longest side of an image [pixels]: an 8k texture with room.
const MAX_SIDE: usize = 16_384;
/// Bytes of an unpacked image: 8192 by 8192 RGBA.
const MAX_IMAGE_BYTES: usize = 256 << 20;

/// Decodes by the first bytes, whatever the file says its type is.
pub(crate) fn decode(bytes: &[u8]) -> Result<Texture, String> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => decode_png(bytes),
        [0xFF, 0xD8, 0xFF, ..] => decode_jpeg(bytes),
        _ => Err("it is neither PNG nor JPEG".to_owned()),
    }
}

fn decode_png(bytes: &[u8]) -> Result<Texture, String> {
    let limits = png::Limits { bytes: MAX_IMAGE_BYTES };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let size = reader.output_buffer_size().filter(|&n| n <= MAX_IMAGE_BYTES);
    let mut pixels = vec![0; size.ok_or("it is too large")?];
    let info = reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    pixels.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::Rgba => pixels,
        png::ColorType::Rgb => spread(&pixels, 3, |p| [p[0], p[1], p[2], 255]),
        png::ColorType::Grayscale => spread(&pixels, 1, |p| [p[0], p[0], p[0], 255]),
        png::ColorType::GrayscaleAlpha => spread(&pixels, 2, |p| [p[0], p[0], p[0], p[1]]),
        png::ColorType::Indexed => return Err("its palette is missing".to_owned()),
    };
    checked(info.width, info.height, rgba)
}

fn decode_jpeg(bytes: &[u8]) -> Result<Texture, String> {
    let options = DecoderOptions::new_safe()
        .set_max_width(MAX_SIDE)
        .set_max_height(MAX_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|e| format!("{e:?}"))?;
    let size = decoder.output_buffer_size().unwrap_or(0);
    if size > MAX_IMAGE_BYTES {
        return Err("it is too large".to_owned());
    }
    let pixels = decoder.decode().map_err(|e| format!("{e:?}"))?;
    let info = decoder.info().ok_or("it has no size")?;
    let rgba = match pixels.len() / (usize::from(info.width) * usize::from(info.height)).max(1) {
        3 => spread(&pixels, 3, |p| [p[0], p[1], p[2], 255]),
        1 => spread(&pixels, 1, |p| [p[0], p[0], p[0], 255]),
        _ => return Err("its colours are of a kind that is not known".to_owned()),
    };
    checked(u32::from(info.width), u32::from(info.height), rgba)
}

fn spread(pixels: &[u8], size: usize, rgba: impl Fn(&[u8]) -> [u8; 4]) -> Vec<u8> {
    pixels.chunks_exact(size).flat_map(rgba).collect()
}

fn checked(width: u32, height: u32, rgba: Vec<u8>) -> Result<Texture, String> {
    if width == 0 || height == 0 || rgba.len() != width as usize * height as usize * 4 {
        return Err("its size is wrong".to_owned());
    }
    Ok(Texture { width, height, rgba })
}

/// Encodes as PNG.
pub(super) fn encode_png(texture: &Texture) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, texture.width, texture.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
    writer.write_image_data(&texture.rgba).map_err(|e| e.to_string())?;
    writer.finish().map_err(|e| e.to_string())?;
    Ok(bytes)
}

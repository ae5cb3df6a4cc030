//! Files: pictures as PNG, text.

use std::path::{Path, PathBuf};

use crate::{Image, PictureError};

/// Bytes of a PNG file.
pub fn encode_png(image: &Image) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width, image.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb(image))?;
    writer.finish()?;
    Ok(bytes)
}

/// Colours without opacity, as most formats store them.
pub(crate) fn rgb(image: &Image) -> Vec<u8> {
    image.pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect()
}

/// A picture from the bytes of a PNG file of eight bits a channel.
pub fn decode_png(bytes: &[u8]) -> Result<Image, PictureError> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let mut buffer = vec![0; reader.output_buffer_size().unwrap_or(0)];
    let info = reader.next_frame(&mut buffer)?;
    let channels = info.color_type.samples();
    let pixels = buffer[..info.buffer_size()]
        .chunks_exact(channels)
        .map(|c| match *c {
            [v] => [v, v, v, 255],
            [v, a] => [v, v, v, a],
            [r, g, b] => [r, g, b, 255],
            [r, g, b, a] => [r, g, b, a],
            _ => [0; 4],
        })
        .collect();
    Ok(Image { width: info.width, height: info.height, pixels })
}

/// Where a file grows until it is whole.
pub(crate) fn part_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file beside its place and renames it when it is whole.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), PictureError> {
    let part = part_path(path);
    let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| PictureError::File { path: path.to_owned(), error })
}

/// Writes a text file, whole or not at all.
pub fn write_text(path: &Path, text: &str) -> Result<(), PictureError> {
    write_whole(path, text.as_bytes())
}

/// A picture of random pixels, to test that none is lost.
#[cfg(test)]
pub(crate) fn noise(width: u32, height: u32, seed: u64) -> Image {
    let mut image = Image::filled(width, height, [0, 0, 0, 255]);
    for (i, p) in image.pixels.iter_mut().enumerate() {
        let bits = frisson::math::random::hash(seed, i as u64, 0).to_le_bytes();
        *p = [bits[0], bits[1], bits[2], 255];
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_reads_back_as_it_was() {
        let image = noise(37, 21, 4);
        assert_eq!(decode_png(&encode_png(&image).unwrap()).unwrap(), image);
        assert!(decode_png(b"not a picture").is_err());
    }
}

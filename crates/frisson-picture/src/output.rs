//! Picture files: PNG, animated PNG.

use std::io::Write as _;
use std::path::Path;

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

fn rgb(image: &Image) -> Vec<u8> {
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

/// Writes a file beside its place and renames it when it is whole.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), PictureError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path)?;
    Ok(())
}

/// Writes an animated PNG frame by frame: memory does not grow with its length.
pub struct AnimationWriter {
    writer: png::Writer<std::io::BufWriter<std::fs::File>>,
    size: (u32, u32),
    part: std::path::PathBuf,
    path: std::path::PathBuf,
}

impl AnimationWriter {
    /// Starts an animation of `frames` pictures that plays for ever.
    pub fn create(
        path: &Path,
        size: (u32, u32),
        frames: u32,
        fps: f64,
    ) -> Result<Self, PictureError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        let file = std::io::BufWriter::new(std::fs::File::create(&part)?);
        let mut encoder = png::Encoder::new(file, size.0, size.1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Balanced);
        encoder.set_animated(frames.max(1), 0)?;
        let (numerator, denominator) = delay(fps);
        encoder.set_frame_delay(numerator, denominator)?;
        Ok(Self { writer: encoder.write_header()?, size, part, path: path.to_owned() })
    }

    /// Adds the next picture.
    pub fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        if (image.width, image.height) != self.size {
            return Err(PictureError::SizesDiffer(self.size, (image.width, image.height)));
        }
        Ok(self.writer.write_image_data(&rgb(image))?)
    }

    /// Ends the file and puts it in its place.
    pub fn finish(self) -> Result<(), PictureError> {
        self.writer.finish()?;
        std::fs::rename(&self.part, &self.path)?;
        Ok(())
    }
}

/// Time of a frame as a fraction of two 16-bit numbers.
fn delay(fps: f64) -> (u16, u16) {
    let fps = if fps.is_finite() && fps > 0.0 { fps.clamp(0.1, 1000.0) } else { 30.0 };
    if (fps - fps.round()).abs() < 1e-9 {
        return (1, fps as u16);
    }
    // 29.97 and friends: 1001 / 30000.
    let thousandths = (fps * 1.001).round();
    if (thousandths / 1.001 - fps).abs() < 1e-3 {
        return (1001, (thousandths * 1000.0).min(65_535.0) as u16);
    }
    (1000, (fps * 1000.0).min(65_535.0) as u16)
}

/// Writes a text file, whole or not at all.
pub fn write_text(path: &Path, text: &str) -> Result<(), PictureError> {
    let mut bytes = Vec::with_capacity(text.len());
    bytes.write_all(text.as_bytes())?;
    write_whole(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(width: u32, height: u32, seed: u64) -> Image {
        let mut image = Image::filled(width, height, [0, 0, 0, 255]);
        for (i, p) in image.pixels.iter_mut().enumerate() {
            let bits = frisson::math::random::hash(seed, i as u64, 0).to_le_bytes();
            *p = [bits[0], bits[1], bits[2], 255];
        }
        image
    }

    #[test]
    fn a_png_reads_back_as_it_was() {
        let image = noise(37, 21, 4);
        assert_eq!(decode_png(&encode_png(&image).unwrap()).unwrap(), image);
        assert!(decode_png(b"not a picture").is_err());
    }

    #[test]
    fn an_animation_holds_its_frames_and_delay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let frames: Vec<Image> = (0..5).map(|seed| noise(16, 9, seed)).collect();
        let mut writer = AnimationWriter::create(&path, (16, 9), 5, 24.0).unwrap();
        assert!(writer.add(&noise(3, 3, 1)).is_err());
        frames.iter().for_each(|f| writer.add(f).unwrap());
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        assert_eq!(reader.info().animation_control().unwrap().num_frames, 5);
        for frame in &frames {
            let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut buffer).unwrap();
            assert_eq!(&buffer[..info.buffer_size()], rgb(frame).as_slice());
            let control = reader.info().frame_control().unwrap();
            assert_eq!((control.delay_num, control.delay_den), (1, 24));
        }
        assert_eq!(delay(30_000.0 / 1001.0), (1001, 30_000));
    }
}

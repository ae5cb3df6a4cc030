//! Animations as one file: animated PNG, animated WebP, GIF.
//!
//! All are written picture by picture, so that memory does not grow with their length, and beside
//! their place until they are whole.
//!
//! | format | colours | size | opens in |
//! |---|---|---|---|
//! | PNG | exact | largest | browsers, recent viewers |
//! | WebP | exact | about half of it | browsers, recent viewers |
//! | GIF | 256 a picture | smallest | everything |

use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::output::{part_path, rgb};
use crate::{Image, PictureError};

/// Slowest and fastest that pictures follow each other, and how fast if nobody says [1/s].
const SLOWEST: f64 = 0.1;
const FASTEST: f64 = 1000.0;
const USUAL_FPS: f64 = 30.0;
/// Television's rates are whole ones over this: 29.97 is 30 / 1.001.
const TELEVISION: f64 = 1.001;

/// How near a rate is to a whole one, or to one of television's, to be it [1/s].
const WHOLE_RATE: f64 = 1e-9;
const TELEVISION_RATE: f64 = 1e-3;

/// Writes an animation that plays for ever.
pub struct AnimationWriter {
    encoder: Encoder,
    size: (u32, u32),
    part: PathBuf,
    path: PathBuf,
}

enum Encoder {
    Png(Box<png::Writer<BufWriter<File>>>),
    Webp(WebpEncoder),
    Gif(Box<gif::Encoder<BufWriter<File>>>, GifClock),
}

impl AnimationWriter {
    /// Starts an animation of `frames` pictures; the ending of the name tells the format: `.gif`,
    /// `.webp`, anything else is an animated PNG.
    pub fn create(
        path: &Path,
        size: (u32, u32),
        frames: u32,
        fps: f64,
    ) -> Result<Self, PictureError> {
        let part = part_path(path);
        let named = |error| PictureError::File { path: path.to_owned(), error };
        let file = BufWriter::new(File::create(&part).map_err(named)?);
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let encoder = match extension.to_str() {
            Some("gif") => gif_encoder(file, size, fps)?,
            Some("webp") => Encoder::Webp(WebpEncoder::new(file, size, fps)?),
            _ => Encoder::Png(Box::new(png_encoder(file, size, frames, fps)?)),
        };
        Ok(Self { encoder, size, part, path: path.to_owned() })
    }

    /// Adds the next picture.
    pub fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        if (image.width, image.height) != self.size {
            return Err(PictureError::SizesDiffer(self.size, (image.width, image.height)));
        }
        match &mut self.encoder {
            Encoder::Png(writer) => writer.write_image_data(&rgb(image))?,
            Encoder::Webp(writer) => writer.add(image)?,
            Encoder::Gif(writer, clock) => {
                let (width, height) = (self.size.0 as u16, self.size.1 as u16);
                let mut frame = gif::Frame::from_rgb_speed(width, height, &rgb(image), GIF_SPEED);
                frame.delay = clock.next_delay();
                writer.write_frame(&frame).map_err(encoding)?;
            }
        }
        Ok(())
    }

    /// Ends the file and puts it in its place.
    pub fn finish(self) -> Result<(), PictureError> {
        match self.encoder {
            Encoder::Png(writer) => writer.finish()?,
            Encoder::Webp(writer) => writer.finish()?,
            Encoder::Gif(writer, _) => writer.into_inner().map_err(encoding)?.flush()?,
        }
        std::fs::rename(&self.part, &self.path)?;
        Ok(())
    }
}

fn encoding(error: impl std::fmt::Display) -> PictureError {
    PictureError::Encoding(error.to_string())
}

fn usable(fps: f64) -> f64 {
    if fps.is_finite() && fps > 0.0 { fps.clamp(SLOWEST, FASTEST) } else { USUAL_FPS }
}

fn png_encoder(
    file: BufWriter<File>,
    size: (u32, u32),
    frames: u32,
    fps: f64,
) -> Result<png::Writer<BufWriter<File>>, PictureError> {
    let mut encoder = png::Encoder::new(file, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_animated(frames.max(1), 0)?;
    let (numerator, denominator) = png_delay(fps);
    encoder.set_frame_delay(numerator, denominator)?;
    Ok(encoder.write_header()?)
}

/// Time of a frame as a fraction of two 16-bit numbers.
fn png_delay(fps: f64) -> (u16, u16) {
    let fps = usable(fps);
    if (fps - fps.round()).abs() < WHOLE_RATE {
        return (1, fps as u16);
    }
    // 29.97 and friends: 1001 / 30000.
    let thousandths = (fps * TELEVISION).round();
    if (thousandths / TELEVISION - fps).abs() < TELEVISION_RATE {
        return (1001, (thousandths * 1000.0).min(f64::from(u16::MAX)) as u16);
    }
    (1000, (fps * 1000.0).min(f64::from(u16::MAX)) as u16)
}

/// 1 (best) to 30 (quickest) palettes; 10 shows no banding on our skies at a fifth of the time of 1.
const GIF_SPEED: i32 = 10;

fn gif_encoder(file: BufWriter<File>, size: (u32, u32), fps: f64) -> Result<Encoder, PictureError> {
    let side =
        |s: u32| u16::try_from(s).map_err(|_| encoding("a GIF has at most 65535 pixels a side"));
    let mut encoder =
        gif::Encoder::new(file, side(size.0)?, side(size.1)?, &[]).map_err(encoding)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(encoding)?;
    Ok(Encoder::Gif(Box::new(encoder), GifClock { fps: usable(fps), shown: 0, frame: 0 }))
}

/// GIF counts hundredths of a second: delays of 3 and 4 in turn make 30 a second on the whole.
struct GifClock {
    fps: f64,
    shown: u64,
    frame: u64,
}

impl GifClock {
    fn next_delay(&mut self) -> u16 {
        self.frame += 1;
        let until = (self.frame as f64 * 100.0 / self.fps).round() as u64;
        // Players take a delay under 2 for "unknown" and slow down.
        let delay = until.saturating_sub(self.shown).clamp(2, u64::from(u16::MAX));
        self.shown += delay;
        delay as u16
    }
}

/// The WebP container around pictures that a crate encodes: the crate itself writes stills only.
///
/// `RIFF` size `WEBP`, then chunks of a name, a length and a body of even length: `VP8X` (size, flags),
/// `ANIM` (background, loops), and an `ANMF` (place, size, time, picture) per frame.
struct WebpEncoder {
    file: BufWriter<File>,
    size: (u32, u32),
    length: u64,
    clock: MillisecondClock,
}

struct MillisecondClock {
    fps: f64,
    frame: u64,
}

impl MillisecondClock {
    fn next_delay(&mut self) -> u32 {
        let at = |frame: u64| (frame as f64 * 1000.0 / self.fps).round() as u64;
        let delay = at(self.frame + 1) - at(self.frame);
        self.frame += 1;
        delay as u32
    }
}

/// Header of a RIFF file: `RIFF`, length, `WEBP`.
const RIFF_HEADER: usize = 12;

impl WebpEncoder {
    fn new(file: BufWriter<File>, size: (u32, u32), fps: f64) -> Result<Self, PictureError> {
        if size.0.max(size.1) > 16_384 {
            return Err(encoding("a WebP picture has at most 16384 pixels a side"));
        }
        let clock = MillisecondClock { fps: usable(fps), frame: 0 };
        let mut writer = Self { file, size, length: 0, clock };
        writer.put(b"RIFF\0\0\0\0WEBP")?;
        const ANIMATED: u8 = 0x02;
        let mut extended = vec![ANIMATED, 0, 0, 0];
        extended.extend(three_bytes(size.0 - 1));
        extended.extend(three_bytes(size.1 - 1));
        writer.chunk(*b"VP8X", &extended)?;
        let (background, plays_for_ever) = ([255; 4], [0; 2]);
        writer.chunk(*b"ANIM", &[background.as_slice(), &plays_for_ever].concat())?;
        Ok(writer)
    }

    fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        let mut still = Vec::new();
        let (width, height) = self.size;
        image_webp::WebPEncoder::new(&mut still)
            .encode(&rgb(image), width, height, image_webp::ColorType::Rgb8)
            .map_err(encoding)?;
        let mut body = vec![0; 6]; // at the upper left
        body.extend(three_bytes(width - 1));
        body.extend(three_bytes(height - 1));
        body.extend(three_bytes(self.clock.next_delay()));
        const NO_BLENDING: u8 = 0x02;
        body.push(NO_BLENDING);
        body.extend_from_slice(&still[RIFF_HEADER..]);
        self.chunk(*b"ANMF", &body)
    }

    fn finish(mut self) -> Result<(), PictureError> {
        let after_size = u32::try_from(self.length - 8).map_err(|_| encoding("over 4 GiB"))?;
        self.file.seek(SeekFrom::Start(4))?;
        self.file.write_all(&after_size.to_le_bytes())?;
        Ok(self.file.flush()?)
    }

    fn chunk(&mut self, name: [u8; 4], body: &[u8]) -> Result<(), PictureError> {
        self.put(&name)?;
        self.put(&(body.len() as u32).to_le_bytes())?;
        self.put(body)?;
        self.put(&[0][..body.len() % 2])
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), PictureError> {
        self.length += bytes.len() as u64;
        Ok(self.file.write_all(bytes)?)
    }
}

fn three_bytes(value: u32) -> [u8; 3] {
    let [a, b, c, _] = value.to_le_bytes();
    [a, b, c]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::noise;

    const SIZE: (u32, u32) = (17, 9);

    fn write(name: &str, fps: f64) -> (Vec<Image>, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let frames: Vec<Image> = (0..5).map(|seed| noise(SIZE.0, SIZE.1, seed)).collect();
        let mut writer = AnimationWriter::create(&path, SIZE, 5, fps).unwrap();
        assert!(writer.add(&noise(3, 3, 1)).is_err());
        frames.iter().for_each(|f| writer.add(f).unwrap());
        assert!(!path.exists(), "nothing in its place before it is whole");
        writer.finish().unwrap();
        (frames, std::fs::read(&path).unwrap())
    }

    #[test]
    fn an_animated_png_holds_its_frames_and_delay() {
        let (frames, bytes) = write("a.png", 24.0);
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        assert_eq!(reader.info().animation_control().unwrap().num_frames, 5);
        for frame in &frames {
            let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut buffer).unwrap();
            assert_eq!(&buffer[..info.buffer_size()], rgb(frame).as_slice());
            let control = reader.info().frame_control().unwrap();
            assert_eq!((control.delay_num, control.delay_den), (1, 24));
        }
        assert_eq!(png_delay(30_000.0 / 1001.0), (1001, 30_000));
    }

    #[test]
    fn an_animated_webp_holds_its_frames_and_delay() {
        let (frames, bytes) = write("a.webp", 30.0);
        let mut reader = image_webp::WebPDecoder::new(std::io::Cursor::new(&bytes)).unwrap();
        assert!(reader.is_animated() && !reader.is_lossy());
        assert_eq!((reader.dimensions(), reader.num_frames()), (SIZE, 5));
        let mut delays = 0;
        for frame in &frames {
            let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
            delays += reader.read_frame(&mut buffer).unwrap();
            assert_eq!(buffer, rgb(frame));
        }
        assert_eq!(delays, 167, "five frames at 30 a second, to the millisecond");
    }

    #[test]
    fn a_gif_holds_its_frames_and_delay() {
        let (frames, bytes) = write("a.GIF", 30.0);
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut reader = options.read_info(bytes.as_slice()).unwrap();
        let (mut count, mut delays) = (0, 0);
        while let Some(frame) = reader.read_next_frame().unwrap() {
            // 153 pixels have at most as many colours: they all fit.
            let pixels: Vec<[u8; 3]> = frame.buffer.chunks(4).map(|c| [c[0], c[1], c[2]]).collect();
            assert_eq!(pixels.concat(), rgb(&frames[count]));
            delays += u32::from(frame.delay);
            count += 1;
        }
        assert_eq!((count, delays), (5, 17));
    }
}

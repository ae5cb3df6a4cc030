//! PNG sequence: the images over meshes (wetness, stains), one file per image and frame.

use std::io::Write;

use frisson::stage::Image;

use crate::export::ExportError;

/// Writes one image; values are linear, so no colour space is named.
pub(crate) fn write_image(out: impl Write, image: &Image) -> Result<(), ExportError> {
    let texture = &image.texture;
    let mut encoder = png::Encoder::new(out, texture.width, texture.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut w| w.write_image_data(&texture.rgba));
    written.map_err(|e| ExportError::Write(std::io::Error::other(e)))
}

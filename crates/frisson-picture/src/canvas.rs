//! A page that charts are drawn on, kept as marks so that it becomes a picture or an SVG file alike.
//!
//! It is a back end of the plotting crate that brings its own letters: charts come out the same
//! whatever fonts a machine has.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::rc::Rc;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use crate::{Image, font};

#[derive(Clone, Debug)]
enum Mark {
    Path(Vec<BackendCoord>, u32, [u8; 3], f64),
    Fill(Vec<BackendCoord>, [u8; 3], f64),
    Dot(BackendCoord, u32, [u8; 3], bool),
    Text { text: String, at: BackendCoord, size: f64, color: [u8; 3], turned: bool },
}

/// A page of marks.
#[derive(Clone, Debug)]
pub struct Canvas {
    width: u32,
    height: u32,
    marks: Rc<RefCell<Vec<Mark>>>,
}

fn rgb(color: BackendColor) -> [u8; 3] {
    [color.rgb.0, color.rgb.1, color.rgb.2]
}

/// Zoom of the built-in font for a size in points.
fn zoom(size: f64) -> u32 {
    (size / 9.0).round().max(1.0) as u32
}

fn text_size(text: &str, size: f64) -> (i32, i32) {
    let z = zoom(size);
    (font::width(text, z) as i32, (font::HEIGHT * z) as i32)
}

impl Canvas {
    /// An empty page.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, marks: Rc::default() }
    }

    fn add(&self, mark: Mark) {
        self.marks.borrow_mut().push(mark);
    }

    /// As a picture.
    #[must_use]
    pub fn to_image(&self) -> Image {
        let mut image = Image::filled(self.width, self.height, [255; 4]);
        for mark in self.marks.borrow().iter() {
            match mark {
                Mark::Path(points, width, color, alpha) => {
                    for pair in points.windows(2) {
                        let at = |p: BackendCoord| [p.0 as f32 + 0.5, p.1 as f32 + 0.5];
                        let w = (*width).max(1) as f32;
                        image.line(at(pair[0]), at(pair[1]), w, *color, *alpha as f32);
                    }
                }
                Mark::Fill(points, color, alpha) => fill(&mut image, points, *color, *alpha as f32),
                Mark::Dot(at, radius, color, _) => {
                    let p = [at.0 as f32 + 0.5, at.1 as f32 + 0.5];
                    image.line(p, p, 2.0 * *radius as f32, *color, 1.0);
                }
                Mark::Text { text, at, size, color, turned } => {
                    let (x, y) = (i64::from(at.0), i64::from(at.1));
                    font::draw(text, zoom(*size), |dx, dy| {
                        // Turned text is read from below.
                        let (px, py) = if *turned { (x + dy, y - dx) } else { (x + dx, y + dy) };
                        image.blend(px, py, *color, 1.0);
                    });
                }
            }
        }
        image
    }

    /// As an SVG file.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let (w, h) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"white\"/>\n"
        );
        for mark in self.marks.borrow().iter() {
            let _ = writeln!(svg, "{}", svg_mark(mark));
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn hex(color: [u8; 3]) -> String {
    format!("#{:02x}{:02x}{:02x}", color[0], color[1], color[2])
}

fn svg_mark(mark: &Mark) -> String {
    let list = |points: &[BackendCoord]| {
        points.iter().map(|p| format!("{},{}", p.0, p.1)).collect::<Vec<_>>().join(" ")
    };
    match mark {
        Mark::Path(points, width, color, alpha) => format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
             stroke-opacity=\"{alpha}\" stroke-linejoin=\"round\"/>",
            list(points),
            hex(*color)
        ),
        Mark::Fill(points, color, alpha) => format!(
            "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{alpha}\"/>",
            list(points),
            hex(*color)
        ),
        Mark::Dot(at, radius, color, filled) => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" {}=\"{}\"{}/>",
            at.0,
            at.1,
            if *filled { "fill" } else { "stroke" },
            hex(*color),
            if *filled { "" } else { " fill=\"none\"" }
        ),
        Mark::Text { text, at, size, color, turned } => {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let z = zoom(*size);
            let (length, letter) = (font::width(text, z), 10 * z);
            // Text stands on its base line, seven pixels below the top of the letters.
            let (x, y) =
                if *turned { (at.0 + 7 * z as i32, at.1) } else { (at.0, at.1 + 7 * z as i32) };
            let turn =
                if *turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-family=\"monospace\" font-size=\"{letter}\" \
                 textLength=\"{length}\" fill=\"{}\"{turn}>{escaped}</text>",
                hex(*color)
            )
        }
    }
}

/// Fills a polygon by the even-odd rule, at pixel centres.
fn fill(image: &mut Image, points: &[BackendCoord], color: [u8; 3], alpha: f32) {
    let (Some(top), Some(bottom)) =
        (points.iter().map(|p| p.1).min(), points.iter().map(|p| p.1).max())
    else {
        return;
    };
    for y in top.max(0)..=bottom.min(image.height as i32 - 1) {
        let height = f64::from(y) + 0.5;
        let mut cuts: Vec<f64> = (0..points.len())
            .filter_map(|i| {
                let (a, b) = (points[i], points[(i + 1) % points.len()]);
                let (ay, by) = (f64::from(a.1), f64::from(b.1));
                ((ay <= height) != (by <= height))
                    .then(|| f64::from(a.0) + (height - ay) / (by - ay) * f64::from(b.0 - a.0))
            })
            .collect();
        cuts.sort_by(f64::total_cmp);
        for pair in cuts.chunks_exact(2) {
            for x in pair[0].round() as i64..pair[1].round() as i64 {
                image.blend(x, i64::from(y), color, alpha);
            }
        }
    }
}

type Done = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Done {
        let square = vec![at, (at.0 + 1, at.1), (at.0 + 1, at.1 + 1), (at.0, at.1 + 1)];
        self.add(Mark::Fill(square, rgb(color), color.alpha));
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, s: &S) -> Done {
        self.draw_path([from, to], s)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        filled: bool,
    ) -> Done {
        let corners = vec![a, (b.0, a.1), b, (a.0, b.1)];
        if filled {
            return self.fill_polygon(corners, style);
        }
        self.draw_path(corners.into_iter().chain([a]), style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let (color, width) = (style.color(), style.stroke_width());
        if color.alpha > 0.0 {
            self.add(Mark::Path(path.into_iter().collect(), width, rgb(color), color.alpha));
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        filled: bool,
    ) -> Done {
        self.add(Mark::Dot(center, radius, rgb(style.color()), filled));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Done {
        let color = style.color();
        if color.alpha > 0.0 {
            self.add(Mark::Fill(corners.into_iter().collect(), rgb(color), color.alpha));
        }
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Done {
        let (width, height) = text_size(text, style.size());
        let dx = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Right => -width,
            HPos::Center => -width / 2,
        };
        let dy = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => -height / 2,
            VPos::Bottom => -height,
        };
        let turned =
            matches!(style.transform(), FontTransform::Rotate270 | FontTransform::Rotate90);
        let at = if turned { (at.0 + dy, at.1 - dx) } else { (at.0 + dx, at.1 + dy) };
        let (size, color) = (style.size(), rgb(style.color()));
        self.add(Mark::Text { text: text.to_owned(), at, size, color, turned });
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let (width, height) = text_size(text, style.size());
        Ok((width as u32, height as u32))
    }
}

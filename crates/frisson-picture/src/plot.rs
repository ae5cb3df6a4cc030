//! Curves over time: what the layers measured, as a picture or an SVG file.
//!
//! Both come from one list of marks, so that they show the same; the picture brings its own letters, the
//! SVG file uses the reader's.

use std::fmt::Write as _;

use crate::Image;
use crate::font::{self, Size};
use crate::overlay::short;

/// Room above and below the curves, as a share of their extent [-].
const HEADROOM: f64 = 0.06;
/// Room around a single value, as a share of it, and for 0 [-].
const ROOM_AROUND_ONE: f64 = 1e-3;
const ROOM_AROUND_ZERO: f64 = 1e-12;

/// One curve; where a value is missing it has a gap.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Places and values.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A chart of curves.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// What runs to the right, with its unit.
    pub x_label: String,
    /// What runs upwards, with its unit.
    pub y_label: String,
    /// Curves.
    pub curves: Vec<Curve>,
    /// Size [px].
    pub size: (u32, u32),
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            title: String::new(),
            x_label: "time [s]".to_owned(),
            y_label: String::new(),
            curves: Vec::new(),
            size: (720, 360),
        }
    }
}

type Color = [u8; 3];

const COLORS: [Color; 7] = [
    [0, 107, 164],
    [214, 96, 20],
    [60, 140, 70],
    [150, 70, 150],
    [190, 30, 45],
    [110, 110, 110],
    [200, 160, 20],
];
const INK: Color = [40, 40, 44];
const AXIS: Color = [90, 90, 90];
const GRID: Color = [226, 226, 222];
/// Room around the curves: left, top, right, bottom [px].
const MARGINS: [f64; 4] = [92.0, 44.0, 18.0, 52.0];
/// Grid lines of an axis, at most.
const MOST_TICKS: f64 = 7.0;

/// Where a text stands against its place.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Anchor {
    Middle,
    End,
}

/// Something on the page. A text's place is the middle of its line's height.
#[derive(Clone, Debug)]
enum Mark {
    Line { points: Vec<[f64; 2]>, width: f32, color: Color },
    Text { text: String, at: [f64; 2], size: Size, anchor: Anchor },
}

/// Curves mapped to the page.
struct Axes {
    x: (f64, f64),
    y: (f64, f64),
    /// Left, top, right, bottom of the field [px].
    field: [f64; 4],
}

impl Axes {
    fn place(&self, x: f64, y: f64) -> [f64; 2] {
        let [left, top, right, bottom] = self.field;
        let part = |v: f64, (low, high): (f64, f64)| (v - low) / (high - low);
        [left + (right - left) * part(x, self.x), bottom - (bottom - top) * part(y, self.y)]
    }
}

impl Chart {
    /// Draws it as a picture.
    #[must_use]
    pub fn to_image(&self) -> Image {
        let (width, height) = self.clamped_size();
        let mut image = Image::filled(width, height, [255; 4]);
        for mark in self.marks() {
            match mark {
                Mark::Line { points, width, color } => {
                    for pair in points.windows(2) {
                        let [a, b] = [pair[0], pair[1]].map(|p| p.map(|v| v as f32));
                        image.line(a, b, width, color, 1.0);
                    }
                }
                Mark::Text { text, at, size, anchor } => {
                    draw_text(&mut image, &text, at, size, anchor)
                }
            }
        }
        image
    }

    /// Draws it as an SVG file.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let (w, h) = self.clamped_size();
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" font-family=\"system-ui, sans-serif\">\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"white\"/>\n"
        );
        for mark in self.marks() {
            let _ = writeln!(svg, "{}", svg_mark(&mark));
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn clamped_size(&self) -> (u32, u32) {
        (self.size.0.clamp(240, 8192), self.size.1.clamp(160, 8192))
    }

    fn ranges(&self) -> Option<((f64, f64), (f64, f64))> {
        let finite = |v: &f64| v.is_finite();
        let xs = self.curves.iter().flat_map(|c| &c.points).map(|p| p.0).filter(finite);
        let ys = self.curves.iter().flat_map(|c| &c.points).filter_map(|p| p.1).filter(finite);
        Some((padded(extent(xs)?, 0.0), padded(extent(ys)?, HEADROOM)))
    }

    fn marks(&self) -> Vec<Mark> {
        let (width, height) = self.clamped_size();
        let (width, height) = (f64::from(width), f64::from(height));
        let mut marks = Vec::new();
        let text = |text: &str, at: [f64; 2], size: Size, anchor: Anchor| Mark::Text {
            text: text.to_owned(),
            at,
            size,
            anchor,
        };
        let Some((x, y)) = self.ranges() else {
            let title = format!("{}: no data", self.title);
            marks.push(text(&title, [0.5 * width, 20.0], Size::Medium, Anchor::Middle));
            return marks;
        };
        let [left, top, right, bottom] = MARGINS;
        let axes = Axes { x, y, field: [left, top, width - right, height - bottom] };
        marks.push(text(&self.title, [0.5 * width, 18.0], Size::Medium, Anchor::Middle));
        self.add_grid(&axes, &mut marks);
        marks.push(text(&self.x_label, [axes.field[2], height - 14.0], Size::Small, Anchor::End));
        marks.push(text(&self.y_label, [left - 8.0, top - 12.0], Size::Small, Anchor::End));
        for (index, curve) in self.curves.iter().enumerate() {
            let color = COLORS[index % COLORS.len()];
            for part in pieces(&curve.points) {
                let points = part.iter().map(|&(x, y)| axes.place(x, y)).collect();
                let points = thinned(points);
                marks.push(Mark::Line { points, width: 2.0, color });
            }
        }
        self.add_legend(&axes, &mut marks);
        marks
    }

    fn add_grid(&self, axes: &Axes, marks: &mut Vec<Mark>) {
        let [left, top, right, bottom] = axes.field;
        let line = |a: [f64; 2], b: [f64; 2], color: Color| Mark::Line {
            points: vec![a, b],
            width: 1.0,
            color,
        };
        let label = |value: f64, at: [f64; 2], anchor: Anchor| Mark::Text {
            text: short(value as f32),
            at,
            size: Size::Small,
            anchor,
        };
        for value in ticks(axes.x) {
            let [x, _] = axes.place(value, axes.y.0);
            marks.push(line([x, top], [x, bottom], GRID));
            marks.push(label(value, [x, bottom + 14.0], Anchor::Middle));
        }
        for value in ticks(axes.y) {
            let [_, y] = axes.place(axes.x.0, value);
            marks.push(line([left, y], [right, y], GRID));
            marks.push(label(value, [left - 8.0, y], Anchor::End));
        }
        marks.push(Mark::Line {
            points: vec![[left, top], [left, bottom], [right, bottom]],
            width: 1.0,
            color: AXIS,
        });
    }

    fn add_legend(&self, axes: &Axes, marks: &mut Vec<Mark>) {
        if self.curves.len() < 2 {
            return;
        }
        let line_height = f64::from(Size::Small.height()) + 2.0;
        for (index, curve) in self.curves.iter().enumerate() {
            let y = axes.field[1] + 12.0 + line_height * index as f64;
            let x = axes.field[2] - 8.0;
            let color = COLORS[index % COLORS.len()];
            marks.push(Mark::Line { points: vec![[x - 18.0, y], [x, y]], width: 3.0, color });
            let (text, at) = (curve.name.clone(), [x - 24.0, y]);
            marks.push(Mark::Text { text, at, size: Size::Small, anchor: Anchor::End });
        }
    }
}

fn draw_text(image: &mut Image, text: &str, at: [f64; 2], size: Size, anchor: Anchor) {
    let width = font::width(text, size);
    let left = match anchor {
        Anchor::Middle => width / 2,
        Anchor::End => width,
    };
    let top = at[1].round() as i64 - i64::from(size.height() / 2);
    image.text(at[0].round() as i64 - left, top, size, text, INK);
}

fn hex(color: Color) -> String {
    format!("#{:02x}{:02x}{:02x}", color[0], color[1], color[2])
}

fn svg_mark(mark: &Mark) -> String {
    match mark {
        Mark::Line { points, width, color } => {
            let list: Vec<String> = points.iter().map(|[x, y]| format!("{x:.2},{y:.2}")).collect();
            format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"/>",
                list.join(" "),
                hex(*color)
            )
        }
        Mark::Text { text, at: [x, y], size, anchor } => {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let anchor = match anchor {
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            // A third of a letter's height below its middle stands the base line.
            let letter = 0.8 * f64::from(size.height());
            format!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{letter:.1}\" \
                 text-anchor=\"{anchor}\" fill=\"{}\">{escaped}</text>",
                y + 0.35 * letter,
                hex(INK)
            )
        }
    }
}

/// Round numbers inside a range: multiples of 1, 2 or 5 times a power of ten.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / MOST_TICKS;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * power).find(|s| *s >= rough);
    let Some(step) = step.filter(|s| s.is_finite() && *s > 0.0) else { return Vec::new() };
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    // As many as there can be, whatever rounding says.
    let count = (last - first).clamp(-1.0, 2.0 * MOST_TICKS) as i64;
    (0..=count).map(|i| (first + i as f64) * step).collect()
}

/// Runs of points without gaps.
fn pieces(points: &[(f64, Option<f64>)]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = vec![Vec::new()];
    for &(x, y) in points {
        match y.filter(|y| y.is_finite() && x.is_finite()) {
            Some(y) => pieces.last_mut().into_iter().for_each(|p| p.push((x, y))),
            None => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|p| !p.is_empty());
    pieces
}

/// A line through as many points as can be told apart: of those above one pixel, the first, the lowest, the highest and
/// the last. The line covers the same pixels, and an hour's curve is no larger than a minute's.
fn thinned(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let mut thin = Vec::new();
    for column in points.chunk_by(|a, b| a[0].floor() == b[0].floor()) {
        let last = column.len() - 1;
        let by_height = |a: &usize, b: &usize| column[*a][1].total_cmp(&column[*b][1]);
        let lowest = (0..=last).min_by(by_height).unwrap_or(0);
        let highest = (0..=last).max_by(by_height).unwrap_or(0);
        let mut kept = [0, lowest, highest, last];
        // In the order of time, or the line would run back.
        kept.sort_unstable();
        let is_new = |k: &usize| *k == 0 || kept[*k] != kept[*k - 1];
        thin.extend((0..kept.len()).filter(is_new).map(|k| column[kept[k]]));
    }
    thin
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range: Option<(f64, f64)>, v| {
        let (low, high) = range.unwrap_or((v, v));
        Some((low.min(v), high.max(v)))
    })
}

/// A range with some room; never empty.
fn padded((low, high): (f64, f64), part: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    let least = if high > low { 0.0 } else { (size * ROOM_AROUND_ONE).max(ROOM_AROUND_ZERO) };
    let room = ((high - low) * part).max(least);
    (low - room, high + room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_keeps_what_can_be_seen_of_it() {
        let place = |k: usize| [k as f64 * 0.01, (k as f64 * 0.7).sin()];
        let mut long: Vec<[f64; 2]> = (0..10_000).map(place).collect();
        long[5_555][1] = 9.0;
        let thin = thinned(long.clone());
        assert!(thin.len() <= 4 * 100 && thin.len() > 100, "{}", thin.len());
        assert!(thin.contains(&long[5_555]), "a peak of one point");
        assert_eq!((thin[0], thin[thin.len() - 1]), (long[0], long[9_999]));
        assert!(thin.is_sorted_by(|a, b| a[0] < b[0]));
        // What is short stays as it is.
        let short: Vec<[f64; 2]> = (0..50).map(|k| [k as f64, place(k)[1]]).collect();
        assert_eq!(thinned(short.clone()), short);
    }

    fn chart(values: &[Option<f64>]) -> Chart {
        let points = values.iter().enumerate().map(|(i, v)| (i as f64 * 0.1, *v)).collect();
        Chart {
            title: "elongation <belly>".into(),
            y_label: "m".into(),
            curves: vec![
                Curve { name: "belly".into(), points },
                Curve { name: "flat".into(), points: vec![(0.0, Some(1.0)), (1.0, Some(1.0))] },
            ],
            ..Chart::default()
        }
    }

    #[test]
    fn a_curve_passes_through_its_points_in_both_forms() {
        let chart = chart(&[Some(0.0), Some(2.0), None, Some(f64::NAN), Some(1.0), Some(0.5)]);
        let svg = chart.to_svg();
        assert!(svg.contains("elongation &lt;belly&gt;") && svg.ends_with("</svg>\n"));
        // Two pieces and the legend.
        assert_eq!(svg.matches("#006ba4").count(), 3);
        // The highest value lies under the top of the field by the room above it, the time at its left.
        let room = 0.06 / 1.12;
        let top = MARGINS[1] + room * (360.0 - MARGINS[1] - MARGINS[3]);
        let x = MARGINS[0] + 0.1 * (720.0 - MARGINS[0] - MARGINS[2]);
        assert!(svg.contains(&format!("{x:.2},{top:.2}")), "{svg}");
        let image = chart.to_image();
        let pixel = image.pixels[top.floor() as usize * 720 + x.floor() as usize];
        assert!(pixel[2] > 120 && pixel[0] < 80, "{pixel:?}");
    }

    #[test]
    fn ticks_are_round_inside_and_few() {
        assert_eq!(ticks((0.0, 1.0)), vec![0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks((-3.0, 11.0)), vec![-2.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        for range in [(0.0, 1e-9), (-1e30, 1e30), (5.0, 5.1), (1e9, 1e9 + 1.0)] {
            let found = ticks(range);
            assert!((1..=9).contains(&found.len()), "{range:?}: {found:?}");
            let inside = |v: &f64| (range.0..=range.1).contains(v);
            assert!(found.iter().all(inside), "{range:?}: {found:?}");
        }
    }

    #[test]
    fn charts_without_data_or_with_one_value_are_drawn() {
        for values in [&[][..], &[None], &[Some(3.0)], &[Some(1e30), Some(-1e30)]] {
            let mut chart = chart(values);
            chart.curves.truncate(1);
            assert_eq!(chart.to_image().width, 720);
            assert!(chart.to_svg().ends_with("</svg>\n"));
        }
    }
}

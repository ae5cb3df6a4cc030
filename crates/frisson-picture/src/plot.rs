//! Curves over time: what the layers measured, as a picture or an SVG file.

use plotters::prelude::*;

use crate::canvas::Canvas;
use crate::{Image, PictureError};

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

const COLORS: [RGBColor; 7] = [
    RGBColor(0, 107, 164),
    RGBColor(214, 96, 20),
    RGBColor(60, 140, 70),
    RGBColor(150, 70, 150),
    RGBColor(190, 30, 45),
    RGBColor(110, 110, 110),
    RGBColor(200, 160, 20),
];

impl Chart {
    /// Draws it.
    pub fn draw(&self) -> Result<Canvas, PictureError> {
        let (width, height) = (self.size.0.clamp(120, 8192), self.size.1.clamp(80, 8192));
        let canvas = Canvas::new(width, height);
        self.draw_on(canvas.clone()).map_err(|e| PictureError::Chart(e.to_string()))?;
        Ok(canvas)
    }

    /// Draws it as a picture.
    pub fn to_image(&self) -> Result<Image, PictureError> {
        Ok(self.draw()?.to_image())
    }

    /// Draws it as an SVG file.
    pub fn to_svg(&self) -> Result<String, PictureError> {
        Ok(self.draw()?.to_svg())
    }

    fn ranges(&self) -> Option<((f64, f64), (f64, f64))> {
        let finite = |v: &f64| v.is_finite();
        let xs = self.curves.iter().flat_map(|c| &c.points).map(|p| p.0).filter(finite);
        let ys = self.curves.iter().flat_map(|c| &c.points).filter_map(|p| p.1).filter(finite);
        Some((extent(xs)?, padded(extent(ys)?)))
    }

    fn draw_on(&self, canvas: Canvas) -> Result<(), Box<dyn std::error::Error>> {
        let root = canvas.into_drawing_area();
        root.fill(&WHITE)?;
        let text = |size: i32| ("sans-serif", size).into_font().color(&RGBColor(40, 40, 44));
        let Some((x, y)) = self.ranges() else {
            root.draw(&Text::new(format!("{}: no data", self.title), (12, 12), text(18)))?;
            return Ok(root.present()?);
        };
        let mut chart = ChartBuilder::on(&root)
            .caption(&self.title, text(18))
            .margin(10)
            .x_label_area_size(34)
            .y_label_area_size(76)
            .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
        let number = |v: &f64| crate::overlay::short(*v as f32);
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .label_style(text(9))
            .axis_desc_style(text(9))
            .light_line_style(RGBColor(242, 242, 240))
            .bold_line_style(RGBColor(222, 222, 218))
            .axis_style(RGBColor(90, 90, 90))
            .max_light_lines(2)
            .draw()?;
        for (index, curve) in self.curves.iter().enumerate() {
            let style = COLORS[index % COLORS.len()].stroke_width(2);
            for part in pieces(&curve.points) {
                chart.draw_series(LineSeries::new(part, style))?;
            }
        }
        if self.curves.len() > 1 {
            // The crate's own legend asks for an installed font.
            let widest = self.curves.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
            let left = self.size.0 as i32 - 30 - 6 * widest as i32;
            for (index, curve) in self.curves.iter().enumerate() {
                let y = 40 + 14 * index as i32;
                let style = COLORS[index % COLORS.len()].stroke_width(2);
                root.draw(&PathElement::new(vec![(left - 22, y + 4), (left - 6, y + 4)], style))?;
                root.draw(&Text::new(curve.name.clone(), (left, y), text(9)))?;
            }
        }
        Ok(root.present()?)
    }
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

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range: Option<(f64, f64)>, v| {
        let (low, high) = range.unwrap_or((v, v));
        Some((low.min(v), high.max(v)))
    })
}

/// A range with some room; never empty.
fn padded((low, high): (f64, f64)) -> (f64, f64) {
    let room = ((high - low) * 0.06).max(low.abs().max(high.abs()) * 1e-6).max(1e-12);
    (low - room, high + room)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let svg = chart.to_svg().unwrap();
        assert!(svg.contains("elongation &lt;belly&gt;") && svg.ends_with("</svg>\n"));
        let curve = svg.matches("#006ba4").count();
        assert!(curve >= 3, "two pieces and a legend: {curve}");
        let image = chart.to_image().unwrap();
        let blue = image.pixels.iter().filter(|p| p[2] > 120 && p[0] < 80).count();
        assert!(blue > 100, "{blue}");
    }

    #[test]
    fn charts_without_data_or_with_one_value_are_drawn() {
        for values in [&[][..], &[None], &[Some(3.0)], &[Some(1e30), Some(-1e30)]] {
            let mut chart = chart(values);
            chart.curves.truncate(1);
            assert!(chart.to_image().is_ok());
        }
    }
}

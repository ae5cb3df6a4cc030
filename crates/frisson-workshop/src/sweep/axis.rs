//! One parameter of a sweep and the values it takes: `layers.belly.frequency_hz=2..6/5`.

use crate::WorkshopError;

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Where it stands in the scene, with dots: `layers.belly.frequency_hz`.
    pub path: String,
    /// What it may be.
    pub values: Values,
}

/// What a parameter may be. Single values are kept as TOML spells them.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One of these.
    List(Vec<String>),
    /// A number between two, both included.
    Range {
        /// Least.
        low: f64,
        /// Largest.
        high: f64,
        /// How many of a grid.
        count: Option<usize>,
        /// Whether steps are ratios.
        logarithmic: bool,
        /// Whether only whole numbers will do.
        whole: bool,
    },
}

/// Least significant digits that a sampled number keeps: what is written back should be readable.
const DIGITS: i32 = 4;

impl Axis {
    /// Reads `PATH=VALUES`.
    pub fn parse(text: &str) -> Result<Self, WorkshopError> {
        let Some((path, values)) = text.split_once('=') else {
            return Err(WorkshopError::advised(
                format!("--set {text}: no values are given"),
                "write PATH=VALUES, such as layers.belly.frequency_hz=2..6/5 or ….damping_ratio=0.1,0.3",
            ));
        };
        let (path, values) = (path.trim(), values.trim());
        if path.is_empty() || values.is_empty() {
            return Err(WorkshopError::input(format!("--set {text}: path or values are missing")));
        }
        let range = parse_range(values).map_err(|why| {
            WorkshopError::advised(
                format!("--set {text}: {why}"),
                "ranges look like 2..6/5 (five values), 0.1..10/5log (steps are ratios) or 2..6 (for samples)",
            )
        })?;
        let values = match range {
            Some(range) => range,
            None => Values::List(split(values).iter().map(|v| spelled(v)).collect()),
        };
        Ok(Self { path: path.to_owned(), values })
    }

    /// Whether it takes more than one value.
    #[must_use]
    pub fn varies(&self) -> bool {
        match &self.values {
            Values::List(list) => list.len() > 1,
            Values::Range { low, high, .. } => low < high,
        }
    }

    /// The values of a grid; nothing where a range does not say how many.
    #[must_use]
    pub fn grid(&self) -> Option<Vec<String>> {
        match &self.values {
            Values::List(list) => Some(list.clone()),
            Values::Range { count, .. } => {
                let count = (*count)?;
                let share = |i: usize| i as f64 / (count - 1).max(1) as f64;
                let mut values: Vec<String> = (0..count).map(|i| self.at(share(i))).collect();
                // Whole numbers of a short range may meet.
                values.dedup();
                Some(values)
            }
        }
    }

    /// The value at a share of the way, from 0 to 1.
    #[must_use]
    pub fn at(&self, share: f64) -> String {
        let share = share.clamp(0.0, 1.0);
        match &self.values {
            Values::List(list) => {
                let index = (share * list.len() as f64) as usize;
                list[index.min(list.len() - 1)].clone()
            }
            &Values::Range { low, high, logarithmic, whole, .. } => {
                let value = if logarithmic {
                    low * (high / low).powf(share)
                } else {
                    low + (high - low) * share
                };
                // Digits count from the size of a step: where steps are ratios, from the value itself.
                let unit = if logarithmic { value } else { high - low };
                number(if whole { value.round() } else { rounded(value, unit) }, whole)
            }
        }
    }
}

/// A number to as many decimals as four digits of `unit` have.
fn rounded(value: f64, unit: f64) -> f64 {
    let magnitude = unit.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    let decimals = (DIGITS - 1 - magnitude).clamp(0, 300);
    let scale = 10f64.powi(decimals);
    let value = (value * scale).round() / scale;
    if value.is_finite() { value } else { unit }
}

fn number(value: f64, whole: bool) -> String {
    if whole { format!("{value:.0}") } else { format!("{value:?}") }
}

/// A range, or nothing where the text is a list.
fn parse_range(text: &str) -> Result<Option<Values>, String> {
    let Some((low, rest)) = text.split_once("..") else { return Ok(None) };
    // Text and lists may hold two dots as well.
    let Ok(low) = low.trim().parse::<f64>() else { return Ok(None) };
    let (high, count) = match rest.split_once('/') {
        Some((high, count)) => (high, Some(count.trim())),
        None => (rest, None),
    };
    let logarithmic = count.is_some_and(|c| c.ends_with("log"));
    let count = count.map(|c| c.trim_end_matches("log")).filter(|c| !c.is_empty());
    let high: f64 = high.trim().parse().map_err(|_| format!("{high:?} is not a number"))?;
    let count = match count {
        Some(text) => match text.trim().parse::<usize>() {
            Ok(count) if count >= 2 => Some(count),
            _ => return Err(format!("{text:?} is not a number of values from 2")),
        },
        None => None,
    };
    if !(low.is_finite() && high.is_finite()) || low >= high {
        return Err("a range goes from a lower to a higher number".to_owned());
    }
    if logarithmic && low <= 0.0 {
        return Err("steps that are ratios need a range above 0".to_owned());
    }
    Ok(Some(Values::Range { low, high, count, logarithmic, whole: false }))
}

/// The parts of a list, at commas that are in no bracket and no quotes.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0i32, false);
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(character);
        }
    }
    parts.iter().map(|p| p.trim().to_owned()).filter(|p| !p.is_empty()).collect()
}

/// A value as TOML spells it; bare words are text.
fn spelled(text: &str) -> String {
    match text.parse::<toml_edit::Value>() {
        Ok(_) => text.to_owned(),
        // Nobody wants to quote words within a shell's own quotes.
        Err(_) => toml_edit::Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Vec<String> {
        Axis::parse(text).expect("an axis").grid().expect("a grid")
    }

    #[test]
    fn ranges_lists_and_words_are_understood() {
        assert_eq!(grid("a.b=2..6/5"), ["2.0", "3.0", "4.0", "5.0", "6.0"]);
        assert_eq!(grid("a=0.1,0.3"), ["0.1", "0.3"]);
        assert_eq!(grid("a=0.01..1/3log"), ["0.01", "0.1", "1.0"]);
        assert_eq!(grid("a=-1..1/2"), ["-1.0", "1.0"]);
        assert_eq!(grid("a=from_both, from_a"), ["\"from_both\"", "\"from_a\""]);
        assert_eq!(grid("a=[0, 1],[2, 3]"), ["[0, 1]", "[2, 3]"]);
        assert_eq!(grid("a=true"), ["true"]);
        assert_eq!(Axis::parse("a=2..6").expect("a range").grid(), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for bad in ["a", "=1", "a=", "a=6..2/3", "a=1..2/1", "a=1..x/3", "a=0..2/3log", "a=1..2/x"]
        {
            assert!(Axis::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sampled_numbers_stay_within_and_are_short() {
        let axis = Axis::parse("a=0.1..0.7").expect("a range");
        for i in 0..=100 {
            let text = axis.at(f64::from(i) / 100.0);
            let value: f64 = text.parse().expect("a number");
            assert!((0.1..=0.7).contains(&value) && text.len() <= 6, "{text}");
        }
        let list = Axis::parse("a=1,2,3").expect("a list");
        assert_eq!([0.0, 0.5, 1.0].map(|s| list.at(s)), ["1", "2", "3"]);
    }
}

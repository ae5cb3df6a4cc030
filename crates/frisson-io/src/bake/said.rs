//! What layers say over a whole cache.

use frisson::stage::LayerReport;
use serde::Serialize;

use crate::cache::CacheReader;
use crate::limits::Limits;
use crate::source::{FrameSource, SourceError};
use crate::warnings::Warnings;

/// A number a layer measured, over the whole shot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasureSeries {
    /// Layer.
    pub layer: String,
    /// What.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// One value per frame, from the first; nothing where the layer said nothing.
    pub values: Vec<Option<f64>>,
}

/// What layers say over a whole cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// What they measured.
    pub measures: Vec<MeasureSeries>,
    /// What they warned about, each once; the first of them where there are very many.
    pub warnings: Vec<String>,
}

/// Reads what the layers of a cache measured and warned about, over all its frames.
pub fn read_reports(reader: &mut CacheReader) -> Result<Said, SourceError> {
    let names: Vec<String> = reader.header().layers.iter().map(|(_, n)| n.clone()).collect();
    let (first, last) = (reader.info().first_frame, reader.info().last_frame);
    let mut all = Said::default();
    let mut warnings = Warnings::new(Limits::in_force().messages);
    for frame in first..=last {
        let row = (frame - first) as usize;
        for (layer, report) in names.iter().zip(reader.read_reports(frame)?) {
            all.add_measures(layer, &report, row);
            for warning in &report.warnings {
                warnings.add(format!("{layer}: {warning}"));
            }
        }
    }
    all.warnings = warnings.into_list();
    Ok(all)
}

impl Said {
    fn add_measures(&mut self, layer: &str, report: &LayerReport, row: usize) {
        for measure in &report.measures {
            let same = |s: &MeasureSeries| s.layer == layer && s.name == measure.name;
            let index = self.measures.iter().position(same).unwrap_or_else(|| {
                self.measures.push(MeasureSeries {
                    layer: layer.to_owned(),
                    name: measure.name.clone(),
                    unit: measure.unit.clone(),
                    values: Vec::new(),
                });
                self.measures.len() - 1
            });
            let values = &mut self.measures[index].values;
            // Rows that were passed over, where the layer said nothing.
            values.resize(row, None);
            values.push(measure.value.is_finite().then_some(measure.value));
        }
    }
}

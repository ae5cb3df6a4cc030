//! A layer as it is read, whatever its encoding: specs with fields.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::Result;
use super::binary::CrateValues;

/// Names occur thousands of times: they are shared.
pub(super) type Name = Arc<str>;

/// A field's value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Read already.
    Held(Arc<Data>),
    /// The word by which a crate file names it.
    Stored(u64),
    /// Values by time.
    Samples(Arc<Vec<(f64, Value)>>),
}

/// What a value is once it is read. One number is an array of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    /// There is no value on purpose.
    Block,
    Ints(Vec<i64>),
    /// `extent` numbers an element. Matrices row by row as USD has them, rotations as x, y, z, w.
    Numbers {
        extent: usize,
        values: Vec<f64>,
    },
    /// Tokens, strings, files, paths.
    Texts(Vec<Name>),
    References(Vec<Reference>),
    /// Chosen variants by set.
    Selections(Vec<(Name, Name)>),
    /// Offset and scale of the times of sublayers.
    Offsets(Vec<(f64, f64)>),
    /// What no reader here asks for.
    Other,
}

/// A reference or a payload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reference {
    /// The file; empty for this layer itself.
    pub asset: Name,
    /// The prim; empty for the file's default one.
    pub path: Name,
    pub offset: f64,
    pub scale: f64,
}

impl Data {
    pub fn one_text(text: &str) -> Self {
        Self::Texts(vec![text.into()])
    }

    pub fn texts(&self) -> &[Name] {
        match self {
            Self::Texts(texts) => texts,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&Name> {
        self.texts().first()
    }

    /// All numbers, whatever their extent.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Ints(values) => values.iter().map(|&v| v as f64).collect(),
            Self::Numbers { values, .. } => values.clone(),
            _ => Vec::new(),
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Ints(values) => values.first().map(|&v| v as f64),
            Self::Numbers { values, .. } => values.first().copied(),
            _ => None,
        }
    }

    pub fn ints(&self) -> Vec<i64> {
        match self {
            Self::Ints(values) => values.clone(),
            Self::Numbers { values, .. } => values.iter().map(|&v| v as i64).collect(),
            _ => Vec::new(),
        }
    }
}

/// What a spec is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SpecKind {
    #[default]
    Prim,
    Attribute,
    Relationship,
}

/// A prim, a variant of one, or a property.
#[derive(Debug, Default)]
pub(super) struct Spec {
    pub kind: SpecKind,
    pub fields: Vec<(Name, Value)>,
    /// Prims below, in order.
    pub prims: Vec<(Name, usize)>,
    pub properties: BTreeMap<Name, usize>,
    /// Set, variant and what it holds.
    pub variants: Vec<(Name, Name, usize)>,
}

impl Spec {
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(n, _)| &**n == name).map(|(_, v)| v)
    }
}

/// A layer: specs, the first of which is the root.
pub(super) struct Layer {
    pub specs: Vec<Spec>,
    /// Where stored values lie.
    pub values: Option<CrateValues>,
    /// Its name among the assets.
    pub key: String,
    /// Prims by the spec above them and their name, made when the first is looked for.
    by_name: OnceLock<BTreeMap<(usize, Name), usize>>,
}

impl Layer {
    /// A layer of some specs, the first of which is the root.
    pub fn new(specs: Vec<Spec>, key: &str) -> Self {
        Self { specs, values: None, key: key.to_owned(), by_name: OnceLock::new() }
    }

    /// Reads a value.
    pub fn data(&self, value: &Value) -> Result<Arc<Data>> {
        match (value, &self.values) {
            (Value::Held(data), _) => Ok(Arc::clone(data)),
            (Value::Stored(word), Some(values)) => values.read(*word).map(Arc::new),
            _ => Ok(Arc::new(Data::Other)),
        }
    }

    /// Field of a spec, read.
    pub fn field(&self, spec: usize, name: &str) -> Result<Option<Arc<Data>>> {
        self.specs[spec].field(name).map(|v| self.data(v)).transpose()
    }

    /// The spec of a prim.
    pub fn find(&self, path: &str) -> Option<usize> {
        let by_name = self.by_name.get_or_init(|| {
            let below = |(at, spec): (usize, &Spec)| {
                spec.prims.iter().map(move |(name, child)| ((at, name.clone()), *child)).collect()
            };
            self.specs.iter().enumerate().flat_map(|s| -> Vec<_> { below(s) }).collect()
        });
        let mut names = path.split('/').filter(|n| !n.is_empty());
        names.try_fold(0, |spec, name| by_name.get(&(spec, name.into())).copied())
    }

    /// Times and values of a field of samples.
    pub fn samples(&self, value: &Value) -> Result<(Vec<f64>, Vec<Value>)> {
        match (value, &self.values) {
            (Value::Stored(word), Some(values)) => values.samples(*word),
            (Value::Samples(samples), _) => Ok(samples.iter().cloned().unzip()),
            _ => Ok((Vec::new(), Vec::new())),
        }
    }
}

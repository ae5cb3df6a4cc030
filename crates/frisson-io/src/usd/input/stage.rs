//! Layers composed into prims.
//!
//! A prim is a list of opinions, strongest first: its specs in the layers of a stack, then what they
//! inherit, their chosen variants, their references, their payloads, each with all of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assets::Assets;
use super::layer::{Data, Layer, Name, Spec};
use super::{Result, UsdError};
use crate::inputs::check_count;

/// Longest chain of references that one prim may have.
const MOST_ARCS: usize = 32;
/// Deepest prim.
const MOST_LEVELS: usize = 128;
/// Opinions that all prims may have together, per prim of the limit: a scene has one to three each.
pub(super) const OPINIONS_PER_NODE: u64 = 16;

/// Where a spec counts.
#[derive(Clone, Copy)]
pub(super) struct Opinion {
    pub layer: usize,
    pub spec: usize,
    pub context: usize,
}

/// How a layer's paths and times become the stage's.
#[derive(Clone)]
pub(super) struct Context {
    /// Prim in the layer, and what it is here.
    pub from: String,
    pub to: String,
    /// Layers that see each other, strongest first.
    pub stack: usize,
    pub offset: f64,
    pub scale: f64,
}

/// A prim of the composed scene.
pub(super) struct Prim {
    pub path: String,
    pub name: Name,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    pub type_name: Name,
    pub opinions: Vec<Opinion>,
}

/// A layer in a stack, with the offset and scale of its times.
type Stacked = (usize, f64, f64);

/// The composed scene.
pub(super) struct Stage {
    pub assets: Assets,
    pub layers: Vec<Layer>,
    pub prims: Vec<Prim>,
    pub warnings: Vec<String>,
    by_path: BTreeMap<String, usize>,
    pub(super) contexts: Vec<Context>,
    pub(super) stacks: Vec<Vec<Stacked>>,
    stack_of: BTreeMap<String, Option<usize>>,
    pub(super) opinions: u64,
}

impl Stage {
    pub fn new(assets: Assets, root: Layer) -> Result<Self> {
        let mut stage = Self {
            assets,
            layers: Vec::new(),
            prims: Vec::new(),
            warnings: Vec::new(),
            by_path: BTreeMap::new(),
            contexts: Vec::new(),
            stacks: Vec::new(),
            stack_of: BTreeMap::new(),
            opinions: 0,
        };
        let key = root.key.clone();
        let stack = stage.add_stack(root)?;
        stage.stack_of.insert(key, Some(stack));
        let context = Context { from: "/".into(), to: "/".into(), stack, offset: 0.0, scale: 1.0 };
        let opinions = stage.stack_opinions(&context, 0)?;
        stage.compose_children(None, "", &opinions, 0)?;
        Ok(stage)
    }

    pub fn warn(&mut self, warning: String) {
        let most = self.assets.inputs.limits().messages as usize;
        if self.warnings.len() < most && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// A field of the first layer's root.
    pub fn metadata(&self, name: &str) -> Result<Option<Arc<Data>>> {
        self.layers[0].field(0, name)
    }

    /// Time codes a second of a layer.
    pub(super) fn codes_per_second(layer: &Layer) -> Result<f64> {
        for name in ["timeCodesPerSecond", "framesPerSecond"] {
            let number = layer.field(0, name)?.and_then(|d| d.number());
            if let Some(rate) = number.filter(|r| r.is_finite() && *r > 0.0) {
                return Ok(rate);
            }
        }
        Ok(24.0)
    }

    pub fn rate(&self) -> Result<f64> {
        Self::codes_per_second(&self.layers[0])
    }

    /// A layer and its sublayers.
    fn add_stack(&mut self, root: Layer) -> Result<usize> {
        let mut stack = Vec::new();
        let mut seen = BTreeSet::new();
        self.add_layer(root, 0.0, 1.0, &mut stack, &mut seen)?;
        self.stacks.push(stack);
        Ok(self.stacks.len() - 1)
    }

    fn add_layer(
        &mut self,
        layer: Layer,
        offset: f64,
        scale: f64,
        stack: &mut Vec<Stacked>,
        seen: &mut BTreeSet<String>,
    ) -> Result<()> {
        if !seen.insert(layer.key.clone()) || seen.len() > MOST_ARCS * MOST_ARCS {
            return Ok(());
        }
        let names = layer.field(0, "subLayers")?;
        let offsets = layer.field(0, "subLayerOffsets")?;
        let rate = Self::codes_per_second(&layer)?;
        let keys: Vec<String> = names
            .iter()
            .flat_map(|n| n.texts().to_vec())
            .map(|name| self.assets.resolve(&layer, &name))
            .collect();
        self.layers.push(layer);
        stack.push((self.layers.len() - 1, offset, scale));
        for (index, key) in keys.into_iter().enumerate() {
            let own = match offsets.as_deref() {
                Some(Data::Offsets(list)) => list.get(index).copied().unwrap_or((0.0, 1.0)),
                _ => (0.0, 1.0),
            };
            match self.assets.layer(&key) {
                Ok(below) => {
                    // Layers of another rate are brought to this one's.
                    let step = own.1 * rate / Self::codes_per_second(&below)?;
                    let (offset, scale) = (offset + scale * own.0, scale * step);
                    self.add_layer(below, offset, scale, stack, seen)?;
                }
                Err(problem) => self.warn(format!("layer {key:?} is left out: {problem}")),
            }
        }
        Ok(())
    }

    /// The stack of a file that is referred to.
    pub(super) fn stack_of(&mut self, key: String) -> Result<Option<usize>> {
        if let Some(known) = self.stack_of.get(&key) {
            return Ok(*known);
        }
        let found = match self.assets.layer(&key) {
            Ok(layer) => Some(self.add_stack(layer)?),
            Err(UsdError::Input(problem @ crate::inputs::InputError::TooMuch { .. })) => {
                return Err(problem.into());
            }
            Err(problem) => {
                self.warn(format!("{key:?} is left out: {problem}"));
                None
            }
        };
        self.stack_of.insert(key, found);
        Ok(found)
    }

    /// The specs of a context's prim in all layers of its stack.
    pub(super) fn stack_opinions(
        &mut self,
        context: &Context,
        arcs: usize,
    ) -> Result<Vec<Opinion>> {
        let mut out = Vec::new();
        if arcs > MOST_ARCS {
            self.warn(format!("{}: its references go round in circles or too far", context.to));
            return Ok(out);
        }
        for (layer, offset, scale) in self.stacks[context.stack].clone() {
            if let Some(spec) = self.layers[layer].find(&context.from) {
                let mut own = context.clone();
                own.offset += own.scale * offset;
                own.scale *= scale;
                self.contexts.push(own);
                out.push(Opinion { layer, spec, context: self.contexts.len() - 1 });
            }
        }
        Ok(out)
    }

    pub fn spec(&self, opinion: &Opinion) -> &Spec {
        &self.layers[opinion.layer].specs[opinion.spec]
    }

    pub fn opinion_field(&self, opinion: &Opinion, name: &str) -> Result<Option<Arc<Data>>> {
        self.layers[opinion.layer].field(opinion.spec, name)
    }

    fn compose_children(
        &mut self,
        parent: Option<usize>,
        path: &str,
        opinions: &[Opinion],
        level: usize,
    ) -> Result<()> {
        if level > MOST_LEVELS {
            self.warn(format!("{path}: what is nested deeper is left out"));
            return Ok(());
        }
        let mut order: Vec<Name> = Vec::new();
        let mut known = BTreeSet::new();
        let mut specs: BTreeMap<Name, Vec<Opinion>> = BTreeMap::new();
        for opinion in opinions {
            for (name, spec) in &self.spec(opinion).prims {
                if known.insert(name.clone()) {
                    order.push(name.clone());
                }
                specs.entry(name.clone()).or_default().push(Opinion { spec: *spec, ..*opinion });
            }
        }
        for name in order {
            let group = specs.remove(&name).unwrap_or_default();
            self.compose_prim(parent, format!("{path}/{name}"), name, group, level)?;
        }
        Ok(())
    }

    fn compose_prim(
        &mut self,
        parent: Option<usize>,
        path: String,
        name: Name,
        group: Vec<Opinion>,
        level: usize,
    ) -> Result<()> {
        let mut opinions = Vec::new();
        self.expand(&path, group, 0, &mut opinions)?;
        // Twice the same spec says nothing more.
        let mut seen = BTreeSet::new();
        opinions.retain(|o| seen.insert((o.layer, o.spec)));
        if !self.is_shown(&opinions)? {
            return Ok(());
        }
        let mut type_name: Name = "".into();
        for opinion in &opinions {
            if let Some(found) =
                self.opinion_field(opinion, "typeName")?.and_then(|d| d.text().cloned())
            {
                type_name = found;
                break;
            }
        }
        let index = self.prims.len();
        let limit = self.assets.inputs.limits().nodes;
        check_count("prims", index as u64 + 1, limit)?;
        if let Some(parent) = parent {
            self.prims[parent].children.push(index);
        }
        let below = opinions.clone();
        self.by_path.insert(path.clone(), index);
        let children = Vec::new();
        self.prims.push(Prim { path: path.clone(), name, parent, children, type_name, opinions });
        self.compose_children(Some(index), &path, &below, level + 1)
    }

    /// Whether a prim is defined and switched on.
    fn is_shown(&self, opinions: &[Opinion]) -> Result<bool> {
        const OVER: i64 = 1;
        let mut specifier = OVER;
        let mut active = None;
        for opinion in opinions {
            let own = self.opinion_field(opinion, "specifier")?.and_then(|d| d.number());
            if specifier == OVER {
                specifier = own.map_or(OVER, |s| s as i64);
            }
            if active.is_none() {
                active = self.opinion_field(opinion, "active")?.and_then(|d| d.number());
            }
        }
        Ok(specifier == 0 && active != Some(0.0))
    }

    /// Strength of opinions about a property, strongest first.
    pub fn property<'a>(
        &'a self,
        prim: usize,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a Opinion, &'a Spec)> {
        self.prims[prim].opinions.iter().filter_map(move |opinion| {
            let spec = *self.spec(opinion).properties.get(name)?;
            Some((opinion, &self.layers[opinion.layer].specs[spec]))
        })
    }

    /// Offset and scale from an opinion's times to ours.
    pub fn times(&self, opinion: &Opinion) -> (f64, f64) {
        let context = &self.contexts[opinion.context];
        (context.offset, context.scale)
    }

    /// What a relationship or a connection leads to.
    pub fn targets(&self, prim: usize, name: &str) -> Result<Vec<String>> {
        for (opinion, spec) in self.property(prim, name) {
            for field in ["targetPaths", "connectionPaths"] {
                if let Some(value) = spec.field(field) {
                    let data = self.layers[opinion.layer].data(value)?;
                    let context = &self.contexts[opinion.context];
                    return Ok(data.texts().iter().map(|t| context.map(t)).collect());
                }
            }
        }
        Ok(Vec::new())
    }

    /// The prim of a path; what follows a point is a property's name.
    pub fn find(&self, path: &str) -> Option<usize> {
        let path = path.split('.').next().unwrap_or_default();
        self.by_path.get(path).copied()
    }
}

impl Context {
    fn map(&self, path: &str) -> String {
        match path.strip_prefix(self.from.as_str()) {
            Some(rest) if self.from != "/" && (rest.is_empty() || rest.starts_with(['/', '.'])) => {
                format!("{}{rest}", self.to)
            }
            _ => path.to_owned(),
        }
    }
}

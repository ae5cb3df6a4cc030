//! What the opinions about a prim bring along: classes they inherit, chosen variants, references, payloads.

use std::collections::BTreeSet;

use super::Result;
use super::layer::{Data, Name, Reference};
use super::stage::{Context, OPINIONS_PER_NODE, Opinion, Stage};
use crate::inputs::check_count;

impl Stage {
    /// Adds opinions and all that they bring along, strongest first.
    pub(super) fn expand(
        &mut self,
        path: &str,
        group: Vec<Opinion>,
        arcs: usize,
        out: &mut Vec<Opinion>,
    ) -> Result<()> {
        self.opinions += group.len() as u64;
        let limit = self.assets.inputs.limits().nodes.saturating_mul(OPINIONS_PER_NODE);
        check_count("opinions of prims", self.opinions, limit)?;
        out.extend_from_slice(&group);
        for opinion in &group {
            let Some(found) = self.opinion_field(opinion, "inheritPaths")? else { continue };
            for target in found.texts() {
                let mut context = self.contexts[opinion.context].clone();
                (context.from, context.to) = (target.to_string(), path.to_owned());
                let below = self.stack_opinions(&context, arcs)?;
                self.expand(path, below, arcs + 1, out)?;
            }
        }
        for opinion in &group {
            for spec in self.chosen_variants(opinion, out)? {
                self.expand(path, vec![Opinion { spec, ..*opinion }], arcs + 1, out)?;
            }
        }
        for kind in ["references", "payload"] {
            for opinion in &group {
                let Some(found) = self.opinion_field(opinion, kind)? else { continue };
                let Data::References(list) = &*found else { continue };
                for reference in list {
                    let below = self.referred(path, opinion, reference, arcs)?;
                    self.expand(path, below, arcs + 1, out)?;
                }
            }
        }
        Ok(())
    }

    /// Specs of the variants of an opinion that the strongest choice names.
    fn chosen_variants(&self, opinion: &Opinion, stronger: &[Opinion]) -> Result<Vec<usize>> {
        let mut chosen = Vec::new();
        let variants = &self.spec(opinion).variants;
        let sets: BTreeSet<&Name> = variants.iter().map(|(set, _, _)| set).collect();
        for set in sets {
            for known in stronger {
                let found = self.opinion_field(known, "variantSelection")?;
                let Some(Data::Selections(list)) = found.as_deref() else { continue };
                let Some((_, variant)) = list.iter().find(|(s, _)| s == set) else { continue };
                let of = |v: &&(Name, Name, usize)| v.0 == *set && v.1 == *variant;
                chosen.extend(variants.iter().find(of).map(|v| v.2));
                break;
            }
        }
        Ok(chosen)
    }

    fn referred(
        &mut self,
        path: &str,
        from: &Opinion,
        reference: &Reference,
        arcs: usize,
    ) -> Result<Vec<Opinion>> {
        let context = self.contexts[from.context].clone();
        let stack = if reference.asset.is_empty() {
            Some(context.stack)
        } else {
            let key = self.assets.resolve(&self.layers[from.layer], &reference.asset);
            self.stack_of(key)?
        };
        let Some(stack) = stack else { return Ok(Vec::new()) };
        let first = self.stacks[stack][0].0;
        let target = match reference.path.is_empty() {
            false => reference.path.to_string(),
            true => {
                let default = self.layers[first].field(0, "defaultPrim")?;
                let default = default.as_ref().and_then(|d| d.text());
                let Some(default) = default else {
                    let asset = &reference.asset;
                    self.warn(format!("{path}: {asset:?} names no default prim and is left out"));
                    return Ok(Vec::new());
                };
                format!("/{default}")
            }
        };
        let here = Self::codes_per_second(&self.layers[from.layer])?;
        let rate = here / Self::codes_per_second(&self.layers[first])?;
        let below = Context {
            from: target,
            to: path.to_owned(),
            stack,
            offset: context.offset + context.scale * reference.offset,
            scale: context.scale * reference.scale * rate,
        };
        self.stack_opinions(&below, arcs)
    }
}

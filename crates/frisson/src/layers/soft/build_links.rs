//! Who blends with whom within an object.

use std::ops::Range;

use glam::DVec3;

use super::field::{Kind, gap};
use super::fit::{next_ancestors, related};
use super::params::{CoatParams, SoftObject};
use super::rest::SoftRest;
use crate::stage::{BuildContext, LayerError};

impl SoftRest {
    /// The blending graph: given pairs, or bones with their parents and with the siblings they touch.
    pub(super) fn link_primitives(
        &mut self,
        object: &SoftObject,
        key: &str,
        range: Range<usize>,
        chains: bool,
        parents: Option<&[Option<usize>]>,
    ) -> Result<(), LayerError> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let names: Vec<String> =
            self.primitives[range.clone()].iter().map(|p| p.name.clone()).collect();
        let find = |name: &String| {
            names.iter().position(|n| n == name).ok_or_else(|| {
                let all = names.iter().map(String::as_str).filter(|n| !n.is_empty());
                LayerError::unknown(format!("{key}.blend"), "primitive", name, all)
            })
        };
        if let Some(given) = &object.blend {
            for (a, b) in given {
                pairs.push((find(a)?, find(b)?));
            }
        }
        // Without a graph all of the object blends, and no list is needed for that.
        if object.blend.is_none() && !chains {
            return Ok(());
        }
        match parents {
            Some(parents) => self.link_fitted(range.clone(), parents, &mut pairs),
            None if chains => self.link_touching(object, range.clone(), &mut pairs),
            None => {}
        }
        for local in 0..names.len() {
            let partner = |&(a, b): &(usize, usize)| match (a == local, b == local) {
                (true, false) => Some((range.start + b) as u32),
                (false, true) => Some((range.start + a) as u32),
                _ => None,
            };
            // Both ways, ascending: links are looked up by halving.
            let mut list: Vec<u32> = pairs.iter().filter_map(partner).collect();
            list.sort_unstable();
            list.dedup();
            self.primitives[range.start + local].links = Some(list.into());
        }
        Ok(())
    }

    /// Balls that were fitted to skin blend with those of the same joint and of its parent that they
    /// reach at the start; muscles with what is on their own joint.
    fn link_fitted(
        &self,
        range: Range<usize>,
        parents: &[Option<usize>],
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let start = |i: usize| {
            let p = &self.primitives[i];
            let at = p.points.iter().map(|q| *q + self.bodies[p.body].start);
            (p.kind, at.collect::<Vec<DVec3>>())
        };
        let muscle = |i: usize| !self.primitives[i].name.is_empty();
        for a in range.clone() {
            for b in range.start..a {
                let (pa, pb) = (&self.primitives[a], &self.primitives[b]);
                let (Some(na), Some(nb)) = (pa.node, pb.node) else { continue };
                // A muscle that blended with the next joint would melt into the forearm it is pressed against.
                if na != nb && (muscle(a) || muscle(b) || !related(parents, na, nb)) {
                    continue;
                }
                let reach = pa.profile.support + pb.profile.support;
                let ((kind_a, of_a), (kind_b, of_b)) = (start(a), start(b));
                if gap(kind_a, &of_a, kind_b, &of_b, reach) < reach {
                    pairs.push((b - range.start, a - range.start));
                }
            }
        }
    }

    /// Bones that touch (a parent and its children, siblings at one joint, a muscle beside its bone)
    /// blend.
    fn link_touching(
        &self,
        object: &SoftObject,
        range: Range<usize>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        for (index, bone) in object.bones.iter().enumerate() {
            if let Some(parent) = &bone.parent {
                let found = object.bones.iter().position(|b| b.name == *parent);
                pairs.extend(found.map(|p| (p, index)));
            }
        }
        let world = |i: usize| -> (Kind, Vec<DVec3>) {
            let p = &self.primitives[i];
            (p.kind, p.points.iter().map(|q| *q + self.bodies[p.body].start).collect())
        };
        for a in range.clone() {
            for b in range.start..a {
                // Half the thinner: bones that only pass each other are further apart than that.
                let near = 0.5
                    * self.primitives[a]
                        .profile
                        .thickness
                        .min(self.primitives[b].profile.thickness);
                let ((kind_a, of_a), (kind_b, of_b)) = (world(a), world(b));
                if gap(kind_a, &of_a, kind_b, &of_b, near) < near {
                    pairs.push((b - range.start, a - range.start));
                }
            }
        }
    }
}

/// For every node of the character that carries fitted coats: the next ancestor that does, too.
pub(super) fn skin_parents(
    rest: &SoftRest,
    coat: &CoatParams,
    range: &Range<usize>,
    context: &BuildContext,
) -> Option<Vec<Option<usize>>> {
    let actor = context.actors.find(&coat.on)?;
    let character = context.actors.all()[actor].character()?;
    let carries = |n: usize| rest.primitives[range.clone()].iter().any(|p| p.node == Some(n));
    Some(next_ancestors(character, carries))
}

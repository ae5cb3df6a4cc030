//! Parameters to rest data.

use std::sync::Arc;

use super::build_coats::{coat_bones, measure_skins};
use super::build_links::skin_parents;
use super::field::Kind;
use super::params::{SoftObject, SoftParams};
use super::rest::{ObjectRest, PrimitiveRest, SoftRest};
use super::seeds::{ContactSeeds, build_seeds};
use super::structure::{BodyRest, MovedBy};
use crate::geometry::Mesh;
use crate::stage::{BuildContext, LayerError};
use crate::tolerances::soft as tolerances;

impl SoftRest {
    /// Reads the parameters against the scene.
    pub fn build(params: &SoftParams, context: &BuildContext) -> Result<Self, LayerError> {
        let mut rest = Self::default();
        let mut order: Vec<usize> = (0..params.objects.len()).collect();
        // By name: the order in which objects are listed must not change a bit.
        order.sort_by(|&a, &b| params.objects[a].name.cmp(&params.objects[b].name));
        for index in order {
            rest.add_object(&params.objects[index], index, context)?;
        }
        rest.find_tools(params, context)?;
        let width =
            |p: &PrimitiveRest| p.profile.stiffness * (p.profile.support - p.profile.thickness);
        let softest = rest.primitives.iter().map(width).fold(f64::INFINITY, f64::min);
        rest.level = params.level.unwrap_or(softest);
        for p in &mut rest.primitives {
            p.profile.level = rest.level;
        }
        let thinnest =
            rest.primitives.iter().map(|p| p.profile.thickness).fold(f64::INFINITY, f64::min);
        rest.cell = params.cell.unwrap_or(thinnest / tolerances::CELLS_PER_THICKNESS);
        rest.check_size(context)?;
        // After the cells are known: a skin is measured as it will be shown.
        measure_skins(&mut rest, context)?;
        let ball = |p: &PrimitiveRest| p.under_skin.then_some(p.object as u32);
        rest.balls = rest.primitives.iter().map(ball).collect();
        rest.seeds = rest
            .primitives
            .iter()
            .map(|p| build_seeds(p.kind, &p.points, p.profile.thickness, params.seeds))
            .collect();
        rest.build_contact_seeds(params.seeds);
        rest.name_meshes(&params.name);
        rest.actors = rest.bodies.iter().filter_map(BodyRest::actor).collect();
        rest.actors.sort_unstable();
        rest.actors.dedup();
        rest.hangs = rest.bodies.iter().any(|b| matches!(b.moved_by, MovedBy::Surface { .. }));
        Ok(rest)
    }

    /// A surface of more cells than anyone can look at is a mistake in the numbers, and would be
    /// computed for hours.
    fn check_size(&self, context: &BuildContext) -> Result<(), LayerError> {
        let area = |p: &PrimitiveRest| {
            let around = std::f64::consts::TAU * p.profile.thickness;
            let length: f64 = p.points.windows(2).map(|w| w[0].distance(w[1])).sum();
            let faces = match (p.kind, p.points.as_slice()) {
                (Kind::Triangle, [a, b, c, ..]) => (*b - *a).cross(*c - *a).length(),
                _ => 0.0,
            };
            around * (length + 2.0 * p.profile.thickness) + faces
        };
        // The skin is shown in the place of the balls under it, which lie in each other.
        let shown = self.primitives.iter().filter(|p| !p.under_skin);
        let meshes = self.skins.iter().flat_map(|s| &s.meshes);
        let skins = meshes.filter_map(|m| context.frame.meshes.get(*m)).map(Mesh::area);
        let cells = (shown.map(area).sum::<f64>() + skins.sum::<f64>()) / (self.cell * self.cell);
        if cells < tolerances::MOST_CELLS {
            return Ok(());
        }
        let problem = format!(
            "the surface would take {cells:.0e} cells of {} m, at most {:.0e}: use larger cells, \
             a thicker coat or smaller primitives",
            self.cell,
            tolerances::MOST_CELLS
        );
        Err(LayerError::parameter("cell", problem))
    }

    /// Whether anything follows from how hard bodies press on each other: some body moves by forces, or some fuse.
    fn feels_contacts(&self) -> bool {
        self.bodies.iter().any(|b| b.inverse_mass > 0.0) || self.objects.iter().any(|o| o.may_fuse)
    }

    /// Doughs have many small contacts that need no finer sampling than their seeds; and where everything is carried
    /// by keys or by a character, nobody feels a force.
    fn build_contact_seeds(&mut self, seeds: usize) {
        let none = Arc::new(ContactSeeds::default());
        let is_felt = self.feels_contacts();
        // A point's seeds do not depend on its thickness.
        let mut of_points: Option<Arc<ContactSeeds>> = None;
        for (p, coarse) in self.primitives.iter().zip(&self.seeds) {
            if self.objects[p.object].is_dough || !is_felt {
                self.contact_seeds.push(Arc::clone(&none));
                continue;
            }
            let build = || {
                Arc::new(ContactSeeds::build(p.kind, &p.points, p.profile.thickness, seeds, coarse))
            };
            let fine = match p.kind {
                Kind::Point => Arc::clone(of_points.get_or_insert_with(build)),
                _ => build(),
            };
            self.contact_seeds.push(fine);
        }
    }

    fn find_tools(
        &mut self,
        params: &SoftParams,
        context: &BuildContext,
    ) -> Result<(), LayerError> {
        let all = context.colliders.all();
        let reach = self.primitives.iter().map(|p| p.profile.support).fold(0.0, f64::max);
        self.toolbox.reach = 4.0 * reach as f32;
        let Some(names) = &params.tools else {
            self.toolbox.colliders = (0..all.len()).collect();
            return Ok(());
        };
        for name in names {
            if let Some(found) = all.iter().position(|c| c.name == *name) {
                self.toolbox.colliders.push(found);
            } else if context.frame.mesh_index(name).is_some() {
                self.toolbox.meshes.push(name.clone());
            } else {
                let meshes = context.frame.meshes.iter().map(|m| m.name.as_str());
                let known = all.iter().map(|c| c.name.as_str()).chain(meshes);
                return Err(LayerError::unknown("tools", "collider or mesh", name, known));
            }
        }
        self.toolbox.colliders.sort_unstable();
        self.toolbox.colliders.dedup();
        Ok(())
    }

    /// One mesh per object; those that can fuse share one.
    fn name_meshes(&mut self, layer: &str) {
        let mut names: Vec<String> = Vec::new();
        let mut fusing = None;
        for object in &mut self.objects {
            let label = match fusing.filter(|_| object.may_fuse) {
                Some(label) => label,
                _ => {
                    names.push(object.name.clone());
                    names.len() - 1
                }
            };
            if object.may_fuse {
                fusing = Some(label);
            }
            object.label = label;
        }
        let single = names.len() == 1;
        self.labels = names
            .into_iter()
            .map(|n| if single { layer.to_owned() } else { format!("{layer}/{n}") })
            .collect();
    }

    fn add_object(
        &mut self,
        object: &SoftObject,
        listed: usize,
        context: &BuildContext,
    ) -> Result<(), LayerError> {
        let key = &format!("objects[{listed}]");
        let first = self.primitives.len();
        self.objects.push(ObjectRest {
            name: object.name.clone(),
            listed,
            is_dough: object.dough.is_some(),
            may_fuse: object.fuse.is_some(),
            density: object.density,
            primitives: first..first,
            label: 0,
            spacing: 0.0,
            particle_mass: 0.0,
        });
        // In a figure only neighbours blend, unless the scene says otherwise.
        let mut jointed = !object.bones.is_empty();
        if object.dough.is_some() {
            self.add_dough(object, key)?;
        } else if !object.bones.is_empty() {
            self.add_bones(object, key)?;
        } else if let Some(coat) = &object.coat {
            jointed = coat_bones(self, object, coat, key, context)?;
        } else {
            self.add_primitives(object);
        }
        let range = first..self.primitives.len();
        if let Some(last) = self.objects.last_mut() {
            last.primitives = range.clone();
        }
        let parents = match &object.coat {
            Some(coat) if jointed && coat.bones.is_empty() => {
                skin_parents(self, coat, &range, context)
            }
            _ => None,
        };
        self.link_primitives(object, key, range, jointed, parents.as_deref())
    }
}

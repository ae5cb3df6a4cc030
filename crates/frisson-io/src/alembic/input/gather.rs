//! The shapes of a file, gathered from its tree of objects.

use super::Result;
use super::archive::{Content, Object, Property, compound, find, values};
use super::file::{AlembicFile, Placed};
use super::transform::{TransformTrack, sampling};
use super::values::Values;
use crate::shape_file::ShapeInfo;

/// What an object of the tree inherits from those above it.
#[derive(Clone, Default)]
pub(super) struct Branch<'a> {
    /// Its path.
    path: String,
    /// Transforms, outermost first.
    chain: Vec<usize>,
    /// What may hide it.
    visibility: Vec<Values>,
    parent: Option<&'a Object>,
}

impl AlembicFile {
    /// Adds an object and all below it.
    pub(super) fn gather(&mut self, object: &Object, branch: &Branch<'_>) -> Result<()> {
        let (path, mut here) = (&branch.path, branch.clone());
        let visible = values(&object.properties, "visible").filter(|v| v.samples > 0);
        here.visibility.extend(visible.cloned());
        if let Some(track) = TransformTrack::new(&self.bytes, object, path)? {
            here.chain.push(self.transforms.len());
            self.transforms.push(track);
        }
        if find(&object.properties, ".instanceSource").is_some() {
            self.warnings.push(format!("{path}: instances are left out"));
        }
        self.gather_shape(object, &here)?;
        here.parent = Some(object);
        for child in &object.children {
            here.path = format!("{path}/{}", child.name);
            self.gather(child, &here)?;
        }
        Ok(())
    }

    fn gather_shape(&mut self, object: &Object, branch: &Branch<'_>) -> Result<()> {
        let path = &branch.path;
        let Some(geometry) = compound(&object.properties, ".geom") else { return Ok(()) };
        let is = |name: &str| object.schema.starts_with(name);
        let Some(points) = values(geometry, "P").filter(|p| p.samples > 0) else { return Ok(()) };
        // Programs put a shape below a transform of its own: people know the transform's name.
        let lone = branch.parent.filter(|p| p.children.len() == 1 && !p.name.is_empty());
        let name = lone.map_or(&object.name, |p| &p.name).clone();
        let times = sampling(&self.samplings, points)?;
        let varying = |name: &str| values(geometry, name).is_some_and(|v| !v.is_constant());
        let info = ShapeInfo {
            name,
            path: path.clone(),
            samples: points.samples,
            span: (times.time(0), times.time(points.samples - 1)),
            constant_topology: ![".faceCounts", ".faceIndices", "nVertices"]
                .into_iter()
                .any(varying),
        };
        let placed = Placed {
            info,
            chain: branch.chain.clone(),
            visibility: branch.visibility.clone(),
            points: points.clone(),
            geometry: flatten(geometry),
            sets: face_sets(object),
        };
        if is("AbcGeom_PolyMesh") || is("AbcGeom_SubD") {
            self.meshes.push(placed);
        } else if is("AbcGeom_Curve") {
            self.curves.push(placed);
        } else if is("AbcGeom_Points") {
            self.points.push(placed);
        } else {
            self.warnings.push(format!("{path}: {} is left out", object.schema));
        }
        Ok(())
    }
}

/// Values by path; only the first level of folders matters to the schemas.
fn flatten(properties: &[Property]) -> Vec<(String, Values, String)> {
    let mut out = Vec::new();
    for property in properties {
        match &property.content {
            Content::Values(values) => {
                out.push((property.name.clone(), values.clone(), property.metadata.clone()));
            }
            Content::Compound(inner) => {
                for part in inner {
                    if let Content::Values(values) = &part.content {
                        // Parameters of the user's own stand beside those of the schema.
                        let name = match property.name.as_str() {
                            ".arbGeomParams" => part.name.clone(),
                            folder => format!("{folder}/{}", part.name),
                        };
                        out.push((name, values.clone(), property.metadata.clone()));
                    }
                }
            }
        }
    }
    out
}

fn face_sets(object: &Object) -> Vec<(String, Values)> {
    let sets = object.children.iter().filter(|c| c.schema.starts_with("AbcGeom_FaceSet"));
    let faces = |set: &Object| {
        let inner = compound(&set.properties, ".faceset")?;
        let faces = values(inner, ".faces").filter(|f| f.samples > 0)?;
        Some((set.name.clone(), faces.clone()))
    };
    sets.filter_map(faces).collect()
}

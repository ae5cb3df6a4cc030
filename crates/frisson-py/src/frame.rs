//! A frame as dictionaries of arrays.

use std::sync::Arc;

use frisson::geometry::{Attribute, AttributeValues, Mesh, MeshTopology};
use frisson::stage::{Curves, Frame, Points};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{corners, pairs, points};

/// Arrays of topologies that were handed out: they are shared by all frames that have them.
#[derive(Default)]
pub struct Known(Vec<(Arc<MeshTopology>, Py<PyArray2<u32>>, Py<PyAny>)>);

/// Topologies that are kept: the meshes of a scene whose triangles do not change.
const KEPT: usize = 64;

impl Known {
    fn triangles(
        &mut self,
        py: Python<'_>,
        topology: &Arc<MeshTopology>,
    ) -> PyResult<(Py<PyArray2<u32>>, Py<PyAny>)> {
        if let Some((_, known, uvs)) = self.0.iter().find(|(t, ..)| Arc::ptr_eq(t, topology)) {
            return Ok((known.clone_ref(py), uvs.clone_ref(py)));
        }
        let made = corners(py, &topology.triangles)?.unbind();
        let uvs = match topology.uvs.is_empty() {
            true => py.None(),
            false => pairs(py, &topology.uvs)?.into_any().unbind(),
        };
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push((topology.clone(), made.clone_ref(py), uvs.clone_ref(py)));
        Ok((made, uvs))
    }
}

/// A whole frame: `{index, time, meshes, curves, points}`.
pub fn to_dict<'py>(
    py: Python<'py>,
    frame: &Frame,
    known: &mut Known,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("index", frame.index)?;
    all.set_item("time", frame.time)?;
    let (meshes, strands, clouds) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for mesh in &frame.meshes {
        meshes.append(mesh_dict(py, mesh, known)?)?;
    }
    for curves in &frame.curves {
        strands.append(curves_dict(py, curves)?)?;
    }
    for cloud in &frame.points {
        clouds.append(points_dict(py, cloud)?)?;
    }
    all.set_item("meshes", meshes)?;
    all.set_item("curves", strands)?;
    all.set_item("points", clouds)?;
    Ok(all)
}

fn mesh_dict<'py>(py: Python<'py>, mesh: &Mesh, known: &mut Known) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (triangles, uvs) = known.triangles(py, &mesh.topology)?;
    dict.set_item("name", &mesh.name)?;
    dict.set_item("positions", points(py, &mesh.positions)?)?;
    dict.set_item("triangles", triangles)?;
    dict.set_item("uvs", uvs)?;
    dict.set_item("normals", some_points(py, &mesh.normals)?)?;
    dict.set_item("velocities", some_points(py, &mesh.velocities)?)?;
    dict.set_item("attributes", attributes(py, &mesh.attributes)?)?;
    Ok(dict)
}

fn curves_dict<'py>(py: Python<'py>, curves: &Curves) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &curves.name)?;
    dict.set_item("counts", PyArray1::from_slice(py, &curves.counts))?;
    dict.set_item("positions", points(py, &curves.points)?)?;
    dict.set_item("widths", PyArray1::from_slice(py, &curves.widths))?;
    dict.set_item("ids", PyArray1::from_slice(py, &curves.ids))?;
    dict.set_item("velocities", some_points(py, &curves.velocities)?)?;
    dict.set_item("color", curves.color.to_array())?;
    dict.set_item("attributes", attributes(py, &curves.attributes)?)?;
    Ok(dict)
}

fn points_dict<'py>(py: Python<'py>, cloud: &Points) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &cloud.name)?;
    dict.set_item("positions", points(py, &cloud.positions)?)?;
    dict.set_item("widths", PyArray1::from_slice(py, &cloud.widths))?;
    dict.set_item("ids", PyArray1::from_slice(py, &cloud.ids))?;
    dict.set_item("velocities", some_points(py, &cloud.velocities)?)?;
    dict.set_item("attributes", attributes(py, &cloud.attributes)?)?;
    Ok(dict)
}

fn some_points<'py>(
    py: Python<'py>,
    given: &[glam::Vec3],
) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
    if given.is_empty() { Ok(None) } else { points(py, given).map(Some) }
}

fn attributes<'py>(py: Python<'py>, all: &[Attribute]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for attribute in all {
        match &attribute.values {
            AttributeValues::Scalar(values) => {
                dict.set_item(&attribute.name, PyArray1::from_slice(py, values))?;
            }
            AttributeValues::Vector(values) | AttributeValues::Color(values) => {
                dict.set_item(&attribute.name, points(py, values)?)?;
            }
        }
    }
    Ok(dict)
}

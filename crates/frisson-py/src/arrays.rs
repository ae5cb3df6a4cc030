//! Numpy arrays in, without a copy, and out, with one.

use glam::{Mat4, Vec2, Vec3};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::trouble::Trouble;

/// What an object is, for messages.
fn described(given: &Bound<'_, PyAny>) -> String {
    match given.cast::<PyUntypedArray>() {
        Ok(array) => format!("{} of shape {:?}", array.dtype(), array.shape()),
        Err(_) => given.get_type().to_string(),
    }
}

fn wrong(given: &Bound<'_, PyAny>, what: &str, form: &str) -> Trouble {
    let help =
        format!("numpy.ascontiguousarray(a, dtype=\"{}\")", form.split(' ').next().unwrap_or(form));
    let text = format!("{what}: needs a contiguous array of {form}, not {}", described(given));
    Trouble::Input(text, Some(help))
}

/// A contiguous array of rows of float32, seen in place.
pub struct Rows<'py, const N: usize>(PyReadonlyArray2<'py, f32>);

impl<'py, const N: usize> Rows<'py, N> {
    /// Looks at an array; refuses what would have to be copied or converted.
    pub fn of(given: &Bound<'py, PyAny>, what: &str) -> Result<Self, Trouble> {
        let form = format!("float32 with shape (n, {N})");
        let array: PyReadonlyArray2<'py, f32> =
            given.extract().map_err(|_| wrong(given, what, &form))?;
        if array.shape()[1] != N || array.as_slice().is_err() {
            return Err(wrong(given, what, &form));
        }
        Ok(Self(array))
    }

    /// The rows.
    pub fn rows(&self) -> &[[f32; N]] {
        // Checked when it was taken: whole rows, one after the other.
        self.0.as_slice().map(as_rows).unwrap_or_default()
    }
}

fn as_rows<const N: usize>(numbers: &[f32]) -> &[[f32; N]] {
    numbers.as_chunks().0
}

/// Triangles: uint32 or int32 with shape (n, 3).
pub fn triangles(given: &Bound<'_, PyAny>, vertices: usize) -> Result<Vec<[u32; 3]>, Trouble> {
    let corner = |v: i64| {
        let bad = || {
            Trouble::input(format!("triangles: vertex {v} does not exist, there are {vertices}"))
        };
        u32::try_from(v).ok().filter(|&v| (v as usize) < vertices).ok_or_else(bad)
    };
    let mut all = Vec::new();
    if let Ok(array) = given.extract::<PyReadonlyArray2<'_, u32>>() {
        check_triples(given, array.shape())?;
        for row in array.as_array().rows() {
            all.push([corner(row[0].into())?, corner(row[1].into())?, corner(row[2].into())?]);
        }
    } else if let Ok(array) = given.extract::<PyReadonlyArray2<'_, i32>>() {
        check_triples(given, array.shape())?;
        for row in array.as_array().rows() {
            all.push([corner(row[0].into())?, corner(row[1].into())?, corner(row[2].into())?]);
        }
    } else {
        return Err(wrong(given, "triangles", "uint32 with shape (n, 3)"));
    }
    Ok(all)
}

fn check_triples(given: &Bound<'_, PyAny>, shape: &[usize]) -> Result<(), Trouble> {
    if shape[1] == 3 { Ok(()) } else { Err(wrong(given, "triangles", "uint32 with shape (n, 3)")) }
}

/// Matrices with shape (n, 4, 4), rows first as numpy has them, translation in the last column.
pub fn matrices(given: &Bound<'_, PyAny>, what: &str) -> Result<Vec<Mat4>, Trouble> {
    let form = "float32 with shape (n, 4, 4)";
    let array: PyReadonlyArray3<'_, f32> = given.extract().map_err(|_| wrong(given, what, form))?;
    if array.shape()[1..] != [4, 4] || array.as_slice().is_err() {
        return Err(wrong(given, what, form));
    }
    let numbers = array.as_slice().unwrap_or_default();
    Ok(numbers
        .as_chunks()
        .0
        .iter()
        .map(|m: &[f32; 16]| Mat4::from_cols_array(m).transpose())
        .collect())
}

/// One number each.
pub fn numbers(given: &Bound<'_, PyAny>, what: &str) -> Result<Vec<f32>, Trouble> {
    let form = "float32 with shape (n,)";
    let array: PyReadonlyArray1<'_, f32> = given.extract().map_err(|_| wrong(given, what, form))?;
    Ok(array.as_array().to_vec())
}

/// Points as a new array of shape (n, 3): the one copy.
pub fn points<'py>(py: Python<'py>, points: &[Vec3]) -> PyResult<Bound<'py, PyArray2<f32>>> {
    PyArray1::from_slice(py, bytemuck::cast_slice::<Vec3, f32>(points)).reshape([points.len(), 3])
}

/// Texture coordinates as a new array of shape (n, 2).
pub fn pairs<'py>(py: Python<'py>, pairs: &[Vec2]) -> PyResult<Bound<'py, PyArray2<f32>>> {
    PyArray1::from_slice(py, bytemuck::cast_slice::<Vec2, f32>(pairs)).reshape([pairs.len(), 2])
}

/// Corners as a new array of shape (n, 3).
pub fn corners<'py>(
    py: Python<'py>,
    triangles: &[[u32; 3]],
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    PyArray1::from_slice(py, bytemuck::cast_slice::<_, u32>(triangles))
        .reshape([triangles.len(), 3])
}

//! OBJ sequence: one text file per frame with all meshes, curves (`l`) and points (`p`), and one
//! material library for the shot.

use std::collections::BTreeSet;
use std::io::{self, Write};

use frisson::geometry::{Material, Mesh};
use frisson::stage::Frame;
use glam::Vec3;

use crate::export::{ExportError, ExportParams, NameRule, Names};

/// Least roughness that is written [-]; smoother ones all have the sharpest highlight.
const SMOOTHEST: f32 = 0.03;

/// Largest exponent of a highlight that readers take [-].
const SHARPEST: f32 = 1000.0;

/// Materials used so far, by their names in the library.
pub(crate) struct Library {
    names: Names,
    all: Vec<(String, Material)>,
}

impl Library {
    pub(crate) fn new() -> Self {
        Self { names: Names::new(NameRule::Identifier), all: Vec::new() }
    }

    fn name(&mut self, material: &Material) -> String {
        let plain = Material { texture: None, ..material.clone() };
        if let Some((name, _)) = self.all.iter().find(|(_, m)| *m == plain) {
            return name.clone();
        }
        let name = self.names.fresh(&plain.name);
        self.all.push((name.clone(), plain));
        name
    }

    /// Writes the library; says whether there is anything in it.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (name, material) in &self.all {
            let [r, g, b, alpha] = material.base_color;
            // The exponent whose highlight is as wide as the roughness asks.
            let roughness = material.roughness.clamp(SMOOTHEST, 1.0);
            let exponent = (2.0 / roughness.powi(4) - 2.0).clamp(0.0, SHARPEST);
            writeln!(out, "newmtl {name}\nKd {r} {g} {b}\nd {alpha}\nNs {exponent}")?;
            writeln!(out, "Ni {}\nillum 2\n", material.ior)?;
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Indices of OBJ count from 1 through the whole file.
struct Counts {
    positions: usize,
    uvs: usize,
    normals: usize,
}

/// Writes one frame.
pub(crate) fn write_frame(
    out: &mut impl Write,
    frame: &Frame,
    params: &ExportParams,
    library_name: &str,
    library: &mut Library,
) -> Result<(), ExportError> {
    writeln!(out, "# frame {}\nmtllib {library_name}", frame.index)?;
    let mut counts = Counts { positions: 1, uvs: 1, normals: 1 };
    for mesh in frame.meshes.iter().filter(|m| params.wants(&m.name)) {
        write_mesh(out, mesh, library, &mut counts)?;
    }
    for curves in frame.curves.iter().filter(|c| params.wants(&c.name)) {
        writeln!(out, "o {}", one_word(&curves.name))?;
        write_vectors(out, "v", &curves.points)?;
        for &count in curves.counts.iter() {
            let last = counts.positions + count as usize;
            // A line of one point is none.
            if count > 1 {
                write!(out, "l")?;
                (counts.positions..last).try_for_each(|i| write!(out, " {i}"))?;
                writeln!(out)?;
            }
            counts.positions = last;
        }
    }
    for points in frame.points.iter().filter(|p| params.wants(&p.name)) {
        writeln!(out, "o {}", one_word(&points.name))?;
        write_vectors(out, "v", &points.positions)?;
        let last = counts.positions + points.positions.len();
        (counts.positions..last).try_for_each(|i| writeln!(out, "p {i}"))?;
        counts.positions = last;
    }
    Ok(())
}

fn write_mesh(
    out: &mut impl Write,
    mesh: &Mesh,
    library: &mut Library,
    counts: &mut Counts,
) -> io::Result<()> {
    let topology = &mesh.topology;
    writeln!(out, "o {}", one_word(&mesh.name))?;
    write_vectors(out, "v", &mesh.positions)?;
    for uv in &topology.uvs {
        // OBJ counts v from the bottom of the picture.
        writeln!(out, "vt {} {}", uv.x, 1.0 - uv.y)?;
    }
    write_vectors(out, "vn", &mesh.normals)?;
    let used: BTreeSet<u16> = match topology.triangle_materials.is_empty() {
        true => BTreeSet::from([0]),
        false => topology.triangle_materials.iter().copied().collect(),
    };
    // By material, as OBJ switches materials by lines: one switch each.
    for number in used {
        if let Some(material) = topology.materials.get(usize::from(number)) {
            writeln!(out, "usemtl {}", library.name(material))?;
        }
        for (face, triangle) in topology.triangles.iter().enumerate() {
            if topology.triangle_materials.get(face).copied().unwrap_or(0) == number {
                write_face(out, mesh, triangle, counts)?;
            }
        }
    }
    counts.positions += mesh.positions.len();
    counts.uvs += topology.uvs.len();
    counts.normals += mesh.normals.len();
    Ok(())
}

fn write_face(
    out: &mut impl Write,
    mesh: &Mesh,
    triangle: &[u32; 3],
    counts: &Counts,
) -> io::Result<()> {
    write!(out, "f")?;
    for corner in triangle.map(|i| i as usize) {
        let (v, t, n) = (corner + counts.positions, corner + counts.uvs, corner + counts.normals);
        match (mesh.topology.uvs.is_empty(), mesh.normals.is_empty()) {
            (false, false) => write!(out, " {v}/{t}/{n}")?,
            (false, true) => write!(out, " {v}/{t}")?,
            (true, false) => write!(out, " {v}//{n}")?,
            (true, true) => write!(out, " {v}")?,
        }
    }
    writeln!(out)
}

fn write_vectors(out: &mut impl Write, key: &str, vectors: &[Vec3]) -> io::Result<()> {
    vectors.iter().try_for_each(|v| writeln!(out, "{key} {} {} {}", v.x, v.y, v.z))
}

/// Names in OBJ end at the first space.
fn one_word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use crate::export::tests::{export_with, small_shot};

    #[test]
    fn a_sequence_has_one_file_per_frame_and_indices_that_fit() {
        let folder = tempfile::tempdir().unwrap();
        let mut source = small_shot();
        let written = export_with(&mut source, folder.path(), "obj = \"a.obj\"").unwrap();
        let names: Vec<String> = written
            .iter()
            .map(|w| w.path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["a.0010.obj", "a.0011.obj", "a.0012.obj", "a.0013.obj", "a.mtl"]);
        for (file, frame) in written.iter().zip(&source.frames) {
            let text = std::fs::read_to_string(&file.path).unwrap();
            let count = |key: &str| text.lines().filter(|l| l.starts_with(key)).count();
            let meshes: usize = frame.meshes.iter().map(|m| m.positions.len()).sum();
            let positions = count("v ");
            assert_eq!(positions, meshes + 5 + frame.points[0].positions.len());
            assert_eq!(count("p "), frame.points[0].positions.len());
            assert_eq!(count("l "), 2);
            for line in text.lines().filter(|l| l.starts_with("f ")) {
                for corner in line[2..].split(' ') {
                    let index: usize = corner.split('/').next().unwrap().parse().unwrap();
                    assert!((1..=positions).contains(&index), "{line}");
                }
            }
        }
        let library = std::fs::read_to_string(folder.path().join("a.mtl")).unwrap();
        assert!(library.contains("newmtl default\nKd 0.7 0.7 0.7"), "{library}");
    }
}

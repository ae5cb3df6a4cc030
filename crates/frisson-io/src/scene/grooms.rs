//! Guide curves of hair from files.

use std::path::Path;

use crate::given;
use crate::inputs::InputSet;

/// One guide, root first [m].
pub(super) type Guide = Vec<[f32; 3]>;

/// All curves of a file, as they are at its start.
pub(super) fn read_guides(
    folder: &Path,
    name: &str,
    read: &InputSet,
) -> Result<Vec<Guide>, String> {
    let given = given::open(&folder.join(name), 1.0, read).map_err(|e| e.to_string())?;
    let mut guides = Vec::new();
    for set in &given.curves {
        let curves = set.curves_at(0.0).map_err(|e| e.to_string())?;
        let mut points = curves.points.iter();
        for &count in &curves.counts {
            let guide: Guide = points.by_ref().take(count as usize).map(|p| p.to_array()).collect();
            // A curve of one point has no direction.
            if guide.len() >= 2 {
                guides.push(guide);
            }
        }
    }
    if guides.is_empty() {
        return Err("it has no curves that could guide hair".to_owned());
    }
    Ok(guides)
}

#[cfg(test)]
mod tests {
    use frisson::layers::LayerParams;
    use frisson::layers::hair::HairParams;

    use super::super::files::read_selection_files;
    use super::*;

    fn guides_of(folder: &Path, file: &str) -> Result<Vec<Guide>, String> {
        let mut params = HairParams { on: "head".to_owned(), ..HairParams::default() };
        params.style.guides = vec![vec![[0.0; 3], [0.0, 1.0, 0.0]]];
        params.style.guides_file = Some(file.to_owned());
        let layers = [LayerParams::Hair(params)];
        let read = read_selection_files(&layers, folder, &InputSet::new(), 30.0);
        let read = read.map_err(|e| e.problem)?;
        let LayerParams::Hair(params) = &read[0] else { panic!("hair") };
        assert!(params.style.guides_file.is_none());
        Ok(params.style.guides.clone())
    }

    #[test]
    fn curves_of_a_file_join_the_guides_of_the_scene() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "v 0 0 0\nv 0 -0.1 0\nv 0.1 -0.2 0\nv 1 0 0\nv 1 -0.3 0\nl 1 2 3\nl 4 5\n";
        std::fs::write(folder.path().join("groom.obj"), text).expect("written");
        let guides = guides_of(folder.path(), "groom.obj").expect("guides");
        assert_eq!(guides.len(), 3);
        assert_eq!(guides[1], [[0.0, 0.0, 0.0], [0.0, -0.1, 0.0], [0.1, -0.2, 0.0]]);
        assert_eq!(guides[2].len(), 2);
    }

    #[test]
    fn curves_of_usd_guide_in_metres_and_splines_are_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "#usda 1.0\n( metersPerUnit = 0.01 )\ndef BasisCurves \"hair\" {
            uniform token type = \"cubic\"
            uniform token basis = \"bezier\"
            int[] curveVertexCounts = [4]
            point3f[] points = [(0, 0, 0), (0, -10, 0), (0, -20, 0), (0, -30, 0)]
        }";
        std::fs::write(folder.path().join("groom.usda"), text).expect("written");
        let guides = guides_of(folder.path(), "groom.usda").expect("guides");
        assert_eq!((guides.len(), guides[1].len()), (2, 5));
        assert!((guides[1][2][1] + 0.15).abs() < 1e-6 && (guides[1][4][1] + 0.3).abs() < 1e-6);
    }

    #[test]
    fn a_file_without_curves_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "v 0 0 0\nv 0 1 0\nv 1 0 0\nf 1 2 3\n";
        std::fs::write(folder.path().join("mesh.obj"), text).expect("written");
        let problem = guides_of(folder.path(), "mesh.obj").expect_err("no curves");
        assert!(problem.contains("mesh.obj") && problem.contains("curves"), "{problem}");
        let problem = guides_of(folder.path(), "gone.obj").expect_err("no file");
        assert!(problem.contains("gone.obj"), "{problem}");
    }
}

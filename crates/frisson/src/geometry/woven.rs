//! Squares of cloth, cut into triangles.

/// Triangles of a grid of `columns` by `rows` squares over `columns + 1` by `rows + 1` vertices, row by row.
/// Diagonals alternate, so that the cloth has no grain.
///
/// ```text
///   a───b───·      each square: a b over c d
///   │ ╲ │ ╱ │      seen from where columns go right and rows go down, all go counter-clockwise
///   c───d───·
/// ```
#[must_use]
pub fn woven_triangles(columns: usize, rows: usize) -> Vec<[u32; 3]> {
    let width = columns + 1;
    let mut triangles = Vec::with_capacity(2 * columns * rows);
    for row in 0..rows {
        for column in 0..columns {
            let a = (row * width + column) as u32;
            let (b, c, d) = (a + 1, a + width as u32, a + width as u32 + 1);
            if (row + column) % 2 == 0 {
                triangles.extend([[a, c, d], [a, d, b]]);
            } else {
                triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    #[test]
    fn all_squares_are_covered_once_and_face_one_way() {
        let (columns, rows) = (4, 3);
        let place = |v: u32| Vec2::new((v % 5) as f32, -((v / 5) as f32));
        let areas: Vec<f32> = woven_triangles(columns, rows)
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(place);
                0.5 * (b - a).perp_dot(c - a)
            })
            .collect();
        assert!(areas.iter().all(|a| *a == 0.5), "{areas:?}");
        assert_eq!(areas.iter().sum::<f32>(), (columns * rows) as f32);
    }
}

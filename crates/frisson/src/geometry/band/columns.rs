//! Inside or outside at the points of a lattice: how often straight ways along an axis go in and out.
//!
//! ```text
//!        in +1      out -1        every triangle is drawn onto the plane across the axis once; a column
//!   ------->[=========]------>    of points then knows where it is entered and left
//! ```

use glam::{DVec2, DVec3, IVec3, Vec3};

/// Shift of the columns against the lattice, in cells [-]: models have their edges on round numbers, and
/// a column must not run along them. Far below what is seen.
const ASIDE: [f64; 2] = [1.237e-4, 2.713e-4];

/// Where columns along one axis meet the triangles.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    axis: usize,
    low: [i32; 2],
    size: [usize; 2],
    /// Number of the first crossing of each column; one more at the end.
    firsts: Vec<u32>,
    /// Place along the axis [cells], and +1 where the column comes out.
    crossings: Vec<(f32, i32)>,
    found: Vec<(u32, f32, i32)>,
}

impl Columns {
    /// Finds all crossings with triangles, whose corners are given in cells, within a range of points.
    pub fn build(
        &mut self,
        axis: usize,
        corners: impl Iterator<Item = [Vec3; 3]>,
        (low, high): (IVec3, IVec3),
    ) {
        let across = [(axis + 1) % 3, (axis + 2) % 3];
        self.axis = axis;
        self.low = across.map(|a| low[a]);
        self.size = across.map(|a| (high[a] - low[a] + 1).max(0) as usize);
        self.found.clear();
        for triangle in corners {
            self.draw(triangle.map(|p| p.as_dvec3()));
        }
        self.sort();
    }

    /// Draws a triangle onto the columns.
    fn draw(&mut self, corners: [DVec3; 3]) {
        let (u, v) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
        let flat = corners.map(|p| DVec2::new(p[u] - ASIDE[0], p[v] - ASIDE[1]));
        let twice_area = (flat[1] - flat[0]).perp_dot(flat[2] - flat[0]);
        if twice_area == 0.0 || !twice_area.is_finite() {
            return;
        }
        let (least, most) = (flat[0].min(flat[1]).min(flat[2]), flat[0].max(flat[1]).max(flat[2]));
        let range = |c: usize, from: f64, to: f64| {
            let last = self.low[c] + self.size[c] as i32 - 1;
            (from.ceil() as i32).max(self.low[c])..=(to.floor() as i32).min(last)
        };
        let (us, vs) = (range(0, least.x, most.x), range(1, least.y, most.y));
        for j in vs {
            for i in us.clone() {
                let at = DVec2::new(f64::from(i), f64::from(j));
                let sides = [1, 2, 0].map(|e| side(flat[e], flat[(e + 1) % 3], at));
                if sides.iter().any(|s| s.1 != (twice_area > 0.0)) {
                    continue;
                }
                let along: f64 = (0..3).map(|c| sides[c].0 * corners[c][self.axis]).sum();
                let column = (j - self.low[1]) as usize * self.size[0] + (i - self.low[0]) as usize;
                let way = if twice_area > 0.0 { 1 } else { -1 };
                self.found.push((column as u32, (along / twice_area) as f32, way));
            }
        }
    }

    /// Puts what was found into columns, each from its low end.
    fn sort(&mut self) {
        let count = self.size[0] * self.size[1];
        self.firsts.clear();
        self.firsts.resize(count + 1, 0);
        for (column, ..) in &self.found {
            self.firsts[*column as usize + 1] += 1;
        }
        for column in 0..count {
            self.firsts[column + 1] += self.firsts[column];
        }
        self.found
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        self.crossings.clear();
        self.crossings.extend(self.found.iter().map(|f| (f.1, f.2)));
    }

    /// How many of the two ways along the axis say that a point is inside: ways out of it that come out
    /// once more than they go in.
    pub fn votes(&self, point: IVec3) -> u32 {
        let i = point[(self.axis + 1) % 3] - self.low[0];
        let j = point[(self.axis + 2) % 3] - self.low[1];
        let within = |c: i32, size: usize| c >= 0 && (c as usize) < size;
        if !within(i, self.size[0]) || !within(j, self.size[1]) {
            return 0;
        }
        let column = j as usize * self.size[0] + i as usize;
        let here = &self.crossings[self.firsts[column] as usize..self.firsts[column + 1] as usize];
        let along = point[self.axis] as f32;
        let (mut below, mut above) = (0, 0);
        for (at, way) in here {
            if *at < along { below -= way } else { above += way }
        }
        u32::from(below > 0) + u32::from(above > 0)
    }
}

/// Twice the area of an edge and a point, and whether it is counted as on the left. Both triangles at an
/// edge compute it from the same end, so that a column passes through one of them, never both or none.
fn side(from: DVec2, to: DVec2, at: DVec2) -> (f64, bool) {
    let turned = (from.x, from.y) > (to.x, to.y);
    let (a, b) = if turned { (to, from) } else { (from, to) };
    let area = (b - a).perp_dot(at - a);
    if turned { (-area, area < 0.0) } else { (area, area >= 0.0) }
}

//! Folds must not pass through the skin that faces them in a deep crease.
//!
//! ```text
//!    \   |   /      two points p, q with normals n, m share the space between them: neither may
//!     p->|<-q       rise beyond the plane half-way, square to n - m. The same plane stops folds in a
//!      \_|_/        tight bend from rising beyond its centre. While p passes q the room closes and opens
//!                    again by degrees.
//! ```

use glam::{UVec3, Vec3A, Vec4};

use crate::tolerances;

/// Finds the room in front of the points of a mesh that is about to fold. Storage is reused from
/// frame to frame.
///
/// Room is found at the points of the coarse mesh and interpolated in between: creases deep enough to
/// matter are wider than its triangles, and a frame costs little.
#[derive(Clone, Debug, Default)]
pub struct FoldGuard {
    cells: Cells,
    /// Obstacles that may face something.
    facing: Vec<[Vec3A; 2]>,
}

impl FoldGuard {
    /// Limits how far the surface may rise at each of `points` [m]: `room`, at the same indices, comes
    /// with the height that is wanted there, and goes with that or what there is room for.
    ///
    /// `obstacles` are the points that may be in the way, those themselves among them; `surface` has
    /// position and unit normal of every point. `spacing` is the length of an edge: what lies much
    /// further beside is not in front. Points whose normals are less than 60 degrees apart do not face each
    /// other; between neighbours among those, [`clearance`] is twice the radius of the bend.
    pub fn find_room(
        &mut self,
        points: &[u32],
        obstacles: &[u32],
        surface: &[[Vec3A; 2]],
        spacing: f32,
        room: &mut [f32],
    ) {
        let [aside, opposite] = tolerances::GUARD_FACING_COSINES;
        let [middle, edge] = tolerances::GUARD_BESIDE.map(|share| share * spacing);
        // Most of a skin faces nothing: those points are left out before anything is sorted into cells.
        let (mean, alike) = normals_that_face_nothing(obstacles, surface, aside);
        self.facing.clear();
        let all = obstacles.iter().map(|&p| surface[p as usize]);
        self.facing.extend(all.filter(|[_, normal]| normal.dot(mean) < alike));
        let highest = points.iter().map(|&p| room[p as usize]).fold(0.0, f32::max);
        let farthest =
            (tolerances::GUARD_MARGIN * highest / tolerances::GUARD_SHARE).hypot(middle).max(edge);
        self.cells.fill(&self.facing, farthest);
        for &point in points {
            let wanted = room[point as usize];
            // Nothing rises here: any room is enough.
            if wanted <= 0.0 {
                continue;
            }
            let [p, n] = surface[point as usize];
            let mut least = tolerances::GUARD_MARGIN * wanted / tolerances::GUARD_SHARE;
            if n.dot(mean) >= alike {
                room[point as usize] = tolerances::GUARD_SHARE * least;
                continue;
            }
            // Nothing further away counts: what is that far ahead weighs too little where it is beside.
            let search = least.hypot(middle).max(edge);
            self.cells.visit(p, search, (n, aside), |[place, normal]| {
                let facing = n.dot(normal);
                if facing >= aside {
                    return;
                }
                let offset = place - p;
                let meeting = Meeting::of(offset, n, normal);
                let clear = meeting.ahead.abs() / meeting.turn;
                if clear >= least {
                    return;
                }
                // The offset's part square to the plane half-way.
                let gap = meeting.along * offset.length();
                let beside = (offset.length_squared() - gap * gap).max(0.0).sqrt();
                // Obstacles come in gradually from the side and as they turn: a fold never pops.
                let centred = ((edge - beside) / (edge - middle)).clamp(0.0, 1.0);
                let turned = ((aside - facing) / (aside - opposite)).min(1.0);
                let weight = centred * turned * meeting.weight(facing);
                if weight > 0.0 {
                    least = least.min(clear / weight);
                }
            });
            room[point as usize] = tolerances::GUARD_SHARE * least;
        }
    }
}

/// The mean normal, and the cosine to it from which a normal faces no other one: two normals are at most as
/// far apart as the sum of their angles to the mean.
fn normals_that_face_nothing(points: &[u32], surface: &[[Vec3A; 2]], aside: f32) -> (Vec3A, f32) {
    let normals = || points.iter().map(|&p| surface[p as usize][1]);
    let mean = normals().sum::<Vec3A>().normalize_or_zero();
    let farthest = normals().map(|n| n.dot(mean)).fold(1.0, f32::min);
    let left = aside.acos() - farthest.max(-1.0).acos();
    (mean, if left > 0.0 { left.cos() + tolerances::GUARD_COSINE_SLACK } else { f32::INFINITY })
}

/// Positions and normals by the cells of a block of space that holds them all, rows of cells one after
/// the other: what is near a point is a few runs of memory.
#[derive(Clone, Debug, Default)]
struct Cells {
    low: Vec3A,
    inverse_cell: f32,
    counts: UVec3,
    /// `starts[c]..starts[c + 1]` of `items` lie in cell `c`.
    starts: Vec<u32>,
    items: Vec<[Vec3A; 2]>,
    /// Cell of each as they came.
    cell_of_item: Vec<u32>,
    /// Their normals again, axis by axis, and a few more zeros: four are looked at together.
    normals: [Vec<f32>; 3],
}

impl Cells {
    /// Fills cells with a side of `cell` [m], or larger ones where the block would have many more cells
    /// than items.
    fn fill(&mut self, items: &[[Vec3A; 2]], cell: f32) {
        let bounds = items
            .iter()
            .fold((Vec3A::MAX, Vec3A::MIN), |(low, high), &[p, _]| (low.min(p), high.max(p)));
        self.low = bounds.0;
        let extent = (bounds.1 - bounds.0).max(Vec3A::ZERO);
        let most =
            (tolerances::GUARD_CELLS_PER_ITEM * items.len() + tolerances::GUARD_LEAST_CELLS) as f32;
        let mut cell = cell.max(f32::MIN_POSITIVE);
        let count = |cell: f32| ((extent / cell).floor() + 1.0).max(Vec3A::ONE);
        // In f32: the product of three counts may be beyond any integer when two points are far apart.
        while count(cell).element_product() > most {
            cell *= tolerances::GUARD_CELL_GROWTH;
        }
        self.inverse_cell = 1.0 / cell;
        self.counts = count(cell).as_uvec3();
        self.starts.clear();
        self.starts.resize(self.counts.element_product() as usize + 2, 0);
        // Counted two places ahead, so that filling moves each start to where it belongs.
        self.cell_of_item.clear();
        for &[p, _] in items {
            let c = self.cell_of(p);
            self.cell_of_item.push(c as u32);
            self.starts[c + 2] += 1;
        }
        for c in 2..self.starts.len() {
            self.starts[c] += self.starts[c - 1];
        }
        self.items.resize(items.len(), [Vec3A::ZERO; 2]);
        // Three more, so that the last item can be read as the first of four.
        self.normals.iter_mut().for_each(|axis| axis.resize(items.len() + 3, 0.0));
        for (&item, &c) in items.iter().zip(&self.cell_of_item) {
            let c = c as usize;
            let at = self.starts[c + 1] as usize;
            self.items[at] = item;
            let normal = item[1].to_array();
            self.normals.iter_mut().zip(normal).for_each(|(axis, n)| axis[at] = n);
            self.starts[c + 1] += 1;
        }
    }

    /// Calls `each` for all items within `reach` of a place along every axis, and some more, whose
    /// normals have less than a cosine to the given one.
    #[inline]
    fn visit(
        &self,
        place: Vec3A,
        reach: f32,
        (normal, cosine): (Vec3A, f32),
        mut each: impl FnMut([Vec3A; 2]),
    ) {
        let axes = normal.to_array().map(Vec4::splat);
        // The sums below may round otherwise than a dot product does.
        let limit = Vec4::splat(cosine + tolerances::GUARD_SUM_SLACK);
        let (low, high) = (self.clamp(place - reach), self.clamp(place + reach));
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                let row = (z * self.counts.y + y) * self.counts.x;
                let first = self.starts[(row + low.x) as usize] as usize;
                let end = self.starts[(row + high.x) as usize + 1] as usize;
                for start in (first..end).step_by(4) {
                    let four = |k: usize| Vec4::from_slice(&self.normals[k][start..start + 4]);
                    let along = four(0) * axes[0] + four(1) * axes[1] + four(2) * axes[2];
                    let mut facing = along.cmplt(limit).bitmask();
                    while facing != 0 {
                        let item = start + facing.trailing_zeros() as usize;
                        facing &= facing - 1;
                        // The last four of a row may reach into the next one, whose items come in their own turn.
                        if item < end {
                            each(self.items[item]);
                        }
                    }
                }
            }
        }
    }

    /// Cell of a place along each axis; those outside belong to the outermost.
    fn clamp(&self, place: Vec3A) -> UVec3 {
        // Casts saturate, and make zero of what is not a number: every place has a cell.
        let cell = ((place - self.low) * self.inverse_cell).max(Vec3A::ZERO);
        cell.as_uvec3().min(self.counts - 1)
    }

    fn cell_of(&self, place: Vec3A) -> usize {
        let c = self.clamp(place);
        ((c.z * self.counts.y + c.y) * self.counts.x + c.x) as usize
    }
}

/// How two points with unit normals stand to each other.
struct Meeting {
    /// The offset's part along the difference of the normals, times that difference's length [m].
    ahead: f32,
    /// Half the squared difference of the normals [-].
    turn: f32,
    /// Cosine of the offset to that difference [-]: 1 right ahead, 0 beside, negative behind.
    along: f32,
}

impl Meeting {
    fn of(offset: Vec3A, normal: Vec3A, other: Vec3A) -> Self {
        let apart = normal - other;
        let (ahead, turn) = (offset.dot(apart), 0.5 * apart.length_squared());
        let lengths = (2.0 * turn * offset.length_squared()).sqrt();
        Self { ahead, turn, along: ahead / lengths.max(f32::MIN_POSITIVE) }
    }

    /// How much of a bend goes along the offset [-]: normals that turn across it are no bend of it.
    fn bend(&self) -> f32 {
        (self.along * self.along / tolerances::GUARD_BEND_ALONG.powi(2)).min(1.0)
    }

    /// How much the other point counts [-]. Everything here is continuous while one passes the other, where the
    /// way ahead turns from a little to nothing at all: a fold never pops.
    fn weight(&self, facing: f32) -> f32 {
        // Walls that face each other count wholly however far beside the nearest point of the other one is.
        let wall = (facing / tolerances::GUARD_WALL_COSINE).clamp(0.0, 1.0);
        let passed = 1.0 - (-self.along / tolerances::GUARD_PASSED).max(0.0);
        (wall + (1.0 - wall) * self.bend()) * passed.max(0.0)
    }
}

/// Twice the way from a point along its normal to the centre of the bend between it and another, `offset`
/// away; infinite where the surface does not bend towards itself on that way.
#[must_use]
pub fn clearance(offset: Vec3A, normal: Vec3A, other: Vec3A) -> f32 {
    let meeting = Meeting::of(offset, normal, other);
    if meeting.ahead > 0.0 && meeting.turn > tolerances::GUARD_LEAST_TURN {
        meeting.ahead / meeting.turn / meeting.bend()
    } else {
        f32::INFINITY
    }
}

/// Whether [`clearance`] may be less than `far`; no division, and rather yes than no.
#[must_use]
pub fn may_be_nearer(far: f32, offset: Vec3A, normal: Vec3A, other: Vec3A) -> bool {
    let apart = normal - other;
    let (ahead, turn) = (offset.dot(apart), 0.5 * apart.length_squared());
    ahead > 0.0
        && turn > tolerances::GUARD_LEAST_TURN
        && ahead < tolerances::GUARD_NEARER * far * turn
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::math::random;

    #[test]
    fn cells_hand_out_everything_in_reach() {
        let c = |i, k| random::signed(4, i, k) as f32;
        let cloud = |stretch: Vec3A| -> Vec<[Vec3A; 2]> {
            (0..300).map(|i| [stretch * Vec3A::new(c(i, 0), c(i, 1), c(i, 2)), Vec3A::Y]).collect()
        };
        // A lump, a sheet, and points so far apart that cells must grow.
        for stretch in [Vec3A::ONE, Vec3A::new(2.0, 0.0, 1.0), Vec3A::splat(1.0e4)] {
            let (items, reach) = (cloud(stretch), 0.3 * stretch.max_element());
            let mut cells = Cells::default();
            cells.fill(&items, 0.25);
            for &[p, _] in &items {
                let near = |q: Vec3A| (q - p).abs().max_element() <= reach;
                let mut found = 0;
                cells.visit(p, reach, (Vec3A::Y, 2.0), |[q, _]| found += usize::from(near(q)));
                assert_eq!(found, items.iter().filter(|[q, _]| near(*q)).count());
            }
        }
    }

    fn room(normals: [Vec3; 2]) -> Vec<f32> {
        let surface = [[Vec3A::ZERO, normals[0].into()], [Vec3A::Y * 0.02, normals[1].into()]];
        let mut room = vec![0.05; 2];
        FoldGuard::default().find_room(&[0, 1], &[0, 1], &surface, 0.01, &mut room);
        room
    }

    #[test]
    fn facing_walls_share_the_gap() {
        let shared = room([Vec3::Y, -Vec3::Y]);
        assert!(shared[0] + shared[1] < 0.02 && shared[0] > 0.005, "{shared:?}");
        assert!(room([Vec3::Y, Vec3::Y]).iter().all(|&r| r > 0.05));
    }

    #[test]
    fn leaning_walls_share_the_wedge_and_bends_end_at_their_centre() {
        let at = |angle: f32, radius: f32| {
            let n = Vec3A::new(-angle.sin(), angle.cos(), 0.0);
            (-radius * n, n)
        };
        // Mirror images across x = 0 on a bend of radius 0.1: nothing rises beyond the centre.
        for degrees in [5f32, 20.0, 60.0, 85.0] {
            let ((p, n), (q, m)) = (at(-degrees.to_radians(), 0.1), at(degrees.to_radians(), 0.1));
            let clear = clearance(q - p, n, m);
            assert!((0.5 * clear - 0.1).abs() < 1e-5, "{degrees}: {clear}");
        }
        let ((p, n), (q, m)) = (at(0.3, -0.1), at(-0.3, -0.1));
        assert_eq!(clearance(q - p, n, m), f32::INFINITY, "a bulge has room");
    }

    #[test]
    fn nothing_pops_while_one_point_passes_another() {
        let unit = |i: u64, k: u64| {
            let c = |axis| random::signed(9, i, 8 * k + axis) as f32;
            Vec3A::new(c(0), c(1), c(2)).normalize_or(Vec3A::Y)
        };
        let (spacing, wanted, steps) = (0.01, 0.004, 4000);
        for i in 0..400 {
            // The other point moves on a straight way through the plane where neither is ahead.
            let (n, m, from, to) = (unit(i, 0), unit(i, 1), unit(i, 2), unit(i, 3));
            let (from, to) = (1.1 * spacing * from, 1.1 * spacing * to);
            let mut last = None;
            for step in 0..=steps {
                let q = from.lerp(to, step as f32 / steps as f32);
                // Nearer points than a mesh has pass so fast that every room looks like a jump.
                if q.length() < 0.3 * spacing {
                    last = None;
                    continue;
                }
                let mut room = [wanted, 0.0];
                FoldGuard::default().find_room(
                    &[0],
                    &[1],
                    &[[Vec3A::ZERO, n], [q, m]],
                    spacing,
                    &mut room,
                );
                let height = wanted.min(room[0]).min(tolerances::GUARD_SHARE * clearance(q, n, m));
                let jump = last.map_or(0.0, |l: f32| (height - l).abs());
                assert!(jump < 0.05 * wanted, "{i}: {jump} at {step}");
                last = Some(height);
            }
        }
    }

    #[test]
    fn room_shrinks_gradually_as_walls_turn() {
        let at = |angle: f32| room([Vec3::Y, Vec3::new(angle.sin(), angle.cos(), 0.0)])[0];
        let steps: Vec<f32> = (0..=180).map(|d| at((d as f32).to_radians())).collect();
        assert!(steps.windows(2).all(|w| w[1] <= w[0] + 1e-6), "room only shrinks");
        let jump = steps.windows(2).fold(0.0f32, |m, w| m.max(w[0] - w[1]));
        assert!(jump < 0.012, "{jump}");
    }
}

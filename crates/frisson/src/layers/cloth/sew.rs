//! Sewing: two borders are drawn together when the shot starts, and stay joined.
//!
//! ```text
//!    from  o---o---o---o         every vertex of the finer border is joined with the place of the other
//!          |   |    \   \         one that lies as far along it
//!    to    o------o------o
//! ```
//!
//! The gap of every stitch closes evenly in the time that is given; then it is none. Until all are closed,
//! nothing falls.

use std::collections::BTreeMap;

use glam::DVec3;

use super::params::ClothSewing;
use super::rest::ClothRest;

/// A node that is joined with a place between two others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stitch {
    /// The node.
    pub node: u32,
    /// The two nodes that its place is between.
    pub onto: [u32; 2],
    /// How far the place is from the first to the second [-].
    pub share: f64,
    /// Gap at the start [m].
    gap: f64,
    /// Time in which it closes [s].
    close: f64,
}

impl Stitch {
    /// The same stitch where nodes have other numbers.
    pub fn over(&self, number: impl Fn(u32) -> u32) -> Self {
        Self { node: number(self.node), onto: self.onto.map(number), ..*self }
    }
}

/// Stitches of one seam; `Err` says what is wrong with which of the two lines.
pub fn stitch(
    sewing: &ClothSewing,
    rest: &ClothRest,
    positions: &[DVec3],
    lines: [&[u32]; 2],
) -> Result<Vec<Stitch>, (&'static str, String)> {
    let [a, b] = lines;
    let a = Line::new(rest, positions, a).map_err(|problem| ("from", problem))?;
    let b = Line::new(rest, positions, b).map_err(|problem| ("to", problem))?;
    // Every vertex of the finer line is sewn on; ties go to the first.
    let (fine, coarse) = if a.nodes.len() >= b.nodes.len() { (a, b) } else { (b, a) };
    let join = |turned: bool| -> Vec<Stitch> {
        let along = |k: usize| if turned { 1.0 - fine.along[k] } else { fine.along[k] };
        let one = |k: usize| {
            let (onto, share) = coarse.at(along(k));
            let mut stitch =
                Stitch { node: fine.nodes[k], onto, share, gap: 0.0, close: sewing.close };
            stitch.gap = stitch.away(positions).length();
            stitch
        };
        (0..fine.nodes.len()).map(one).collect()
    };
    let (straight, turned) = (join(false), join(true));
    let length = |stitches: &[Stitch]| stitches.iter().map(|s| s.gap).sum::<f64>();
    // As panels lie: the way round in which the thread is shorter.
    let best = if length(&turned) < length(&straight) { turned } else { straight };
    Ok(best.into_iter().filter(|s| !s.onto.contains(&s.node)).collect())
}

/// Whether some seam is not yet closed.
pub fn is_closing(stitches: &[Stitch], time: f64) -> bool {
    stitches.iter().any(|s| time < s.close)
}

impl Stitch {
    fn away(&self, x: &[DVec3]) -> DVec3 {
        let [a, b] = self.onto.map(|n| x[n as usize]);
        x[self.node as usize] - a.lerp(b, self.share)
    }

    /// Draws the two together as far as they should be `time` after the start.
    pub fn solve(&self, time: f64, inverse_mass: &[f64], x: &mut [DVec3]) {
        let left = if self.close > 0.0 { (1.0 - time / self.close).max(0.0) } else { 0.0 };
        let away = self.away(x);
        let distance = away.length();
        let excess = distance - left * self.gap;
        let w = |n: u32| inverse_mass[n as usize];
        let shares = [1.0 - self.share, self.share];
        let [a, b] = self.onto;
        let total = w(self.node) + shares[0] * shares[0] * w(a) + shares[1] * shares[1] * w(b);
        if excess <= 0.0 || total <= 0.0 {
            return;
        }
        let push = away * (excess / distance / total);
        x[self.node as usize] -= push * w(self.node);
        x[a as usize] += push * (shares[0] * w(a));
        x[b as usize] += push * (shares[1] * w(b));
    }
}

/// Nodes along a border, with how far along each is, 0 to 1.
struct Line {
    nodes: Vec<u32>,
    along: Vec<f64>,
}

impl Line {
    fn new(rest: &ClothRest, positions: &[DVec3], chosen: &[u32]) -> Result<Self, String> {
        let mut nodes: Vec<u32> = chosen.iter().map(|&v| rest.node_of_vertex[v as usize]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let nodes = in_order(rest, &nodes)?;
        let mut along = vec![0.0];
        let mut total = 0.0;
        for pair in nodes.windows(2) {
            total += positions[pair[0] as usize].distance(positions[pair[1] as usize]);
            along.push(total);
        }
        along.iter_mut().for_each(|a| *a /= total.max(f64::MIN_POSITIVE));
        Ok(Self { nodes, along })
    }

    /// The place so far along: between which nodes, and how far between them.
    fn at(&self, along: f64) -> ([u32; 2], f64) {
        let last = self.nodes.len() - 1;
        let next = self.along.partition_point(|a| *a < along).clamp(1, last);
        let (from, to) = (self.along[next - 1], self.along[next]);
        let share = ((along - from) / (to - from).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        ([self.nodes[next - 1], self.nodes[next]], share)
    }
}

/// Chosen nodes one after the other along the border of the cloth.
fn in_order(rest: &ClothRest, chosen: &[u32]) -> Result<Vec<u32>, String> {
    if chosen.len() < 2 {
        return Err("select at least two vertices along a border".to_owned());
    }
    let mut next: BTreeMap<u32, Vec<u32>> = chosen.iter().map(|&n| (n, Vec::new())).collect();
    let chosen_has = |n: u32| chosen.binary_search(&n).is_ok();
    for [a, b] in borders(rest).into_iter().filter(|[a, b]| chosen_has(*a) && chosen_has(*b)) {
        next.entry(a).or_default().push(b);
        next.entry(b).or_default().push(a);
    }
    let ends: Vec<u32> = next.iter().filter(|(_, to)| to.len() == 1).map(|(n, _)| *n).collect();
    let start = ends.first().or(chosen.first()).copied().unwrap_or(0);
    let (mut order, mut before) = (vec![start], u32::MAX);
    while let Some(&here) = order.last() {
        let onward = next[&here].iter().copied().find(|&n| n != before && !order.contains(&n));
        let Some(onward) = onward else { break };
        before = here;
        order.push(onward);
    }
    if order.len() == chosen.len() {
        return Ok(order);
    }
    Err(format!(
        "select one unbroken line along a border of the cloth: {} of its {} vertices hang together",
        order.len(),
        chosen.len()
    ))
}

/// Edges with but one triangle.
fn borders(rest: &ClothRest) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = rest
        .triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).map(|same| same[0]).collect()
}

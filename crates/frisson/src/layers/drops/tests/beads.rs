//! Rows of beads that a running drop leaves on a pane, and that run again when they are fed.

use glam::DVec2;

use super::layer::{GRAVITY, Lab, actor, params};
use super::*;

/// A steep pane of 60 cm, and a drop of 60 mg that runs down it; others, where a test wants them.
fn pane(others: &str) -> Lab {
    let (low, high) = (DVec2::new(0.0, -0.1), DVec2::new(0.2, 0.1));
    let board = height_field(12, 12, low, high, |x, _| -3.0 * x);
    let text = format!(
        r#"{{"name": "d", "on": "pane", "liquid": {{"preset": "water"}}, "ground": [{{"meander": 0}}],
        "trails": {{"mesh": false, "beads": {{"spacing": 5, "share": 0.03, "above_deg": 40}}}},
        "sources": [{{"single": {{"at": [0.01, -0.03, 0.0], "mass": 6e-5}}}}{others}]}}"#
    );
    Lab::new(actor("pane", board), &params(&text), GRAVITY, 30)
}

fn beads(lab: &Lab) -> Vec<(DVec3, f64)> {
    let drops = lab.state().drops.iter().filter(|d| d.bead);
    let mut found: Vec<(DVec3, f64)> = drops
        .map(|d| (super::super::merge::position_on(d, &lab.surface()).unwrap().0, d.mass))
        .collect();
    found.sort_by(|a, b| b.0.y.total_cmp(&a.0.y));
    found
}

#[test]
fn a_running_drop_leaves_a_row_of_beads_that_stay() {
    let mut lab = pane("");
    lab.run(150);
    let row = beads(&lab);
    assert!(row.len() >= 12, "{} beads", row.len());
    // In one line, evenly spaced, smaller as the drop has less to give.
    let gaps: Vec<f64> = row.windows(2).map(|w| w[0].0.distance(w[1].0)).collect();
    assert!(row.iter().all(|(p, _)| p.z.abs() < 2e-3), "{row:?}");
    assert!(gaps.iter().all(|g| (4e-3..3e-2).contains(g)), "{gaps:?}");
    assert!(row.windows(2).all(|w| w[1].1 <= w[0].1));
    lab.run(60);
    let later = beads(&lab);
    let moved = row.iter().zip(&later).map(|(a, b)| a.0.distance(b.0)).fold(0.0, f64::max);
    assert!(moved < 1e-9, "they rest: {moved}");
    assert!(lab.state().imbalance().abs() < 1e-12);
}

#[test]
fn a_row_of_beads_runs_again_when_it_is_fed() {
    // The next drop comes down the same way two seconds later.
    let next = r#", {"single": {"at": [0.01, -0.03, 0.0], "mass": 1.4e-5, "frame": 60}}"#;
    let mut lab = pane(next);
    lab.run(220);
    let (row, merges) = (beads(&lab), lab.state().ledger.merges);
    assert!(row.len() >= 12);
    lab.run(200);
    let taken = lab.state().ledger.merges - merges;
    assert!(taken >= 6, "it takes up the row: {taken}");
    // Alone it would have stopped where it began, or a little below.
    let lowest = lab.positions().iter().map(|p| p.1.y).fold(0.0, f64::min);
    assert!(lowest < -0.3, "and runs on by it: {lowest}");
}

//! Surfaces over bodies that rest are at rest.

use super::*;
use crate::geometry::{Mesh, TriangleBvh};

/// How fast the points of a mesh have left the surface that it was, at 30 frames a second [mm/s]: 99 of 100 are slower.
fn flicker(before: &Mesh, now: &Mesh) -> f32 {
    let tree = TriangleBvh::build(&before.positions, &before.topology.triangles);
    let off = |p: &Vec3| tree.closest_point(*p, f32::MAX).map_or(0.0, |hit| hit.distance);
    let mut all: Vec<f32> = now.positions.iter().map(off).collect();
    all.sort_by(f32::total_cmp);
    30e3 * all[all.len() * 99 / 100]
}

#[test]
fn two_points_that_have_become_one_show_a_surface_at_rest() {
    let value = serde_json::json!({ "name": "pair", "seeds": 400, "volume_time": 0.0167, "objects": [
        { "name": "pair", "thickness": 0.1, "support": 0.35, "primitives": [
            { "point": [-0.3, 0, 0], "move_x": [[0, 0], [80, 0.3]] },
            { "point": [0.3, 0, 0], "move_x": [[0, 0], [80, -0.299]] } ] } ] });
    let params: SoftParams = serde_json::from_value(value).unwrap();
    let mut rig = Rig::new(params);
    (0..240).for_each(|_| rig.tick());
    let mut before = rig.show().meshes[0].clone();
    for frame in 0..12 {
        (0..4).for_each(|_| rig.tick());
        let now = rig.show().meshes[0].clone();
        // 5.6 while vertices followed the way quadrilaterals were cut.
        let speed = flicker(&before, &now);
        assert!(speed < 1.0, "frame {frame}: {speed} mm/s");
        before = now;
    }
}

/// A ball of dough that is dropped on a table, 48 seeds a particle: few, as scenes have them.
fn dropped_dough() -> Rig {
    let value = serde_json::json!({ "name": "lump", "seeds": 48, "cell": 0.012, "objects": [
        { "name": "lump", "thickness": 0.045, "support": 0.07, "stiffness": 3e5,
          "dough": { "ball": [0, 0.17, 0], "radius": 0.08 } } ] });
    let params: SoftParams = serde_json::from_value(value).unwrap();
    Rig::try_new(params, floor(), 9.81).unwrap()
}

#[test]
fn dough_on_a_table_hardly_moves_two_seconds_after_it_fell() {
    let mut rig = dropped_dough();
    (0..300).for_each(|_| rig.tick());
    let mut before = rig.show().meshes[0].clone();
    for frame in 0..15 {
        (0..4).for_each(|_| rig.tick());
        let speeds = rig.state().bodies.iter().map(|b| 1e3 * b.velocity.length());
        let fastest = speeds.fold(0.0, f64::max);
        let now = rig.show().meshes[0].clone();
        let surface = flicker(&before, &now);
        // 2 to 4 at the surface; 16 to 66 and 3 to 23 while seeds came into contacts and left them as a whole.
        assert!(fastest < 5.0, "frame {frame}: a particle at {fastest} mm/s");
        assert!(surface < 5.0, "frame {frame}: the surface at {surface} mm/s");
        before = now;
    }
}

//! Fusing where pressed, and nowhere else.

use super::*;

/// An arch with two feet on a beam: the left foot is pressed down, the right one only stands there and
/// is lifted at the end.
fn arch(fuse: Option<f64>) -> Rig {
    let moved = |x: f64| {
        // Left half goes down by 2 cm; later the right half up by 6.
        let (down, up) = ((-x / 0.18).max(0.0) * -0.02, (x / 0.18).max(0.0) * 0.06);
        Animated::Keys(vec![(0.0, 0.0), (40.0, down), (120.0, down), (180.0, down + up)])
    };
    let mut upper = SoftObject::new("upper", 0.05);
    let mut add = |x: f64, y: f64| {
        let at = PrimitiveParams { move_y: moved(x), ..point([x, y, 0.0]) };
        upper.primitives.push(at);
    };
    for i in -3..=3 {
        add(0.06 * f64::from(i), 0.282);
    }
    for x in [-0.18, 0.18] {
        [0.104, 0.162, 0.222].into_iter().for_each(|y| add(x, y));
    }
    let mut lower = SoftObject::new("lower", 0.05);
    lower.primitives = (-4..=4).map(|i| point([0.06 * f64::from(i), 0.0, 0.0])).collect();
    (upper.fuse, lower.fuse) = (fuse, fuse);
    let mut params = SoftParams::new("arch", vec![upper, lower]);
    params.seeds = 200;
    Rig::new(params)
}

/// Forces of the contacts on the left and on the right.
fn feet(rig: &Rig) -> (f64, f64) {
    let side = |left: bool| {
        let pairs = rig.scratch().contacts.pairs.iter();
        let here = pairs.filter(|p| ((p.place / p.force).x < 0.0) == left);
        here.map(|p| p.force).fold(0.0, f64::max)
    };
    (side(true), side(false))
}

/// Fields of the two objects at a place, and that of the union.
fn field_sums(rig: &Rig, at: DVec3) -> (f64, f64, f64) {
    let fields = &rig.scratch().fields;
    let mut near = Neighbourhood::default();
    near.set(fields, 0..fields.primitives.len() as u32);
    let union = FieldScratch::default().union(fields, &near, at);
    let sum = |object: usize| {
        let range = rig.rest().objects[object].primitives.clone();
        range.map(|i| fields.field_of(i, at).0).sum()
    };
    (sum(0), sum(1), union)
}

#[test]
fn doughs_that_touch_at_two_places_join_where_they_are_pressed_only() {
    let mut free = arch(None);
    for _ in 0..60 {
        free.tick();
    }
    let (left, right) = feet(&free);
    assert!(right > 0.0 && left > 4.0 * right, "{left} {right}");
    assert_eq!(free.state().piece_count(), 2);

    let mut rig = arch(Some((left * right).sqrt()));
    assert_eq!(rig.state().piece_count(), 2);
    let volume = rig.state().rest_volume();
    let mut joined = None;
    for tick in 1..=180 {
        rig.tick();
        let ratio = rig.state().volume() / volume;
        assert!((ratio - 1.0).abs() < 0.03, "volume {ratio} at {tick}");
        if rig.state().piece_count() == 1 {
            joined.get_or_insert(tick);
        }
        if tick == 120 {
            closed_manifold(&rig.show().meshes[0]);
            // Half-way between the objects, on the foot's axis and beside it.
            for x in [-0.18, -0.2, -0.16] {
                let at = interface(&rig, x);
                let (a, b, union) = field_sums(&rig, at);
                assert!((union - a - b).abs() < 1e-6 * (a + b), "apart at {at}: {union} {a} {b}");
            }
            for x in [0.18, 0.2, 0.16] {
                let at = interface(&rig, x);
                let (a, b, union) = field_sums(&rig, at);
                assert!((union - a.max(b)).abs() < 1e-6 * a, "melted at {at}");
            }
        }
    }
    // Not before the fusion has had its time, 0.3 s, and then soon.
    let joined = joined.expect("it never fused");
    assert!((36..80).contains(&joined), "joined after {joined} ticks");
    assert_eq!(rig.state().piece_count(), 1);
    // Lifted, the right foot comes off and the left one does not.
    let level = rig.scratch().fields.level;
    assert!(field_sums(&rig, interface(&rig, -0.18)).2 > level);
    assert!(field_sums(&rig, interface(&rig, 0.18)).2 < level);
    closed_manifold(&rig.show().meshes[0]);
}

/// The place above `x` where both objects' fields are alike.
fn interface(rig: &Rig, x: f64) -> DVec3 {
    let (mut low, mut high) = (0.0, 0.2);
    for _ in 0..50 {
        let y = 0.5 * (low + high);
        // Objects are sorted by name: the lower one is the first.
        let (lower, upper, _) = field_sums(rig, DVec3::new(x, y, 0.0));
        if lower > upper { low = y } else { high = y }
    }
    DVec3::new(x, 0.5 * (low + high), 0.0)
}

#[test]
fn a_weld_let_go_too_early_heals_off() {
    let press = |long: f64| {
        let keys = |sign: f64| {
            let (touch, deep) = (sign * -0.052, sign * -0.065);
            Animated::Keys(vec![
                (0.0, touch),
                (10.0, deep),
                (10.0 + long, deep),
                (20.0 + long, touch),
            ])
        };
        let object = |name: &str, sign: f64| SoftObject {
            move_x: keys(sign),
            fuse: Some(1.0),
            ..ball(name, [sign * 0.1, 0.0, 0.0], 0.05)
        };
        let mut rig = Rig::new(SoftParams::new("pair", vec![object("a", -1.0), object("b", 1.0)]));
        let mut most = 0.0f64;
        for _ in 0..120 {
            rig.tick();
            most = rig.state().welds.iter().map(|w| w.weight).fold(most, f64::max);
        }
        (rig.state().piece_count(), most, rig.state().welds.len())
    };
    let (pieces, most, welds) = press(10.0);
    assert!(pieces == 2 && welds == 0 && most > 0.1 && most < 1.0, "{pieces} {most} {welds}");
    assert_eq!(press(60.0).0, 1);
}

#[test]
fn pieces_that_have_parted_do_not_melt_although_both_are_one_with_a_third() {
    // a and b part, come back to touch lightly, and a base is pressed into both.
    let build = |fuse: Option<f64>| {
        let mut pair = SoftObject::new("pair", 0.05);
        let apart =
            |sign: f64| Animated::Keys(vec![(0.0, 0.0), (40.0, sign * 0.1), (80.0, sign * 0.016)]);
        pair.primitives = vec![
            PrimitiveParams { move_x: apart(-1.0), ..point([-0.03, 0.0, 0.0]) },
            PrimitiveParams { move_x: apart(1.0), ..point([0.03, 0.0, 0.0]) },
        ];
        let mut base = ball("base", [0.0, -0.3, 0.0], 0.05);
        base.move_y = Animated::Keys(vec![(80.0, 0.0), (120.0, 0.25)]);
        (pair.fuse, base.fuse) = (fuse, fuse);
        let mut params = SoftParams::new("three", vec![pair, base]);
        params.volume_time = 0.0;
        Rig::new(params)
    };
    let mut free = build(None);
    for _ in 0..120 {
        free.tick();
    }
    // Objects are sorted by name: the base is primitive 0.
    let force = |a: u32, b: u32| {
        let pairs = &free.scratch().contacts.pairs;
        pairs.iter().find(|p| p.pair == (a, b)).map_or(0.0, |p| p.force)
    };
    let (side, lower) = (force(1, 2), force(0, 1).min(force(0, 2)));
    assert!(side > 0.0 && lower > 2.0 * side, "{side} {lower}");
    let mut rig = build(Some((side * lower).sqrt()));
    for _ in 0..240 {
        rig.tick();
    }
    // One piece, by way of the base.
    assert_eq!(rig.state().piece_count(), 1);
    let fields = &rig.scratch().fields;
    assert!(fields.spots.iter().all(|s| s.groups.0 == 0), "a and b are welded to each other");
    let mut near = Neighbourhood::default();
    near.set(fields, 0..3);
    // High above the base only the two are left, side by side.
    let at = DVec3::new(0.0, 0.055, 0.0);
    let f: Vec<f64> = (0..3).map(|i| fields.field_of(i, at).0).collect();
    assert!(f[0] == 0.0 && f[1] > 0.0 && f[2] > 0.0, "{f:?}");
    let union = FieldScratch::default().union(fields, &near, at);
    assert!((union - f[1].max(f[2])).abs() < 1e-9 * union, "{union} {f:?}");
}

#[test]
fn rigid_bodies_that_fuse_hold_together() {
    let fly = |fuse: Option<f64>| {
        let still = SoftObject { fuse, ..ball("a", [0.0; 3], 0.1) };
        let mut free = SoftObject { free: true, fuse, ..ball("b", [0.21, 0.0, 0.0], 0.1) };
        free.fuse_time = 0.0;
        let still = SoftObject { fuse_time: 0.0, ..still };
        let mut rig = Rig::new(SoftParams::new("pair", vec![still, free]));
        rig.state_mut().bodies[1].velocity = DVec3::X * -1.0;
        for _ in 0..240 {
            rig.tick();
        }
        let b = rig.state().bodies[1];
        (b.position.length(), b.velocity.length())
    };
    let (distance, _) = fly(None);
    assert!(distance > 0.3, "it stayed at {distance}");
    let (distance, speed) = fly(Some(5.0));
    assert!((0.1..0.2).contains(&distance) && speed < 0.02, "{distance} {speed}");
}

//! Pieces that part and fuse.

use super::*;

#[test]
fn parted_pieces_do_not_melt_again_and_fuse_only_when_pressed() {
    let build = |fuse: Option<f64>| {
        let mut object = SoftObject::new("pair", 0.05);
        let apart = |sign: f64| {
            Animated::Keys(vec![
                (0.0, 0.0),
                (60.0, sign * 0.09),
                (120.0, sign * 0.005),
                (180.0, sign * -0.012),
            ])
        };
        object.primitives = vec![
            PrimitiveParams { move_x: apart(-1.0), ..point([-0.03, 0.0, 0.0]) },
            PrimitiveParams { move_x: apart(1.0), ..point([0.03, 0.0, 0.0]) },
        ];
        object.fuse = fuse;
        let mut params = SoftParams::new("parted", vec![object]);
        params.volume_time = 0.0;
        Rig::new(params)
    };
    let mut rig = build(None);
    assert_eq!(rig.state().piece_count(), 1);
    for _ in 0..60 {
        rig.tick();
    }
    assert_eq!(rig.state().piece_count(), 2);
    for _ in 0..120 {
        rig.tick();
        assert_eq!(rig.state().piece_count(), 2, "melted without being pressed");
    }
    assert!(rig.scratch().contacts.count > 0);
    let force = rig.state().bodies[1].force.x;
    let mut weak = build(Some(0.5 * force));
    let mut strong = build(Some(1.5 * force));
    for _ in 0..240 {
        weak.tick();
        strong.tick();
    }
    assert_eq!(weak.state().piece_count(), 1);
    assert_eq!(strong.state().piece_count(), 2);
}

#[test]
fn components_match_a_brute_force_graph() {
    let mut rig = Rig::new(SoftParams::new(
        "cloud",
        vec![dough(
            "d",
            (0..40)
                .map(|i| {
                    let c = |k| 0.5 * random::signed(5, i, k);
                    [c(0), c(1), c(2)]
                })
                .collect(),
        )],
    ));
    rig.show();
    let (fields, state) = (&rig.scratch().fields, rig.state());
    let at = |i: usize| fields.points[i];
    // Flood from each primitive over supports that meet.
    for start in 0..40usize {
        let mut reached = [false; 40];
        let mut open = vec![start];
        reached[start] = true;
        while let Some(i) = open.pop() {
            for j in 0..40 {
                if !reached[j] && at(i).distance(at(j)) < fields.reach(i) + fields.reach(j) {
                    reached[j] = true;
                    open.push(j);
                }
            }
        }
        let smallest = reached.iter().position(|r| *r).unwrap() as u32;
        assert_eq!(state.groups[start], smallest);
    }
    assert!(state.piece_count() > 1);
}

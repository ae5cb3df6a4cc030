//! The law of the room, over random meshes, bones and motions.

use super::*;

/// Points that follow one joint, with triangles between any three of them.
fn scattered(points: &[[f32; 3]], triangles: &[[u32; 3]], tracks: Vec<Track>) -> Arc<Character> {
    let count = points.len() as u32;
    let positions: Vec<Vec3> = points.iter().map(|p| Vec3::from_array(*p)).collect();
    let triangles = triangles.iter().map(|t| t.map(|v| v % count)).collect();
    let lists = vec![vec![(0u16, 1.0f32)]; positions.len()];
    let root = Node { name: "root".to_owned(), parent: None, rest: Transform::default() };
    Arc::new(Character {
        name: "cloud".to_owned(),
        skeleton: Skeleton::new(vec![root]).unwrap(),
        skins: vec![Skin {
            name: "skin".to_owned(),
            joints: vec![0],
            inverse_bind: vec![Mat4::IDENTITY],
        }],
        meshes: vec![CharacterMesh::skinned(
            Mesh::new("body", positions, triangles),
            Influences::from_lists(&lists),
        )],
        clips: vec![Clip { name: "move".to_owned(), tracks }],
    })
}

/// Distance from a bone that starts at the origin, and the place along it from 1 to -1.
fn beside(bone: Vec3, p: Vec3) -> (f32, f32) {
    let t = p.dot(bone) / bone.length_squared();
    (p.distance(bone * t.clamp(0.0, 1.0)), 1.0 - 2.0 * t)
}

fn point(reach: f32) -> impl Strategy<Value = [f32; 3]> {
    [-reach..reach, -reach..reach, -reach..reach]
}

fn track(target: TrackTarget, width: usize, values: Vec<f32>) -> Track {
    let times = (0..values.len() / width).map(|i| 0.1 * i as f32).collect();
    Track { target, interpolation: Interpolation::Linear, times, values, width }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_vertex_leaves_its_room(
        (points, triangles) in (
            prop::collection::vec(point(0.5), 4..40),
            prop::collection::vec([0u32..40, 0u32..40, 0u32..40], 1..60),
        ),
        end in point(1.0),
        (places, turns) in
            (prop::collection::vec(point(2.0), 4), prop::collection::vec(point(3.0), 4)),
        (hz, ratio) in (0.2f64..20.0, 0.0f64..2.0),
        (thickness, limit, volume, rotation) in (0.0f32..0.2, 0.05f32..1.0, 0.0f32..1.0, 0.0f32..1.0),
        (hard, linear) in (any::<bool>(), any::<bool>()),
    ) {
        let bone = Vec3::from_array(end);
        prop_assume!(bone.length() > 0.05);
        let moves = places.concat();
        let turned = |t: &[f32; 3]| Quat::from_scaled_axis(Vec3::from_array(*t)).to_array();
        let tracks = vec![
            track(TrackTarget::Translation(0), 3, moves),
            track(TrackTarget::Rotation(0), 4, turns.iter().flat_map(turned).collect()),
        ];
        let mut params = FleshParams::new("belly", "body", "root", &[]);
        params.to = vec![BoneEnd::Offset(OffsetEnd { joint: "root".to_owned(), offset: end })];
        (params.frequency_hz, params.damping_ratio) = (Some(hz), Some(ratio));
        (params.thickness, params.limit) = (thickness, limit);
        (params.volume, params.rotation) = (volume, rotation);
        params.limit_kind = if hard { LimitKind::Hard } else { LimitKind::Soft };
        params.shape_curve = if linear { ShapeCurve::Linear } else { ShapeCurve::Constant };
        let character = scattered(&points, &triangles, tracks);
        // No flesh at all is refused, and that is right.
        let Ok(mut stage) = stage_with(character, vec![params], 30, 30, false) else {
            return Ok(());
        };
        for _ in 0..12 {
            stage.advance_frame(&mut NoObserver).unwrap();
            for (offset, p) in offsets(&stage).iter().zip(&points) {
                let (distance, along) = beside(bone, Vec3::from_array(*p));
                let room = (distance - thickness).max(0.0) * Attenuation::Bell.at(along);
                // Positions up to some metres: a few roundings of 4e-7.
                prop_assert!(offset.length() <= room * 1.001 + 3e-6, "{} {}", offset.length(), room);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// No vertex moves further than the flesh between it and the bone, whatever the motion.
    #[test]
    fn nothing_enters_the_bone(
        (hz, ratio) in (0.2f64..20.0, 0.0f64..2.0),
        (thickness, rotation) in (0.0f32..0.25, 0.0f32..1.0),
        (hard, limit, volume) in (any::<bool>(), 0.1f32..1.0, 0.0f32..1.0),
        keys in prop::collection::vec((-3.0f32..3.0, -3.0f32..3.0, -3.0f32..3.0), 5),
    ) {
        let times = (0..keys.len()).map(|i| i as f32 * 0.1).collect();
        let values = keys.iter().flat_map(|k| [k.0, k.1, k.2]).collect();
        let tracks = vec![Track {
            target: TrackTarget::Translation(0),
            interpolation: Interpolation::Linear,
            times,
            values,
            width: 3,
        }];
        let mut params = element();
        params.frequency_hz = Some(hz);
        params.damping_ratio = Some(ratio);
        params.thickness = thickness;
        params.rotation = rotation;
        (params.limit, params.volume) = (limit, volume);
        params.limit_kind = if hard { LimitKind::Hard } else { LimitKind::Soft };
        let character = cylinder(tracks);
        let mut stage = stage_with(character.clone(), vec![params], 30, 30, false).unwrap();
        for _ in 0..20 {
            stage.advance_frame(&mut NoObserver).unwrap();
            let moved = offsets(&stage);
            for (offset, p) in moved.iter().zip(&character.meshes[0].mesh.positions) {
                let room = (0.3 - thickness).max(0.0) * Attenuation::Bell.at(1.0 - p.y);
                // Positions up to some metres: a few roundings of 4e-7.
                prop_assert!(offset.length() <= room * 1.0001 + 2e-6, "{} {}", offset.length(), room);
            }
        }
    }
}

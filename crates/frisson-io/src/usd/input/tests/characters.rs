//! A skeleton as text becomes a character that moves as OpenUSD moves it (`tests/interop` compares).

use frisson::character::{Pose, Sampling};
use glam::{Mat4, Vec3, vec3};

use super::*;

/// Two joints, one above the other; the upper one turns a quarter about z within a second, from code 10.
const RIG: &str = r#"#usda 1.0
(
    metersPerUnit = 0.5
    timeCodesPerSecond = 20
)
def SkelRoot "top" (prepend apiSchemas = ["SkelBindingAPI"])
{
    def Skeleton "rig" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        uniform token[] joints = ["low", "low/high"]
        uniform matrix4d[] bindTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 2, 0, 1))]
        rel skel:animationSource = </top/rig/turn>
        def SkelAnimation "turn"
        {
            uniform token[] joints = ["low/high"]
            float3[] translations = [(0, 2, 0)]
            half3[] scales = [(1, 1, 1)]
            quatf[] rotations.timeSamples = { 10: [(1, 0, 0, 0)], 30: [(0.70710678, 0, 0, 0.70710678)] }
            uniform token[] blendShapes = ["wide"]
            float[] blendShapeWeights.timeSamples = { 10: [0], 30: [1] }
        }
    }
    def SkelAnimation "other"
    {
        uniform token[] joints = ["low"]
        float3[] translations.timeSamples = { 0: [(0, 0, 0)], 20: [(4, 0, 0)] }
    }
    def Mesh "skin" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        rel skel:skeleton = </top/rig>
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 4, 0), (1, 4, 0)]
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 3, 2]
        int[] primvars:skel:jointIndices = [0, 0, 0, 0, 1, 0, 1, 0] (elementSize = 2; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 0, 0.5, 0.5, 1, 0, 0, 0] (elementSize = 2; interpolation = "vertex")
        uniform token[] skel:blendShapes = ["wide"]
        rel skel:blendShapeTargets = </top/skin/shape>
        def BlendShape "shape"
        {
            uniform vector3f[] offsets = [(2, 0, 0)]
            uniform int[] pointIndices = [0]
        }
    }
}
"#;

fn posed(character: &frisson::character::Character, clip: usize, time: f64) -> Vec<Vec3> {
    let (mut pose, mut out) = (Pose::default(), Vec::new());
    let clip = character.clips.get(clip);
    pose.set(character, clip, time, Sampling::AsAuthored, Mat4::IDENTITY);
    character.deform_mesh_positions(0, &pose, &mut out);
    out
}

#[test]
fn joints_weights_blend_shapes_and_clips_move_a_character_in_metres() {
    let mut file = UsdFile::parse(RIG.as_bytes().to_vec()).unwrap();
    assert!(file.has_skeleton());
    let character = read_usd_character(&mut file, "two").unwrap();
    let names: Vec<_> = character.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["turn", "other"]);
    assert!((character.clips[0].duration() - 1.0).abs() < 1e-6);
    let high = character.skeleton.find("high").unwrap();
    assert_eq!(character.skeleton.nodes()[high].rest.translation, vec3(0.0, 1.0, 0.0));
    // The corners in the order of the face.
    let start =
        [vec3(0.0, 0.0, 0.0), vec3(0.5, 0.0, 0.0), vec3(0.5, 2.0, 0.0), vec3(0.0, 2.0, 0.0)];
    let close = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).all(|(a, b)| a.distance(*b) < 1e-6);
    assert!(close(&posed(&character, 0, 0.0), &start), "{:?}", posed(&character, 0, 0.0));
    // The third follows no joint and stays; the fourth turns about (0, 1); the first swells by a metre.
    let end = [vec3(1.0, 0.0, 0.0), vec3(0.5, 0.0, 0.0), vec3(0.5, 2.0, 0.0), vec3(-1.0, 1.0, 0.0)];
    assert!(close(&posed(&character, 0, 1.0), &end), "{:?}", posed(&character, 0, 1.0));
    let moved = posed(&character, 1, 0.5);
    assert!(moved[0].distance(vec3(1.0, 0.0, 0.0)) < 1e-6, "{moved:?}");
}

#[test]
fn weights_that_are_not_there_are_an_error_with_the_mesh() {
    let short = RIG.replace("[0, 0, 0, 0, 1, 0, 1, 0]", "[0, 0, 0]");
    let mut file = UsdFile::parse(short.into_bytes()).unwrap();
    let said = read_usd_character(&mut file, "two").err().unwrap().to_string();
    assert!(said.contains("/top/skin") && said.contains("3 joints"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn mutated_rigs_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = RIG.as_bytes().to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        read_all(bytes);
    }
}

//! Scenes as text: transforms, composition, what is left out.

use glam::{Vec3, vec3};

use super::*;
use crate::inputs::InputSet;

const TRIANGLE: &str = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]";

fn parse(text: &str) -> UsdFile {
    UsdFile::parse(format!("#usda 1.0\n{text}").into_bytes()).unwrap()
}

fn positions(file: &UsdFile, mesh: usize, time: f64) -> Vec<Vec3> {
    file.mesh_at(mesh, time).unwrap().positions
}

fn close(a: &[Vec3], b: &[Vec3]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.distance(*b) < 1e-6)
}

#[test]
fn transforms_units_and_axes_are_applied_at_any_time() {
    let file = parse(&format!(
        "( metersPerUnit = 0.1; upAxis = \"Z\"
           timeCodesPerSecond = 10 )
        def Xform \"a\" {{
            double3 xformOp:translate.timeSamples = {{ 0: (0, 0, 0), 10: (10, 0, 0) }}
            float xformOp:rotateZ = 90 # a quarter turn
            uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateZ\"]
            def Mesh \"b\" {{ {TRIANGLE} }}
            def Mesh \"c\" {{ {TRIANGLE}
                float3 xformOp:scale = (2, 3, 4)
                uniform token[] xformOpOrder = [\"!resetXformStack!\", \"xformOp:scale\"] }}
        }}"
    ));
    // At half a second a quarter turn about z, half a metre along x; z becomes y.
    let b = [vec3(0.5, 0.0, 0.0), vec3(0.5, 0.0, -0.1), vec3(0.4, 0.0, 0.0)];
    assert!(close(&positions(&file, 0, 0.5), &b), "{:?}", positions(&file, 0, 0.5));
    let c = [Vec3::ZERO, vec3(0.2, 0.0, 0.0), vec3(0.0, 0.0, -0.3)];
    assert!(close(&positions(&file, 1, 0.5), &c), "{:?}", positions(&file, 1, 0.5));
    assert_eq!(file.span(), (0.0, 1.0));
    assert!(file.is_animated());
}

#[test]
fn polygons_orientation_visibility_and_materials() {
    let file = parse(
        "( metersPerUnit = 1 )
        def Scope \"m\" {
            def Material \"red\" {
                token outputs:surface.connect = </m/red/s.outputs:surface>
                def Shader \"s\" {
                    uniform token info:id = \"UsdPreviewSurface\"
                    color3f inputs:diffuseColor = (1, 0.25, 0)
                    float inputs:roughness = 0.125
                }
            }
        }
        def Mesh \"quad\" {
            uniform token orientation = \"leftHanded\"
            point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (9,9,9)]
            int[] faceVertexCounts = [4]
            int[] faceVertexIndices = [0, 1, 2, 3]
            texCoord2f[] primvars:st = [(0, 0), (0.5, 1)] ( interpolation = \"faceVarying\" )
            int[] primvars:st:indices = [0, 1, 0, 1]
            token visibility.timeSamples = { 0: \"inherited\", 24: \"invisible\" }
            rel material:binding = </m/red>
        }",
    );
    let mesh = file.mesh_at(0, 0.0).unwrap();
    assert_eq!((mesh.positions.len(), mesh.topology.triangles.len()), (4, 2));
    for t in &mesh.topology.triangles {
        let [a, b, c] = t.map(|k| mesh.positions[k as usize]);
        assert!((b - a).cross(c - a).z < 0.0);
    }
    let material = &mesh.topology.materials[0];
    assert_eq!((material.name.as_str(), material.roughness), ("red", 0.125));
    assert_eq!(material.base_color, [1.0, 0.25, 0.0, 1.0]);
    assert!(mesh.topology.uvs.iter().all(|uv| [(0.0, 1.0), (0.5, 0.0)].contains(&(uv.x, uv.y))));
    assert!(file.mesh_at(0, 1.5).unwrap().positions.is_empty());
}

#[test]
fn layers_references_variants_and_inherits_compose() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), format!("#usda 1.0\n{text}")).unwrap();
    };
    let moved = "double3 xformOp:translate = (0, 0, 5)
        uniform token[] xformOpOrder = [\"xformOp:translate\"]";
    write(
        "asset.usda",
        &format!(
            "( defaultPrim = \"A\" )
            def Xform \"A\" ( variants = {{ string kind = \"one\" }}; prepend variantSets = \"kind\" ) {{
                def Mesh \"body\" {{ {TRIANGLE} }}
                variantSet \"kind\" = {{
                    \"one\" {{ def Mesh \"first\" {{ {TRIANGLE} }} }}
                    \"two\" {{ def Mesh \"second\" {{ {TRIANGLE} }} }}
                }}
            }}"
        ),
    );
    write(
        "below.usda",
        &format!(
            "class \"_c\" {{ {moved} }}\ndef Mesh \"heir\" ( inherits = </_c> ) {{ {TRIANGLE} }}"
        ),
    );
    write(
        "root.usda",
        "( metersPerUnit = 1; subLayers = [ @./below.usda@ ] )
        def \"x\" ( references = @asset.usda@ ) { over \"body\" ( active = false ) {} }
        def \"y\" ( payload = @./asset.usda@</A>; variants = { string kind = \"two\" } ) {}
        def \"z\" ( references = @gone.usda@ ) {}
        def \"out\" ( references = @../outside.usda@ ) {}
        def \"self\" ( references = </self> ) {}
        over \"nothing\" { def Mesh \"m\" {} }
        def Sphere \"ball\" {}",
    );
    let inputs = InputSet::new();
    let file = UsdFile::open_with(&folder.path().join("root.usda"), &inputs).unwrap();
    let mut paths: Vec<_> = file.meshes().map(|m| m.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/heir", "/x/first", "/y/body", "/y/second"]);
    let heir = file.meshes().position(|m| m.path == "/heir").unwrap();
    assert!(positions(&file, heir, 0.0).iter().all(|p| p.z == 5.0));
    let said = file.warnings().join("\n");
    for word in ["gone.usda", "outside.usda", "/self", "a Sphere"] {
        assert!(said.contains(word), "{word} in {said}");
    }
    assert_eq!(inputs.files().len(), 3);
}

#[test]
fn texts_that_break_off_or_go_too_deep_are_refused_with_their_line() {
    let said = |text: &str| UsdFile::parse(text.as_bytes().to_vec()).err().unwrap().to_string();
    assert!(said("#usda 1.0\ndef Mesh \"a\" {\n  point3f[] points = [(1,").contains("line 3"));
    assert!(said("#usda 1.0\ndef Mesh \"a {").contains("has no end"));
    assert!(said(&format!("#usda 1.0\n{}", "def \"a\" {".repeat(9999))).contains("too deep"));
    let deep = format!("#usda 1.0\ndef \"a\" {{ float3 b = {}", "(".repeat(9999));
    assert!(said(&deep).contains("too deep"));
}

#[test]
fn a_prim_that_refers_to_what_is_above_it_ends() {
    let text = format!(
        "( metersPerUnit = 1 )\ndef \"a\" {{ def \"b\" ( references = </a> ) {{ def Mesh \"m\" {{ {TRIANGLE} }} }} }}"
    );
    let file = parse(&text);
    assert!(file.warnings().iter().any(|w| w.contains("deeper")), "{:?}", file.warnings());
}

#[test]
fn a_package_is_read_and_a_compressed_one_is_refused() {
    let text = format!("#usda 1.0\n( metersPerUnit = 1 )\ndef Mesh \"a\" {{ {TRIANGLE} }}");
    let package = |method: u16| {
        let name = b"scene.usda";
        let size = (text.len() as u32).to_le_bytes();
        let mut local = b"PK\x03\x04".to_vec();
        local.resize(26, 0);
        local.extend((name.len() as u16).to_le_bytes());
        local.extend([0, 0]);
        local.extend(name);
        local.extend(text.as_bytes());
        let mut entry = b"PK\x01\x02".to_vec();
        entry.resize(10, 0);
        entry.extend(method.to_le_bytes());
        entry.resize(20, 0);
        entry.extend(size);
        entry.extend(size);
        entry.extend((name.len() as u16).to_le_bytes());
        entry.resize(46, 0);
        entry.extend(name);
        let mut end = b"PK\x05\x06".to_vec();
        end.resize(10, 0);
        end.extend(1_u16.to_le_bytes());
        end.extend((entry.len() as u32).to_le_bytes());
        end.extend((local.len() as u32).to_le_bytes());
        end.extend([0, 0]);
        [local, entry, end].concat()
    };
    let file = UsdFile::parse(package(0)).unwrap();
    assert_eq!(positions(&file, 0, 0.0), [Vec3::ZERO, Vec3::X, Vec3::Y]);
    let said = UsdFile::parse(package(8)).err().unwrap().to_string();
    assert!(said.contains("compressed"), "{said}");
}

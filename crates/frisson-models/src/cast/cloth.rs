//! Sheets, tablecloth, sleeve, cape, skirt: grids with the places where they are held.

use std::collections::BTreeMap;
use std::sync::Arc;

use frisson::character::{Character, CharacterMesh, Influences};
use frisson::geometry::{Material, Mesh, MeshTopology, woven_triangles};
use glam::{Vec2, Vec3};

use super::figure::Person;
use super::{material, srgb};
use crate::clay::{Rig, normals};
use crate::clips::{clip, smoothstep};

/// A grid of `columns` by `rows` squares; `place` maps (u, v) in the unit square, v down.
pub(super) struct Grid {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Whether the last column meets the first.
    pub(super) round: bool,
}

impl Grid {
    /// Makes a mesh. Round grids repeat their first column of vertices for the uv seam.
    pub(super) fn mesh(
        &self,
        name: &str,
        look: Material,
        place: impl Fn(Vec2) -> Vec3,
    ) -> CharacterMesh {
        let (w, h) = (self.columns + 1, self.rows + 1);
        let uv = |i: usize| {
            Vec2::new((i % w) as f32 / self.columns as f32, (i / w) as f32 / self.rows as f32)
        };
        let uvs: Vec<Vec2> = (0..w * h).map(uv).collect();
        let mut positions: Vec<Vec3> = uvs.iter().map(|&uv| place(uv)).collect();
        if self.round {
            // To the bit: sin(2 pi) is not quite zero, and the seam would not weld.
            (0..h).for_each(|row| positions[row * w + w - 1] = positions[row * w]);
        }
        let triangles = woven_triangles(self.columns, self.rows);
        let mut surface = normals(&positions, &triangles);
        if self.round {
            for row in 0..h {
                let (first, last) = (row * w, row * w + w - 1);
                let both = (surface[first] + surface[last]).normalize_or(Vec3::Y);
                surface[first] = both;
                surface[last] = both;
            }
        }
        let topology = MeshTopology {
            vertex_count: positions.len(),
            triangles,
            uvs,
            materials: vec![look],
            regions: self.border_regions(),
            ..MeshTopology::default()
        };
        let mesh = Mesh {
            name: name.to_owned(),
            topology: Arc::new(topology),
            positions,
            normals: surface,
            ..Mesh::default()
        };
        CharacterMesh::carried(mesh, 0, None)
    }

    /// `top`, `bottom`, and for flat grids `left`, `right`, `edges`, `corners`.
    fn border_regions(&self) -> BTreeMap<String, Vec<u32>> {
        let (w, h) = (self.columns + 1, self.rows + 1);
        let pick = |test: &dyn Fn(usize, usize) -> bool| -> Vec<u32> {
            (0..w * h).filter(|i| test(i % w, i / w)).map(|i| i as u32).collect()
        };
        let mut out = BTreeMap::new();
        out.insert("top".to_owned(), pick(&|_, r| r == 0));
        out.insert("bottom".to_owned(), pick(&|_, r| r == h - 1));
        if !self.round {
            let side = |c: usize| c == 0 || c == w - 1;
            let end = |r: usize| r == 0 || r == h - 1;
            out.insert("left".to_owned(), pick(&|c, _| c == 0));
            out.insert("right".to_owned(), pick(&|c, _| c == w - 1));
            out.insert("edges".to_owned(), pick(&|c, r| side(c) || end(r)));
            out.insert("corners".to_owned(), pick(&|c, r| side(c) && end(r)));
        }
        out
    }
}

/// Adds or replaces a region.
pub(super) fn set_region(mesh: &mut CharacterMesh, name: &str, members: Vec<u32>) {
    Arc::make_mut(&mut mesh.mesh.topology).regions.insert(name.to_owned(), members);
}

fn region_of(mesh: &CharacterMesh, names: &[&str]) -> Vec<u32> {
    let regions = &mesh.mesh.topology.regions;
    let mut all: Vec<u32> =
        names.iter().filter_map(|n| regions.get(*n)).flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A character of one mesh that nothing moves.
pub(super) fn still(name: &str, mesh: CharacterMesh) -> Character {
    let mut rig = Rig::default();
    rig.joint("root", None, Vec3::ZERO);
    Character {
        name: name.to_owned(),
        skeleton: rig.skeleton(),
        meshes: vec![mesh],
        ..Character::default()
    }
}

/// A level square of cloth, `cells` by `cells`, hanging at a height; pinned at its corners.
pub(super) fn sheet(name: &str, cells: usize, size: f32, height: f32, hex: u32) -> Character {
    let grid = Grid { columns: cells, rows: cells, round: false };
    let mut mesh = grid.mesh(name, material("cloth", hex, 0.9), |uv| {
        Vec3::new((uv.x - 0.5) * size, height, (uv.y - 0.5) * size)
    });
    let corners = region_of(&mesh, &["corners"]);
    set_region(&mut mesh, "pins", corners);
    still(name, mesh)
}

/// Skins a grid linearly between two joints, the first at v or u = 0 and the second at 1.
fn between(mesh: &mut CharacterMesh, share: impl Fn(Vec2) -> f32) {
    let uvs = &mesh.mesh.topology.uvs;
    let lists: Vec<Vec<(u16, f32)>> = uvs
        .iter()
        .map(|&uv| {
            let s = share(uv).clamp(0.0, 1.0);
            vec![(0, 1.0 - s), (1, s)]
        })
        .collect();
    mesh.influences = Influences::from_lists(&lists);
    mesh.skin = Some(0);
}

/// Stretched, then compressed, then back, over ten seconds: 300 frames at 30 per second.
fn stretch_and_compress(t: f32, stretch: f32, compress: f32) -> f32 {
    stretch * (smoothstep(0.3, 2.3, t) - smoothstep(3.0, 5.0, t))
        - compress * (smoothstep(3.0, 6.0, t) - smoothstep(7.0, 9.6, t))
}

/// A tablecloth held along two opposite edges, one of which is moved away by `pull` of its length,
/// towards the other by `push` of it, and back.
pub(super) fn tablecloth_length(cells: usize, pull: f32, push: f32) -> Character {
    let size = 1.0;
    let grid = Grid { columns: cells, rows: cells, round: false };
    let mut mesh = grid.mesh("tablecloth_length", material("cloth", 0xD9C7A3, 0.9), |uv| {
        Vec3::new((uv.x - 0.5) * size, 0.75, (uv.y - 0.5) * size)
    });
    let pins = region_of(&mesh, &["left", "right"]);
    set_region(&mut mesh, "pins", pins);
    between(&mut mesh, |uv| uv.x);
    let mut rig = Rig::default();
    let root = rig.joint("left", None, Vec3::new(-0.5 * size, 0.75, 0.0));
    let moved = rig.joint("right", Some(root), Vec3::new(0.5 * size, 0.75, 0.0));
    let motion = clip(&rig, "length", 10.0, false, |t, pose| {
        pose.translations[moved].x += size * stretch_and_compress(t, pull, push);
    });
    Character {
        name: "tablecloth_length".to_owned(),
        skeleton: rig.skeleton(),
        skins: vec![rig.skin("tablecloth_length")],
        meshes: vec![mesh],
        clips: vec![motion],
    }
}

/// A tube of cloth around an arm-like cylinder, held at both ends; the lower end slides up and down.
pub(super) fn sleeve(around: usize, along: usize, pull: f32, push: f32) -> Character {
    let (radius, length, top) = (0.055, 0.30, 0.42);
    let grid = Grid { columns: around, rows: along, round: true };
    let mut mesh = grid.mesh("sleeve", material("cloth", 0x7A8FB5, 0.9), |uv| {
        let a = std::f32::consts::TAU * uv.x;
        Vec3::new(radius * a.sin(), top - length * uv.y, radius * a.cos())
    });
    let pins = region_of(&mesh, &["top", "bottom"]);
    set_region(&mut mesh, "pins", pins);
    between(&mut mesh, |uv| uv.y);
    let mut rig = Rig::default();
    let upper = rig.joint("upper", None, Vec3::new(0.0, top, 0.0));
    let lower = rig.joint("lower", Some(upper), Vec3::new(0.0, top - length, 0.0));
    let buckle = clip(&rig, "compress", 10.0, false, |t, pose| {
        pose.translations[lower].y -= length * stretch_and_compress(t, pull, push);
    });
    Character {
        name: "sleeve".to_owned(),
        skeleton: rig.skeleton(),
        skins: vec![rig.skin("sleeve")],
        meshes: vec![mesh],
        clips: vec![buckle],
    }
}

/// Colours a mesh by uv.
fn tint(mesh: &mut CharacterMesh, color: impl Fn(Vec2) -> Vec3) {
    let topology = Arc::make_mut(&mut mesh.mesh.topology);
    topology.colors = topology.uvs.iter().map(|&uv| color(uv).extend(1.0).to_array()).collect();
}

/// A cape over the figure's shoulders, pinned along its collar.
pub(super) fn cape(p: &Person) -> CharacterMesh {
    let grid = Grid { columns: 40, rows: 36, round: false };
    let mut mesh = grid.mesh("cape", material("cape", 0xFFFFFF, 0.8), |uv| {
        // Over the shoulders first, then down and outwards, behind the arms.
        let over = smoothstep(0.0, 0.16, uv.y);
        let a = (0.5 - uv.x) * (3.5 - 1.3 * over);
        let x = (0.082 + 0.178 * over + 0.09 * uv.y) * a.sin();
        let z = -0.020 - (0.066 + 0.105 * over + 0.18 * uv.y * uv.y) * a.cos();
        let y = 1.508 - 0.022 * over * (0.4 + a.sin().powi(2)) - 1.04 * (uv.y - 0.14).max(0.0);
        Vec3::new(x, y, z)
    });
    let pins = region_of(&mesh, &["top"]);
    set_region(&mut mesh, "pins", pins);
    let shoulders = p.arms.map(|a| a[0] as u16);
    let (chest, neck) = (p.chest as u16, p.neck as u16);
    let lists: Vec<Vec<(u16, f32)>> = mesh
        .mesh
        .positions
        .iter()
        .map(|q| {
            let side = smoothstep(0.08, 0.2, q.x.abs()) * 0.5;
            let collar = 0.35 * smoothstep(1.45, 1.5, q.y);
            let shoulder = shoulders[usize::from(q.x < 0.0)];
            vec![(chest, 1.0 - side - collar), (shoulder, side), (neck, collar)]
        })
        .collect();
    mesh.influences = Influences::from_lists(&lists);
    mesh.skin = Some(0);
    let (red, hem) = (srgb(0x9E2B35), srgb(0xE3B34C));
    tint(&mut mesh, |uv| red.lerp(hem, smoothstep(0.955, 0.965, uv.y)));
    mesh
}

/// A skirt from the figure's waist to the knees, pinned along its waistband.
pub(super) fn skirt(p: &Person) -> CharacterMesh {
    let grid = Grid { columns: 64, rows: 28, round: true };
    let mut mesh = grid.mesh("skirt", material("skirt", 0xFFFFFF, 0.85), |uv| {
        let a = std::f32::consts::TAU * uv.x;
        let flare = 1.0 + 1.05 * uv.y;
        let hips = smoothstep(0.0, 0.25, uv.y) * 0.035;
        let (x, z) = ((0.138 + hips) * flare, (0.104 + hips) * flare);
        Vec3::new(x * a.sin(), 1.075 - 0.56 * uv.y, -0.004 + z * a.cos())
    });
    let pins = region_of(&mesh, &["top"]);
    set_region(&mut mesh, "pins", pins);
    let (hips, spine) = (p.legs.hips as u16, p.spine as u16);
    let lists: Vec<Vec<(u16, f32)>> = mesh
        .mesh
        .positions
        .iter()
        .map(|q| {
            let s = 0.5 * smoothstep(1.0, 1.09, q.y);
            vec![(hips, 1.0 - s), (spine, s)]
        })
        .collect();
    mesh.influences = Influences::from_lists(&lists);
    mesh.skin = Some(0);
    let (blue, band) = (srgb(0x4C6FA8), srgb(0xF0E4C8));
    tint(&mut mesh, |uv| {
        let stripes = smoothstep(0.88, 0.89, uv.y) * smoothstep(0.94, 0.93, uv.y);
        blue.lerp(band, stripes)
    });
    mesh
}

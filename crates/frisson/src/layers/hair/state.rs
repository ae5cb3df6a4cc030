//! All that evolves and must be saved to resume.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::bonds::Bond;
use super::rest::{HairRest, RootPose};
use crate::stage::Caught;

/// The state of the layer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HairState {
    /// Wisps. A wisp that splits keeps its place for one half; the other is appended.
    pub(super) wisps: Vec<Wisp>,
    /// Number given to the next split, so that both halves know each other.
    pub(super) next_split: u32,
    /// In how many passes all pairs of wisps are treated once.
    pub(super) turns: u32,
    /// Where the roots were at the last tick.
    pub(super) roots: Vec<RootPose>,
    /// Positions of colliding meshes at the last tick.
    pub(super) surfaces: Vec<Vec<Vec3>>,
    /// Sections that hold each other, in order of their particles; only where dry friction holds hair.
    pub(super) bonds: Vec<Bond>,
    /// Water that the hair of each root has taken up from the skin, 0 to 1 [-].
    pub(super) soaked: Vec<f32>,
    /// What it has caught in the last tick of drops that fell through it.
    pub(super) caught: Vec<Caught>,
    /// Pairs of sections treated in the last pass: rubbing, colliding.
    pub(super) treated: [u32; 2],
    /// How often hair was carried along because its root jumped.
    pub(super) teleports: u32,
    /// The wisps one step earlier, where velocities are wanted.
    pub(super) past: Past,
}

/// What the visible hairs were made from one step earlier.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Past {
    /// Length of the step [s]; 0: nothing is known.
    pub seconds: f32,
    /// Root of each wisp.
    pub roots: Vec<u32>,
    /// Particles, axes of their planes and radii, wisp after wisp.
    pub positions: Vec<Vec3>,
    pub axes: Vec<[Vec3; 2]>,
    pub radii: Vec<f32>,
    /// Root of every hair on the skin [m], then and now.
    pub skin: Vec<Vec3>,
    pub skin_now: Vec<Vec3>,
}

impl Past {
    /// Takes note of wisps as they are before a step of some seconds.
    pub fn note(&mut self, wisps: &[Wisp], seconds: f32) {
        self.seconds = seconds;
        // What was now is then: both are kept, because the mesh of the step before is gone when strands are written.
        std::mem::swap(&mut self.skin, &mut self.skin_now);
        self.roots.clear();
        self.positions.clear();
        self.axes.clear();
        self.radii.clear();
        for wisp in wisps {
            self.roots.push(wisp.root);
            self.positions.extend_from_slice(&wisp.positions);
            let planes = 0..wisp.positions.len();
            self.axes.extend(planes.map(|i| [wisp.across[i], wisp.second_axis(i)]));
            self.radii.extend_from_slice(&wisp.radii);
        }
    }
}

impl HairState {
    /// Largest relative lengthening of a free segment [-].
    #[must_use]
    pub fn worst_stretch(&self, rest: &HairRest) -> f64 {
        let worst = |w: &Wisp| {
            let segment = rest.roots[w.root as usize].segment;
            w.positions[1..]
                .windows(2)
                .map(|p| (p[0].distance(p[1]) / segment - 1.0).abs())
                .fold(0.0, f32::max)
        };
        f64::from(self.wisps.iter().map(worst).fold(0.0, f32::max))
    }
}

impl HairState {
    /// How far particles are from where the style has them on the head (root mean square) [m], and how
    /// many wisps are farther away than a tenth of their length.
    pub(super) fn off_style(&self, rest: &HairRest) -> [f64; 2] {
        let (mut sum, mut lost) = (0.0, 0.0);
        for wisp in &self.wisps {
            let (root, pose) = (&rest.roots[wisp.root as usize], &self.roots[wisp.root as usize]);
            let away = |(p, goal): (&Vec3, &Vec3)| p.distance_squared(pose.goal(*goal));
            let free = wisp.positions.iter().zip(&root.goals).skip(2);
            let mean = free.map(away).sum::<f32>() / (rest.count - 2) as f32;
            sum += f64::from(mean);
            // A tenth of its length: what swings back is nearer, what lies on the wrong side is not.
            lost += f64::from(u8::from(mean.sqrt() > 0.1 * root.length));
        }
        [(sum / self.wisps.len().max(1) as f64).sqrt(), lost]
    }
}

/// One wisp: a chain of particles in an elastic envelope.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Wisp {
    /// Which root it grows from (see `HairRest::roots`).
    pub root: u32,
    /// How often it was split.
    pub depth: u8,
    /// Which half it was at each split, one bit each.
    pub path: u32,
    /// Share of the root's mass and stiffness [-].
    pub share: f32,
    /// Rest radius as a fraction of the root's [-].
    pub radius_scale: f32,
    /// The split that made it, and those before.
    pub splits: Vec<u32>,
    /// Whether it has been apart from its sibling (then they rub, and it may split again).
    pub apart: bool,
    /// Particles before this one move as one with those of its sibling.
    pub joined: u8,
    /// How long it has been close to its sibling [s].
    pub close_for: f32,
    /// Particles [m]; the first two are carried by the scalp.
    pub positions: Vec<Vec3>,
    /// Velocities [m/s].
    pub velocities: Vec<Vec3>,
    /// Normals of the planes through the particles.
    pub normals: Vec<Vec3>,
    /// First axis of the planes, twist included.
    pub across: Vec<Vec3>,
    /// Radii of the envelope's samples, plane by plane [m].
    pub radii: Vec<f32>,
    /// Their rates [m/s].
    pub radial_velocities: Vec<f32>,
    /// Twist of each plane about the axis [rad].
    pub twists: Vec<f32>,
    /// Their rates [rad/s].
    pub twist_velocities: Vec<f32>,
    /// Acceleration that the envelope gives each particle [m/s²].
    pub reactions: Vec<Vec3>,
    /// Force with which a body presses each particle, for friction [N].
    pub pressures: Vec<f32>,
    /// Share of the wind that reaches each particle [-].
    pub shelter: Vec<f32>,
    /// First axis at the root, carried by the scalp.
    pub root_across: Vec3,
    /// Rate at which the root spins about its own direction [rad/s].
    pub spin: f32,
    /// How long the head and the air around have been still [s].
    pub calm: f32,
    /// Triangles of the first colliding mesh that the particles were at in the last tick: they make the next search
    /// shorter, and in a fold they tell which of its walls a particle stays at.
    pub beneath: Vec<u32>,
}

impl Wisp {
    /// Second axis of a plane.
    pub fn second_axis(&self, plane: usize) -> Vec3 {
        self.normals[plane].cross(self.across[plane])
    }

    /// Half-axis on which a sample sits.
    pub fn half_axis(&self, plane: usize, (cosine, sine): (f32, f32)) -> Vec3 {
        cosine * self.across[plane] + sine * self.second_axis(plane)
    }
}

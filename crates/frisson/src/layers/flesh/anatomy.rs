//! Which joints of a rig never seen before are spine, thighs, arms, tail, head: by their names in the
//! usual schemes, and by the shape of the skeleton where names say nothing.

use glam::Vec3;

use crate::character::{Character, Pose, Sampling};

/// What was recognised; joints are node indices.
#[derive(Clone, Debug, Default)]
pub struct Anatomy {
    /// Pelvis and the joint that carries the arms.
    pub spine: Option<(usize, usize)>,
    /// Whether the spine lies rather than stands.
    pub lies: bool,
    /// Thighs, each with its knee.
    pub thighs: Vec<(usize, usize)>,
    /// Upper arms (or upper front legs), each with its elbow.
    pub arms: Vec<(usize, usize)>,
    /// First and last joint of the tail.
    pub tail: Option<(usize, usize)>,
    /// Head.
    pub head: Option<usize>,
    /// Ears.
    pub ears: Vec<usize>,
    /// Cheeks.
    pub cheeks: Vec<usize>,
}

const THIGH: &[&str] = &["thigh", "upleg", "upperleg", "legupper", "femur", "thighstretch"];
const LEG: &[&str] = &["leg", "hindleg", "backleg", "rearleg"];
const UPPER_ARM: &[&str] = &["upperarm", "uparm", "armupper", "humerus", "armstretch"];
const ARM: &[&str] = &["arm", "frontleg", "foreleg"];
const PELVIS: &[&str] = &["hips", "hip", "pelvis"];
const CHEST: &[&str] = &["chest", "upperchest", "torso", "thorax", "ribs", "spine"];
/// Joints that steer others and carry no flesh.
const HELPERS: &[&str] = &["ik", "control", "ctrl", "ctl", "pole", "target", "slot", "end", "nub"];
/// Parts of names that say nothing about the body.
const NOISE: &[&str] = &[
    "b",
    "j",
    "bip",
    "mixamorig",
    "def",
    "org",
    "joint",
    "jnt",
    "bone",
    "rig",
    "cc",
    "base",
    "bn",
    "sec",
    "skel",
    "valvebiped",
];
const SIDES: &[&str] = &["l", "r", "left", "right", "lf", "rt"];

/// Lengths as shares of the skeleton's size [-]: joints nearer than the first are at one place (twist bones and
/// sockets stand there); mirrored tips are off by less than the second, and apart by more; feet end within the
/// third of the ground, ankles included.
const SAME_PLACE: f32 = 1e-3;
const PAIR_SLACK: f32 = 0.05;
const NEAR_GROUND: f32 = 0.12;

/// Words of a joint's name: split at signs, at capitals and at digits, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut last: Option<char> = None;
    for c in name.chars() {
        let kind = |c: char| (c.is_alphabetic(), c.is_numeric());
        let begins =
            last.is_none_or(|l| kind(l) != kind(c) || (l.is_lowercase() && c.is_uppercase()));
        // A sign ends a word, and the next letter begins one whatever it is.
        if !c.is_alphanumeric() {
            last = None;
            continue;
        }
        if begins {
            out.push(String::new());
        }
        if let Some(word) = out.last_mut() {
            word.extend(c.to_lowercase());
        }
        last = Some(c);
    }
    out
}

/// What a name calls: `mixamorig:LeftUpLeg` is `upleg`, `b_LeftLeg01_015` is `leg`.
fn part(name: &str) -> String {
    let says = |w: &String| {
        !w.chars().all(char::is_numeric)
            && !NOISE.contains(&w.as_str())
            && !SIDES.contains(&w.as_str())
    };
    words(name).into_iter().filter(says).collect()
}

fn has_side(name: &str) -> bool {
    words(name).iter().any(|w| SIDES.contains(&w.as_str()))
}

fn is_helper(name: &str) -> bool {
    words(name).iter().any(|w| HELPERS.contains(&w.as_str()))
}

struct Rig<'a> {
    character: &'a Character,
    parts: Vec<String>,
    children: Vec<Vec<usize>>,
    origins: Vec<Vec3>,
    /// Whether a joint or one below it carries skin.
    carries: Vec<bool>,
    /// Largest extent of the skeleton [m].
    size: f32,
}

impl Anatomy {
    /// Recognises what it can; `pose` is the rest pose.
    #[must_use]
    pub fn of(character: &Character) -> Self {
        let rig = Rig::new(character);
        let (mut thighs, mut arms) = (rig.limbs(THIGH, LEG), rig.limbs(UPPER_ARM, ARM));
        if thighs.is_empty() && arms.is_empty() {
            (thighs, arms) = rig.limbs_by_shape();
        }
        let spine = rig.spine(&thighs, &arms);
        let lies = spine.is_some_and(|(a, b)| {
            let along = rig.origins[b] - rig.origins[a];
            // Less than 30 degrees from level: four-legged.
            along.y.abs() < 0.5 * along.length()
        });
        let first = |name: &str| rig.topmost(|n| rig.parts[n] == name).first().copied();
        Self {
            spine,
            lies,
            tail: rig.tail(spine.map(|s| s.0)),
            head: first("head"),
            ears: rig.topmost(|n| rig.parts[n] == "ear"),
            cheeks: rig.topmost(|n| rig.parts[n] == "cheek"),
            thighs,
            arms,
        }
    }
}

impl<'a> Rig<'a> {
    fn new(character: &'a Character) -> Self {
        let nodes = character.skeleton.nodes();
        let mut children = vec![Vec::new(); nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent].push(index);
            }
        }
        let mut pose = Pose::default();
        pose.set(character, None, 0.0, Sampling::AsAuthored, glam::Mat4::IDENTITY);
        let origins: Vec<Vec3> = (0..nodes.len()).map(|n| pose.origin(n)).collect();
        let mut carries = vec![false; nodes.len()];
        for mesh in &character.meshes {
            if let Some(skin) = mesh.skin.map(|s| &character.skins[s]) {
                mesh.influences
                    .joints
                    .iter()
                    .for_each(|&j| carries[skin.joints[j as usize]] = true);
            }
        }
        // Children first, so that carrying rises to the root in one pass.
        for &node in character.skeleton.parents_first().iter().rev() {
            if let Some(parent) = nodes[node].parent
                && carries[node]
            {
                carries[parent] = true;
            }
        }
        let low = origins.iter().copied().reduce(Vec3::min).unwrap_or_default();
        let high = origins.iter().copied().reduce(Vec3::max).unwrap_or_default();
        let part_of = |name: &str| if is_helper(name) { String::new() } else { part(name) };
        Self {
            character,
            parts: nodes.iter().map(|n| part_of(&n.name)).collect(),
            children,
            origins,
            carries,
            size: (high - low).max_element(),
        }
    }

    fn name(&self, node: usize) -> &str {
        &self.character.skeleton.nodes()[node].name
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.character.skeleton.nodes()[node].parent
    }

    /// Skinned joints for which `is` holds and for none of their ancestors.
    fn topmost(&self, is: impl Fn(usize) -> bool) -> Vec<usize> {
        let above = |node: usize| std::iter::successors(self.parent(node), |&n| self.parent(n));
        let count = self.origins.len();
        (0..count).filter(|&n| self.carries[n] && is(n) && !above(n).any(&is)).collect()
    }

    /// The child that goes on: the one with most joints below it, away from its parent.
    fn next(&self, node: usize) -> Option<usize> {
        let apart =
            |c: usize| self.origins[c].distance(self.origins[node]) > SAME_PLACE * self.size;
        let fit = |&&c: &&usize| self.carries[c] && !is_helper(self.name(c)) && apart(c);
        // Of equal ones the first, on every machine.
        let longest = |&&c: &&usize| (self.below(c), std::cmp::Reverse(c));
        self.children[node].iter().filter(fit).max_by_key(longest).copied()
    }

    /// Number of skinned joints in a subtree.
    fn below(&self, node: usize) -> usize {
        1 + self.children[node]
            .iter()
            .filter(|c| self.carries[**c])
            .map(|&c| self.below(c))
            .sum::<usize>()
    }

    /// Upper parts of limbs, each with the joint where the lower part begins. A name that says
    /// "upper" may be split over several joints; a plain "leg" is followed by the next joint.
    fn limbs(&self, upper: &[&str], any: &[&str]) -> Vec<(usize, usize)> {
        let known = |n: usize, list: &[&str]| list.contains(&self.parts[n].as_str());
        let from = self.topmost(|n| known(n, upper) || known(n, any));
        let end = |&from: &usize| {
            let mut to = self.next(from)?;
            while known(from, upper) && self.parts[to] == self.parts[from] {
                to = self.next(to)?;
            }
            Some((from, to))
        };
        from.iter().filter_map(end).collect()
    }

    /// Limbs by shape: mirrored pairs of long chains; those that reach down to the ground from the
    /// lowest pair are legs.
    fn limbs_by_shape(&self) -> (Vec<(usize, usize)>, Vec<(usize, usize)>) {
        let (mut legs, mut arms) = (Vec::new(), Vec::new());
        let ground = self.origins.iter().map(|o| o.y).fold(f32::INFINITY, f32::min);
        for node in 0..self.origins.len() {
            let kids: Vec<usize> =
                self.children[node].iter().copied().filter(|&c| self.carries[c]).collect();
            for (i, &a) in kids.iter().enumerate() {
                for &b in &kids[i + 1..] {
                    if let Some(down) = self.mirrored(a, b, ground) {
                        let list = if down { &mut legs } else { &mut arms };
                        list.extend([a, b].into_iter().filter_map(|c| Some((c, self.next(c)?))));
                    }
                }
            }
        }
        (legs, arms)
    }

    /// Whether two chains are each other's mirror image, and if so whether they end near the ground.
    fn mirrored(&self, a: usize, b: usize, ground: f32) -> Option<bool> {
        let tip = |mut n: usize| {
            let mut length = 1;
            while let Some(next) = self.next(n) {
                n = next;
                length += 1;
            }
            (self.origins[n], length)
        };
        let ((ta, la), (tb, lb)) = (tip(a), tip(b));
        let centre = self.parent(a).map_or(0.0, |p| self.origins[p].x);
        let off = (ta.x + tb.x - 2.0 * centre).abs() + (ta.y - tb.y).abs() + (ta.z - tb.z).abs();
        // Three joints at least: hip, knee, foot. Eyes and ears are mirrored, too, but short.
        let pair = la >= 3 && la == lb && off < PAIR_SLACK * self.size;
        let apart = (ta.x - tb.x).abs() > PAIR_SLACK * self.size;
        (pair && apart).then_some(ta.y - ground < NEAR_GROUND * self.size)
    }

    fn common_ancestor(&self, joints: &[(usize, usize)]) -> Option<usize> {
        let &(first, _) = joints.first()?;
        let holds = |n: &usize| {
            joints.iter().all(|&(j, _)| j != *n && self.character.skeleton.is_below(j, *n))
        };
        std::iter::successors(self.parent(first), |&n| self.parent(n)).find(holds)
    }

    /// Pelvis and chest.
    fn spine(&self, thighs: &[(usize, usize)], arms: &[(usize, usize)]) -> Option<(usize, usize)> {
        let named = |n: usize| PELVIS.contains(&self.parts[n].as_str()) && !has_side(self.name(n));
        let pelvis = self.topmost(named).first().copied().or(self.common_ancestor(thighs))?;
        let below = |n: &usize| *n != pelvis && self.character.skeleton.is_below(*n, pelvis);
        let by_name = || {
            let chest = |n: &usize| CHEST.contains(&self.parts[*n].as_str()) && self.carries[*n];
            let depth = |n: &usize| self.character.skeleton.path(pelvis, *n).map_or(0, |p| p.len());
            (0..self.origins.len()).filter(chest).filter(below).max_by_key(depth)
        };
        let chest = self.common_ancestor(arms).filter(below).or_else(by_name)?;
        Some((pelvis, chest))
    }

    /// First and last joint of a tail.
    fn tail(&self, pelvis: Option<usize>) -> Option<(usize, usize)> {
        let named = self.topmost(|n| self.parts[n].starts_with("tail")).first().copied();
        // A chain that leaves the pelvis backwards, in the middle, without branches.
        let leaves = |c: &&usize| {
            let chain: Vec<usize> = std::iter::successors(Some(**c), |&n| self.next(n)).collect();
            let pelvis = pelvis.map_or(Vec3::ZERO, |p| self.origins[p]);
            let way = chain.last().map_or(Vec3::ZERO, |&n| self.origins[n] - pelvis);
            let plain = chain.iter().all(|&n| self.children[n].len() <= 1);
            let unnamed = self.parts[**c].is_empty();
            // Characters look along +z.
            unnamed && plain && chain.len() >= 3 && way.z < -0.5 * way.length()
        };
        let first = named.or_else(|| self.children[pelvis?].iter().find(leaves).copied())?;
        let last = std::iter::successors(Some(first), |&n| self.next(n)).last()?;
        (last != first).then_some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_schemes_are_understood() {
        for (name, expected) in [
            ("mixamorig:LeftUpLeg", "upleg"),
            ("b_LeftLeg01_015", "leg"),
            ("upperarm.l", "upperarm"),
            ("upper_arm_left", "upperarm"),
            ("J_Bip_R_UpperLeg", "upperleg"),
            ("Bip01 L Thigh", "thigh"),
            ("DEF-thigh.L.001", "thigh"),
            ("leg_joint_R_1", "leg"),
            ("thigh_l", "thigh"),
            ("spine_01", "spine"),
        ] {
            assert_eq!(part(name), expected, "{name}");
        }
        assert!(has_side("hand.R") && !has_side("spine_01"));
        assert!(is_helper("kneeIK.l") && is_helper("Head_end") && !is_helper("LeftHand"));
    }
}

//! Which joint of one skeleton is which of another.

use std::collections::BTreeMap;

use frisson::character::Skeleton;

/// Names of joints in the other file, by the character's own names.
pub type JointTable = BTreeMap<String, String>;

/// A name without what differs between programs: a namespace before it, marks, case.
fn plain(name: &str) -> String {
    let own = name.rsplit([':', '|']).next().unwrap_or(name);
    own.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// For every node of `target`: its node in `source`. The table comes first, then equal names, then
/// names that are equal without namespaces, marks and case, where only one fits.
#[must_use]
pub fn match_joints(
    source: &Skeleton,
    target: &Skeleton,
    table: &JointTable,
) -> Vec<Option<usize>> {
    let mut by_plain: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, node) in source.nodes().iter().enumerate() {
        by_plain.entry(plain(&node.name)).or_default().push(index);
    }
    let find = |name: &str| {
        source.find(name).or_else(|| match by_plain.get(&plain(name)).map(Vec::as_slice) {
            Some(&[one]) => Some(one),
            _ => None,
        })
    };
    target.nodes().iter().map(|node| find(table.get(&node.name).unwrap_or(&node.name))).collect()
}

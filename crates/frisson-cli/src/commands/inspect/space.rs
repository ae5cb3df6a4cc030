//! Where things are, in the space in which a scene gives points: metres, scene axes.

use frisson::character::{Character, Pose};
use frisson::geometry::{Bounds, Mesh};
use frisson::stage::Simulator;
use glam::Vec3;
use serde_json::{Value, json};

/// Column at which the places of nodes begin, where their names leave room.
const PLACE_COLUMN: usize = 36;

/// Deepest level that is indented: a chain of a hundred thousand nodes must stay readable, and its
/// picture no larger than its names.
const DEEPEST_INDENT: usize = 40;

/// The skeleton as an indented tree, each node with its place in a pose.
pub fn tree(character: &Character, pose: &Pose, lines: &mut Vec<String>) {
    let nodes = character.skeleton.nodes();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        match node.parent {
            Some(parent) => children[parent].push(index),
            None => stack.push((index, 0)),
        }
    }
    // A stack of our own, deep rigs being deep; turned round, so that nodes come in their own order.
    stack.reverse();
    let mut is_joint = vec![false; nodes.len()];
    character.skins.iter().flat_map(|s| &s.joints).for_each(|&joint| is_joint[joint] = true);
    while let Some((index, depth)) = stack.pop() {
        let mark = if is_joint[index] { " *" } else { "" };
        // A chain of a thousand joints would be all spaces.
        let indent = "  ".repeat(depth.min(DEEPEST_INDENT));
        let label = format!("  {indent}{}{mark}", nodes[index].name);
        lines.push(format!("{label:<PLACE_COLUMN$} {}", point(node_place(pose, index))));
        stack.extend(children[index].iter().rev().map(|&c| (c, depth + 1)));
    }
}

/// Nodes by name, parent and place.
pub fn nodes_json(character: &Character, pose: &Pose) -> Vec<Value> {
    let nodes = character.skeleton.nodes().iter().enumerate();
    let one = |(index, node): (usize, &frisson::character::Node)| {
        let at = node_place(pose, index).to_array();
        json!({ "name": node.name, "parent": node.parent, "at": at })
    };
    nodes.map(one).collect()
}

/// Where a mesh and its regions are, one line each.
pub fn places(mesh: &Mesh, lines: &mut Vec<String>) {
    lines.push(format!("    from {}", extent(mesh.bounds())));
    for (name, vertices) in &mesh.topology.regions {
        let count = vertices.len();
        let place = extent(bounds_of(mesh, vertices));
        lines.push(format!("    region {name:?}: {count} vertices from {place}"));
    }
}

/// Regions by name, with their vertices counted and their extents.
pub fn regions_json(mesh: &Mesh) -> Value {
    let one = |(name, vertices): (&String, &Vec<u32>)| {
        let bounds = bounds_of(mesh, vertices);
        let (min, max) = (bounds.min.to_array(), bounds.max.to_array());
        json!({ "name": name, "vertices": vertices.len(), "min": min, "max": max })
    };
    mesh.topology.regions.iter().map(one).collect()
}

/// Meshes and joints of every actor in the pose in which the scene's points are given.
pub fn actors_at_start(stage: &Simulator, lines: &mut Vec<String>) {
    lines.push("where points and selections are given [m]:".to_owned());
    for (index, actor) in stage.actors().all().iter().enumerate() {
        for mesh in stage.actors().mesh_range(index) {
            let mesh = stage.reference_mesh(mesh);
            lines.push(format!("  mesh {:?}", mesh.name));
            places(&mesh, lines);
        }
        if let Some(character) = actor.character() {
            lines.push(format!("  joints of {:?}:", actor.name));
            tree(character, stage.reference().pose(index), lines);
        }
    }
}

/// The same for programs.
pub fn actors_json(stage: &Simulator) -> Value {
    let mut all = serde_json::Map::new();
    for (index, actor) in stage.actors().all().iter().enumerate() {
        let meshes = stage.actors().mesh_range(index).map(|m| {
            let mesh = stage.reference_mesh(m);
            let bounds = mesh.bounds();
            json!({
                "name": mesh.name, "min": bounds.min.to_array(), "max": bounds.max.to_array(),
                "regions": regions_json(&mesh),
            })
        });
        let meshes: Vec<Value> = meshes.collect();
        let pose = stage.reference().pose(index);
        let nodes = actor.character().map_or(Vec::new(), |c| nodes_json(c, pose));
        all.insert(actor.name.clone(), json!({ "meshes": meshes, "nodes": nodes }));
    }
    Value::Object(all)
}

fn node_place(pose: &Pose, node: usize) -> Vec3 {
    pose.world_from_node.get(node).map_or(Vec3::ZERO, |m| m.w_axis.truncate())
}

fn bounds_of(mesh: &Mesh, vertices: &[u32]) -> Bounds {
    let places = vertices.iter().filter_map(|v| mesh.positions.get(*v as usize));
    places.fold(Bounds::EMPTY, |bounds, p| bounds.including(*p))
}

fn extent(bounds: Bounds) -> String {
    if bounds.is_empty() {
        return "nothing".to_owned();
    }
    format!("{} to {}", point(bounds.min), point(bounds.max))
}

fn point(p: Vec3) -> String {
    // Minus zero says nothing.
    let [x, y, z] = p.to_array().map(|v| (v * 1e3).round() / 1e3 + 0.0);
    format!("({x:.3}, {y:.3}, {z:.3})")
}

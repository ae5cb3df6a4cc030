//! The cast itself, one file per member.

mod biped;
mod cat;
mod cat_motion;
mod cloth;
mod figure;
mod head;
mod mushroom;
mod simple;
mod trousers;
mod tunic;
mod wrist;

use crate::Entry;

/// Linear RGB from an sRGB hex colour.
pub(crate) fn srgb(hex: u32) -> glam::Vec3 {
    let channel = |shift: u32| frisson::geometry::linear_of((hex >> shift) as u8);
    glam::Vec3::new(channel(16), channel(8), channel(0))
}

/// A plain material.
pub(crate) fn material(name: &str, hex: u32, roughness: f32) -> frisson::geometry::Material {
    frisson::geometry::Material {
        name: name.to_owned(),
        base_color: srgb(hex).extend(1.0).to_array(),
        roughness,
        ..frisson::geometry::Material::default()
    }
}

/// Options that several models share, with what they mean.
const TRIANGLES: (&str, &str) = ("triangles", "about how many triangles");
const CELLS: (&str, &str) = ("cells", "squares along a side");
const SIZE: (&str, &str) = ("size", "length of a side [m]");
const RADIUS: (&str, &str) = ("radius", "radius [m]");

/// The list behind [`crate::catalog`].
pub(crate) const CATALOG: &[Entry] = &[
    Entry {
        name: "mushroom",
        about: "a mushroom of two joints, shaken along and across its axis",
        clips: &["shake_along", "shake_across"],
        options: &[],
        make: |_| Ok(mushroom::build()),
    },
    Entry {
        name: "cat",
        about: "a ginger cat with a supple spine and a belly",
        clips: &["run", "leap", "stand"],
        options: &[TRIANGLES, ("stripes", "how strong its stripes are, 0 to 1")],
        make: |o| {
            let stripes = o.number("stripes", 1.0, 0.0, 1.0)?;
            Ok(cat::build(o.count("triangles", 10_000, 2_000, 200_000)?, stripes))
        },
    },
    Entry {
        name: "wrist",
        about: "a forearm and hand that bend at the wrist, back and forth",
        clips: &["bend"],
        options: &[TRIANGLES],
        make: |o| Ok(wrist::build(o.count("triangles", 2_500, 800, 200_000)?)),
    },
    Entry {
        name: "trousers",
        about: "trousers on legs that walk, and kneel down on the right knee",
        clips: &["walk", "kneel"],
        options: &[TRIANGLES],
        make: |o| Ok(trousers::build(o.count("triangles", 6_400, 1_500, 200_000)?)),
    },
    Entry {
        name: "head_a",
        about: "a young head with regions scalp, forehead, cheek_left, cheek_right, face",
        clips: &["still", "nod", "shake", "turn", "raise"],
        options: &[TRIANGLES],
        make: |o| {
            Ok(head::build("head_a", &head::FACE_A, o.count("triangles", 10_000, 3_000, 200_000)?))
        },
    },
    Entry {
        name: "head_b",
        about: "an older, bonier head with the same regions",
        clips: &["still", "nod", "shake", "turn", "raise"],
        options: &[TRIANGLES],
        make: |o| {
            Ok(head::build("head_b", &head::FACE_B, o.count("triangles", 10_000, 3_000, 200_000)?))
        },
    },
    Entry {
        name: "figure",
        about: "a person of 1.75 m in an A-pose",
        clips: FIGURE_CLIPS,
        options: &[TRIANGLES],
        make: |o| Ok(figure::build(o.count("triangles", 10_000, 3_000, 200_000)?)),
    },
    Entry {
        name: "figure_cape",
        about: "the figure and a cape (meshes figure and cape), pinned at the collar",
        clips: FIGURE_CLIPS,
        options: &[],
        make: |_| Ok(figure::build_with_cape()),
    },
    Entry {
        name: "figure_skirt",
        about: "the figure and a skirt (meshes figure and skirt), pinned at the waist",
        clips: FIGURE_CLIPS,
        options: &[],
        make: |_| Ok(figure::build_with_skirt()),
    },
    Entry {
        name: "figure_tunic",
        about: "the figure and two flat panels (meshes figure and tunic), to be sewn into a tunic",
        clips: FIGURE_CLIPS,
        options: &[],
        make: |_| Ok(figure::build_with_tunic()),
    },
    Entry {
        name: "cape",
        about: "the cape alone, on the figure's skeleton",
        clips: FIGURE_CLIPS,
        options: &[],
        make: |_| Ok(figure::build_garment("cape", cloth::cape)),
    },
    Entry {
        name: "skirt",
        about: "the skirt alone, on the figure's skeleton",
        clips: FIGURE_CLIPS,
        options: &[],
        make: |_| Ok(figure::build_garment("skirt", cloth::skirt)),
    },
    Entry {
        name: "tablecloth",
        about: "a level square of cloth; regions corners, edges, pins",
        clips: &[],
        options: &[CELLS, SIZE],
        make: |o| {
            let (cells, size) =
                (o.count("cells", 32, 1, 1000)?, o.number("size", 1.2, 0.01, 100.0)?);
            Ok(cloth::sheet("tablecloth", cells, size, 0.75, 0xE9DCC3))
        },
    },
    Entry {
        name: "tablecloth_length",
        about: "a tablecloth held by two edges that is stretched, compressed and let back",
        clips: &["length"],
        options: &[
            CELLS,
            ("pull", "how far it is stretched, as a share of its length"),
            ("push", "how far it is compressed, as a share of its length"),
        ],
        make: |o| {
            let (pull, push) =
                (o.number("pull", 0.06, 0.0, 1.0)?, o.number("push", 0.22, 0.0, 0.9)?);
            Ok(cloth::tablecloth_length(o.count("cells", 20, 1, 1000)?, pull, push))
        },
    },
    Entry {
        name: "sleeve",
        about: "a tube of cloth held at both ends, pushed together and let back",
        clips: &["compress"],
        options: &[
            ("around", "squares around"),
            ("along", "squares along"),
            ("pull", "how far it is stretched, as a share of its length"),
            ("push", "how far it is compressed, as a share of its length"),
        ],
        make: |o| {
            let (around, along) = (o.count("around", 28, 3, 1000)?, o.count("along", 24, 1, 1000)?);
            let (pull, push) =
                (o.number("pull", 0.03, 0.0, 1.0)?, o.number("push", 0.28, 0.0, 0.9)?);
            Ok(cloth::sleeve(around, along, pull, push))
        },
    },
    Entry {
        name: "sheet",
        about: "a free level square of cloth",
        clips: &[],
        options: &[CELLS, SIZE, ("height", "height above the ground [m]")],
        make: |o| {
            let (cells, size) =
                (o.count("cells", 40, 1, 1000)?, o.number("size", 1.0, 0.01, 100.0)?);
            Ok(cloth::sheet("sheet", cells, size, o.number("height", 1.0, 0.0, 100.0)?, 0xB5C7DA))
        },
    },
    Entry {
        name: "sphere",
        about: "a ball on the ground (20 n² or 8 n² triangles)",
        clips: &[],
        options: &[TRIANGLES, RADIUS],
        make: |o| {
            Ok(simple::sphere(
                o.count("triangles", 1280, 8, 2_000_000)?,
                o.number("radius", 0.1, 1e-3, 100.0)?,
            ))
        },
    },
    Entry {
        name: "truncated_sphere",
        about: "a ball without its lowest part",
        clips: &[],
        options: &[CELLS, RADIUS, ("cut", "where it ends, degrees from the top")],
        make: |o| {
            let (cells, radius) =
                (o.count("cells", 32, 2, 1000)?, o.number("radius", 0.1, 1e-3, 100.0)?);
            Ok(simple::truncated_sphere(cells, radius, o.number("cut", 150.0, 10.0, 175.0)?))
        },
    },
    Entry {
        name: "plane",
        about: "a level square around the origin",
        clips: &[],
        options: &[CELLS, SIZE],
        make: |o| {
            Ok(simple::plane(o.count("cells", 10, 1, 1000)?, o.number("size", 2.0, 1e-2, 1000.0)?))
        },
    },
    Entry {
        name: "incline",
        about: "a square that falls towards +z",
        clips: &[],
        options: &[CELLS, SIZE, ("angle", "slope in degrees")],
        make: |o| {
            let (cells, size) =
                (o.count("cells", 16, 1, 1000)?, o.number("size", 0.5, 1e-2, 1000.0)?);
            Ok(simple::incline(cells, size, o.number("angle", 30.0, 0.0, 90.0)?))
        },
    },
    Entry {
        name: "cylinder",
        about: "an upright tube, open at both ends",
        clips: &[],
        options: &[
            ("around", "squares around"),
            ("along", "squares along"),
            RADIUS,
            ("height", "[m]"),
        ],
        make: |o| {
            let (around, along) = (o.count("around", 48, 3, 1000)?, o.count("along", 24, 1, 1000)?);
            let radius = o.number("radius", 0.05, 1e-3, 100.0)?;
            Ok(simple::cylinder(around, along, radius, o.number("height", 0.4, 1e-3, 100.0)?))
        },
    },
    Entry {
        name: "bowl",
        about: "the inside of half a ball, opening upwards",
        clips: &[],
        options: &[CELLS, RADIUS],
        make: |o| {
            Ok(simple::bowl(o.count("cells", 24, 2, 1000)?, o.number("radius", 0.15, 1e-3, 100.0)?))
        },
    },
    Entry {
        name: "window",
        about: "a raked, curved windscreen of glass",
        clips: &[],
        options: &[CELLS],
        make: |o| Ok(simple::window(o.count("cells", 24, 2, 1000)?)),
    },
    Entry {
        name: "leaf",
        about: "a leaf held out flat, with a gutter along its midrib",
        clips: &[],
        options: &[CELLS],
        make: |o| Ok(simple::leaf(o.count("cells", 16, 2, 1000)?)),
    },
];

/// Clips of the figure and of what it wears.
const FIGURE_CLIPS: &[&str] = &["walk", "run", "idle", "turn", "flex"];

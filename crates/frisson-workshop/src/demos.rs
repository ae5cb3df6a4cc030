//! Scenes that need no file.

use frisson::stage::nearest_name;

use crate::WorkshopError;

/// A scene that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct Demo {
    /// Name.
    pub name: &'static str,
    /// What is to be seen.
    pub about: &'static str,
    /// The scene file's text.
    pub text: &'static str,
}

/// All of them; the first is meant when no name is given.
pub const DEMOS: &[Demo] = &[
    demo("cat", "a cat leaps; its belly follows", include_str!("../scenes/demo-cat.toml")),
    demo("cape", "a figure runs in a cape", include_str!("../scenes/cloth-cape.toml")),
    demo(
        "hair",
        "long hair on a head that turns",
        include_str!("../scenes/hair-long-straight.toml"),
    ),
    demo("tear", "a tear runs down a cheek", include_str!("../scenes/drops-tear.toml")),
];

const fn demo(name: &'static str, about: &'static str, text: &'static str) -> Demo {
    Demo { name, about, text }
}

/// The demo of that name, or the first.
pub fn find(name: Option<&str>) -> Result<&'static Demo, WorkshopError> {
    let Some(name) = name else { return Ok(&DEMOS[0]) };
    DEMOS.iter().find(|d| d.name == name).ok_or_else(|| {
        let help = match nearest_name(name, DEMOS.iter().map(|d| d.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "see `frisson demo --list`".to_owned(),
        };
        WorkshopError::advised(format!("there is no demo named {name:?}"), help)
    })
}

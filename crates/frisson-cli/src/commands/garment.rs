//! `frisson garment`: a first garment around a character.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use frisson_io::outputs;
use frisson_workshop::garment::{self, Kind, Order};
use serde_json::json;

use crate::failure::{Failure, file_error, refuse_existing};
use crate::ui::Ui;

/// Put a skirt, a shirt or a cape on a character that has none.
///
/// The garment is a tube around the body (a cape: its back half), cut in the pose in which the character was
/// modelled, and follows the character's joints. It is one more mesh of the character, with a band along its
/// upper border by which it is held; `frisson init` writes the scene that simulates it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson garment hero.glb skirt                   writes hero-skirt.glb beside it
  frisson init hero-skirt.glb --with skirt         a scene that simulates it
  frisson garment hero.glb cape --top 1.4 --hem 0.3
  frisson garment robot.glb skirt --body Torso --body Leg.L --body Leg.R")]
pub struct Garment {
    /// A character's file, or builtin:NAME.
    character: String,
    /// What to make.
    #[arg(value_enum)]
    kind: Garments,
    /// Character to write [default: the character's name with the garment's].
    #[arg(long, short, value_name = "FILE.glb")]
    output: Option<PathBuf>,
    /// Mesh that it is worn on; may be given several times [default: the skinned meshes, or all].
    #[arg(long, value_name = "MESH")]
    body: Vec<String>,
    /// Height of its upper border [m] [default: found on the body].
    #[arg(long, value_name = "M")]
    top: Option<f32>,
    /// Height of its hem [m] [default: found on the body].
    #[arg(long, value_name = "M")]
    hem: Option<f32>,
    /// How much farther out the hem is than the body asks for, over the garment's length.
    #[arg(long, value_name = "SHARE", value_parser = flare)]
    flare: Option<f32>,
    /// Length of its edges [m] [default: a 64th of the body's height].
    #[arg(long, value_name = "M")]
    edge: Option<f32>,
    /// Replace the file if it is already there.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Garments {
    /// From the waist to the knees.
    Skirt,
    /// From under the arms to the hips.
    Shirt,
    /// From the shoulders to the knees, behind.
    Cape,
}

/// Steeper than a level skirt makes no sense.
fn flare(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|e| format!("{e}"))?;
    (0.0..=10.0).contains(&value).then_some(value).ok_or_else(|| "0 to 10".to_owned())
}

impl Garment {
    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        let kind = match self.kind {
            Garments::Skirt => Kind::Skirt,
            Garments::Shirt => Kind::Shirt,
            Garments::Cape => Kind::Cape,
        };
        let order = Order {
            kind,
            bodies: self.body.clone(),
            top: self.top,
            hem: self.hem,
            flare: self.flare,
            edge: self.edge,
        };
        let output = self.output.clone().unwrap_or_else(|| self.default_output(kind));
        let (dressed, inputs) = garment::make(&self.character, &order)?;
        outputs::prepare(std::slice::from_ref(&output), &inputs)?;
        refuse_existing(&output, self.force)?;
        frisson_io::gltf::write_character(&dressed, &output, self.force)
            .map_err(|e| file_error(&output, &std::io::Error::other(e.to_string())))?;
        let vertices = dressed.meshes.last().map_or(0, |m| m.mesh.positions.len());
        ui.say(format!(
            "wrote {}, with a {} of {vertices} vertices",
            output.display(),
            kind.name()
        ));
        ui.say(format!("next: frisson init {} --with {}", output.display(), kind.name()));
        ui.result(|| json!({ "character": output, "mesh": kind.name(), "vertices": vertices }));
        Ok(())
    }

    fn default_output(&self, kind: Kind) -> PathBuf {
        let (folder, stem) = match self.character.strip_prefix("builtin:") {
            Some(name) => (PathBuf::new(), name.to_owned()),
            None => {
                let path = Path::new(&self.character);
                let stem =
                    path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into());
                (path.parent().unwrap_or(Path::new("")).to_owned(), stem)
            }
        };
        folder.join(format!("{stem}-{}.glb", kind.name()))
    }
}

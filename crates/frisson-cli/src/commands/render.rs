//! `frisson render`: pictures of a cache.

mod finding;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use frisson_io::scene::{CameraParams, LookName, SceneFile};
use frisson_picture::RenderOptions;
use frisson_workshop::pictures::{Beside, Pictures, scene_camera, write_charts, write_picture};
use frisson_workshop::shot::{Overlays, Shot, spread};
use frisson_workshop::show;
use serde_json::json;

use super::scratch::Scratch;
use crate::failure::{Failure, refuse_existing};
use crate::interrupt;
use crate::ui::Ui;

/// Make pictures of a cache: contact sheet, still, turntable, animation, comparison.
#[derive(Args)]
#[command(after_help = "\
Examples:
  frisson render shot.frisson                         contact sheet of 8 frames
  frisson render shot.frisson --frame 40 --fine       one frame, for a page
  frisson render shot.frisson --animate --every 2     animated PNG, every second frame
  frisson render shot.frisson --animate -o shot.gif   the same as a GIF; .webp is smaller than PNG
  frisson render shot.frisson --turntable 24          once around the middle frame
  frisson render shot.frisson --compare primary       beside the motion without any layer
  frisson render shot.frisson --compare other.frisson beside another bake
  frisson render shot.frisson --finding 1             what `frisson judge` complains of, close up
  frisson render shot.frisson --overlay wireframe,attribute:strain
  frisson render shot.toml --show cape.pins           what a scene selects, before it is baked

The camera frames the subject and what the layers do to it by itself, from the side where that is
seen best, and never runs after falling drops; `[camera]` in the scene file or the options below
turn it. A sheet takes the frames where the layers show most; where they only deform what is
there, each frame stands beside the motion without them.")]
pub struct Render {
    /// Cache; with --show, a scene file.
    cache: PathBuf,
    /// What a layer of a scene selects and where its points are, before anything is baked: the layer's
    /// name, or its name and a parameter (`cape.pins`, `hair.scalp`).
    #[arg(long, value_name = "LAYER[.PARAMETER]", group = "mode")]
    show: Option<String>,
    /// Picture to write [default: the cache's name with .png, beside it]; a folder for --numbered.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One frame.
    #[arg(long, value_name = "N", group = "mode", allow_negative_numbers = true)]
    frame: Option<i64>,
    /// The place of a finding of `frisson judge`, close up.
    #[arg(long, value_name = "N", group = "mode", value_parser = clap::value_parser!(u16).range(1..))]
    finding: Option<u16>,
    /// Contact sheet of so many frames [default: 8, or 4 beside the motion without layers].
    #[arg(long, value_name = "COUNT", group = "mode", value_parser = clap::value_parser!(u16).range(1..=400))]
    sheet: Option<u16>,
    /// All frames as an animation: PNG, or WebP or GIF by the ending of --output.
    #[arg(long, group = "mode")]
    animate: bool,
    /// Numbered PNG files of all frames, in a folder.
    #[arg(long, group = "mode")]
    numbered: bool,
    /// Once around one frame (see --at), in so many pictures, as an animation like --animate.
    #[arg(long, value_name = "COUNT", group = "mode", value_parser = clap::value_parser!(u16).range(2..=720))]
    turntable: Option<u16>,
    /// So many frames drawn over each other.
    #[arg(long, value_name = "COUNT", group = "mode", value_parser = clap::value_parser!(u16).range(2..=40))]
    onion: Option<u16>,
    /// Charts of what the layers measured, as PNG and SVG files in a folder; `bake` puts the same
    /// charts into its report page.
    #[arg(long, group = "mode")]
    plots: bool,
    /// Put another cache, or `primary` (the motion without any layer), beside this one.
    #[arg(long, value_name = "CACHE")]
    compare: Option<PathBuf>,
    /// First and last frame to draw, as A..B.
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    range: Option<(i64, i64)>,
    /// Draw every so many frames.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Frame for --turntable.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    at: Option<i64>,
    /// Size of a picture [default: 960x540, 480x270 on sheets].
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(u32, u32)>,
    /// Samples a pixel.
    #[arg(long, value_name = "N")]
    samples: Option<u32>,
    /// Smooth outlines and shadows, for a page; about six times slower.
    #[arg(long)]
    fine: bool,
    #[command(flatten)]
    camera: CameraOptions,
    /// What to draw besides: wireframe, clay, velocities, joints, colliders, attribute:NAME (as
    /// colours), displacement:NAME (a vector attribute as segments).
    #[arg(long, value_name = "LIST")]
    overlay: Vec<String>,
    /// Blur motion over this part of a frame (0.5 is a usual shutter).
    #[arg(long, value_name = "PART", default_value_t = 0.0)]
    motion_blur: f32,
    /// Replace a picture that is already there.
    #[arg(long)]
    force: bool,
}

/// Where to look from.
#[derive(Args, Clone, Default)]
pub struct CameraOptions {
    /// Angle around the vertical [degrees]; 0 sees the front [default: the side from which most of
    /// what the layers do is seen].
    #[arg(long, value_name = "DEG", allow_negative_numbers = true)]
    yaw: Option<f32>,
    /// Height above the horizon [degrees].
    #[arg(long, value_name = "DEG", allow_negative_numbers = true)]
    pitch: Option<f32>,
    /// Vertical field of view [degrees].
    #[arg(long, value_name = "DEG")]
    fov: Option<f32>,
    /// Place of the camera [m], with --target.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, requires = "target", allow_hyphen_values = true)]
    eye: Option<[f32; 3]>,
    /// What to look at [m], with --eye.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, requires = "eye", allow_hyphen_values = true)]
    target: Option<[f32; 3]>,
    /// Go along with the subject instead of seeing its whole way; it is done by itself where the way
    /// is longer than the subject.
    #[arg(long)]
    follow: bool,
    /// Stay where the whole way is seen.
    #[arg(long, conflicts_with = "follow")]
    still: bool,
    /// Frame only shapes whose names start so.
    #[arg(long, value_name = "NAME")]
    on: Vec<String>,
    /// Leave out shapes whose names start so.
    #[arg(long, value_name = "NAME")]
    hide: Vec<String>,
    /// Light and backdrop.
    #[arg(long, value_enum)]
    look: Option<LookOption>,
    /// Height of the ground [m].
    #[arg(long, value_name = "Y", allow_negative_numbers = true)]
    ground: Option<f32>,
    /// Show no ground.
    #[arg(long, conflicts_with = "ground")]
    no_ground: bool,
    /// Aperture diameter [m]: blurs what is nearer or farther than the subject.
    #[arg(long, value_name = "M")]
    aperture: Option<f32>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LookOption {
    Studio,
    Outdoor,
    Dark,
}

impl CameraOptions {
    fn apply(&self, mut params: CameraParams) -> CameraParams {
        let set = |value: Option<f32>, into: &mut f32| *into = value.unwrap_or(*into);
        params.yaw_deg = self.yaw.or(params.yaw_deg);
        set(self.pitch, &mut params.pitch_deg);
        set(self.fov, &mut params.fov_deg);
        set(self.aperture, &mut params.aperture);
        if self.eye.is_some() {
            (params.eye, params.target) = (self.eye, self.target);
        } else if self.yaw.is_some() || self.pitch.is_some() {
            // An angle given here beats a place given in the scene.
            (params.eye, params.target) = (None, None);
        }
        if !self.on.is_empty() {
            params.frame_on.clone_from(&self.on);
        }
        params.hide.extend(self.hide.iter().cloned());
        params.look = match self.look {
            Some(LookOption::Studio) => Some(LookName::Studio),
            Some(LookOption::Outdoor) => Some(LookName::Outdoor),
            Some(LookOption::Dark) => Some(LookName::Dark),
            None => params.look,
        };
        params.ground = self.ground.or(params.ground);
        params.no_ground |= self.no_ground;
        params.follow = match (self.follow, self.still) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => params.follow,
        };
        params
    }
}

impl Render {
    /// The command that draws what a layer of a scene selects.
    pub fn of_selection(scene: PathBuf, what: String, force: bool) -> Self {
        Self { show: Some(what), ..Self::contact_sheet(scene, force) }
    }

    /// The command as typed with nothing but a cache: a contact sheet beside it.
    pub fn contact_sheet(cache: PathBuf, force: bool) -> Self {
        Self {
            cache,
            show: None,
            output: None,
            frame: None,
            finding: None,
            sheet: None,
            animate: false,
            numbered: false,
            turntable: None,
            onion: None,
            plots: false,
            compare: None,
            range: None,
            every: 1,
            at: None,
            size: None,
            samples: None,
            fine: false,
            camera: CameraOptions::default(),
            overlay: Vec::new(),
            motion_blur: 0.0,
            force,
        }
    }

    /// Runs the command.
    pub fn run(&self, ui: &Ui) -> Result<(), Failure> {
        interrupt::listen();
        let output = self.output_path();
        refuse_existing(&output, self.force)?;
        if self.plots {
            let count = write_charts(&self.cache, &output)?;
            ui.say(format!("{} ({count} charts)", output.display()));
            ui.result(|| json!({ "folder": output, "charts": count }));
            return Ok(());
        }
        if let Some(what) = &self.show {
            let scene = SceneFile::read(&self.cache)?;
            return self.show(&scene, what, &output, ui);
        }
        let mut pictures = self.pictures()?;
        let started = std::time::Instant::now();
        self.make(ui, &mut pictures, &output)?;
        let seconds = started.elapsed().as_secs_f64();
        ui.say(format!("{} ({seconds:.1} s)", output.display()));
        ui.result(|| json!({ "picture": output, "seconds": seconds }));
        Ok(())
    }

    /// Draws what a layer selects on the first frame of a scene.
    pub fn show(
        &self,
        scene: &SceneFile,
        what: &str,
        output: &Path,
        ui: &Ui,
    ) -> Result<(), Failure> {
        let scratch = Scratch::new()?;
        let cache = scratch.path().join("shown.frisson");
        let shown = show::write_shown(scene, what, &cache)?;
        let (vertices, points) = (shown.vertices, shown.points);
        if vertices + points == 0 {
            let text = format!("{what} gives neither a selection nor a point: nothing to mark");
            return Err(Failure::input(text));
        }
        let overlays =
            Overlays { attribute: Some(show::COVERED.to_owned()), ..Overlays::default() };
        let mut camera = scene_camera(&cache);
        camera.yaw_deg = shown.yaw_deg.or(camera.yaw_deg);
        // What a layer will lie over is what is looked at here.
        camera.hide.clear();
        let mut shot = self.open_with(&cache, camera, overlays)?;
        let first = self.clamped_range(&shot)?.0;
        write_picture(&shot.picture(first)?, output)?;
        ui.say(format!("{}: {vertices} vertices, {points} points", output.display()));
        ui.result(|| json!({ "picture": output, "vertices": vertices, "points": points }));
        Ok(())
    }

    fn pictures(&self) -> Result<Pictures, Failure> {
        let mut shot = self.open(&self.cache)?;
        // A tall subject gets tall panels, unless somebody wants a size.
        if self.is_sheet() && self.size.is_none() {
            shot.fit_shape()?;
        }
        let beside = match &self.compare {
            None if self.is_sheet() && shot.gains_by_comparing() => Beside::Primary,
            None => Beside::Nothing,
            Some(path) if path.as_os_str() == "primary" => Beside::Primary,
            Some(path) => {
                let mut other = self.open(path)?;
                // One camera for both: differences must be of the motion, not of the framing.
                other.set_camera(shot.camera());
                other.options = shot.options;
                Beside::Cache(Box::new(other), label(path))
            }
        };
        Ok(Pictures { shot, beside, label: label(&self.cache) })
    }

    fn make(&self, ui: &Ui, pictures: &mut Pictures, output: &Path) -> Result<(), Failure> {
        let (first, last) = self.clamped_range(&pictures.shot)?;
        let mut bar = ui.progress("drawing");
        let all: Vec<i64> = (first..=last).step_by(self.every as usize).collect();
        if let Some(frame) = self.frame {
            write_picture(&pictures.panel(frame)?, output)?;
        } else if let Some(number) = self.finding {
            let close_up = finding::close_up(&self.cache, usize::from(number), ui)?;
            let aperture = pictures.shot.camera().aperture;
            pictures.shot.set_camera(finding::camera(&close_up, aperture)?);
            write_picture(&pictures.panel(close_up.frame)?, output)?;
        } else if let Some(count) = self.turntable {
            let at = self.at.unwrap_or(first + (last - first) / 2);
            pictures.turntable(at, u32::from(count), output, &mut bar)?;
        } else if self.animate {
            let fps = pictures.shot.fps() / f64::from(self.every);
            pictures.animation(&all, fps, output, &mut bar)?;
        } else if self.numbered {
            pictures.numbered(&all, output, &mut bar)?;
        } else if let Some(count) = self.onion {
            let frames = spread(first, last, usize::from(count));
            write_picture(&pictures.onion(&frames, &mut bar)?, output)?;
        } else {
            // Pairs take twice the room.
            let usual = if matches!(pictures.beside, Beside::Nothing) { 8 } else { 4 };
            let count = usize::from(self.sheet.unwrap_or(usual));
            let frames = pictures.shot.telling_frames(first, last, count);
            write_picture(&pictures.sheet(&frames, &mut bar)?, output)?;
        }
        Ok(())
    }

    fn is_sheet(&self) -> bool {
        let one = self.frame.is_some() || self.turntable.is_some() || self.onion.is_some();
        !one && !self.animate && !self.numbered
    }

    fn open(&self, path: &Path) -> Result<Shot, Failure> {
        self.open_with(path, scene_camera(path), Overlays::parse(&self.overlay)?)
    }

    fn open_with(
        &self,
        path: &Path,
        camera: CameraParams,
        overlays: Overlays,
    ) -> Result<Shot, Failure> {
        // Panels of a sheet are looked at side by side: a quarter of the pixels.
        let usual = if self.is_sheet() && self.show.is_none() { (480, 270) } else { (960, 540) };
        let (width, height) = self.size.unwrap_or(usual);
        let mut options = if self.fine {
            RenderOptions::fine(width, height)
        } else {
            RenderOptions::preview(width, height)
        };
        options.samples = self.samples.unwrap_or(options.samples);
        let params = self.camera.apply(camera);
        let mut shot = Shot::open(path, Some(params), overlays, options)?;
        shot.shutter = self.motion_blur.clamp(0.0, LONGEST_SHUTTER);
        Ok(shot)
    }

    fn clamped_range(&self, shot: &Shot) -> Result<(i64, i64), Failure> {
        let (a, b) = self.range.unwrap_or((shot.first(), shot.last()));
        let (a, b) = (a.max(shot.first()), b.min(shot.last()));
        if a > b {
            let text = format!("the cache has the frames {} to {} only", shot.first(), shot.last());
            return Err(Failure::input(text));
        }
        Ok((a, b))
    }

    fn output_path(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            if self.numbered {
                self.cache.with_extension("frames")
            } else if self.plots {
                self.cache.with_extension("plots")
            } else {
                self.cache.with_extension("png")
            }
        })
    }
}

/// Longest that a shutter may be open, in frames [-]: beyond, blur no longer looks like motion.
const LONGEST_SHUTTER: f32 = 2.0;

fn label(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let (w, h) = text.split_once('x').ok_or("must look like 960x540")?;
    // The largest side that PNG viewers and textures commonly take.
    let side = |s: &str| s.parse::<u32>().ok().filter(|v| (1..=16_384).contains(v));
    side(w).zip(side(h)).ok_or_else(|| "must be 1 to 16384 pixels a side".to_owned())
}

/// Two frames as A..B.
pub fn parse_range(text: &str) -> Result<(i64, i64), String> {
    let (a, b) = text.split_once("..").ok_or("must look like 10..50")?;
    a.parse().ok().zip(b.parse().ok()).ok_or_else(|| "must be two frame numbers".to_owned())
}

fn parse_point(text: &str) -> Result<[f32; 3], String> {
    let numbers: Vec<f32> = text.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    <[f32; 3]>::try_from(numbers).map_err(|_| "must be three numbers: x,y,z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_ranges_and_points_are_read_or_refused() {
        assert_eq!(parse_size("640x360"), Ok((640, 360)));
        assert!(parse_size("640").is_err() && parse_size("0x5").is_err());
        assert_eq!(parse_range("-3..8"), Ok((-3, 8)));
        assert!(parse_range("3").is_err());
        assert_eq!(parse_point("1,-2,0.5"), Ok([1.0, -2.0, 0.5]));
        assert!(parse_point("1,2").is_err());
    }
}

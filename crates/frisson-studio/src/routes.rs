//! What the page can ask.

use std::time::Duration;

use frisson_io::scene::scene_schema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::{Got, Wanted};
use crate::jobs::Task;
use crate::patch::Edit;
use crate::reveal::Reveal;
use crate::roots::Beside;
use crate::studio::{Moment, Refusal, Studio};
use crate::wire::Parcel;

/// A request that was let in.
pub struct Asked<'a> {
    /// Path behind the token.
    pub path: &'a str,
    /// Query.
    pub query: &'a str,
    /// Body.
    pub body: &'a [u8],
    /// Whether it may change anything.
    pub post: bool,
}

/// An answer.
pub struct Answer {
    /// Status of HTTP.
    pub status: u16,
    /// Kind of content.
    pub kind: &'static str,
    /// Content.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Some bytes.
    #[must_use]
    pub fn bytes(kind: &'static str, bytes: Vec<u8>) -> Self {
        Self { status: 200, kind, bytes }
    }

    /// No, with a word why.
    #[must_use]
    pub fn refuse(status: u16, why: &str) -> Self {
        let bytes = json!({ "refused": why }).to_string().into_bytes();
        Self { status, kind: "application/json", bytes }
    }

    fn json(value: &Value) -> Self {
        Self::bytes("application/json", value.to_string().into_bytes())
    }
}

/// Longest time that a page waits for news or for a frame.
const WAIT: Duration = Duration::from_secs(10);
/// Longest time that a page waits for its first frame before it shows itself without one.
const FIRST_WAIT: Duration = Duration::from_millis(1500);
/// Most frames in one answer.
const MOST_FRAMES: usize = 64;

impl Asked<'_> {
    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            (key == name).then_some(value)
        })
    }

    fn number<T: std::str::FromStr>(&self, name: &str, otherwise: T) -> T {
        self.parameter(name).and_then(|v| v.parse().ok()).unwrap_or(otherwise)
    }

    fn body<T: for<'de> Deserialize<'de>>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(self.body).map_err(|e| format!("not understood: {e}"))
    }
}

/// Answers a request.
#[must_use]
pub fn answer(studio: &Studio, asked: &Asked) -> Answer {
    let answered = if asked.post { post(studio, asked) } else { get(studio, asked) };
    answered.unwrap_or_else(|why| Answer::refuse(400, &why))
}

fn get(studio: &Studio, asked: &Asked) -> Result<Answer, Refusal> {
    let side = asked.parameter("side").unwrap_or("a");
    match asked.path {
        "state" => {
            studio.bell().wait(asked.number("seen", 0), WAIT);
            let page = asked.parameter("page").unwrap_or_default();
            let (have, opened) = (asked.number("have", 0), asked.number("opened", 0));
            Ok(Answer::json(&studio.state(page, have, opened)))
        }
        "first" => {
            let page = asked.parameter("page").unwrap_or_default();
            Ok(Answer::bytes("application/octet-stream", first(studio, page)?))
        }
        "mirror" => {
            let mesh = decoded(asked.parameter("mesh").unwrap_or_default());
            let found = studio.engine(side)?.roots().mirror(&mesh);
            let found = found.ok_or("meshes of actors have two sides")?;
            let bytes = found.into_iter().flat_map(u32::to_le_bytes).collect();
            Ok(Answer::bytes("application/octet-stream", bytes))
        }
        "chosen" => {
            let path = decoded(asked.parameter("path").unwrap_or_default());
            let roots = studio.engine(side)?.roots();
            let found = roots.chosen(&path).ok_or("nothing is chosen there")?;
            Ok(Answer::bytes("application/octet-stream", found.to_vec()))
        }
        "frames" => {
            let wanted = Wanted {
                from: asked.number("from", 0),
                most: asked.number("count", 1).min(MOST_FRAMES),
                have: asked.number("have", 0),
                revision: asked.number("revision", 0),
                wait: Duration::from_millis(asked.number("wait", 0)).min(WAIT),
                is_shown: asked.number("ahead", 0) == 0,
            };
            let Got { take, cut, frames } = studio.engine(side)?.frames(&wanted);
            let size: usize = frames.iter().map(|f| f.bytes.len() + 4).sum();
            let mut bytes = Vec::with_capacity(size + 8);
            bytes.extend((take as u32).to_le_bytes());
            // `i64::MIN` says that nothing is left; as 32 bits it says the same.
            let cut = cut.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
            bytes.extend(cut.to_le_bytes());
            for frame in frames {
                bytes.extend((frame.bytes.len() as u32).to_le_bytes());
                bytes.extend(frame.bytes.iter());
            }
            Ok(Answer::bytes("application/octet-stream", bytes))
        }
        "topology" => {
            let found = studio.engine(side)?.topology(asked.number("id", 0));
            binary(found.ok_or("that topology is gone")?)
        }
        "texture" => {
            let found = studio.engine(side)?.texture(asked.number("id", 0));
            binary(found.ok_or("that texture is gone")?)
        }
        "measures" => Ok(Answer::json(&studio.engine(side)?.measures())),
        "schema" => Ok(Answer::json(&scene_schema())),
        "proposals" => Ok(Answer::json(&studio.proposals()?)),
        "choices" => Ok(Answer::json(&studio.choices())),
        // The page names an empty one; browsers that ask all the same shall find no error.
        "favicon.ico" => Ok(Answer { status: 204, kind: "image/x-icon", bytes: Vec::new() }),
        _ => Ok(Answer::refuse(404, "nothing here")),
    }
}

/// What a page needs for its first picture, in one answer: the state, a frame and all it refers to.
fn first(studio: &Studio, page: &str) -> Result<Vec<u8>, Refusal> {
    let found = studio.engine("a")?.first(FIRST_WAIT);
    let mut parcel = Parcel::default();
    let mut head = json!({ "state": studio.state(page, 0, 0) });
    if let Some((take, frame)) = found {
        head["take"] = take.into();
        head["frame"] = json!([parcel.add(frame.bytes.iter().copied()), frame.bytes.len()]);
        let mut list =
            |id: u64, bytes: &[u8]| json!([id, parcel.add(bytes.iter().copied()), bytes.len()]);
        let topologies: Vec<Value> =
            frame.topologies.iter().map(|t| list(t.id, &t.bytes)).collect();
        let textures = frame.topologies.iter().flat_map(|t| &t.textures);
        let textures: Vec<Value> = textures.map(|(id, bytes)| list(*id, bytes)).collect();
        head["topologies"] = topologies.into();
        head["textures"] = textures.into();
    }
    Ok(parcel.close(&head))
}

fn binary(bytes: std::sync::Arc<Vec<u8>>) -> Result<Answer, Refusal> {
    Ok(Answer::bytes("application/octet-stream", bytes.to_vec()))
}

#[derive(Deserialize)]
struct EditBody {
    edits: Vec<Edit>,
    label: String,
    #[serde(default)]
    merge: Option<String>,
    #[serde(default)]
    moment: Moment,
}

#[derive(Deserialize)]
struct TextBody {
    text: String,
    #[serde(default)]
    moment: Moment,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Request {
    moment: Moment,
    name: Option<String>,
    replace: bool,
    take: bool,
    draft: bool,
    reveal: Reveal,
    layer: Option<usize>,
    line: Option<usize>,
    page: String,
    mesh: String,
    corners: [u32; 3],
    weights: [f32; 3],
    position: Option<[f32; 3]>,
    how: Value,
    task: Option<Task>,
}

fn post(studio: &Studio, asked: &Asked) -> Result<Answer, Refusal> {
    match asked.path {
        "edit" => {
            let body: EditBody = asked.body()?;
            // Edits that are one step of what can be undone come from something that is dragged.
            let moment = Moment { hasty: body.merge.is_some(), ..body.moment };
            let edited = studio
                .change(moment, |document| document.edit(&body.edits, &body.label, body.merge));
            return written(studio, edited?.0);
        }
        "text" => {
            let body: TextBody = asked.body()?;
            let edited = studio.change(body.moment, |document| {
                document.write(body.text, "edit the text", None);
                Ok(())
            });
            return written(studio, edited?.0);
        }
        "relocate" => {
            let beside: Beside = asked.body()?;
            let points = studio.engine("a")?.roots().relocate(&beside);
            let points = points.ok_or("points are put on the meshes of actors")?;
            return Ok(Answer::json(&json!({ "points": points })));
        }
        "drop" => {
            let name = decoded(asked.parameter("name").unwrap_or_default());
            studio.drop_file(&name, asked.body)?;
            return Ok(Answer::json(&json!({})));
        }
        _ => {}
    }
    let body: Request = asked.body()?;
    match asked.path {
        "undo" => step(studio, studio.change(body.moment, |d| Ok(d.undo()))?),
        "redo" => step(studio, studio.change(body.moment, |d| Ok(d.redo()))?),
        "switch" => written(studio, studio.switch(body.moment, body.layer, body.line)?),
        "recover" => written(
            studio,
            studio
                .change(body.moment, |d| {
                    d.recover(body.take);
                    Ok(())
                })?
                .0,
        ),
        "outside" => {
            let settled = studio.change(body.moment, |d| {
                d.settle_outside(body.take);
                Ok(())
            });
            written(studio, settled?.0)
        }
        "save" => done(studio.save(body.name.as_deref(), body.replace)),
        "open" => done(studio.open_other(&body.name.ok_or("open what?")?)),
        "draft" => done({
            studio.set_draft(body.draft, body.moment);
            Ok(())
        }),
        "reveal" => done({
            studio.set_reveal(body.reveal, body.moment);
            Ok(())
        }),
        "compare" => done(studio.compare(&body.how, body.moment.frame)),
        "job" => done(studio.start(body.task.ok_or("which job?")?)),
        "stop" => done({
            studio.jobs().stop();
            Ok(())
        }),
        "rest" => done({
            studio.rest();
            Ok(())
        }),
        "leave" => done({
            studio.leave(&body.page);
            Ok(())
        }),
        "anchor" => anchor(studio, &body),
        _ => Ok(Answer::refuse(404, "nothing here")),
    }
}

fn done(outcome: Result<(), Refusal>) -> Result<Answer, Refusal> {
    outcome.map(|()| Answer::json(&json!({})))
}

fn written(studio: &Studio, revision: u64) -> Result<Answer, Refusal> {
    Ok(Answer::json(&json!({ "revision": revision, "trouble": studio.trouble() })))
}

fn step(studio: &Studio, (revision, label): (u64, Option<String>)) -> Result<Answer, Refusal> {
    let answer = json!({ "revision": revision, "label": label, "trouble": studio.trouble() });
    Ok(Answer::json(&answer))
}

/// Where a place on a shown triangle is on the actor's own mesh.
fn anchor(studio: &Studio, body: &Request) -> Result<Answer, Refusal> {
    let roots = studio.engine("a")?.roots();
    let missed = "points are put on the meshes of actors";
    let place = match body.position {
        Some(position) => glam::Vec3::from_array(position),
        None => roots.reference(&body.mesh, body.corners, body.weights).ok_or(missed)?,
    };
    Ok(Answer::json(&roots.anchor(&body.mesh, place).ok_or(missed)?))
}

/// Takes the percent signs out of a name.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |b: Option<u8>| b.and_then(|b| (b as char).to_digit(16));
        match byte {
            b'%' => match (hex(rest.next()), hex(rest.next())) {
                (Some(high), Some(low)) => bytes.push((16 * high + low) as u8),
                _ => bytes.push(b'?'),
            },
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses_are_decoded_and_bad_ones_do_no_harm() {
        assert_eq!(decoded("caf%C3%A9%20x.glb"), "café x.glb");
        assert_eq!(decoded("%"), "?");
        assert_eq!(decoded("%zz"), "?");
        assert_eq!(decoded("%2e%2e%2fx"), "../x");
    }
}

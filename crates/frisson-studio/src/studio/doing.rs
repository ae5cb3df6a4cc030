//! What is done with an open scene beside editing it: layers switched, sides compared, jobs started.

use std::sync::Arc;

use frisson_io::cache::CacheReader;
use frisson_io::scene::SceneFile;
use serde_json::Value;

use super::{Moment, Refusal, Studio};
use crate::bell::lock;
use crate::engine::{Engine, Order};
use crate::jobs::Task;
use crate::proposals::proposals;
use crate::reveal::Reveal;
use crate::switches::{switch_off, switch_on};

impl Studio {
    /// Switches a layer off, or one that is off on.
    pub fn switch(
        &self,
        moment: Moment,
        layer: Option<usize>,
        line: Option<usize>,
    ) -> Result<u64, Refusal> {
        let done = self.change(moment, |document| {
            let text = match (layer, line) {
                (Some(layer), _) => switch_off(document.text(), layer),
                (_, Some(line)) => switch_on(document.text(), line),
                _ => None,
            };
            let label = if layer.is_some() { "switch a layer off" } else { "switch a layer on" };
            document.write(text.ok_or("there is no such layer")?, label, None);
            Ok(())
        });
        done.map(|(revision, ())| revision)
    }

    /// Light layers for a first look, or all of them.
    pub fn set_draft(&self, draft: bool, moment: Moment) {
        lock(&self.open).draft = draft;
        self.simulate(Moment { again: true, ..moment });
    }

    /// Layers that the scene could have.
    pub fn proposals(&self) -> Result<Value, Refusal> {
        let open = lock(&self.open);
        let document = open.document.as_ref().ok_or("a cache has no text to change")?;
        let scene = document.parse().map_err(|_| "the text has mistakes: mend them first")?;
        drop(open);
        Ok(proposals(&scene))
    }

    /// Shows more than the picture, or less.
    pub fn set_reveal(&self, reveal: Reveal, moment: Moment) {
        lock(&self.open).reveal = reveal;
        self.simulate(moment);
    }

    /// Compares with another text: the present one as it is now, or without a layer.
    pub fn compare(&self, how: &Value, frame: i64) -> Result<(), Refusal> {
        let mut open = lock(&self.open);
        if let Some((engine, _)) = open.compared.take() {
            engine.stop();
        }
        if how.is_null() {
            drop(open);
            self.bell.ring();
            return Ok(());
        }
        let document = open.document.as_ref().ok_or("a cache is compared by `frisson render`")?;
        let mut scene = document.parse().map_err(|_| "the text has mistakes: mend them first")?;
        match how.get("without") {
            Some(Value::Number(n)) => {
                let index = n.as_u64().unwrap_or(u64::MAX) as usize;
                if index >= scene.scene.layers.len() {
                    return Err("there is no such layer".to_owned());
                }
                scene.scene.layers.remove(index);
            }
            Some(_) => scene.scene.layers.clear(),
            None => {}
        }
        let engine = Engine::simulate(Arc::clone(&self.bell), 8 + open.number % 8);
        engine.order(Order {
            scene,
            draft: open.draft,
            reveal: open.reveal,
            at: frame,
            again: true,
            revision: 1,
            hasty: None,
        });
        open.compared = Some((engine, how.clone()));
        drop(open);
        self.bell.ring();
        Ok(())
    }

    /// Starts a job on what the text says now.
    pub fn start(&self, task: Task) -> Result<(), Refusal> {
        let open = lock(&self.open);
        let cache = open.baked().ok_or("there is nothing to work on")?;
        let mut scene = match &open.document {
            Some(document) => {
                document.parse().map_err(|_| "the text has mistakes: mend them first")?
            }
            None => {
                let reader = CacheReader::open(&cache).map_err(|e| e.to_string())?;
                SceneFile::parse(&cache, &reader.header().scene_text).map_err(|e| e.to_string())?
            }
        };
        drop(open);
        // Promises are held by `check --bake`; those of layers that are off must not stop a bake.
        scene.scene.expect.clear();
        self.jobs.start(task, scene, cache)
    }
}

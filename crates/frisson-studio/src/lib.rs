//! The studio: look, draw and tune while it moves, in the browser.
//!
//! ```text
//! page (three.js, plain modules)          server (this crate)
//!   controls, text, drawing ──edits──►  document   the text, with undo; the one truth
//!                                          │ orders
//!                                        engine    a thread with a Simulator, one more to compare with
//!                                          │ frames as bytes
//!   player, view ◄───────────asks──────  reel      frames and checkpoints, within a budget of memory
//!   bake, export ──────────────────────► jobs      go on when the page is closed
//! ```
//!
//! [`Studio::open`] opens a scene, a character or a cache; [`Served`] serves it on the loopback. The page
//! is part of the program: `cargo run` needs nothing else, and nothing is loaded from elsewhere.

mod bell;
mod document;
mod draft;
mod engine;
mod http;
mod insides;
mod jobs;
mod live;
mod page;
mod patch;
mod problems;
mod proposals;
mod reel;
mod reveal;
mod roots;
mod rough;
mod routes;
mod server;
mod studio;
mod switches;
mod wire;

pub use page::Page;
pub use server::Served;
pub use studio::Studio;

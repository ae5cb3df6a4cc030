//! What a person sees when frisson itself is wrong: not a backtrace, but what to send to whom.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crate::failure::Failure;

/// Exit code of a mistake in the program.
pub const CODE: u8 = 5;

/// Where the last mistake was noticed.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// Runs a command; a panic in it, on whatever thread, becomes a failure with a message.
pub fn guard(run: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
        // Kept, not printed: the hook runs before anybody knows whether somebody catches the panic.
        if let Ok(mut last) = PLACE.lock() {
            *last = place;
        }
    }));
    // Nothing of what broke is used again: the program ends with the message.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| Err(mistake(&*cause)))
}

fn mistake(cause: &(dyn Any + Send)) -> Failure {
    let said = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let place = PLACE.lock().ok().and_then(|p| p.clone()).unwrap_or_else(|| "nowhere".to_owned());
    let text = format!(
        "this is a mistake in frisson {}, not in your files: {said} ({place})",
        env!("CARGO_PKG_VERSION")
    );
    let help = "finished frames of a bake are kept: try --resume. Please report it in the project's \
                issue tracker (see CONTRIBUTING.md), with this message, the command line and, if you \
                may, the scene and its files";
    Failure::Message { code: CODE, text, help: Some(help.to_owned()) }
}

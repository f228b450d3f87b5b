//! The look at the todo files: whether it is still known whose words their items are.

use std::path::Path;

use super::finding::Finding;
use super::look::Look;
use selkie_domain::clock::SharedClock;
use selkie_people::files::Files;

const WHAT: &str = "todos";
const FILE: &str = "TODO.md";

/// Looks at what is noted beside the files.
pub fn look(state: &Path, clock: SharedClock) -> Look {
    let files = Files::new(state.to_owned(), clock);
    let is_there = state.join(FILE).exists();
    Look::here(WHAT, move || match files.has_lost_whose() {
        Ok(false) if !is_there => vec![Finding::fine(WHAT, "there is no TODO.md yet")],
        Ok(false) => vec![Finding::fine(WHAT, "selkie knows who wrote each item of TODO.md")],
        Ok(true) => vec![Finding::warning(
            WHAT,
            "TODO.md was there before selkie, or kept/TODO.md/said is lost or was changed: selkie treats the items of TODO.md as other people's words, and shows them to no task unasked",
            "look through TODO.md; if everything in it is yours, run selkie todos trust",
        )],
        Err(why) => {
            vec![Finding::warning(
                WHAT,
                why.to_string(),
                "make it readable for the user who runs selkie",
            )]
        }
    })
}

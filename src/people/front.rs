//! The front matter of a file: between two lines of dashes, one `key: value` a line.

use std::ops::Range;

use super::regions::Regions;
use super::text::Text;

/// How many lines front matter has at most.
const MAX_LENGTH: usize = 64;
const DASHES: &str = "---";

/// Finds the lines between the dashes; `None` where a file has no front matter that can be read.
pub(super) fn find(text: &Text, regions: &Regions) -> Option<Range<usize>> {
    let is_dashes = |at: usize| text.line(at).trim_end() == DASHES;
    if text.len() == 0 || !is_dashes(0) {
        return None;
    }
    let last = (1..text.len().min(MAX_LENGTH)).find(|at| is_dashes(*at))?;
    let reads = |at: usize| regions.is_plain(at) && is_value(text.line(at));
    (1..last).all(reads).then_some(1..last)
}

/// Writes values into the front matter; a file that has none gets one.
pub(super) fn set(text: &mut Text, front: Option<Range<usize>>, values: &[Value<'_>]) {
    let mut front = match front {
        Some(front) => front,
        None => {
            text.insert(0, DASHES);
            text.insert(1, DASHES);
            1..1
        }
    };
    for Value { key, value, is_first } in values {
        let line = format!("{key}: {value}");
        let is_its = |at: &usize| key_of(text.line(*at)) == Some(*key);
        match front.clone().find(is_its) {
            Some(_) if *is_first => {}
            Some(at) => text.replace(at, line),
            None => {
                text.insert(front.end, line);
                front.end += 1;
            }
        }
    }
}

/// A value of front matter.
pub(super) struct Value<'a> {
    pub key: &'a str,
    /// As it is written.
    pub value: &'a str,
    /// It stays what it was at first.
    pub is_first: bool,
}

/// Whether a line may stand in front matter: what stands between two rulers of a page may not.
fn is_value(line: &str) -> bool {
    let goes_on = line.trim().is_empty() || line.starts_with([' ', '\t', '#']);
    goes_on || key_of(line).is_some_and(|key| !key.starts_with('-'))
}

fn key_of(line: &str) -> Option<&str> {
    line.split_once(':').map(|(key, _)| key.trim_end())
}

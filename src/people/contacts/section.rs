//! The lines of one contact: found, read, and changed in place.

use std::ops::Range;

use serde_json::Value;

use super::field::{Fields, is_key};
use crate::fault::{Fault, shown};
use crate::regions::Regions;
use crate::text::Text;
use selkie_domain::document;
use selkie_domain::screen::steers;

const HEADING: &str = "## ";
const FENCE: &str = "```";

/// One contact in a file.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// From its heading to the next one.
    pub lines: Range<usize>,
    /// Inside of its fence.
    pub block: Range<usize>,
    /// What stands there.
    pub fields: Fields,
}

/// Finds the contacts from a line on, and what looks like one.
pub(super) fn find(text: &Text, regions: &Regions, from: usize) -> Vec<Result<Section, Fault>> {
    // Where something begins, and whether it is a contact.
    let mut begins = Vec::new();
    let mut is_inside = false;
    for at in (from..text.len()).filter(|at| regions.is_plain(*at)) {
        let line = text.line(at);
        if line.starts_with(FENCE) {
            is_inside = !is_inside;
        } else if line.starts_with(HEADING) || !is_inside && line.starts_with("# ") {
            // A heading ends a block that somebody forgot to close.
            is_inside = false;
            begins.push(at);
        }
    }
    let ends = begins.iter().skip(1).copied().chain([text.len()]);
    let all = begins.iter().copied().zip(ends).map(|(first, end)| first..end);
    let contacts = all.filter(|lines| text.line(lines.start).starts_with(HEADING));
    contacts.map(|lines| read(text, regions, trimmed(text, regions, lines))).collect()
}

/// Without what stands behind a contact and is none of it: empty lines, comments.
fn trimmed(text: &Text, regions: &Regions, lines: Range<usize>) -> Range<usize> {
    let is_its = |at: &usize| regions.is_plain(*at) && !text.line(*at).trim().is_empty();
    let last = lines.clone().rev().find(is_its);
    lines.start..last.map_or(lines.end, |last| last + 1)
}

fn read(text: &Text, regions: &Regions, lines: Range<usize>) -> Result<Section, Fault> {
    let title = shown(text.line(lines.start));
    let fault = |what: String| Err(Fault::of(lines.clone(), format!("{title:?} {what}")));
    let mut fences = lines.clone().filter(|at| text.line(*at).starts_with(FENCE));
    let Some(first) = fences.find(|at| regions.is_plain(*at)) else {
        return fault("has no block of YAML below it".to_owned());
    };
    let Some(last) = fences.next() else {
        return fault(format!("has a block that no {FENCE} ends"));
    };
    let block = first + 1..last;
    if !block.clone().all(|at| regions.is_plain(at)) {
        return fault("has a block with a comment of HTML or a merge conflict in it".to_owned());
    }
    let yaml: String = block.clone().flat_map(|at| [text.line(at), "\n"]).collect();
    let fields = match document::yaml(&yaml) {
        Ok(Value::Object(fields)) => Fields::new(fields),
        Ok(_) => return fault("has a block that is no list of fields".to_owned()),
        Err(why) => return fault(format!("cannot be read: {}", shown(&why))),
    };
    if fields.id().trim().is_empty() {
        return fault("has no contact_id".to_owned());
    }
    Ok(Section { lines, block, fields })
}

/// Writes the lines of a new contact.
pub(super) fn written(fields: &Fields) -> Vec<String> {
    let is_there = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    };
    let lines = fields.iter().filter(|(key, value)| is_key(key) && is_there(value));
    let head = [heading(fields), String::new(), format!("{FENCE}yaml")];
    let lines = lines.map(|(key, value)| line(key, value));
    head.into_iter().chain(lines).chain([FENCE.to_owned()]).collect()
}

/// The line above a contact: what they are called.
pub(super) fn heading(fields: &Fields) -> String {
    let name = fields.name().split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{HEADING}{name}")
}

/// Gives a field another value: in its line, or in a new one at the end of the block.
pub(super) fn set(text: &mut Text, block: Range<usize>, key: &str, value: &Value) {
    let is_its = |at: &usize| {
        text.line(*at).strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let line = line(key, value);
    let Some(first) = block.clone().find(is_its) else {
        text.insert(block.end, line);
        return;
    };
    let goes_on = |at: &usize| text.line(*at).starts_with([' ', '\t', '-', ']', '}']);
    let rest = (first + 1..block.end).take_while(goes_on).count();
    (0..rest).for_each(|_| text.remove(first + 1));
    text.replace(first, line);
}

/// A field on one line: JSON is YAML, too, when what no screen shows is spelled out.
fn line(key: &str, value: &Value) -> String {
    let mut line = format!("{key}: ");
    for c in value.to_string().chars() {
        let is_shown = !steers(c)
            && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff0}'..='\u{ffff}' | '\u{feff}');
        match is_shown {
            true => line.push(c),
            false => line.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    line
}

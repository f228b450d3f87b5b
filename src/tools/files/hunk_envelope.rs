//! The grammar of `*** Begin Patch`: no line numbers; context and `@@` lines say where.

use super::hunk::{Change, Hunk, Line};
use super::patch_error::PatchError;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// Returns the index of the first line, when this is such a patch.
pub(super) fn begin(lines: &[&str]) -> Option<usize> {
    let first = lines.iter().position(|l| !l.trim().is_empty())?;
    (lines[first].trim() == BEGIN).then_some(first)
}

/// Reads it.
///
/// # Errors
/// What is wrong and in which line.
pub(super) fn parse(lines: &[&str], begin: usize) -> Result<Vec<Change>, PatchError> {
    let Some(end) = lines.iter().rposition(|l| l.trim() == END) else {
        return Err(PatchError::Cut);
    };
    let mut reader = Reader { lines: &lines[..end], at: begin + 1 };
    let mut changes = Vec::new();
    while let Some(line) = reader.peek() {
        if line.trim().is_empty() {
            reader.at += 1;
            continue;
        }
        changes.push(reader.change()?);
    }
    Ok(changes)
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn wrong(&self, why: impl Into<String>) -> PatchError {
        PatchError::at(self.at, why)
    }

    fn change(&mut self) -> Result<Change, PatchError> {
        let line = self.peek().unwrap_or_default();
        let named = |word: &str| {
            line.strip_prefix(word).map(|p| p.trim().to_owned()).filter(|p| !p.is_empty())
        };
        if let Some(path) = named("*** Add File:") {
            self.at += 1;
            return Ok(Change::Add { path, content: self.added()? });
        }
        if let Some(path) = named("*** Delete File:") {
            self.at += 1;
            return Ok(Change::Delete { path, hunks: Vec::new() });
        }
        if let Some(path) = named("*** Update File:") {
            self.at += 1;
            return self.update(path);
        }
        Err(self.wrong(
            "expected *** Add File: <path>, *** Update File: <path> or *** Delete File: <path>",
        ))
    }

    fn added(&mut self) -> Result<String, PatchError> {
        let mut content = String::new();
        while let Some(line) = self.peek().filter(|l| !l.starts_with("*** ")) {
            let Some(text) = line.strip_prefix('+') else {
                if line.is_empty() {
                    self.at += 1;
                    continue;
                }
                return Err(self.wrong("every line of an added file begins with +"));
            };
            content.push_str(text);
            content.push('\n');
            self.at += 1;
        }
        Ok(content)
    }

    fn update(&mut self, path: String) -> Result<Change, PatchError> {
        let mut to = None;
        if let Some(moved) = self.peek().and_then(|l| l.strip_prefix("*** Move to:")) {
            to = Some(moved.trim().to_owned());
            self.at += 1;
        }
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|l| !is_header(l)) {
            let hunk = self.hunk()?;
            if !hunk.lines.is_empty() {
                hunks.push(hunk);
            }
        }
        if hunks.is_empty() && to.is_none() {
            return Err(self.wrong(format!("the update of {path} holds no change")));
        }
        Ok(Change::Update { path, to, hunks })
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let mut hunk = Hunk::default();
        while let Some(anchor) = self.peek().and_then(|l| l.strip_prefix("@@")) {
            let anchor = anchor.trim();
            let anchor = anchor.strip_suffix("@@").unwrap_or(anchor).trim();
            if !anchor.is_empty() {
                hunk.anchors.push(anchor.to_owned());
            }
            self.at += 1;
        }
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE {
                hunk.at_end = true;
                self.at += 1;
                break;
            }
            if is_header(line) || line.starts_with("@@") {
                break;
            }
            hunk.lines
                .push(read(line).ok_or_else(|| {
                    self.wrong("a line of an update begins with a space, - or +")
                })?);
            self.at += 1;
        }
        // Empty lines before the next file are the writer's, not the file's.
        if self.peek().is_none_or(is_header) && !hunk.at_end {
            let empty = self.lines[..self.at].iter().rev().take_while(|l| l.is_empty()).count();
            hunk.lines.truncate(hunk.lines.len().saturating_sub(empty));
        }
        Ok(hunk)
    }
}

fn is_header(line: &str) -> bool {
    ["*** Add File:", "*** Delete File:", "*** Update File:"].iter().any(|h| line.starts_with(h))
}

/// Reads a line of a hunk; an empty one is an empty line that stays.
fn read(line: &str) -> Option<Line> {
    let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
    match mark {
        " " => Some(Line::Keep(text.to_owned())),
        "-" => Some(Line::Out(text.to_owned())),
        "+" => Some(Line::In(text.to_owned())),
        _ if line == "\r" => Some(Line::Keep("\r".to_owned())),
        _ => None,
    }
}

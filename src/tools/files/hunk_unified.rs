//! The grammar of unified diffs, as `diff -u` and git write them and as models do: counts may be wrong.

use super::hunk::{Change, Hunk, Line};
use super::patch_error::PatchError;

/// What git says of a file that moves.
#[derive(Default)]
struct FileMove {
    from: Option<String>,
    to: Option<String>,
}

/// Whether the lines hold such a patch.
pub(super) fn is_one(lines: &[&str]) -> bool {
    (0..lines.len()).any(|at| is_header(lines, at))
        || lines.iter().any(|l| l.starts_with("rename from "))
}

/// Reads it. What stands between files (a commit message, `index …`) is passed over.
///
/// # Errors
/// What is wrong and in which line.
pub(super) fn parse(lines: &[&str]) -> Result<Vec<Change>, PatchError> {
    let mut changes = Vec::new();
    let mut renamed = FileMove::default();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if line.starts_with("diff --git ") {
            changes.extend(moved(std::mem::take(&mut renamed)));
        } else if let Some(from) = line.strip_prefix("rename from ") {
            renamed.from = Some(from.trim_end().to_owned());
        } else if let Some(to) = line.strip_prefix("rename to ") {
            renamed.to = Some(to.trim_end().to_owned());
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(PatchError::at(at, "binary files cannot be patched"));
        } else if line.starts_with("@@") {
            return Err(PatchError::at(at, "a hunk without --- and +++ before it"));
        } else if is_header(lines, at) {
            let (change, next) = file(lines, at, std::mem::take(&mut renamed))?;
            changes.push(change);
            at = next;
            continue;
        }
        at += 1;
    }
    changes.extend(moved(renamed));
    Ok(changes)
}

fn moved(renamed: FileMove) -> Option<Change> {
    Some(Change::Update { path: renamed.from?, to: Some(renamed.to?), hunks: Vec::new() })
}

fn file(lines: &[&str], at: usize, renamed: FileMove) -> Result<(Change, usize), PatchError> {
    let old = path(lines[at], "a/");
    let new = path(lines[at + 1], "b/");
    let mut hunks = Vec::new();
    let mut next = at + 2;
    while next < lines.len() && lines[next].starts_with("@@") {
        let (hunk, after) = hunk(lines, next)?;
        if !hunk.lines.is_empty() {
            hunks.push(hunk);
        }
        next = after;
    }
    let change = match (old, new) {
        (None, None) => return Err(PatchError::at(at, "no file is named")),
        (None, Some(path)) => Change::Add { path, content: added(&hunks, at)? },
        (Some(path), None) => Change::Delete { path, hunks },
        (Some(_), Some(path)) => match renamed {
            FileMove { from: Some(from), to: Some(to) } => {
                Change::Update { path: from, to: Some(to), hunks }
            }
            _ if hunks.is_empty() => {
                return Err(PatchError::at(at, format!("{path} has no hunk")));
            }
            _ => Change::Update { path, to: None, hunks },
        },
    };
    Ok((change, next))
}

fn added(hunks: &[Hunk], at: usize) -> Result<String, PatchError> {
    if hunks.iter().any(|h| !h.before().is_empty()) {
        return Err(PatchError::at(at, "a new file has only lines with +"));
    }
    let mut content: String =
        hunks.iter().flat_map(Hunk::after).map(|l| format!("{l}\n")).collect();
    if hunks.last().is_some_and(|h| h.ends_with_break == Some(false)) {
        content.pop();
    }
    Ok(content)
}

/// `--- a/x` before `+++ b/x`.
fn is_header(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|l| l.starts_with("+++ "))
}

/// The same behind a hunk, where a line that is taken out and one that comes in may look like it: a hunk follows.
fn begins_file(lines: &[&str], at: usize) -> bool {
    is_header(lines, at) && lines.get(at + 2).is_some_and(|l| l.starts_with("@@"))
}

/// Returns the path of a header line without `a/` or `b/` and the time; `None` for `/dev/null`.
fn path(line: &str, prefix: &str) -> Option<String> {
    let path = line[4..].split('\t').next().unwrap_or_default().trim();
    (path != "/dev/null").then(|| path.strip_prefix(prefix).unwrap_or(path).to_owned())
}

/// What `@@ -a,b +c,d @@` says: index of the first old line, old lines, new lines.
fn numbers(line: &str) -> Option<(usize, usize, usize)> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let pair = |text: &str| -> Option<(usize, usize)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.trim().parse().ok()?, count.trim().parse().ok()?))
    };
    let (start, old) = pair(old)?;
    let (_, new) = pair(new)?;
    // A hunk without old lines stands behind the line it names.
    Some((if old == 0 { start } else { start.saturating_sub(1) }, old, new))
}

/// Reads one hunk: by its counts where they lead to a place where a hunk may end, else by its marks.
fn hunk(lines: &[&str], at: usize) -> Result<(Hunk, usize), PatchError> {
    let numbers = numbers(lines[at]);
    let end = match numbers {
        Some((_, old, new)) => counted(lines, at + 1, old, new),
        None => None,
    };
    let end = end.unwrap_or_else(|| marked(lines, at + 1));
    let mut hunk = Hunk { hint: numbers.map(|(hint, ..)| hint), ..Hunk::default() };
    for (number, line) in lines.iter().enumerate().take(end).skip(at + 1) {
        let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        match mark {
            " " => hunk.lines.push(Line::Keep(text.to_owned())),
            "-" => hunk.lines.push(Line::Out(text.to_owned())),
            "+" => hunk.lines.push(Line::In(text.to_owned())),
            "\\" => no_break(&mut hunk),
            _ if *line == "\r" => hunk.lines.push(Line::Keep("\r".to_owned())),
            _ => {
                let why = "a line of a hunk begins with a space, - or +";
                return Err(PatchError::at(number, why));
            }
        }
    }
    Ok((hunk, end))
}

/// `\ No newline at end of file`, after the line it speaks of.
fn no_break(hunk: &mut Hunk) {
    hunk.at_end = true;
    match hunk.lines.last() {
        Some(Line::Out(_)) => hunk.ends_with_break = Some(true),
        Some(Line::Keep(_) | Line::In(_)) => hunk.ends_with_break = Some(false),
        None => {}
    }
}

/// Where a hunk of these counts ends, if it may end there.
fn counted(lines: &[&str], mut at: usize, mut old: usize, mut new: usize) -> Option<usize> {
    while old > 0 || new > 0 {
        match lines.get(at)?.bytes().next() {
            Some(b'-') => old = old.checked_sub(1)?,
            Some(b'+') => new = new.checked_sub(1)?,
            Some(b' ') | None => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            Some(b'\r') if lines[at] == "\r" => {
                (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?);
            }
            Some(b'\\') => {}
            _ => return None,
        }
        at += 1;
    }
    if lines.get(at).is_some_and(|l| l.starts_with('\\')) {
        at += 1;
    }
    let over = match lines.get(at) {
        None => true,
        // `-- ` ends what git sends by mail.
        Some(line) => {
            !line.starts_with([' ', '+', '-', '\\']) || begins_file(lines, at) || *line == "-- "
        }
    };
    over.then_some(at)
}

/// Where a hunk ends by the marks of its lines.
fn marked(lines: &[&str], from: usize) -> usize {
    let goes_on = |at: &usize| {
        let line = lines[*at];
        let is_line = line.is_empty() || line == "\r" || line.starts_with([' ', '+', '-', '\\']);
        is_line && !begins_file(lines, *at)
    };
    let end = (from..lines.len()).find(|at| !goes_on(at)).unwrap_or(lines.len());
    // Empty lines at the end are the writer's, not the file's.
    (from..end).rev().find(|at| !lines[*at].is_empty()).map_or(from, |last| last + 1)
}

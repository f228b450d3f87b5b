//! Files that came with messages: how the prompt names them, and which one a person means by a name.

use serde_json::Value;

use crate::model::{AnsweredCall, TalkTurn};

/// What a file can be, as the prompt says it behind the path.
const KINDS: [&str; 5] = ["document", "photo", "voice", "audio", "video"];

/// A file that came with a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum File<'a> {
    /// It is there, at this path.
    Here {
        /// As the tools take it.
        path: &'a str,
        /// One of the five kinds.
        kind: &'a str,
    },
    /// It is not there; the words tell why.
    Missing(&'a str),
}

/// Returns the files of a turn: `(file: in/a.txt (document, 5 bytes))`.
pub(super) fn of(turn: &str) -> impl Iterator<Item = File<'_>> {
    turn.lines().filter_map(line).map(read)
}

/// Returns what stands in a line that names a file; `None` for any other line.
pub(super) fn line(line: &str) -> Option<&str> {
    line.trim().strip_prefix("(file: ")?.strip_suffix(')')
}

fn read(told: &str) -> File<'_> {
    let cut = |kind: &'static str| Some((told.rfind(&format!(" ({kind}, "))?, kind));
    match KINDS.into_iter().filter_map(cut).max() {
        Some((at, kind)) => File::Here { path: &told[..at], kind },
        None => File::Missing(told),
    }
}

/// Returns the last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the path of what a person calls `wanted`: the newest file of this name that came with a
/// message, unless one was written under the name since. Anything else is its own path.
pub(super) fn meant(wanted: &str, turns: &[TalkTurn]) -> String {
    let mut found = None;
    for turn in turns {
        if let TalkTurn::Calls { calls, .. } = turn
            && calls.iter().any(|call| writes(call, wanted) && !call.is_error)
        {
            found = None;
        }
        for file in turn.user().into_iter().flat_map(of) {
            let File::Here { path, .. } = file else { continue };
            // A second file of the same name is stored under a number.
            if name(path) == wanted || (found.is_some() && is_numbered(name(path), wanted)) {
                found = Some(path);
            }
        }
    }
    found.unwrap_or(wanted).to_owned()
}

fn writes(call: &AnsweredCall, path: &str) -> bool {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    call.name == "write_file" && arguments["path"] == path
}

/// Whether `name` is `wanted` with a number before its ending: `a-2.txt` for `a.txt`.
fn is_numbered(name: &str, wanted: &str) -> bool {
    let (stem, ending) = wanted.rfind('.').map_or((wanted, ""), |dot| wanted.split_at(dot));
    let number = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(ending));
    let digits = number.and_then(|number| number.strip_prefix('-')).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn came(path: &str) -> TalkTurn {
        TalkTurn::User(format!("[Ann]\n(file: {path} (document, text/plain, 5 bytes))"))
    }

    fn wrote(path: &str, is_error: bool) -> TalkTurn {
        let arguments = json!({ "path": path, "content": "x" });
        let call = AnsweredCall {
            name: "write_file".to_owned(),
            arguments: arguments.to_string(),
            answer: "ok".to_owned(),
            is_error,
        };
        TalkTurn::Calls { text: String::new(), calls: vec![call] }
    }

    #[test]
    fn a_file_is_known_by_its_name_until_another_one_takes_it() {
        let turns = [
            came("c/in/a.txt"),
            came("c/in/b (1).txt"),
            wrote("a.txt", true),
            came("c/in/a-2.txt"),
            wrote("b (1).txt", false),
        ];
        assert_eq!(meant("a.txt", &turns[..3]), "c/in/a.txt");
        assert_eq!(meant("a.txt", &turns), "c/in/a-2.txt");
        assert_eq!(meant("b (1).txt", &turns[..4]), "c/in/b (1).txt");
        assert_eq!(meant("b (1).txt", &turns), "b (1).txt");
        assert_eq!(meant("c.txt", &turns), "c.txt");
        assert_eq!(meant("a.txt", &[came("c/in/a-2.txt")]), "a.txt");
    }

    #[test]
    fn what_did_not_come_is_no_file() {
        let turn =
            "(file: a (document, x).txt (photo, 5 bytes; it cannot be shown: too (very) large))
            (file: b.txt (could not be fetched: it has 9 bytes))";
        let files: Vec<_> = of(turn).collect();
        let here = File::Here { path: "a (document, x).txt", kind: "photo" };
        let missing = File::Missing("b.txt (could not be fetched: it has 9 bytes)");
        assert_eq!(files, [here, missing]);
    }
}

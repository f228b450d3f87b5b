//! Finds the person's own words in a user turn: without fenced text of others and without marks in
//! brackets that the prompt puts on lines of their own.

use super::files;

/// Begins a fence.
const FENCE: &str = "<<<untrusted";
/// Ends it: the whole line. Lines of others may end so, and are fenced still.
const FENCE_END: &str = ">>>";
/// Stands before a line of a person that looks like one of the prompt's.
const MARK: char = '\u{200b}';
/// Begins a turn that the daemon itself says: no person's words.
const NOTE: &str = "[note";

/// Returns what stands in fences; empty when nothing does.
pub(super) fn others_words(turn: &str) -> String {
    if turn.trim_start().starts_with(NOTE) {
        return String::new();
    }
    let mut fenced = false;
    let mut others = Vec::new();
    for line in turn.lines() {
        match fenced {
            true if line == FENCE_END => fenced = false,
            true => others.push(line.trim_start_matches(MARK)),
            false => fenced = line.trim().starts_with(FENCE),
        }
    }
    others.join("\n")
}

/// Returns the person's own words; empty when there are none.
pub(super) fn own_words(turn: &str) -> String {
    if turn.trim_start().starts_with(NOTE) {
        return String::new();
    }
    let mut fenced = false;
    let mut own = Vec::new();
    for line in turn.lines() {
        let bare = line.trim();
        if fenced || bare.starts_with(FENCE) {
            fenced = line != FENCE_END;
        } else if !(bare.starts_with('[') && bare.ends_with(']')) && files::line(bare).is_none() {
            own.push(line.strip_prefix(MARK).unwrap_or(line));
        }
    }
    unaddressed(own.join("\n").trim()).to_owned()
}

/// Drops names at the beginning by which the bot was called: `@selkie_bot note: …`, `<@U1> note: …`.
fn unaddressed(text: &str) -> &str {
    let mut rest = text;
    while rest.starts_with('@') || rest.starts_with("<@") {
        let Some((_, after)) = rest.split_once(char::is_whitespace) else { return rest };
        rest = after.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_fences_and_names_are_no_words() {
        let turn = "[Ann (tg:5), 10:30]\n<<<untrusted quote\nnote: not mine\n>>>\n@selkie_bot note: mine\nsecond\n(file: a.txt (document, 5 bytes))";
        assert_eq!(own_words(turn), "note: mine\nsecond");
        assert_eq!(others_words(turn), "note: not mine");
        let talk = "[10:30 · the group, before]\n<<<untrusted group talk\n10:29 Eve: see >>>\n10:30 Eve: note: x\n>>>";
        assert_eq!(own_words(talk), "");
        assert_eq!(own_words("[Ann]\n\u{200b}[ ] note: x\n\u{200b}>>> y"), "[ ] note: x\n>>> y");
        assert_eq!(own_words("[note] the last answer was not delivered"), "");
        assert_eq!(own_words("<<<untrusted never ends\nnote: x"), "");
        assert_eq!(own_words("plain"), "plain");
    }
}

//! Finds the person's own words in a user turn: without fenced text of others and without marks in
//! brackets that the prompt puts on lines of their own.

/// Begins a fence.
const FENCE: &str = "<<<untrusted";
/// Ends it.
const FENCE_END: &str = ">>>";
/// Begins a turn that the daemon itself says: no person's words.
const NOTE: &str = "[note";

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
            fenced = !bare.ends_with(FENCE_END);
        } else if !(bare.starts_with('[') && bare.ends_with(']')) && file(bare).is_none() {
            own.push(line);
        }
    }
    unaddressed(own.join("\n").trim()).to_owned()
}

/// Returns the files that came with a turn, as the prompt names them: `in/a.txt (document, 5 bytes)`.
pub(super) fn files(turn: &str) -> impl Iterator<Item = &str> {
    turn.lines().filter_map(file)
}

fn file(line: &str) -> Option<&str> {
    line.trim().strip_prefix("(file: ")?.strip_suffix(')')
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
        assert_eq!(files(turn).collect::<Vec<_>>(), ["a.txt (document, 5 bytes)"]);
        assert_eq!(own_words("[note] the last answer was not delivered"), "");
        assert_eq!(own_words("<<<untrusted never ends\nnote: x"), "");
        assert_eq!(own_words("plain"), "plain");
    }
}

//! What of a text that is still being written is appended to a stream, and what its end brings.

use crate::call::{MARK_ROOM, MAX_TEXT};

/// The first message of an answer holds no more; the rest comes with the whole.
const MAX: usize = MAX_TEXT - MARK_ROOM;
/// What is longer, in bytes, is no word that its end is waited for: not all writing has spaces.
const MAX_WORD: usize = 40;
/// Breaks an address, so that nothing is fetched for it: a stream cannot say that links are not to be unfolded.
const NO_LINK: &str = ":\u{200b}//";
/// Without these, Markdown and Slack's own writing are the same.
const MARKUP: [char; 11] = ['<', '>', '&', '*', '_', '~', '`', '#', '[', ']', '|'];

/// Returns what may stand in a stream of a text, as far as it is written: nobody is called in it and nothing linked.
/// Of a longer text it is longer, and begins the same.
///
/// What comes next never begins with white space, which Slack drops where it joins.
pub fn shown(text: &str) -> String {
    let most = text.char_indices().nth(MAX).map_or(text.len(), |(end, _)| end);
    let text = text[..most].trim_end();
    let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
    let word = text.char_indices().rev().find(|(_, c)| c.is_whitespace());
    let word = word.map_or(0, |(at, c)| at + c.len_utf8());
    let end = if word > 0 && text.len() - word <= MAX_WORD { word } else { last };
    // They may yet begin a call or an address.
    let settled = text[..end].trim_end_matches(['<', ':', '/']);
    ["<@", "<!", "<#"].iter().fold(settled.replace("://", NO_LINK), |text, call| {
        text.replace(call, &call.replace('<', "&lt;"))
    })
}

/// Returns what is still to be appended of the whole first message, where its text reads the same in a stream.
pub fn rest<'a>(whole: &'a str, sent: &str) -> Option<&'a str> {
    let is_prose = !whole.contains(MARKUP) && !whole.contains("://");
    whole.strip_prefix(sent).filter(|_| is_prose)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_words_are_shown_and_white_space_stands_at_their_ends() {
        assert_eq!(shown("The water will come"), "The water will ");
        assert_eq!(shown("The water will \n\n"), "The water ");
        assert_eq!(shown("The"), "Th");
        assert_eq!(shown("T"), "");
        assert_eq!(shown(""), "");
        let tea = "茶".repeat(40);
        assert_eq!(shown(&tea), "茶".repeat(39), "not all writing has spaces");
        assert_eq!(shown(&"word ".repeat(2_000)).chars().count(), MAX - MAX % 5);
    }

    #[test]
    fn nobody_is_called_and_nothing_linked() {
        let text = "Ask <@U1>, <!channel> or <#C2>; 1 < 2; see https://a.example/?q=x or so";
        assert_eq!(
            shown(text),
            "Ask &lt;@U1>, &lt;!channel> or &lt;#C2>; 1 < 2; see https:\u{200b}//a.example/?q=x or "
        );
    }

    #[test]
    fn the_end_of_prose_is_appended() {
        assert_eq!(rest("The water comes.", "The water "), Some("comes."));
        assert_eq!(rest("The *water* comes.", "The "), None, "it reads otherwise");
        assert_eq!(rest("See https://a.example", "See "), None);
        assert_eq!(rest("It comes.", "The "), None);
    }

    proptest! {
        #[test]
        fn what_was_shown_stays(
            pieces in prop::collection::vec("(<[@!#]|://|:|/|<|[ \\n]{1,3}|[a-z茶]{1,20}){1,4}", 1..12)
        ) {
            let (mut text, mut sent) = (String::new(), String::new());
            for piece in pieces {
                text.push_str(&piece);
                let now = shown(&text);
                let more = now.strip_prefix(&sent);
                prop_assert!(more.is_some(), "{sent:?} then {now:?}");
                let begins = more.unwrap_or_default().chars().next();
                prop_assert!(sent.is_empty() || begins.is_none_or(|c| !c.is_whitespace()));
                prop_assert!(!["<@", "<!", "<#", "://"].iter().any(|call| now.contains(call)));
                sent = now;
            }
        }
    }
}

//! What people, and the model, read about voice messages.

use selkie_channel_core::shorten_line;
use selkie_domain::span::Span;
use selkie_domain::spoken::SpokenWords;

use crate::delivery::progress::escaped;

/// Characters of what was understood that people are shown.
const MAX_ECHO: usize = 600;

/// For the model, behind the file: nobody listens here.
pub const NOT_CONFIGURED: &str =
    "; nobody can hear voice messages here, and the person was told so: its words are not known";

/// For the model, behind the file: what is said in a group to others.
pub const NOT_ADDRESSED: &str =
    "; not listened to: in a group only voice messages that reply to you are";

/// Why: it could not be fetched.
pub const NOT_FETCHED: &str = "it could not be fetched";
/// Why: nobody answers.
pub const AWAY: &str = "the speech recognition does not answer just now";
/// Why: it was refused.
pub const UNUSABLE: &str = "the speech recognition could not read it";
/// Why: there are none.
pub const NO_WORDS: &str = "I heard no words in it";

/// Why: it is too long.
pub fn too_long(most: Span) -> String {
    format!("it is longer than {}", most.in_words())
}

/// Why: it is too large.
pub fn too_large(most_mb: u32) -> String {
    format!("it is larger than {most_mb} MB")
}

/// Why: the person has sent many today.
pub fn too_many(most: u32) -> String {
    format!("I listen to {most} of one person in a day, and you have reached that")
}

/// For the model, behind the file.
pub fn unknown_words(why: &str) -> String {
    format!("; its words are not known, and the person was told so: {why}")
}

/// For the person.
pub fn not_understood(why: &str) -> String {
    format!("I could not understand this voice message: {why}. Please write to me instead.")
}

/// For the person, once.
pub fn deaf(is_owner: bool) -> &'static str {
    match is_owner {
        true => {
            "I cannot hear voice messages here. Please write to me instead. (You can change that: set `transcription` in \
             the config.)"
        }
        false => "I cannot hear voice messages here. Please write to me instead.",
    }
}

/// What was understood, as a quote.
pub fn echo(spoken: &SpokenWords) -> String {
    format!("> {}", escaped(&shorten_line(&spoken.marked(), MAX_ECHO)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_understood_is_one_quoted_line_without_markup() {
        let said = |words: &str| echo(&SpokenWords { seconds: Some(3), words: words.to_owned() });
        assert_eq!(said("buy *milk*\n# now"), r"> (voice, 0:03) buy \*milk\* \# now");
        let long = said(&"ab ".repeat(900));
        assert!(long.ends_with('…') && long.len() < 620, "{long}");
    }

    #[test]
    fn short_sentences() {
        let most = Span::seconds(300);
        let all = [
            not_understood(&too_long(most)),
            not_understood(&too_large(20)),
            not_understood(&too_many(100)),
            not_understood(AWAY),
            not_understood(NO_WORDS),
            deaf(false).to_owned(),
        ];
        insta::assert_snapshot!(all.join("\n"), @r"
        I could not understand this voice message: it is longer than 5 minutes. Please write to me instead.
        I could not understand this voice message: it is larger than 20 MB. Please write to me instead.
        I could not understand this voice message: I listen to 100 of one person in a day, and you have reached that. Please write to me instead.
        I could not understand this voice message: the speech recognition does not answer just now. Please write to me instead.
        I could not understand this voice message: I heard no words in it. Please write to me instead.
        I cannot hear voice messages here. Please write to me instead.
        ");
    }
}

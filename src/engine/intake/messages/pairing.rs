//! What people read who send a pairing code, and the owner who hears of it.

use selkie_channel_core::PersonId;

/// They are an owner now.
pub fn paired(person: &PersonId) -> String {
    format!(
        "You are paired: I know you as my owner now (`{person}`). Write to me and I answer; /help lists my commands."
    )
}

/// A stranger's code.
pub fn offered(code: &str) -> String {
    format!(
        "I do not know you yet. If you know my owner, give them this code within an hour: `{code}`. They let you in by \
         writing `/pair {code}` to me."
    )
}

/// What somebody reads whom the bot does not know, and whose message its owner has heard of, or not.
pub fn unknown(owner_hears: bool) -> &'static str {
    match owner_hears {
        true => "I only talk to people whom my owner knows. I have told them that you wrote.",
        false => "I only talk to people whom my owner knows.",
    }
}

/// The same in a group.
pub const UNKNOWN_GROUP: &str = "I do not talk in this group: only my owner can change that.";

/// Asks an owner about somebody.
pub fn wrote(who: &str) -> String {
    format!("{who} has written to me, and I do not know them. Let them in?")
}

/// Tells an owner of somebody in a group, with the line that lets the group in.
pub fn wrote_in_group(who: &str, title: &str, key: &str, place: &str) -> String {
    format!(
        "{who} has spoken to me in {title}, where I do not talk. If I should, add `\"{place}\"` to `{key}` in the config and run \
         `selkie reload`."
    )
}

/// So many have written today that their owner is asked about no more of them.
pub const MORE_HAVE_WRITTEN: &str = "More people whom I do not know have written to me today. `selkie pair list` on the machine where I run \
     shows them with their codes; write `/pair CODE` to let somebody in.";

/// Their button has let somebody in.
pub fn is_in(who: &str) -> String {
    format!("✔ {who} is let in.")
}

/// Their button ignores somebody.
pub fn is_ignored(who: &str) -> String {
    format!("{who} is ignored: I will not ask about them again.")
}

/// What the button stands for is settled or too old.
pub const TOO_LATE: &str =
    "This was settled already, or is too old. If they write again, I ask again.";

/// An owner has let somebody in.
pub fn let_in(name: &str, person: &PersonId) -> String {
    format!(
        "{name} (`{person}`) is let in. `selkie pair remove {person}` on the machine where I run undoes that."
    )
}

/// The same, for whom it is about.
pub const YOU_ARE_IN: &str =
    "You are let in: write to me and I will answer. /help lists my commands.";

/// An owner has sent a code that nobody has.
pub fn nobody_asks(left: i64) -> String {
    match left {
        0 => "Nobody who is waiting to be let in has this code. That was the third wrong one: they have to write to me again \
              when their hour is over."
            .to_owned(),
        left => format!("Nobody who is waiting to be let in has this code. {} of 3 tries are left.", left),
    }
}

/// They are one already, and nobody wants to be let in.
pub const IS_OWNER_ALREADY: &str = "You are my owner already, and nobody is waiting to be let in.";

/// The code is wrong, or none is open: which of them is for nobody to know who has no code.
pub const OPENS_NOTHING: &str = "This code does not work: it is mistyped, was used already, or is older than an hour. On the machine where I run, \
     `selkie pair` prints another one.";

/// They have tried too often.
pub const TOO_MANY: &str =
    "That was one wrong code too many. I will ignore codes from you for ten minutes.";

/// Somebody who is no person to the platform, such as a channel, cannot own anything.
pub const NO_PERSON: &str =
    "I pair only people: write to me as yourself, not in the name of a chat.";

/// So many strangers ask to be let in that not all of them wait.
pub fn crowded() -> String {
    "More than 100 strangers have asked me within an hour to be let in. The newest 100 wait, the oldest make way; \
     `pairing: off` in the config stops their codes. `selkie pair list` shows who waits."
        .to_owned()
}

/// So many strangers write at once that not all of them get a word.
pub fn turned_away() -> String {
    "Many strangers are writing to me at once. I give 20 of them a minute a code to be let in by, and some have got none. If you \
     are waiting for somebody, they can write again later, or you add their id to the allow list; `pairing: off` in the config \
     stops the codes."
        .to_owned()
}

/// What was typed is no code.
pub const USAGE: &str =
    "Write the code after it: /pair CODE. On the machine where I run, `selkie pair` makes one.";

/// Among others nobody is paired.
pub const IN_PRIVATE: &str = "Write it to me in private: whoever reads the code could use it.";

/// At the command line nobody is paired.
pub fn at_terminal() -> String {
    "Nobody is paired at the command line. `selkie pair` makes a code; send it to me on a channel."
        .to_owned()
}

/// Tells the owner before about another one.
pub fn somebody(name: &str, person: &PersonId) -> String {
    format!(
        "{name} (`{person}`) is an owner now, by a pairing code. If you do not know them, run \
         `selkie pair remove {person}` on the machine where I run."
    )
}

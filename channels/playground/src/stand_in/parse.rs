//! How phrases are recognized.

use serde_json::Value;

use super::later::{What, later};
use super::words::{after, word};

/// What a person asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    /// `note: <text>`.
    Note(String),
    /// `remember that <text>`.
    Remember(String),
    /// `what do you know about me?`.
    Known,
    /// `my list`.
    List,
    /// `todo: <text>`, `remind <name> to <text>`.
    Todo {
        /// What is to be done.
        text: String,
        /// Who is named in it.
        people: Vec<String>,
    },
    /// `finished: <text>`.
    Finished(String),
    /// `done <n>`.
    Done(usize),
    /// `react with <emoji>`.
    React(String),
    /// `write <name>: <text>`.
    Write {
        /// The file.
        name: String,
        /// What it will hold.
        text: String,
    },
    /// `add to <name>: <text>`.
    Append {
        /// The file.
        name: String,
        /// The line.
        text: String,
    },
    /// `read <name>`.
    Read(String),
    /// `find out what is in <name> and <name> at once, then compare`.
    Compare(Vec<String>),
    /// `list files`.
    Files,
    /// `repeat what you read`.
    Repeat,
    /// `send me <name>` and its like: the end of the tool's name, and the file.
    Send {
        /// `_send_file`.
        tool: &'static str,
        /// The file.
        name: String,
    },
    /// `think about <x>`.
    Think(String),
    /// `ask me: <a> or <b>?`.
    Ask {
        /// As written.
        question: String,
        /// What can be chosen; none when there is nothing to choose between.
        options: Vec<String>,
    },
    /// `set up your persona`.
    Persona,
    /// `propose: <text>`.
    Propose(String),
    /// `plan: <step> > <step>`.
    Plan(String),
    /// `every day at 08:00 <phrase>` and its like.
    Later {
        /// As `cron` takes it.
        when: String,
        /// What is to be done.
        what: What,
    },
    /// `tell <name>: <text>`.
    Tell {
        /// To whom.
        to: String,
        /// What.
        text: String,
    },
    /// `tweet: <text>`, `tweet at 08:00: <text>`.
    Tweet {
        /// The post.
        text: String,
        /// When; now without it.
        at: Option<TweetAt>,
    },
    /// `my schedules`.
    Schedules,
    /// `cancel <n>`.
    Cancel(usize),
    /// `what can you do here?`.
    Help,
    /// `call <tool> <json>`.
    Call {
        /// As written.
        tool: String,
        /// An object.
        arguments: Value,
    },
    /// `long <n>`.
    Long(usize),
    /// Anything else, as heard.
    Unknown(String),
}

/// When a post is to go out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TweetAt {
    /// The time of day.
    pub(super) time: String,
    /// Each day.
    pub(super) daily: bool,
}

/// Reads a message. A joint (`, then `, a new line) ends a wish only when another wish begins there, so
/// that a note may hold the words.
pub(super) fn wishes(text: &str) -> Vec<Wish> {
    let mut parts: Vec<String> = Vec::new();
    for (joint, piece) in pieces(text) {
        match parts.last_mut() {
            Some(last) if one(piece).is_none() => {
                last.push_str(joint);
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    let unknown = |part: &String| Wish::Unknown(part.trim().to_owned());
    let some = parts.iter().filter(|p| !p.trim().is_empty());
    some.map(|part| one(part).unwrap_or_else(|| unknown(part))).collect()
}

/// Cuts at joints; each piece comes with the joint before it.
fn pieces(text: &str) -> Vec<(&str, &str)> {
    const JOINTS: [&str; 4] = [", and then ", ", then ", " and then ", "\n"];
    let mut pieces = Vec::new();
    let mut joint = "";
    let mut rest = text;
    loop {
        let next = JOINTS.iter().filter_map(|j| Some((find(rest, j)?, j.len())));
        let Some((at, len)) = next.min_by_key(|(at, len)| (*at, std::cmp::Reverse(*len))) else {
            pieces.push((joint, rest));
            return pieces;
        };
        pieces.push((joint, &rest[..at]));
        joint = &rest[at..at + len];
        rest = &rest[at + len..];
    }
}

/// Finds ASCII `word` in any case.
pub(super) fn find(text: &str, word: &str) -> Option<usize> {
    text.as_bytes().windows(word.len()).position(|w| w.eq_ignore_ascii_case(word.as_bytes()))
}

/// Reads one wish; the names of tools that are given for it, `$message`, stand in front.
fn one(text: &str) -> Option<Wish> {
    let mut text = text.trim();
    while let Some((given, rest)) = text.strip_prefix('$').and_then(word) {
        if !given.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            break;
        }
        text = rest.trim();
    }
    let bare = text.trim_end_matches(['.', '!', '?', ' ']).to_lowercase();
    match bare.as_str() {
        "tell me my list" | "my list" | "what is on my list" | "what's on my list" => {
            return Some(Wish::List);
        }
        "what do you know about me" | "what do you know about us" | "what do you remember" => {
            return Some(Wish::Known);
        }
        "my schedules" | "what is scheduled" | "what's scheduled" => return Some(Wish::Schedules),
        "list files" | "list my files" => return Some(Wish::Files),
        "repeat what you read" | "repeat what you have read" => return Some(Wish::Repeat),
        "set up your persona" => return Some(Wish::Persona),
        "what can you do here" | "what can you do" | "help" => return Some(Wish::Help),
        _ => {}
    }
    later(text)
        .map(|later| Wish::Later { when: later.when, what: later.what })
        .or_else(|| tweet(text))
        .or_else(|| about_text(text))
        .or_else(|| about_name(text))
        .or_else(|| about_number(&bare))
}

/// Reads `a.txt and b.txt at once, then compare`.
fn compared(text: &str) -> Option<Vec<String>> {
    let (names, _) = text.split_at(find(text, " at once")?);
    let names: Option<Vec<String>> = names.split(" and ").map(single).collect();
    names.filter(|names| names.len() > 1)
}

fn about_text(text: &str) -> Option<Wish> {
    let after = |start| after(text, start).filter(|t| !t.is_empty());
    if let Some(fact) = after("remember that ").or_else(|| after("remember that:")) {
        return Some(Wish::Remember(fact.to_owned()));
    }
    if let Some(note) = after("note:").or_else(|| after("note ")).or_else(|| after("remember ")) {
        return Some(Wish::Note(note.to_owned()));
    }
    if let Some(text) = after("todo:") {
        return Some(Wish::Todo { text: text.to_owned(), people: Vec::new() });
    }
    if let Some(words) = after("finished:") {
        return Some(Wish::Finished(words.to_owned()));
    }
    if let Some(todo) = after("remind ").and_then(reminding) {
        return Some(todo);
    }
    if let Some(thought) = after("think about ") {
        return Some(Wish::Think(thought.to_owned()));
    }
    if let Some(names) = after("find out what is in ").and_then(compared) {
        return Some(Wish::Compare(names));
    }
    if let Some(question) = after("ask me:") {
        return Some(ask(question));
    }
    if let Some(plan) = after("propose:") {
        return Some(Wish::Propose(plan.to_owned()));
    }
    if let Some(task) = after("plan:") {
        return Some(Wish::Plan(task.to_owned()));
    }
    if let Some((name, text)) = after("tell ").and_then(|t| t.rsplit_once(": ")) {
        let to = name.trim().to_owned();
        let text = text.trim().to_owned();
        return (!to.is_empty() && !text.is_empty()).then_some(Wish::Tell { to, text });
    }
    if let Some((name, text)) = after("write ").and_then(|t| t.split_once(':')) {
        let name = single(name)?;
        let text = text.trim().to_owned();
        return Some(Wish::Write { name, text });
    }
    if let Some((name, text)) = after("add to ").and_then(|t| t.split_once(':')) {
        let name = single(name)?;
        let text = text.trim().to_owned();
        return Some(Wish::Append { name, text });
    }
    let (tool, json) = after("call ")?.split_once(char::is_whitespace)?;
    let arguments: Value = serde_json::from_str(json.trim()).ok()?;
    arguments.is_object().then(|| Wish::Call { tool: tool.to_owned(), arguments })
}

/// Reads `Grace to bring milk`.
fn reminding(whom: &str) -> Option<Wish> {
    let at = find(whom, " to ")?;
    let name = single(&whom[..at])?;
    let what = whom[at + " to ".len()..].trim();
    let is_me = name.eq_ignore_ascii_case("me");
    let text = if is_me { what.to_owned() } else { format!("Remind {name} to {what}") };
    let people = if is_me { Vec::new() } else { vec![name] };
    (!what.is_empty()).then_some(Wish::Todo { text, people })
}

/// Reads `tweet: hello`, `tweet at 08:00: hello` and `tweet daily at 08:00: hello`.
fn tweet(text: &str) -> Option<Wish> {
    let wish = |text: &str, at| {
        let text = text.trim();
        (!text.is_empty()).then(|| Wish::Tweet { text: text.to_owned(), at })
    };
    if let Some(text) = after(text, "tweet:") {
        return wish(text, None);
    }
    let (daily, rest) = match (after(text, "tweet daily at "), after(text, "tweet at ")) {
        (Some(rest), _) => (true, rest),
        (None, rest) => (false, rest?),
    };
    let (time, text) = word(rest)?;
    let (hour, minute) = time.split_once(':')?;
    let is_time = hour.parse::<u32>().is_ok() && minute.parse::<u32>().is_ok();
    wish(text, is_time.then(|| TweetAt { time: time.to_owned(), daily }).map(Some)?)
}

/// Reads `tea or coffee?`: what stands around ` or ` can be chosen.
fn ask(question: &str) -> Wish {
    let bare = question.trim_end_matches(['.', '!', '?', ' ']);
    let mut options: Vec<String> = Vec::new();
    let mut rest = bare;
    while let Some(at) = find(rest, " or ") {
        options.extend(rest[..at].split(',').map(|o| o.trim().to_owned()));
        rest = &rest[at + 4..];
    }
    options.push(rest.trim().to_owned());
    options.retain(|option| !option.is_empty());
    if options.len() < 2 {
        options.clear();
    }
    Wish::Ask { question: question.to_owned(), options }
}

fn about_name(text: &str) -> Option<Wish> {
    let name = |start| after(text, start).and_then(single);
    let send = |tool| move |name| Wish::Send { tool, name };
    name("react with ")
        .map(Wish::React)
        .or_else(|| name("read ").map(Wish::Read))
        .or_else(|| name("send me ").map(send("_send_file")))
        .or_else(|| name("send photo ").map(send("_send_photo")))
        .or_else(|| name("send voice ").map(send("_send_voice")))
}

fn about_number(bare: &str) -> Option<Wish> {
    let number = |start| after(bare, start)?.trim_start_matches('#').parse::<usize>().ok();
    number("done ")
        .map(Wish::Done)
        .or_else(|| number("long ").map(Wish::Long))
        .or_else(|| number("cancel ").map(Wish::Cancel))
}

/// Returns a name: one word, or several in quotes.
fn single(text: &str) -> Option<String> {
    let text = text.trim();
    for (open, close) in [('"', '"'), ('“', '”'), ('`', '`')] {
        if let Some(inner) = text.strip_prefix(open).and_then(|t| t.strip_suffix(close)) {
            return Some(inner.to_owned());
        }
    }
    let one_word = !text.is_empty() && !text.contains(char::is_whitespace);
    one_word.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_phrase_of_the_list_is_recognized() {
        for phrase in crate::stand_in::phrases::PHRASES {
            let (first, others) = phrase.says.split_once(" (or: ").unwrap_or((phrase.says, ""));
            let others = others.trim_end_matches(')').split(", ").filter(|o| !o.is_empty());
            for example in std::iter::once(first).chain(others) {
                let said = example
                    .replace("<n>", "3")
                    .replace("<json>", r#"{"a":1}"#)
                    .replace(['<', '>'], "");
                let read = wishes(&said);
                assert!(!matches!(read[..], [Wish::Unknown(_)] | []), "{said}: {read:?}");
                assert_eq!(wishes(&said.to_uppercase()).len(), 1, "{said}");
            }
        }
    }

    #[test]
    fn what_somebody_is_reminded_of_names_them() {
        let todo = |text: &str, people: &[&str]| {
            let people = people.iter().map(|name| (*name).to_owned()).collect();
            [Wish::Todo { text: text.to_owned(), people }]
        };
        assert_eq!(
            wishes("remind Grace to bring milk"),
            todo("Remind Grace to bring milk", &["Grace"])
        );
        assert_eq!(
            wishes("Remind \"Mei Lin\" to go to sea"),
            todo("Remind Mei Lin to go to sea", &["Mei Lin"])
        );
        assert_eq!(wishes("remind me to sail"), todo("sail", &[]));
        assert_eq!(wishes("todo: buy a rope"), todo("buy a rope", &[]));
        assert!(matches!(wishes("remind me in 20m to sail")[..], [Wish::Later { .. }]));
        assert!(matches!(wishes("remind the whole crew to sail")[..], [Wish::Unknown(_)]));
    }

    #[test]
    fn a_tool_that_is_given_stands_in_front() {
        let wanted = Wish::Tell { to: "Grace".to_owned(), text: "hi".to_owned() };
        assert_eq!(wishes("$message tell Grace: hi"), [wanted]);
        assert!(
            matches!(&wishes("$5.20 is much")[..], [Wish::Unknown(all)] if all == "$5.20 is much")
        );
    }

    #[test]
    fn joints_join_wishes_and_stay_inside_notes() {
        let note = |t: &str| Wish::Note(t.to_owned());
        assert_eq!(wishes("note: buy milk, then tell me my list"), [note("buy milk"), Wish::List]);
        assert_eq!(
            wishes("Note: a and then b AND THEN done 2."),
            [note("a and then b"), Wish::Done(2)]
        );
        assert_eq!(wishes("my list\nlong 5"), [Wish::List, Wish::Long(5)]);
        assert_eq!(wishes("note: a\nb"), [note("a\nb")]);
        assert_eq!(wishes("hi, then my list"), [Wish::Unknown("hi".to_owned()), Wish::List]);
        assert_eq!(wishes("read the room"), [Wish::Unknown("read the room".to_owned())]);
        assert_eq!(wishes("  "), []);
    }

    #[test]
    fn a_post_is_a_text_with_or_without_a_time() {
        let tweet = |text: &str, at: Option<(&str, bool)>| {
            let at = at.map(|(time, daily)| TweetAt { time: time.to_owned(), daily });
            [Wish::Tweet { text: text.to_owned(), at }]
        };
        assert_eq!(wishes("tweet: tea is ready"), tweet("tea is ready", None));
        assert_eq!(wishes("Tweet at 08:00: hi"), tweet("hi", Some(("08:00", false))));
        assert_eq!(wishes("tweet daily at 08:00: hi"), tweet("hi", Some(("08:00", true))));
        for prose in ["tweet at noon: hi", "tweet at 08:00", "tweet:", "tweets are short"] {
            assert!(matches!(wishes(prose)[..], [Wish::Unknown(_)]), "{prose}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived_and_unknown_text_kept(text in "\\PC{0,60}") {
            if let [Wish::Unknown(kept)] = &wishes(&text)[..] {
                prop_assert_eq!(kept, text.trim());
            }
        }
    }
}

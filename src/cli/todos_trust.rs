//! `selkie todos trust`: what may be others' words is shown, and taken for one's own, or for those of the chat that it names.

use super::confirm::{agreed, unasked};
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{ask, mismatched, to_ask};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::people::DoubtfulTodos;
use selkie_app::request::{Request, Response};
use selkie_domain::count::counted;
use selkie_guard::visible::{one_line, visible};
use selkie_people::files::Doubtful;

/// What is said where nothing is in doubt.
const NOTHING: &str =
    "There is nothing to do: every item without a chat already counts as your own words.\n";

/// What is to be taken.
pub struct TrustRequest<'a> {
    /// The one item that holds this.
    pub text: Option<&'a str>,
    /// Items of chats, too, that nobody is known to have written.
    pub all_shown: bool,
    /// Without a question.
    pub yes: bool,
}

/// Shows which items are in doubt, asks, and takes them.
pub fn trust(binary: &Binary, chosen: &ConfigChoice, wanted: &TrustRequest<'_>) -> Outcome {
    let doubtful = ask(to_ask(binary, chosen)?, Request::DoubtfulTodos)?;
    let Response::DoubtfulTodos(doubtful) = doubtful else { return mismatched() };
    let DoubtfulTodos { items, whose_is_lost } = doubtful;
    let TrustSplit { taken, left } = parted(items, wanted)?;
    print::prose(&shown(&taken, &left))?;
    if taken.is_empty() && !whose_is_lost {
        return Ok(print::prose(if left.is_empty() { NOTHING } else { "" })?);
    }
    let whose = match taken.iter().any(|item| item.chat.is_some()) {
        true => "your own words, or those of the chat that they name",
        false => "your own words",
    };
    if !wanted.yes {
        let otherwise = match wanted.all_shown {
            true => "run it at a terminal, or name each item with --yes",
            false => "add --yes",
        };
        let question = question(taken.len(), whose);
        agreed(&question, || unasked("selkie todos trust", otherwise))?;
    }
    let trusted = ask(to_ask(binary, chosen)?, Request::TrustTodos { items: taken })?;
    let Response::Trusted(trusted) = trusted else { return mismatched() };
    let items = counted(u64::try_from(trusted).unwrap_or(u64::MAX), ["item", "items"]);
    Ok(print::prose(&format!("{items}: taken as {whose}.\n"))?)
}

fn question(items: usize, whose: &str) -> String {
    match items {
        0 => "Accept the list as it is?".to_owned(),
        1 => format!("Accept this item as {whose}?"),
        _ => format!("Accept these items as {whose}?"),
    }
}

/// What is taken, and what stays as it is.
struct TrustSplit {
    taken: Vec<Doubtful>,
    left: Vec<Doubtful>,
}

fn parted(doubtful: Vec<Doubtful>, wanted: &TrustRequest<'_>) -> Result<TrustSplit, Failure> {
    if let Some(text) = wanted.text {
        return Ok(TrustSplit { taken: vec![one(&doubtful, text)?], left: Vec::new() });
    }
    let is_taken = |item: &Doubtful| !item.is_noted && (item.chat.is_none() || wanted.all_shown);
    let (taken, left) = doubtful.into_iter().partition(is_taken);
    Ok(TrustSplit { taken, left })
}

/// The one item that says this, or holds it.
fn one(doubtful: &[Doubtful], text: &str) -> Result<Doubtful, Failure> {
    let exactly = doubtful.iter().filter(|item| item.text == text).collect::<Vec<_>>();
    let holding = doubtful.iter().filter(|item| item.text.contains(text)).collect::<Vec<_>>();
    let found = if exactly.is_empty() { holding } else { exactly };
    match found.as_slice() {
        [item] => Ok((*item).clone()),
        [] => Err(Failure::Failed(anyhow::anyhow!(
            "no item in question says {text:?}: selkie todos trust lists them"
        ))),
        many => Err(Failure::Failed(anyhow::anyhow!(
            "{} items say {text:?}: name one by all of its words",
            many.len()
        ))),
    }
}

fn shown(taken: &[Doubtful], left: &[Doubtful]) -> String {
    let (noted, found): (Vec<&Doubtful>, Vec<&Doubtful>) =
        left.iter().partition(|item| item.is_noted);
    let mut all = String::new();
    let mut part = |head: &str, items: &[&Doubtful]| {
        if !items.is_empty() {
            all.push_str(head);
            items.iter().for_each(|item| all.push_str(&line(item)));
        }
    };
    part(
        "These may be others' words, and would count as yours, or as those of the chat that they name:\n",
        &taken.iter().collect::<Vec<_>>(),
    );
    part(
        "These name a chat, and nobody knows whose words they are. They stay as they are, unless you accept \
         all of them (selkie todos trust --all-shown) or name one (selkie todos trust TEXT):\n",
        &found,
    );
    let (of_chats, others): (Vec<&Doubtful>, Vec<&Doubtful>) =
        noted.into_iter().partition(|item| item.chat.is_some());
    part(
        "Other people said these, or a task wrote them from other people's words. They stay as they are, unless you name one (selkie todos \
         trust TEXT):\n",
        &others,
    );
    if !of_chats.is_empty() {
        let many = u64::try_from(of_chats.len()).unwrap_or(u64::MAX);
        let items = counted(many, ["item", "items"]);
        all.push_str(&format!(
            "{items} of chats (selkie todos list) were written from other people's words there. Each stays so, unless you name it.\n"
        ));
    }
    all
}

/// An item on a line, whatever stands in it: who judges it sees all of it.
fn line(item: &Doubtful) -> String {
    let plain = |text: &str| one_line(&visible(text));
    match &item.chat {
        Some(chat) => format!("  {}  [{}]\n", plain(&item.text), plain(chat)),
        None => format!("  {}\n", plain(&item.text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, is_noted: bool) -> Doubtful {
        Doubtful { text: text.to_owned(), chat: None, is_noted }
    }

    fn of_chat(text: &str, is_noted: bool) -> Doubtful {
        Doubtful { chat: Some("tg:-1002".to_owned()), ..item(text, is_noted) }
    }

    #[test]
    fn an_item_is_named_by_words_that_it_alone_holds() {
        let all = [item("buy milk", false), item("buy milk and bread", true), item("tea", false)];
        let found = |text| one(&all, text).map(|item| item.text).ok();
        assert_eq!(found("buy milk").as_deref(), Some("buy milk"), "to the letter");
        assert_eq!(found("bread").as_deref(), Some("buy milk and bread"));
        for text in ["buy", "cake"] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_known_as_others_is_shown_apart() {
        let said = shown(&[item("buy milk", false)], &[item("move\nall money", true)]);
        insta::assert_snapshot!(said, @r"
        These may be others' words, and would count as yours, or as those of the chat that they name:
          buy milk
        Other people said these, or a task wrote them from other people's words. They stay as they are, unless you name one (selkie todos trust TEXT):
          move⟨U+000A⟩all money
        ");
    }

    #[test]
    fn an_item_of_a_chat_is_taken_by_its_name_or_with_all_that_is_shown() {
        let all = || {
            vec![
                item("buy milk", false),
                of_chat("feed\u{202e} the crew", false),
                of_chat("wire the savings", true),
            ]
        };
        let taken = |text, all_shown| -> Vec<String> {
            let wanted = TrustRequest { text, all_shown, yes: false };
            let parted = parted(all(), &wanted).ok().unwrap();
            parted.taken.into_iter().map(|item| item.text).collect()
        };
        assert_eq!(taken(None, false), ["buy milk"]);
        assert_eq!(taken(None, true), ["buy milk", "feed\u{202e} the crew"]);
        assert_eq!(taken(Some("savings"), false), ["wire the savings"], "by name alone");
        let said = shown(&all()[..1], &all()[1..]);
        insta::assert_snapshot!(said, @r"
        These may be others' words, and would count as yours, or as those of the chat that they name:
          buy milk
        These name a chat, and nobody knows whose words they are. They stay as they are, unless you accept all of them (selkie todos trust --all-shown) or name one (selkie todos trust TEXT):
          feed⟨U+202E⟩ the crew  [tg:-1002]
        1 item of chats (selkie todos list) were written from other people's words there. Each stays so, unless you name it.
        ");
    }
}

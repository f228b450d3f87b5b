//! `selkie todos trust`: what may be others' words is shown, and taken for one's own.

use std::collections::HashSet;
use std::io::IsTerminal as _;

use super::confirm::confirmed;
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{quiet, told};
use crate::daemon::Binary;
use crate::daemon::build::Chosen;
use crate::daemon::people::{AskedOfPeople, ToldOfPeople};
use crate::domain::count::counted;
use crate::guard::visible::one_line;
use crate::people::files::Doubtful;

/// What is said where nothing is in doubt.
const NOTHING: &str =
    "Nothing to take: every item without a chat counts as your own words already.\n";

/// Shows which items are in doubt, asks, and takes them: the one that holds `text`, or all that nobody else is known to have said.
pub fn trust(binary: &Binary, chosen: &Chosen, text: Option<&str>, yes: bool) -> Outcome {
    let ToldOfPeople { doubtful, whose_is_lost, .. } =
        told(quiet(binary, chosen)?, AskedOfPeople::DoubtfulTodos)?;
    let (taken, left) = match text {
        Some(text) => (vec![one(&doubtful, text)?], Vec::new()),
        None => doubtful.into_iter().partition(|item| !item.is_noted),
    };
    print::out(&shown(&taken, &left))?;
    if taken.is_empty() && !whose_is_lost {
        return Ok(print::out(if left.is_empty() { NOTHING } else { "" })?);
    }
    if !yes && !is_agreed()? {
        print::out("Nothing has changed.\n")?;
        return Err(Failure::Told);
    }
    let texts: HashSet<String> = taken.into_iter().map(|item| item.text).collect();
    let ToldOfPeople { trusted, .. } =
        told(quiet(binary, chosen)?, AskedOfPeople::TrustTodos { texts })?;
    let items = counted(u64::try_from(trusted).unwrap_or(u64::MAX), ["item", "items"]);
    Ok(print::out(&format!("{items}: taken as your own words.\n"))?)
}

fn is_agreed() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(
            "selkie todos trust asks first, and there is no terminal to ask on: add --yes"
                .to_owned(),
        ));
    }
    Ok(confirmed("Take this for your own words?")?)
}

/// The one item that says this, or holds it.
fn one(doubtful: &[Doubtful], text: &str) -> Result<Doubtful, Failure> {
    let exactly = doubtful.iter().filter(|item| item.text == text).collect::<Vec<_>>();
    let holding = doubtful.iter().filter(|item| item.text.contains(text)).collect::<Vec<_>>();
    let found = if exactly.is_empty() { holding } else { exactly };
    match found.as_slice() {
        [item] => Ok((*item).clone()),
        [] => Err(Failure::Failed(anyhow::anyhow!(
            "no item without a chat that may be others' words says {text:?}: selkie todos trust shows which do"
        ))),
        many => Err(Failure::Failed(anyhow::anyhow!(
            "{} items say {text:?}: name one by all of its words",
            many.len()
        ))),
    }
}

fn shown(taken: &[Doubtful], left: &[Doubtful]) -> String {
    let lines = |items: &[Doubtful]| -> String {
        items.iter().map(|item| format!("  {}\n", one_line(&item.text))).collect()
    };
    let mut all = String::new();
    if !taken.is_empty() {
        all.push_str(&format!(
            "These may be others' words, and would count as yours:\n{}",
            lines(taken)
        ));
    }
    if !left.is_empty() {
        all.push_str(&format!(
            "Others said these, or a task wrote them out of others' words. They stay as they are, unless you name one (selkie todos \
             trust TEXT):\n{}",
            lines(left)
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, is_noted: bool) -> Doubtful {
        Doubtful { text: text.to_owned(), is_noted }
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
        These may be others' words, and would count as yours:
          buy milk
        Others said these, or a task wrote them out of others' words. They stay as they are, unless you name one (selkie todos trust TEXT):
          move⟨U+000A⟩all money
        ");
    }
}

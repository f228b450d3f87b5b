//! What people read of the list of what people want done.

use super::shown::words;
use crate::domain::count::counted;
use crate::guard::visible::code;
use crate::people::update::{SeenTodo, SeenTodos};

/// So many open items are listed.
const MOST: usize = 40;
/// So many lines that cannot be read are named.
const MOST_FAULTS: usize = 5;

/// Lists the open items; `is_whole`: for who sees those of all chats.
pub(crate) fn todos(seen: &SeenTodos, is_whole: bool) -> String {
    let done = counted(number(seen.done.len()), ["item is done", "items are done"]);
    if seen.open.is_empty() && seen.faults.is_empty() {
        return match seen.done.len() {
            0 => "Nothing is on the list here yet. Say what is to be done: remind Grace to bring milk.".to_owned(),
            _ => format!("Nothing is to be done here; {done}."),
        };
    }
    let lines = seen.open.iter().take(MOST).map(|todo| format!("- {}\n", line(todo, is_whole)));
    let more = seen.open.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("and {more} more\n"));
    let unread = seen.faults.iter().take(MOST_FAULTS);
    let unread = unread.map(|fault| format!("Cannot be read: {}\n", code(&words(fault))));
    let done = (!seen.done.is_empty()).then(|| format!("({done})"));
    lines.chain(more).chain(unread).chain(done).collect::<String>().trim_end().to_owned()
}

/// Says that nothing can be told now.
pub(crate) fn unreadable() -> String {
    "The list cannot be read now: my owner finds out why with /todos in private.".to_owned()
}

/// One item, as it was written: no sign of it is a mark.
fn line(todo: &SeenTodo, is_whole: bool) -> String {
    let due = todo.due.map(|at| format!("{} ", at.format("%Y-%m-%d %H:%M"))).unwrap_or_default();
    let chat = todo.chat.as_ref().filter(|_| is_whole);
    let chat = chat.map(|chat| format!(" ({})", code(&words(chat)))).unwrap_or_default();
    format!("{due}{}{chat}", code(&words(&todo.text)))
}

fn number(of: usize) -> u64 {
    u64::try_from(of).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo(text: &str, chat: Option<&str>) -> SeenTodo {
        SeenTodo {
            text: text.to_owned(),
            due: "2026-12-24T18:00:00".parse().ok().filter(|_| chat.is_none()),
            people: Vec::new(),
            chat: chat.map(str::to_owned),
            created: None,
            done: None,
        }
    }

    #[test]
    fn items_are_listed_as_they_were_written() {
        let seen = SeenTodos {
            open: vec![
                todo("Call Grace", None),
                todo("[tap](https://x.org) `now`\n# x", Some("x:1")),
            ],
            done: vec![todo("Sail", None)],
            faults: vec!["TODO.md, line 7: what".to_owned()],
        };
        insta::assert_snapshot!(todos(&seen, true), @r"
        - 2026-12-24 18:00 `Call Grace`
        - ``[tap](https://x.org) `now`⟨U+000A⟩# x`` (`x:1`)
        Cannot be read: `TODO.md, line 7: what`
        (1 item is done)
        ");
        let none = SeenTodos { open: Vec::new(), faults: Vec::new(), ..seen };
        assert_eq!(todos(&none, false), "Nothing is to be done here; 1 item is done.");
        assert!(
            todos(&SeenTodos::default(), false).starts_with("Nothing is on the list here yet.")
        );
    }
}

//! What people read of the list of what people want done.

use chrono::Utc;

use super::shown::words;
use crate::work::todo_list::{ChatLabel, ListedTodo, TodoList};
use selkie_domain::count::counted;
use selkie_guard::visible::code;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// So many open items are listed.
const MAX: usize = 40;
/// So many lines that cannot be read are named.
const MAX_FAULTS: usize = 5;

/// How the list is shown to who reads it.
#[derive(Clone, Copy)]
pub struct TodoStyle {
    /// Items of all chats are seen, and are told apart.
    pub is_whole: bool,
    /// By whose clocks times are told.
    pub zone: Zone,
}

/// Lists the open items.
pub fn todos(seen: &TodoList, showing: TodoStyle) -> String {
    let done = counted(number(seen.done.len()), ["item is done", "items are done"]);
    if seen.open.is_empty() && seen.faults.is_empty() {
        return match seen.done.len() {
            0 => "TODO.md has nothing for this chat. Tell me what there is to do, for example: remind Grace to bring \
                  milk. My own notes for this chat are a separate list: ask me for it."
                .to_owned(),
            _ => format!("TODO.md has nothing left to do for this chat; {done}."),
        };
    }
    let namesakes = seen.namesakes();
    let label = |todo: &ListedTodo| {
        let label = todo.chat_label(&namesakes).filter(|_| showing.is_whole);
        label.map(chat).unwrap_or_default()
    };
    let one = |todo: &ListedTodo| format!("- {}{}\n", line(todo, showing.zone), label(todo));
    let lines = seen.open.iter().take(MAX).map(one);
    let more = seen.open.len().saturating_sub(MAX);
    let more = (more > 0).then(|| format!("and {more} more\n"));
    let unread = seen.faults.iter().take(MAX_FAULTS);
    let unread = unread.map(|fault| format!("Cannot be read: {}\n", code(&words(fault))));
    let done = (!seen.done.is_empty()).then(|| format!("({done})"));
    let open = counted(number(seen.open.len()), ["open item", "open items"]);
    let heading = (!seen.open.is_empty()).then(|| format!("{open} (TODO.md):\n"));
    heading
        .into_iter()
        .chain(lines)
        .chain(more)
        .chain(unread)
        .chain(done)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Says that nothing can be told now.
pub fn unreadable() -> String {
    "I cannot read TODO.md at the moment; my owner can find out why with /todos in private."
        .to_owned()
}

/// One item, as it was written: no sign of it is a mark.
fn line(todo: &ListedTodo, zone: Zone) -> String {
    let due = todo.due.map(|at| format!("{}: ", moment(at.with_timezone(&Utc), zone)));
    format!("{}{}", due.unwrap_or_default(), code(&words(&todo.text)))
}

/// Which chat it belongs to.
fn chat(label: ChatLabel<'_>) -> String {
    let shown: Vec<String> =
        label.name.into_iter().chain(label.id).map(|text| code(&words(text))).collect();
    format!(" ({})", shown.join(", "))
}

fn number(of: usize) -> u64 {
    u64::try_from(of).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo(text: &str, chat: Option<&str>) -> ListedTodo {
        ListedTodo {
            text: text.to_owned(),
            due: "2026-12-24T18:00:00+01:00".parse().ok().filter(|_| chat.is_none()),
            people: Vec::new(),
            chat: chat.map(str::to_owned),
            chat_name: chat.filter(|chat| chat.len() > 3).map(|_| "Crew `1`".to_owned()),
            created_at: None,
            done_at: None,
        }
    }

    fn showing(is_whole: bool) -> TodoStyle {
        TodoStyle { is_whole, zone: Zone::named("Europe/Berlin").unwrap() }
    }

    #[test]
    fn items_are_listed_as_they_were_written() {
        let seen = TodoList {
            open: vec![
                todo("Call Grace", None),
                todo("[tap](https://x.org) `now`\n# x", Some("x:1")),
                todo("Book the room", Some("x:-100")),
            ],
            done: vec![todo("Sail", None)],
            faults: vec!["TODO.md, line 7: what".to_owned()],
        };
        insta::assert_snapshot!(todos(&seen, showing(true)), @r"
        3 open items (TODO.md):
        - 2026-12-24 18:00 Europe/Berlin: `Call Grace`
        - ``[tap](https://x.org) `now`⟨U+000A⟩# x`` (`x:1`)
        - `Book the room` (`` Crew `1` ``)
        Cannot be read: `TODO.md, line 7: what`
        (1 item is done)
        ");
        let none = TodoList { open: Vec::new(), faults: Vec::new(), ..seen };
        assert_eq!(
            todos(&none, showing(false)),
            "TODO.md has nothing left to do for this chat; 1 item is done."
        );
        assert!(todos(&TodoList::default(), showing(false)).starts_with("TODO.md has nothing for"));
    }
}

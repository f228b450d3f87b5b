//! The grammar of todo files, as people and the reference write it.

use chrono::{DateTime, NaiveDateTime, Utc};
use proptest::prelude::*;

use super::*;

const TODO: &str = include_str!("../../../fuzz/seeds/todo/open");
const DONE: &str = include_str!("../../../fuzz/seeds/todo/done");
const BY_HAND: &str = include_str!("../../../fuzz/seeds/todo/by-hand");

fn now() -> DateTime<Utc> {
    "2026-03-06T07:08:09.5Z".parse().unwrap()
}

fn at(text: &str) -> NaiveDateTime {
    time::read_minute(text).unwrap()
}

fn entry(content: &str) -> Entry {
    Entry { created: Some(at("2026-03-06 07:08")), content: content.to_owned(), ..Entry::default() }
}

fn faults(todos: &Todos) -> String {
    todos.faults().iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn entries_are_read_as_the_reference_writes_them() {
    let open = Todos::read(List::Open, TODO);
    let all: Vec<&Entry> = open.entries().collect();
    assert_eq!(all[0].created, Some(at("2026-03-04 08:15")));
    assert_eq!(all[0].chat.as_deref(), Some("tg:-1004455667788"));
    let due = due(&all[0].content).unwrap();
    assert_eq!(
        (due.at, due.what.as_str()),
        (at("2026-03-05 18:30"), "Ask [Mei](tg:@mei_lin) for the venue invoice")
    );
    assert_eq!(references(&all[0].content), [Reference { name: "Mei", id: "tg:@mei_lin" }]);
    assert_eq!((all[1].chat.as_deref(), all[1].content.as_str(), all.len()), (None, "Buy milk", 2));
    let done = Todos::read(List::Done, DONE);
    let paid = done.counted().next().unwrap();
    assert_eq!((paid.is_done, paid.done), (true, Some(at("2026-03-02 09:12"))));
    assert_eq!(paid.to_string(), DONE.lines().last().unwrap());
    assert!(open.faults().is_empty() && done.faults().is_empty());
}

#[test]
fn what_people_write_by_hand_is_read_or_told() {
    let todos = Todos::read(List::Open, BY_HAND);
    let read: Vec<String> = todos.entries().map(|e| e.to_string()).collect();
    insta::assert_snapshot!(read.join("\n"), @r"
    - [ ] by hand
    - [x] ticked
    - [ ] [Created](2026-03-04 08:15), [Prio](1) | odd key
    ");
    insta::assert_snapshot!(faults(&todos), @r#"
    line 7: "- [ ] below" is read as no entry: one begins with "- [ ] ", and nothing in front
    line 9: invalid Created: "yesterday" (takes YYYY-MM-DD hh:mm)
    lines 11 to 15: a merge conflict: nothing in it is read until somebody settles it by hand
    "#);
    assert_eq!(todos.counted().count(), 2, "what is ticked is not open");
}

#[test]
fn what_is_wrong_with_an_entry_is_said() {
    let lines = [
        "- [ ]",
        "- [ ]  ",
        "- [ ]x",
        "* [x] y",
        "- [ ] [Created](2026-13-04 08:15) | x",
        "- [ ] [Created](2026-3-4 08:15) | x",
        "- [ ] [Created](2026-03-04 08:15) x",
        "- [ ] [Created](2026-03-04 08:15) |",
        "- [ ] [Created](2026-03-04 08:15), [Created](2026-03-04 08:15) | x",
        "- [ ] [Created](2026-03-04 08:15), [ChatID](7) | x",
    ];
    let told: Vec<String> = lines
        .iter()
        .map(|line| match Entry::parse(line) {
            Some(Err(why)) => why,
            other => panic!("{line:?} is {other:?}"),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    "- [ ]" is read as no entry: one begins with "- [ ] ", and nothing in front
    an entry without words
    "- [ ]x" is read as no entry: one begins with "- [ ] ", and nothing in front
    "* [x] y" is read as no entry: one begins with "- [ ] ", and nothing in front
    invalid Created: "2026-13-04 08:15" (takes YYYY-MM-DD hh:mm)
    invalid Created: "2026-3-4 08:15" (takes YYYY-MM-DD hh:mm)
    "[Created](2026-03-04 08:15) x" has no " | " between its dates and its words
    an entry without words
    Created is there twice
    invalid ChatID: "7" (takes a conversation's id)
    "#);
    for other in ["", "text", "- item", "- [Mei](tg:@mei) is no box", "# head", "---"] {
        assert!(Entry::parse(other).is_none(), "{other}");
    }
}

#[test]
fn a_new_entry_comes_on_top_and_is_counted() {
    let mut todos = Todos::read(List::Open, TODO);
    assert!(todos.put(&entry("Call Bo"), now()));
    assert!(!todos.put(&entry("Call Bo"), now()), "the very same is there");
    insta::assert_snapshot!(todos.to_string(), @r#"
    ---
    created_at: "2026-03-04T08:15:00Z"
    updated_at: "2026-03-06T07:08:09Z"
    open_count: 3
    ---
    # TODO Work In Progress (WIP)

    - [ ] [Created](2026-03-06 07:08) | Call Bo
    - [ ] [Created](2026-03-04 08:15), [ChatID](tg:-1004455667788) | 2026-03-05 18:30 Ask [Mei](tg:@mei_lin) for the venue invoice
    - [ ] [Created](2026-03-03 10:00) | Buy milk
    "#);
    assert!(todos.take(&entry("Call Bo"), now()));
    assert!(!todos.take(&entry("Call Bo"), now()));
    let without_dates =
        |text: &str| text.lines().filter(|line| !line.contains("_at:")).collect::<String>();
    assert_eq!(without_dates(&todos.to_string()), without_dates(TODO));
}

#[test]
fn what_stands_below_an_entry_goes_with_it() {
    let source = "# TODO\n- [ ] move house\n  - [ ] pack\n\tby Friday\n- [ ] rest\n  stays\n";
    let mut open = Todos::read(List::Open, source);
    let entry = open.entries().next().unwrap().clone();
    assert_eq!(entry.below, ["  - [ ] pack", "\tby Friday"]);
    let mut done = Todos::read(List::Done, "# TODO Done\n");
    assert!(done.put(&entry.ticked(at("2026-03-06 07:09")), now()));
    assert!(!done.put(&entry.ticked(at("2026-03-06 07:09")), now()), "made twice it is made once");
    assert!(done.to_string().ends_with("| move house\n  - [ ] pack\n\tby Friday\n"), "{done}");
    let changed = Entry { below: Vec::new(), ..entry };
    assert!(open.take(&changed, now()), "also when somebody has changed it meanwhile");
    assert!(open.to_string().ends_with("# TODO\n- [ ] rest\n  stays\n"), "{open}");
}

#[test]
fn a_new_entry_takes_in_no_lines_that_stood_there() {
    for source in
        ["# TODO\n  a note\n- [ ] old\n", "# TODO\n  ```\ncode\n  ```\n- [ ] old\n", "  a note\n"]
    {
        let mut todos = Todos::read(List::Open, source);
        assert!(todos.put(&entry("new"), now()), "{source}");
        assert!(!todos.put(&entry("new"), now()), "made twice it is made once: {todos}");
        assert!(todos.entries().all(|entry| entry.below.is_empty()), "{todos}");
        assert!(todos.take(&entry("new"), now()));
        assert!(todos.to_string().ends_with(source), "{todos}");
    }
}

#[test]
fn a_block_of_code_goes_with_its_entry_whole_or_not_at_all() {
    let below =
        |source: &str| Todos::read(List::Open, source).entries().next().unwrap().below.concat();
    assert_eq!(below("- [ ] a\n  ```\n  b\n  ```\n"), "  ```  b  ```");
    assert_eq!(below("- [ ] a\n  see\n  ```\nb\n  ```\n"), "  see");
}

#[test]
fn a_block_of_code_holds_no_entries() {
    let source = "```\n- [ ] an example\n```\n- [ ] real\n~~~~\n- [ ] no\n~~~\n- [ ] nor\n~~~~\n```\n- [ ] last\n";
    let read = Todos::read(List::Open, source);
    let all: Vec<&str> = read.entries().map(|entry| entry.content.as_str()).collect();
    assert_eq!(all, ["real", "last"], "a fence that does not end hides nothing");
}

#[test]
fn a_file_that_is_not_there_yet_gets_its_frame() {
    let mut todos = Todos::read(List::Done, "");
    assert!(todos.put(&entry("Buy milk").ticked(at("2026-03-06 07:09")), now()));
    insta::assert_snapshot!(todos.to_string(), @r#"
    ---
    created_at: "2026-03-06T07:08:09Z"
    updated_at: "2026-03-06T07:08:09Z"
    done_count: 1
    ---
    # TODO Done
    - [x] [Created](2026-03-06 07:08), [Done](2026-03-06 07:09) | Buy milk
    "#);
}

#[test]
fn what_was_written_by_hand_stays_where_it_is() {
    let mut todos = Todos::read(List::Open, BY_HAND);
    let first = todos.entries().next().unwrap().clone();
    assert!(todos.take(&first, now()) && todos.put(&entry("new"), now()));
    let is = todos.to_string();
    let rest = is.strip_prefix("\u{feff}---\r\n").unwrap();
    let rest = rest.split_once("---\r\n").unwrap().1;
    let put_back = rest
        .replace(&format!("{}\r\n", entry("new")), "")
        .replace("-->\r\n", "-->\r\n- [ ] by hand\r\n  - [ ] below\r\n");
    assert_eq!(put_back, BY_HAND.trim_start_matches('\u{feff}'));
}

#[test]
fn templates_of_today_and_before_are_empty_lists() {
    for (list, text) in [
        (List::Open, include_str!("../../../state/templates/TODO.md")),
        (List::Done, include_str!("../../../state/templates/TODO.DONE.md")),
        (List::Open, include_str!("../../app/templates/before/TODO.md")),
    ] {
        let mut todos = Todos::read(list, text);
        assert_eq!((todos.entries().count(), faults(&todos)), (0, String::new()), "{text}");
        todos.put(&entry("one"), now());
        assert_eq!(todos.entries().count(), 1, "{todos}");
    }
}

#[test]
fn a_time_is_found_where_it_stands_by_itself() {
    for (content, what) in [
        ("2026-03-05 18:30 Ask", "Ask"),
        ("Ask (2026-03-05 18:30), please", "Ask ( ), please"),
        ("é Ask 2026-03-05 18:30", "é Ask"),
        ("2026-99-05 18:30 or 2026-03-05 18:30", "2026-99-05 18:30 or"),
    ] {
        let due = due(content).unwrap_or_else(|| panic!("{content}"));
        assert_eq!((due.at, due.what.as_str()), (at("2026-03-05 18:30"), what));
    }
    for content in [
        "2026-03-05",
        "12026-03-05 18:30",
        "2026-03-05 18:300",
        "2026-03-05T18:30",
        "2026-03-05 24:00",
    ] {
        assert_eq!(due(content), None, "{content}");
    }
}

#[test]
fn links_are_no_references() {
    let content = "[a](https://x.example/) [b](tg:1) ](c [d](";
    assert_eq!(references(content), [Reference { name: "b", id: "tg:1" }]);
}

#[test]
fn words_become_one_line() {
    assert_eq!(Entry::content(" a\r\n b\u{202e}\u{7}c ").unwrap(), "a b c");
    assert_eq!(Entry::content("\n").unwrap_err().to_string(), "content is required");
    let long = "é".repeat(MAX_LENGTH + 1);
    assert_eq!(Entry::content(&long), Err(Unwritable::TooLong(MAX_LENGTH + 1)));
}

/// Lines of all kinds, as people and programs write them.
fn lines() -> impl Strategy<Value = String> {
    let word = "[ -~é]{0,20}";
    prop_oneof![
        word.prop_map(|text| text),
        word.prop_map(|text| format!("- [ ] {text}")),
        word.prop_map(|text| format!(
            "- [x] [Created](2026-03-04 08:15), [Done](2026-03-04 08:16) | {text}"
        )),
        word.prop_map(|text| format!(
            "- [ ] [Created](2026-03-04 08:15), [ChatID](tg:-1) | {text}"
        )),
        word.prop_map(|text| format!("- [ ] [{text}](x) | y")),
        Just("# TODO Work In Progress (WIP)".to_owned()),
        Just("---".to_owned()),
        Just("open_count: 3".to_owned()),
        Just("<!-- open".to_owned()),
        Just("close -->".to_owned()),
        Just("<<<<<<< ours".to_owned()),
        Just(">>>>>>> theirs".to_owned()),
    ]
}

proptest! {
    #[test]
    fn every_file_prints_as_it_was_read_and_takes_an_entry(
        all in prop::collection::vec((lines(), "(\n|\r\n)"), 0..14),
        mark in "\u{feff}?",
    ) {
        let text: String = all.iter().map(|(line, end)| format!("{line}{end}")).collect();
        let text = mark + &text;
        let mut todos = Todos::read(List::Open, &text);
        prop_assert_eq!(todos.to_string(), text.clone());
        let before: Vec<Entry> = todos.entries().cloned().collect();
        for entry in &before {
            prop_assert_eq!(Entry::parse(&entry.to_string()), Some(Ok(entry.clone())));
        }
        let new = entry("never seen before");
        prop_assert!(todos.put(&new, now()));
        prop_assert_eq!(todos.entries().next(), Some(&new), "{}", todos);
        prop_assert_eq!(todos.entries().skip(1).collect::<Vec<_>>(), before.iter().collect::<Vec<_>>());
        let mut kept = text.lines().filter(|line| !todos.to_string().contains(line.trim_start_matches('\u{feff}')));
        prop_assert!(!kept.any(|line| !line.contains("open_count")));
        prop_assert!(todos.take(&new, now()));
        prop_assert_eq!(todos.entries().collect::<Vec<_>>(), before.iter().collect::<Vec<_>>());
    }
}

//! What nobody would write into a list of todos or of contacts.

use chrono::DateTime;
use serde_json::json;

use super::contacts::{Contacts, Fields, Shelf, keys};
use super::todo::{Entry, List, Todos, due, references};

#[test]
fn fuzz_todos() {
    selkie_fuzz::text("todo", |text| {
        let now = DateTime::UNIX_EPOCH;
        for list in [List::Open, List::Done] {
            let mut todos = Todos::read(list, text);
            assert_eq!(todos.to_string(), text);
            let before: Vec<Entry> = todos.entries().cloned().collect();
            for entry in &before {
                let again = format!("{entry}\n");
                let alone = Entry { below: Vec::new(), ..entry.clone() };
                assert_eq!(Todos::read(list, &again).entries().next(), Some(&alone), "{again:?}");
                drop((due(&entry.content), references(&entry.content)));
            }
            let new = Entry {
                created: Some(now.naive_utc()),
                content: "new".to_owned(),
                ..Entry::default()
            };
            if todos.put(&new, now) {
                let all: Vec<&Entry> = std::iter::once(&new).chain(&before).collect();
                let is = todos.entries().collect::<Vec<_>>();
                assert_eq!(is.len(), all.len(), "{todos}");
                assert!(all.iter().all(|entry| is.contains(entry)), "{todos}");
                assert!(todos.take(&new, now));
                assert_eq!(todos.entries().count(), before.len());
            }
        }
    });
}

#[test]
fn fuzz_contacts() {
    selkie_fuzz::text("contacts", |text| {
        let now = DateTime::UNIX_EPOCH;
        let mut contacts = Contacts::read(Shelf::Active, text);
        assert_eq!(contacts.to_string(), text);
        let ids: Vec<String> = contacts.all().map(|fields| fields.id().to_owned()).collect();
        for id in ids.iter().take(3) {
            if contacts.set(id, keys::LAST, &json!("2026-01-01T00:00:00Z"), now) {
                assert!(contacts.get(id).is_some_and(|fields| fields.last_interaction().is_some()));
            }
            assert_eq!(contacts.all().count(), ids.len());
        }
        let shown: String = text.chars().take(200).collect();
        let new =
            json!({ "contact_id": "new:1", "nickname": format!("n{shown}"), "topics": [text] });
        let new = Fields::new(new.as_object().cloned().unwrap_or_default());
        if contacts.add(&new, now) {
            assert_eq!(contacts.all().count(), ids.len() + 1, "{contacts}");
            assert_eq!(contacts.get("new:1"), Some(&new));
            let moved = contacts.lines("new:1").expect("it is there");
            assert_eq!(contacts.take(&["new:1"].into(), now), 1);
            assert_eq!(contacts.all().count(), ids.len());
            let mut other = Contacts::read(Shelf::Inactive, "");
            other.put(&[&moved], now);
            assert_eq!(other.get("new:1"), Some(&new));
        }
    });
}

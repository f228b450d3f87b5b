//! The grammar of contact files, as people and the reference write it.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::*;

const ACTIVE: &str = include_str!("../../../fuzz/seeds/contacts/active");
const BROKEN: &str = include_str!("../../../fuzz/seeds/contacts/broken");

fn now() -> DateTime<Utc> {
    "2026-03-06T07:08:09.5Z".parse().unwrap()
}

#[test]
fn contacts_are_read_with_all_their_fields() {
    let contacts = Contacts::read(Shelf::Active, ACTIVE);
    assert_eq!(contacts.faults(), []);
    let ada = contacts.get("tg:@ada_example").unwrap();
    assert_eq!((ada.name(), ada.kind()), ("Ada", Kind::Human));
    assert_eq!(ada.text("tg_private_chat_id").as_deref(), Some("4711"));
    assert_eq!(ada.texts("slack_channel_ids"), ["C0001"]);
    assert_eq!(ada.last_interaction().unwrap().to_rfc3339(), "2026-03-04T08:15:00+00:00");
    let grace = contacts.get("tg:4712").unwrap();
    assert_eq!(grace.text("tg_private_chat_id").as_deref(), Some("4712"), "a number is an id, too");
    assert_eq!(grace.texts("line_chat_ids"), ["C1", "C2"]);
    assert_eq!(grace.get("own_field"), Some(&json!({ "a": [1, 2] })));
}

#[test]
fn what_cannot_be_read_is_told_and_kept() {
    let contacts = Contacts::read(Shelf::Active, BROKEN);
    let told: Vec<String> = contacts.faults().iter().map(Fault::to_string).collect();
    insta::assert_snapshot!(told.join("\n"), @r###"
    line 2: "## Nobody" has no block of YAML below it
    lines 3 to 6: "## No id" has no contact_id
    lines 7 to 10: "## Bad" cannot be read: unclosed bracket '[' at line 1, column 4
    lines 11 to 13: "## Open" has a block that no ``` ends
    lines 18 to 21: the contact_id "x:2" is there twice
    "###);
    assert_eq!(contacts.to_string(), BROKEN);
    assert_eq!(contacts.all().count(), 1);
}

#[test]
fn a_field_is_changed_in_its_place() {
    let mut contacts = Contacts::read(Shelf::Active, ACTIVE);
    assert!(contacts.set("tg:4712", "line_chat_ids", &json!(["C1", "C3"]), now()));
    assert!(contacts.set("tg:4712", "tg_username", &json!("grace"), now()));
    assert!(!contacts.set("tg:4712", "tg_username", &json!("grace"), now()), "it says so already");
    assert!(!contacts.set("tg:4712", "no key: x", &json!("grace"), now()));
    assert!(!contacts.set("tg:0", "nickname", &json!("grace"), now()));
    let text = contacts.to_string();
    insta::assert_snapshot!(&text[text.find("## Grace").unwrap()..], @r#"
    ## Grace

    Met at the fair.

    ```yaml
    contact_id: "tg:4712"
    nickname: Grace
    kind: human
    channel: telegram
    tg_private_chat_id: 4712
    line_chat_ids: ["C1","C3"]
    own_field: {a: [1, 2]} # ours
    last_interaction_at: 2026-03-05T08:15:00Z
    tg_username: "grace"
    ```
    "#);
    assert!(text.contains("updated_at: \"2026-03-06T07:08:09Z\""));
    assert!(text.contains("created_at: \"2026-03-04T08:15:00Z\""));
}

#[test]
fn a_contact_is_added_and_moved_with_what_stands_below_it() {
    let mut active = Contacts::read(Shelf::Active, ACTIVE);
    let new = json!({ "contact_id": "x:9", "nickname": "Bo\n## \u{2028}Eve", "kind": "human", "tags": [], "about": "" });
    let new = Fields::new(new.as_object().unwrap().clone());
    assert!(active.add(&new, now()) && !active.add(&new, now()));
    let [moved, added] = ["tg:4712", "x:9"].map(|id| active.lines(id).unwrap());
    assert_eq!(active.take(&HashSet::from(["tg:4712", "x:9"]), now()), 2);
    assert_eq!(active.take(&HashSet::from(["tg:4712"]), now()), 0);
    let mut inactive = Contacts::read(Shelf::Inactive, "");
    inactive.put(&[&moved, &added], now());
    insta::assert_snapshot!(inactive.to_string(), @r#"
    ---
    created_at: "2026-03-06T07:08:09Z"
    updated_at: "2026-03-06T07:08:09Z"
    ---
    # Inactive Contacts

    ## Grace

    Met at the fair.

    ```yaml
    contact_id: "tg:4712"
    nickname: Grace
    kind: human
    channel: telegram
    tg_private_chat_id: 4712
    line_chat_ids:
      - "C1"
      - "C2"
    own_field: {a: [1, 2]} # ours
    last_interaction_at: 2026-03-05T08:15:00Z
    ```

    ## Bo ## Eve

    ```yaml
    contact_id: "x:9"
    nickname: "Bo\n## \u2028Eve"
    kind: "human"
    ```
    "#);
    assert_eq!(inactive.get("x:9").unwrap().name(), "Bo\n## \u{2028}Eve");
    assert_eq!(active.all().map(Fields::id).collect::<Vec<_>>(), ["tg:@ada_example"]);
}

#[test]
fn who_was_met_longest_ago_makes_room() {
    let contacts = Contacts::read(Shelf::Active, ACTIVE);
    assert_eq!(contacts.overflow(1), ["tg:@ada_example"]);
    assert!(contacts.overflow(MAX_ACTIVE).is_empty());
}

#[test]
fn templates_of_today_and_before_hold_nobody() {
    for (shelf, text) in [
        (Shelf::Active, include_str!("../../../state/templates/contacts/ACTIVE.md")),
        (Shelf::Inactive, include_str!("../../../state/templates/contacts/INACTIVE.md")),
        (Shelf::Active, include_str!("../../app/templates/before/contacts/ACTIVE.md")),
        (Shelf::Inactive, include_str!("../../app/templates/before/contacts/INACTIVE.md")),
    ] {
        let mut contacts = Contacts::read(shelf, text);
        assert_eq!((contacts.all().count(), contacts.faults().len()), (0, 0), "{text}");
        let new = Fields::new(json!({ "contact_id": "x:9" }).as_object().unwrap().clone());
        assert!(contacts.add(&new, now()));
        assert_eq!(contacts.all().collect::<Vec<_>>(), [&new], "{contacts}");
    }
}

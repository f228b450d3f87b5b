//! Whom the bot has met, in files that people edit.

use std::fs;
use std::sync::Arc;

use selkie_channel_core::{AccountId, PlaceId};

use super::*;
use crate::contacts::Contacts;
use crate::files::Files;
use crate::forms::testing::birds;
use selkie_domain::clock::SystemClock;
use selkie_domain::taint::Taint;

struct Desk {
    home: tempfile::TempDir,
    files: Files,
}

fn now() -> DateTime<Utc> {
    "2026-03-06T07:08:09Z".parse().unwrap()
}

fn met(person: i64, username: &str, place: i64) -> NewlyMet {
    let met = SeenPerson {
        place: PlaceId::new(AccountId::new("bird:0"), format!("bird:{place}")),
        person: PersonId::new(format!("bird:{person}")),
        name: format!("Name {person}"),
        username: username.to_owned(),
        is_bot: false,
        is_direct: place > 0,
        at: now(),
    };
    NewlyMet { met, brought: String::new(), brought_name: None, is_new: true }
}

impl Desk {
    fn with(active: &str, inactive: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("contacts")).unwrap();
        for (shelf, text) in [(Shelf::Active, active), (Shelf::Inactive, inactive)] {
            rested(&home.path().join(shelf.file()), text);
        }
        let files = Files::new(home.path().to_owned(), Arc::new(SystemClock));
        Self { home, files }
    }

    fn shelves(&self) -> Shelves {
        Shelves::read(&self.files).unwrap()
    }

    fn observe(&self, met: &[NewlyMet]) -> Vec<TakenOver> {
        let Observations { edits, taken_over } = observe(&birds(), &self.shelves(), met, now());
        self.files.edit(&edits, Taint::Clean, now()).unwrap();
        taken_over
    }

    fn active(&self) -> String {
        fs::read_to_string(self.home.path().join(Shelf::Active.file())).unwrap()
    }
}

/// Writes a file that nobody has written for a while.
fn rested(path: &std::path::Path, text: &str) {
    fs::write(path, text).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000))
        .unwrap();
}

fn contact(id: &str, more: &str) -> String {
    format!("## Kea\n\n```yaml\ncontact_id: {id:?}\nnickname: \"Kea\"\n{more}```\n")
}

fn ids(contacts: &Contacts) -> Vec<&str> {
    contacts.all().map(Fields::id).collect()
}

/// A chat in which several people speak is the address of all of them.
#[test]
fn a_chat_of_several_people_is_nobodys_name() {
    let desk = Desk::with("", "");
    for person in [1, 2, 3] {
        assert_eq!(desk.observe(&[met(person, "", -5)]), []);
    }
    assert_eq!(ids(&desk.shelves().active), ["bird:1", "bird:2", "bird:3"]);
}

#[test]
fn who_was_met_is_written_down_by_number() {
    let desk = Desk::with("", "");
    assert_eq!(desk.observe(&[met(7, "kea", -42), met(7, "kea", 7), met(8, "", -42)]), []);
    insta::assert_snapshot!(desk.active(), @r#"
    ---
    created_at: "2026-03-06T07:08:09Z"
    updated_at: "2026-03-06T07:08:09Z"
    ---
    # Active Contacts

    ## Name 7

    ```yaml
    contact_id: "bird:7"
    nickname: "Name 7"
    kind: "human"
    channel: "birds"
    bird_number: "7"
    bird_name: "kea"
    trees: ["-42"]
    last_interaction_at: "2026-03-06T07:08:09Z"
    ```

    ## Name 8

    ```yaml
    contact_id: "bird:8"
    nickname: "Name 8"
    kind: "human"
    channel: "birds"
    bird_number: "8"
    trees: ["-42"]
    last_interaction_at: "2026-03-06T07:08:09Z"
    ```
    "#);
    let before = desk.active();
    desk.observe(&[met(7, "kea", -42), met(8, "", -42)]);
    assert_eq!(desk.active(), before, "nothing new is no change");
}

#[test]
fn what_people_wrote_stands() {
    let desk = Desk::with(
        &contact(
            "bird:7",
            "bird_name: \"by_hand\" # mine\ntrees: [\"-1\"]\nlast_interaction_at: 2027-01-01T00:00:00Z\n",
        ),
        "",
    );
    desk.observe(&[met(7, "kea", -42)]);
    let shelves = desk.shelves();
    let kea = shelves.active.get("bird:7").unwrap();
    assert_eq!(kea.text("bird_name").as_deref(), Some("by_hand"));
    assert_eq!(kea.name(), "Kea");
    assert_eq!(kea.texts("trees"), ["-1", "-42"]);
    assert_eq!(kea.text(keys::LAST).as_deref(), Some("2027-01-01T00:00:00Z"), "it is newer");
    assert!(desk.active().contains("# mine"));
    // What was brought before is brought up to date.
    desk.observe(&[NewlyMet { brought: "by_hand".to_owned(), ..met(7, "kea", -42) }]);
    assert_eq!(
        desk.shelves().active.get("bird:7").unwrap().text("bird_name").as_deref(),
        Some("kea")
    );
    // So is a name, with its heading, unless somebody has written another one.
    let called = |brought: &str| {
        let mut new = NewlyMet { brought_name: Some(brought.to_owned()), ..met(7, "kea", -42) };
        new.met.name = "Nestor".to_owned();
        new
    };
    desk.observe(&[called("Alpine parrot")]);
    assert_eq!(desk.shelves().active.get("bird:7").unwrap().name(), "Kea", "written by hand");
    desk.observe(&[called("Kea")]);
    let active = desk.active();
    assert!(active.contains("## Nestor\n") && active.contains("nickname: \"Nestor\""), "{active}");
    // Whom somebody has taken out stays out, until they are met elsewhere.
    let other = Desk::with("", "");
    other.observe(&[NewlyMet { is_new: false, ..met(7, "kea", -42) }]);
    assert_eq!(other.active(), "");
}

#[test]
fn a_name_that_answers_as_somebody_else_is_a_new_contact() {
    let desk = Desk::with(&contact("bird:@kea", "bird_number: 7\nbird_name: \"kea\"\n"), "");
    let taken = desk.observe(&[met(9, "Kea", -42)]);
    assert_eq!(
        taken,
        [TakenOver {
            handle: "bird:@Kea".to_owned(),
            old: "bird:@kea".to_owned(),
            new: PersonId::new("bird:9")
        }]
    );
    let shelves = desk.shelves();
    assert_eq!(ids(&shelves.active), ["bird:@kea", "bird:9"]);
    assert_eq!(shelves.active.get("bird:@kea").unwrap().texts("trees"), [""; 0]);
    assert_eq!(desk.observe(&[met(9, "kea", -42)]), [], "it is told once");
}

#[test]
fn a_known_person_who_takes_over_a_name_is_told_once() {
    let desk = Desk::with("", "");
    desk.observe(&[met(7, "kea", 7), met(9, "robin", 9)]);
    let moved =
        |name: &str| NewlyMet { brought: "robin".to_owned(), is_new: false, ..met(9, name, 9) };
    assert_eq!(desk.observe(&[moved("wren")]), [], "nobody had it");
    let taken = desk.observe(&[NewlyMet { brought: "wren".to_owned(), ..moved("kea") }]);
    let told = |one: &TakenOver| (one.handle.clone(), one.old.clone(), one.new.clone());
    let expected = ("bird:@kea".to_owned(), "bird:7".to_owned(), PersonId::new("bird:9"));
    assert_eq!(taken.iter().map(told).collect::<Vec<_>>(), [expected]);
    assert_eq!(desk.observe(&[NewlyMet { brought: "kea".to_owned(), ..moved("kea") }]), []);
}

#[test]
fn a_name_that_people_wrote_without_a_number_gets_one() {
    let desk = Desk::with(&contact("bird:@kea", ""), "");
    assert_eq!(desk.observe(&[met(7, "kea", 7)]), []);
    let shelves = desk.shelves();
    assert_eq!(ids(&shelves.active), ["bird:@kea"]);
    assert_eq!(shelves.active.get("bird:@kea").unwrap().text("bird_number").as_deref(), Some("7"));
    // From now on it is them, whatever they are called.
    assert_eq!(desk.observe(&[met(9, "kea", 9)]).len(), 1);
    assert_eq!(ids(&desk.shelves().active), ["bird:@kea", "bird:9"]);
}

#[test]
fn who_speaks_again_comes_back() {
    let away = contact("bird:7", "last_interaction_at: 2020-01-01T00:00:00Z\n") + "\nA remark.\n";
    let desk = Desk::with("", &away);
    desk.observe(&[met(7, "kea", -42)]);
    let shelves = desk.shelves();
    assert_eq!((ids(&shelves.active), ids(&shelves.inactive)), (vec!["bird:7"], vec![]));
    assert!(desk.active().contains("A remark.") && desk.active().contains("-42"));
}

#[test]
fn who_was_met_longest_ago_makes_room_in_both_files() {
    let one = |n: usize| {
        format!(
            "## B\n```yaml\ncontact_id: \"bird:{n}\"\nlast_interaction_at: 2026-01-01T00:{:02}:{:02}Z\n```\n",
            n / 60,
            n % 60
        )
    };
    let all: String = (1..=MAX_ACTIVE + 2).map(one).collect();
    let desk = Desk::with(&all, "");
    let edits = make_room(&desk.shelves());
    let done = desk.files.edit(&edits, Taint::Clean, now()).unwrap();
    assert_eq!(done.contacts, 4);
    let shelves = desk.shelves();
    assert_eq!(shelves.active.all().count(), MAX_ACTIVE);
    assert_eq!(ids(&shelves.inactive), ["bird:1", "bird:2"]);
    assert_eq!(make_room(&shelves), []);
}

#[test]
fn a_line_that_somebody_changes_meanwhile_is_not_taken_away() {
    let desk = Desk::with("", &contact("bird:7", "last_interaction_at: 2020-01-01T00:00:00Z\n"));
    let Observations { edits, .. } =
        observe(&birds(), &desk.shelves(), &[met(7, "kea", -42)], now());
    let by_hand = contact("bird:7", "last_interaction_at: 2020-01-01T00:00:00Z\nown: 1\n");
    rested(&desk.home.path().join(Shelf::Inactive.file()), &by_hand);
    desk.files.edit(&edits, Taint::Clean, now()).unwrap();
    let shelves = desk.shelves();
    assert_eq!(ids(&shelves.inactive), ["bird:7"], "what they wrote is still there");
    assert_eq!(shelves.all().count(), 1);
}

//! `todo_update` over real files: what a task sees, who is meant, which item is done.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use super::*;
use crate::directory::testing::quiet;
use crate::files::Files;
use crate::forms::testing::birds;
use crate::todo::{Entry, List, Todos};
use selkie_domain::clock::SystemClock;
use selkie_domain::command_line;
use selkie_domain::taint::Taint;
use selkie_domain::usage::Meter;
use selkie_store::SeenPerson;
use selkie_tools::asked::{Speaker, UserText};

/// Answers what it was given, in its order, and remembers what it was asked.
#[derive(Default)]
struct Model {
    answers: Mutex<Vec<&'static str>>,
    asked: Mutex<Vec<Value>>,
}

#[async_trait]
impl Small for Model {
    async fn ask(&self, _: &str, text: &str, _: Duration, _: &Meter) -> Result<String, ToolError> {
        let json = text.split("\n\n").next().unwrap_or_default();
        self.asked.lock().unwrap().push(serde_json::from_str(json).unwrap());
        let mut answers = self.answers.lock().unwrap();
        assert!(!answers.is_empty(), "nobody expects this question: {text}");
        Ok(answers.remove(0).to_owned())
    }
}

/// Nobody is reminded of anything.
struct NoReminding;

#[async_trait]
impl ReminderStore for NoReminding {
    async fn hold(&self) -> OwnedMutexGuard<()> {
        Arc::new(tokio::sync::Mutex::new(())).lock_owned().await
    }

    async fn put(&self, _: &TodoAsker, _: &Entry) -> Option<String> {
        None
    }

    async fn take(&self, _: &[Entry]) {}
}

/// Every conversation is its own chat.
struct Alone;

#[async_trait]
impl Conversations for Alone {
    fn chat(&self, conversation: &ConversationId) -> String {
        conversation.key().to_owned()
    }

    /// Whoever has a number below ten has spoken in every group of one digit.
    async fn met(
        &self,
        conversation: &ConversationId,
        _: bool,
    ) -> Result<Vec<SeenPerson>, ToolError> {
        let is_small = conversation.key().len() == "bird:-7".len();
        let met = |number: u8| SeenPerson {
            place: PlaceId::new(conversation.account().clone(), conversation.key()),
            person: PersonId::new(format!("bird:{number}")),
            name: format!("Number {number}"),
            username: String::new(),
            is_bot: false,
            is_direct: false,
            at: now(),
        };
        Ok(if is_small { (1..10).map(met).collect() } else { Vec::new() })
    }
}

struct Desk {
    home: tempfile::TempDir,
    book: TodoBook,
    model: Arc<Model>,
}

const CONTACTS: &str = r#"# Active Contacts
## Mei
```yaml
contact_id: "bird:@mei"
nickname: "Mei Lin"
bird_name: "mei"
trees: ["-42"]
```
## Bo
```yaml
contact_id: "bird:8"
nickname: "Bo"
```
## Bo the second
```yaml
contact_id: "bird:9"
nickname: "Bo"
```
"#;

impl Desk {
    fn new() -> Self {
        Self::with(CONTACTS)
    }

    fn with(contacts: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("contacts")).unwrap();
        fs::write(home.path().join("contacts/ACTIVE.md"), contacts).unwrap();
        let files = Arc::new(Files::new(home.path().to_owned(), Arc::new(SystemClock)));
        files.meet_lists().unwrap();
        let book = TodoBook {
            directory: quiet(files),
            forms: birds(),
            conversations: Arc::new(Alone),
            reminding: Arc::new(NoReminding),
        };
        Self { home, book, model: Arc::default() }
    }

    fn answering(answers: &[&'static str]) -> Self {
        let desk = Self::new();
        desk.model.answers.lock().unwrap().extend(answers);
        desk
    }

    async fn update(&self, by: &TodoAsker, wanted: TodoWanted) -> Result<TodoReport, ToolError> {
        let model: Arc<dyn Small> = self.model.clone();
        self.book.update(by, &model, wanted).await
    }

    async fn said(&self, by: &TodoAsker, wanted: TodoWanted) -> String {
        match self.update(by, wanted).await {
            Ok(told) => told.text,
            Err(why) => why.to_string(),
        }
    }

    fn path(&self, list: List) -> PathBuf {
        self.home.path().join(list.file())
    }

    fn contents(&self, list: List) -> Vec<String> {
        let text = fs::read_to_string(self.path(list)).unwrap_or_default();
        Todos::read(list, &text).counted().map(|entry: &Entry| entry.content.clone()).collect()
    }
}

fn now() -> DateTime<Utc> {
    "2026-03-06T07:08:09Z".parse().unwrap()
}

fn asker(conversation: ConversationId, sees_all: bool) -> TodoAsker {
    let ada = Speaker { id: PersonId::new("bird:7"), name: "Ada".to_owned() };
    TodoAsker {
        conversation,
        sees_all,
        is_private: sees_all,
        wisher: None,
        is_asked: true,
        is_approved: false,
        asked: Arc::new(UserText { text: "as they said it".to_owned(), people: vec![ada] }),
        taint: Taint::Clean,
        spent: Arc::default(),
        now: now(),
    }
}

fn owner() -> TodoAsker {
    asker(command_line::conversation(std::path::Path::new("/w")), true)
}

fn group(key: &str) -> TodoAsker {
    asker(ConversationId::new(AccountId::new("bird:1"), key), false)
}

fn add(content: &str, people: &[&str]) -> TodoWanted {
    let people = people.iter().map(|name| (*name).to_owned()).collect();
    TodoWanted::Add { content: content.to_owned(), people, chat: None }
}

fn done(words: &str) -> TodoWanted {
    TodoWanted::Complete { words: words.to_owned(), chat: None }
}

fn in_chat(chat: &str) -> TodoWanted {
    TodoWanted::Add { content: "tea".to_owned(), people: Vec::new(), chat: Some(chat.to_owned()) }
}

#[tokio::test]
async fn an_item_is_added_and_completed_without_a_model() {
    let desk = Desk::new();
    let added = desk.said(&owner(), add("Ask Mei Lin for the invoice", &["Mei Lin", "me"])).await;
    insta::assert_snapshot!(added, @r#"{"ok":true,"action":"add","updated_counts":{"open_count":1,"done_count":0},"changed":{"wip_added":1,"wip_removed":0,"done_added":0},"entry":{"created_at":"2026-03-06T07:08:00Z","content":"Ask [Mei Lin](bird:@mei) for the invoice"}}"#);
    let completed = desk.said(&owner(), done("the invoice, mei")).await;
    assert!(completed.contains(r#""done_added":1"#), "{completed}");
}

#[tokio::test]
async fn words_find_an_item_and_it_moves() {
    let desk = Desk::new();
    for content in ["Buy milk", "Call the bank"] {
        desk.update(&owner(), add(content, &[])).await.unwrap();
    }
    let completed = desk.said(&owner(), done("milk")).await;
    insta::assert_snapshot!(completed, @r#"{"ok":true,"action":"complete","updated_counts":{"open_count":1,"done_count":1},"changed":{"wip_added":0,"wip_removed":1,"done_added":1},"entry":{"created_at":"2026-03-06T07:08:00Z","done_at":"2026-03-06T07:08:00Z","content":"Buy milk"}}"#);
    assert_eq!(
        (desk.contents(List::Open), desk.contents(List::Done)),
        (vec!["Call the bank".into()], vec!["Buy milk".into()])
    );
    let again = desk.said(&owner(), done("Buy milk")).await;
    assert!(again.contains("already_done") && again.contains(r#""done_added":0"#), "{again}");
}

#[tokio::test]
async fn nothing_that_fits_and_several_are_told() {
    let desk = Desk::answering(&[
        r#"{"status":"no_match"}"#,
        r#"{"status":"ambiguous","candidate_indices":[1,0]}"#,
        r#"{"status":"matched","index":1}"#,
    ]);
    assert_eq!(desk.said(&owner(), done("milk")).await, "no matching todo item in TODO.md");
    for content in ["Buy milk for Ada", "Drink the milk"] {
        desk.update(&owner(), add(content, &[])).await.unwrap();
    }
    assert_eq!(desk.said(&owner(), done("taxes")).await, "no matching todo item in TODO.md");
    insta::assert_snapshot!(desk.said(&owner(), done("milk")).await, @r"
    ambiguous todo item match: several items fit. Use all the words of one of these:
    - Buy milk for Ada
    - Drink the milk
    ");
    assert_eq!(desk.contents(List::Open).len(), 2, "a wrong match would have moved one");
    let completed = desk.said(&owner(), done("the milk")).await;
    assert!(completed.contains("Drink the milk"), "its words fit one alone: {completed}");
    assert_eq!(desk.model.answers.lock().unwrap().len(), 1, "which needs no model");
}

#[tokio::test]
async fn a_model_that_breaks_its_contract_is_asked_twice_and_named() {
    for (answers, words) in [
        (
            ["{\"status\":\"matched\"}", "```json\n{}\n```"],
            "invalid semantic_match response: it is not that JSON object alone",
        ),
        (
            ["no", "{\"status\":\"matched\"}"],
            "invalid semantic_match response: semantic match missing index",
        ),
        (
            ["no", "{\"status\":\"matched\",\"index\":7}"],
            "invalid semantic_match response: semantic match index out of range: 7",
        ),
    ] {
        let desk = Desk::answering(&answers);
        desk.update(&owner(), add("Buy milk", &[])).await.unwrap();
        assert_eq!(desk.said(&owner(), done("dairy")).await, words);
        assert_eq!(desk.contents(List::Open), ["Buy milk"]);
    }
    let desk = Desk::answering(&["[]", "{\"keep_indices\":[1]}"]);
    desk.update(&owner(), add("Buy milk", &[])).await.unwrap();
    let said = desk.said(&owner(), add("Buy some milk", &[])).await;
    assert_eq!(said, "invalid semantic_dedup response: semantic dedupe must keep the newest item");
    assert_eq!(desk.contents(List::Open), ["Buy milk"]);
}

#[tokio::test]
async fn what_says_the_same_stands_once() {
    let desk = Desk::answering(&["{\"keep_indices\":[0]}", "{\"keep_indices\":[0,1]}"]);
    desk.update(&owner(), add("Buy milk", &[])).await.unwrap();
    desk.update(&owner(), add("buy MILK!", &[])).await.unwrap();
    assert_eq!(desk.contents(List::Open), ["buy MILK!"], "to the letter, without a model");
    let said = desk.said(&owner(), add("Buy some milk", &[])).await;
    assert!(
        said.contains(r#""wip_added":1,"wip_removed":1"#)
            && said.contains("it replaces: buy MILK!"),
        "{said}"
    );
    desk.update(&owner(), add("Buy some more milk", &[])).await.unwrap();
    assert_eq!(desk.contents(List::Open), ["Buy some more milk", "Buy some milk"]);
}

#[tokio::test]
async fn items_that_differ_in_signs_alone_do_not_replace_each_other() {
    let desk = Desk::new();
    let all = ["🍎", "🍌", "!!!", "???", "$5", "€5"];
    for content in all {
        desk.update(&owner(), add(content, &[])).await.unwrap();
    }
    assert_eq!(desk.contents(List::Open).len(), all.len(), "{:?}", desk.contents(List::Open));
    assert_eq!(desk.said(&owner(), done("🍊")).await, "no matching todo item in TODO.md");
    desk.update(&owner(), done("🍌")).await.unwrap();
    assert_eq!(desk.contents(List::Done), ["🍌"]);
}

#[tokio::test]
async fn what_a_model_keeps_stays() {
    let keep = "{\"keep_indices\":[0,1]}";
    let desk = Desk::answering(&[keep, keep]);
    for content in ["learn C", "learn C++", "Learn C++."] {
        desk.update(&owner(), add(content, &[])).await.unwrap();
    }
    assert_eq!(desk.contents(List::Open), ["Learn C++.", "learn C"]);
    desk.update(&owner(), done("learn C")).await.unwrap();
    assert_eq!(desk.contents(List::Open), ["Learn C++."]);
}

#[tokio::test]
async fn words_with_an_id_never_complete_the_item_of_another() {
    let desk = Desk::new();
    desk.update(&owner(), add("Call [Bo](bird:8)", &[])).await.unwrap();
    let said = desk.said(&owner(), done("Call [Bo](bird:9)")).await;
    assert_eq!(said, "no matching todo item in TODO.md");
    desk.update(&owner(), done("call [Bo](bird:8)!")).await.unwrap();
    assert_eq!(desk.contents(List::Done), ["Call [Bo](bird:8)"]);
}

#[tokio::test]
async fn who_is_not_known_or_not_clear_is_said() {
    let desk = Desk::answering(&[
        r#"{"status":"missing_reference_id","missing":[{"mention":"Bo"}]}"#,
        r#"{"status":"ok","rewritten_content":"Thank [Bo](bird:9)","warnings":[]}"#,
        r#"{"status":"ok","rewritten_content":"Pay [Bo](bird:66)"}"#,
        r#"{"status":"ok","rewritten_content":"Pay nobody"}"#,
    ]);
    let said = desk.said(&owner(), add("Greet Zoe", &["Zoe"])).await;
    assert!(
        said.contains("reference_unresolved_write_raw") && said.contains("\"Greet Zoe\""),
        "{said}"
    );
    let said = desk.said(&owner(), add("Ask Bo", &["Bo"])).await;
    assert_eq!(
        said,
        "missing_reference_id: several people are called Bo, and nothing was written. Who is meant? Write one of these \
         instead of the name:\n- [Bo](bird:8)\n- [Bo](bird:9)"
    );
    assert_eq!(desk.contents(List::Open), ["Greet Zoe"]);
    let said = desk.said(&owner(), add("Thank Bo", &["Bo"])).await;
    assert!(said.contains("Thank [Bo](bird:9)") && !said.contains("warnings"), "{said}");
    let said = desk.said(&owner(), add("Pay Bo", &["Bo"])).await;
    assert_eq!(said, "invalid reference_resolve response: it changes more than the names");
    let asked = desk.model.asked.lock().unwrap();
    assert_eq!(asked[0]["allowed_ids"], serde_json::json!(["bird:8", "bird:9"]));
    assert_eq!(
        (asked[0]["contract"].as_str(), asked[0]["input_raw"].as_str()),
        (Some("reference_resolve"), Some("as they said it"))
    );
}

#[tokio::test]
async fn ids_in_an_item_are_checked() {
    let desk = Desk::new();
    for (content, words) in [
        ("Ask [Mei](mei)", "invalid reference id: mei"),
        ("Ask [Mei](bird:66)", "reference id is not reachable: bird:66"),
    ] {
        let said = desk.said(&owner(), add(content, &[])).await;
        assert!(said.starts_with(words), "{said}");
    }
    let fine = desk
        .said(&owner(), add("Ask [Ada](bird:7), see [the page](https://a.example/)", &["us"]))
        .await;
    assert!(fine.contains("\"ok\":true"), "{fine}");
    let market = desk.said(&owner(), add("Look at the US market", &["US"])).await;
    assert!(
        market.contains("reference_unresolved_write_raw"),
        "in capitals it is nobody's self: {market}"
    );
}

#[tokio::test]
async fn another_chat_is_named_by_an_owner_alone() {
    let desk = Desk::new();
    let said = desk.said(&owner(), in_chat("bird:-42")).await;
    assert!(said.contains(r#""chat_id":"bird:-42""#), "{said}");
    for chat in ["42", "bird:0", "hawk:7"] {
        let said = desk.said(&owner(), in_chat(chat)).await;
        assert_eq!(said, format!("invalid chat_id: {chat} (takes ids like bird:-42)"));
    }
    let other = desk.said(&group("bird:-1"), in_chat("bird:-42")).await;
    assert!(other.starts_with("invalid chat_id: bird:-42 ("), "{other}");
}

#[tokio::test]
async fn a_conversation_sees_its_own_and_no_more() {
    let desk = Desk::answering(&["{\"status\":\"no_match\"}"]);
    desk.update(&owner(), add("Buy a ring for Zoe", &[])).await.unwrap();
    let (here, there) = (group("bird:-42"), group("bird:-1"));
    let said = desk.said(&here, add("Buy a ring for Zoe", &["Mei", "Bo"])).await;
    assert!(said.contains(r#""open_count":1"#) && said.contains(r#""wip_removed":0"#), "{said}");
    assert!(
        said.contains("nobody called \\\"Bo\\\" is known here"),
        "a contact who was never here reads as unknown: {said}"
    );
    let unknown = desk.said(&there, add("Thank Mei", &["Mei"])).await;
    assert!(unknown.contains("nobody called \\\"Mei\\\" is known here"), "{unknown}");
    assert_eq!(
        desk.said(&group("bird:-2"), done("ring")).await,
        "no matching todo item in TODO.md"
    );
    assert_eq!(desk.said(&there, done("ring")).await, "no matching todo item in TODO.md");
    let entries = desk.model.asked.lock().unwrap()[0]["entries"].to_string();
    assert!(!entries.contains("ring") && entries.contains("Thank Mei"), "{entries}");
    let told = desk.update(&here, done("ring")).await.unwrap();
    assert_eq!(told.level, Taint::Raw, "a group's words");
    assert_eq!(desk.contents(List::Open), ["Thank Mei", "Buy a ring for Zoe"]);
    let told = desk.update(&owner(), done("ring")).await.unwrap();
    assert_eq!(told.level, Taint::Clean, "the owner's own");
}

#[tokio::test]
async fn who_is_alone_with_the_bot_reads_their_own_words() {
    let desk = Desk::new();
    let alone = TodoAsker { is_private: true, ..group("bird:9") };
    desk.update(&alone, add("Buy a ring", &[])).await.unwrap();
    assert_eq!(desk.update(&alone, done("ring")).await.unwrap().level, Taint::Clean);
    let tainted = TodoAsker { taint: Taint::Raw, ..alone };
    desk.update(&tainted, add("Send the keys to Eve", &[])).await.unwrap();
    let alone = TodoAsker { taint: Taint::Clean, ..tainted };
    assert_eq!(desk.update(&alone, done("keys")).await.unwrap().level, Taint::Derived);
}

#[tokio::test]
async fn what_a_task_with_others_words_adds_stays_marked() {
    let desk = Desk::new();
    let tainted = TodoAsker { taint: Taint::Raw, ..owner() };
    desk.update(&tainted, add("Send the keys to Eve", &[])).await.unwrap();
    let told = desk.update(&owner(), done("keys")).await.unwrap();
    assert_eq!(told.level, Taint::Derived);
}

/// What a task writes out of others' words makes its own item theirs, and no other one.
#[tokio::test]
async fn every_item_has_its_own_level() {
    let desk = Desk::new();
    let tainted = TodoAsker { taint: Taint::Raw, ..owner() };
    desk.update(&owner(), add("Water the plants", &[])).await.unwrap();
    desk.update(&tainted, add("Send the keys to Eve", &[])).await.unwrap();
    desk.update(&owner(), add("Feed the cat", &[])).await.unwrap();
    assert_eq!(desk.update(&owner(), done("plants")).await.unwrap().level, Taint::Clean);
    assert_eq!(desk.update(&tainted, done("cat")).await.unwrap().level, Taint::Clean);
    let replaced = desk.update(&owner(), add("Send the keys to Eve.", &[])).await.unwrap();
    assert_eq!(replaced.level, Taint::Derived, "it shows what it replaces");
    let edited = fs::read_to_string(desk.path(List::Open)).unwrap();
    let edited =
        edited.replace("Send the keys to Eve.", "Send the keys to  Eve\n- [ ] Ask EVE nothing");
    fs::write(desk.path(List::Open), edited).unwrap();
    let level = async |words| desk.update(&owner(), done(words)).await.unwrap().level;
    assert_eq!(level("send the keys").await, Taint::Derived, "white space makes it nobody else's");
    assert_eq!(level("ask eve").await, Taint::Clean, "the owner's own words");
}

#[tokio::test]
async fn broken_lines_stay_and_an_owner_is_told() {
    let desk = Desk::new();
    fs::write(desk.path(List::Open), "- [ ] [Created](soon) | x\n- [ ] mine\n").unwrap();
    let said = desk.said(&owner(), add("Buy milk", &[])).await;
    assert!(said.contains("TODO.md, line "), "{said}");
    assert!(
        fs::read_to_string(desk.path(List::Open)).unwrap().contains("- [ ] [Created](soon) | x\n")
    );
    let said = desk.said(&group("bird:-1"), add("Buy milk", &[])).await;
    assert!(!said.contains("warnings"), "{said}");
    fs::write(desk.path(List::Open), b"\xff").unwrap();
    let said = desk.said(&owner(), add("Buy tea", &[])).await;
    assert!(said.starts_with("TODO.md cannot be read: it is no UTF-8"), "{said}");
}

#[tokio::test]
async fn many_conversations_at_once_keep_apart() {
    let desk = Desk::new();
    let adding = (0..60).map(|n: i32| {
        let desk = &desk;
        async move {
            let by = group(&format!("bird:{}", n % 20 + 1));
            desk.update(&by, add(&format!("errand{n}"), &[])).await.unwrap();
        }
    });
    futures_util::future::join_all(adding).await;
    assert_eq!(desk.contents(List::Open).len(), 60);
    let text = fs::read_to_string(desk.path(List::Open)).unwrap();
    for entry in Todos::read(List::Open, &text).entries() {
        let n: i32 = entry.content.strip_prefix("errand").unwrap().parse().unwrap();
        assert_eq!(entry.chat, Some(format!("bird:{}", n % 20 + 1)));
    }
}

#[tokio::test]
async fn a_group_names_whom_it_has_met_and_hears_nothing_of_where_else_they_are() {
    let met = r#"{"status":"missing_reference_id","missing":[]}"#;
    let desk = Desk::answering(&[met]);
    let said = desk.said(&group("bird:-7"), add("Ask Bo", &["Bo"])).await;
    assert!(said.contains("[Bo](bird:8)") && said.contains("[Bo](bird:9)"), "{said}");
    let asked = desk.model.asked.lock().unwrap().remove(0);
    let known = asked["contacts"].to_string();
    assert!(!known.contains("bird:-42") && !known.contains("mei"), "{known}");
    let said = desk.said(&group("bird:-7"), add("Ask Number 3", &["Number 3"])).await;
    assert!(
        !said.contains("reference_unresolved"),
        "who spoke is known before they are a contact: {said}"
    );
    let said = desk.said(&group("bird:-7"), add("Sail home", &["Number 3"])).await;
    assert!(said.contains("is not in the content"), "{said}");
    let said = desk.said(&group("bird:-42"), add("Ask Mei", &["Mei"])).await;
    assert!(said.contains("[Mei](bird:@mei)"), "she was met there: {said}");
}

mod foreign {
    use proptest::prelude::*;

    use super::*;

    /// A contact whom the group has never met, as far as ids go.
    fn contact() -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            Just("bird_name: \"kea\"".to_owned()),
            (10_u32..99).prop_map(|n| format!("bird_number: \"{n}\"")),
            (10_i32..99).prop_map(|n| format!("trees: [\"-{n}\"]")),
            Just("aliases: [\"Kea\"]".to_owned()),
            Just("nickname: \"Kea Parrot\"".to_owned()),
        ];
        prop::collection::vec(line, 1..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// A name, a user name or an id that the group has not met reads like one that nobody has.
        #[test]
        fn who_is_unmet_reads_like_nobody(
            lines in contact(),
            asked in prop_oneof![Just("Kea"), Just("@kea"), Just("Kea Parrot"), Just("[Kea](bird:@kea)"), Just("[Kea](bird:55)")],
            number in 10_u32..99,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let mut lines = lines;
            lines.dedup_by_key(|line| line.split(':').next().unwrap().to_owned());
            let said = |contacts: &str| runtime.block_on(async {
                let desk = Desk::with(contacts);
                let people = if asked.starts_with('[') { vec![] } else { vec![asked] };
                let said = desk.said(&group("bird:-7"), add(&format!("Ask {asked}"), &people)).await;
                let questions = desk.model.asked.lock().unwrap().len();
                format!("{questions} {said}")
            });
            let block = format!("## K\n```yaml\ncontact_id: \"bird:{number}\"\n{}\n```\n", lines.join("\n"));
            prop_assert_eq!(said(&block), said(""));
        }
    }
}

#[tokio::test]
async fn whoever_looks_sees_what_a_task_there_would_see() {
    let desk = Desk::new();
    fs::write(
        desk.path(List::Open),
        "# TODO\n\
         - [ ] [Created](2026-03-04 08:15), [ChatID](bird:-7) | sail with [Bo](bird:8) and [Bo](bird:9)\n\
         - [ ] by hand\n\
         - [ ] [ChatID](bird:-7) | 2026-12-24 18:00 Call [Mei Lin](bird:@mei)\n\
         - [ ] 2026-12-23 18:00\n\
         - [x] ticked\n- [ ]broken\n",
    )
    .unwrap();
    fs::write(desk.path(List::Done), "- [x] [Done](2026-03-05 09:00), [ChatID](bird:-7) | swim\n")
        .unwrap();
    let looks = async |chat: &str, is_whole| {
        seen(&desk.book.directory.files, chat.to_owned(), is_whole).await.unwrap()
    };
    let texts = |todos: &[SeenTodo]| -> Vec<String> {
        let due = |todo: &SeenTodo| {
            todo.due.map(|at| format!("{}: ", at.format("%m-%d"))).unwrap_or_default()
        };
        todos.iter().map(|todo| format!("{}{}", due(todo), todo.text)).collect()
    };
    let whole = looks("bird:1", true).await;
    assert_eq!(
        texts(&whole.open),
        ["12-23: 2026-12-23 18:00", "12-24: Call Mei Lin", "sail with Bo and Bo", "by hand"],
        "what comes due first, then as it stands"
    );
    assert_eq!((texts(&whole.done), whole.faults.len()), (vec!["swim".to_owned()], 1));
    let group = looks("bird:-7", false).await;
    assert_eq!(texts(&group.open), ["12-24: Call Mei Lin", "sail with Bo and Bo"]);
    assert_eq!((texts(&group.done), group.faults.len()), (vec!["swim".to_owned()], 0));
    let ids: Vec<&str> = group.open[1].people.iter().map(|one| one.id.as_str()).collect();
    assert_eq!((ids, group.open[1].chat.as_deref()), (vec!["bird:8", "bird:9"], Some("bird:-7")));
    assert_eq!(looks("bird:-8", false).await, SeenTodos::default());
}

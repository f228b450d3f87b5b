//! Who is meant, over real files: whom a task may speak to, by which way, and whom it hears nothing of.

use std::fs;

use chrono::TimeDelta;
use selkie_channel_core::{AccountId, PlaceId};

use super::*;
use crate::directory::testing::quiet;
use crate::files::Files;
use crate::forms::testing::birds;
use selkie_domain::clock::{Clock, SystemClock};

/// Kea and Owl sit in the tree -1, Owl and Jay in the tree -2, Wren in none.
struct Trees;

fn id(key: &str) -> ConversationId {
    ConversationId::new(AccountId::new("birds"), key)
}

fn met(tree: &str, person: u8) -> SeenPerson {
    SeenPerson {
        place: PlaceId::new(AccountId::new("birds"), tree),
        person: PersonId::new(format!("bird:{person}")),
        name: String::new(),
        username: String::new(),
        is_bot: false,
        is_direct: false,
        at: DateTime::UNIX_EPOCH,
    }
}

#[async_trait]
impl Conversations for Trees {
    fn chat(&self, conversation: &ConversationId) -> String {
        conversation.key().to_owned()
    }

    async fn met(
        &self,
        conversation: &ConversationId,
        _: bool,
    ) -> Result<Vec<SeenPerson>, ToolError> {
        Ok(match conversation.key() {
            "bird:-1" => vec![met("bird:-1", 1), met("bird:-1", 2)],
            _ => Vec::new(),
        })
    }
}

#[async_trait]
impl Reach for Trees {
    fn conversation(&self, key: &str) -> Option<ConversationId> {
        birds().is_chat(key).then(|| id(key))
    }

    fn posts_by(&self, conversation: &ConversationId) -> Option<&'static str> {
        (conversation.key() == "bird:-99").then_some("sing")
    }

    async fn met_beside(
        &self,
        _: &ConversationId,
        person: &PersonId,
    ) -> Result<Vec<SeenPerson>, ToolError> {
        Ok(match person.as_str() {
            "bird:1" => vec![met("bird:-1", 2)],
            "bird:2" => vec![met("bird:-1", 1), met("bird:-2", 3)],
            _ => Vec::new(),
        })
    }

    async fn knows(&self, conversation: &ConversationId) -> Result<bool, ToolError> {
        Ok(conversation.key() != "bird:404")
    }

    async fn unasked(&self, conversation: &ConversationId) -> UnpromptedCost {
        match conversation.key() {
            "bird:3" => UnpromptedCost::Counted(1),
            "bird:8" => UnpromptedCost::Spent("the month is used up".to_owned()),
            _ => UnpromptedCost::Free,
        }
    }
}

const CONTACTS: &str = "# Active Contacts

## Kea

```yaml
contact_id: bird:1
nickname: Kea
bird_number: 1
trees: [\"-1\"]
```

## Owl

```yaml
contact_id: bird:2
nickname: Owl Grey
bird_number: 2
bird_name: owl
trees: [\"-1\", \"-2\"]
```

## Jay

```yaml
contact_id: bird:3
nickname: Jay
bird_number: 3
trees: [\"-2\"]
```

## Wren

```yaml
contact_id: the-wren
nickname: Wren
bird_number: 4
```

## Wren

```yaml
contact_id: bird:5
nickname: Wren
bird_number: 5
cooldown_until: \"{until}\"
```

## Robin

```yaml
contact_id: robin
nickname: Robin
trees: [\"-1\"]
```
";

struct Desk {
    state: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        fs::create_dir(state.path().join("contacts")).unwrap();
        let until = (SystemClock.now() + TimeDelta::hours(1)).to_rfc3339();
        let text = CONTACTS.replace("{until}", &until);
        fs::write(state.path().join("contacts/ACTIVE.md"), text).unwrap();
        Self { state }
    }

    async fn find(&self, by: &Sender, wanted: AddresseeQuery) -> Result<Addressee, String> {
        let clock: SharedClock = Arc::new(SystemClock);
        let book = AddressBook {
            directory: quiet(Arc::new(Files::new(
                self.state.path().to_owned(),
                Arc::clone(&clock),
            ))),
            forms: birds(),
            conversations: Arc::new(Trees),
            reached: Arc::new(Trees),
            clock,
        };
        book.find(by, &wanted).await.map_err(|why| why.to_string())
    }

    /// Where somebody's words would go, and whether they share it.
    async fn to(&self, by: &Sender, wanted: AddresseeQuery) -> Result<(String, bool), String> {
        let found = self.find(by, wanted).await?;
        Ok((found.conversation.key().to_owned(), found.is_shared))
    }
}

fn owner() -> Sender {
    Sender {
        conversation: id("bird:9"),
        person: Some(PersonId::new("bird:9")),
        trust: Trust::Owner,
        sees_all: true,
    }
}

fn kea() -> Sender {
    Sender {
        conversation: id("bird:1"),
        person: Some(PersonId::new("bird:1")),
        trust: Trust::Allowed,
        sees_all: false,
    }
}

fn called(name: &str) -> AddresseeQuery {
    AddresseeQuery::Anybody(name.to_owned())
}

fn contact(id: &str, chat: Option<&str>) -> AddresseeQuery {
    AddresseeQuery::Contact { id: id.to_owned(), chat: chat.map(str::to_owned) }
}

fn there(key: &str, is_shared: bool) -> Result<(String, bool), String> {
    Ok((key.to_owned(), is_shared))
}

#[tokio::test]
async fn an_owner_alone_reaches_everybody_by_name_and_id() {
    let desk = Desk::new();
    for wanted in [called("Owl"), called("@owl grey"), called("bird:2"), contact("bird:2", None)] {
        assert_eq!(desk.to(&owner(), wanted.clone()).await, there("bird:2", false), "{wanted:?}");
    }
    assert_eq!(desk.to(&owner(), contact("bird:@owl", None)).await, there("bird:2", false));
    assert_eq!(desk.to(&owner(), contact("the-wren", None)).await, there("bird:4", false));
    assert_eq!(
        desk.to(&owner(), contact("bird:3", Some("bird:-2"))).await,
        there("bird:-2", false)
    );
    let jay = desk.find(&owner(), called("jay")).await.unwrap();
    assert_eq!((jay.costs, jay.name.as_str(), jay.contact.as_str()), (Some(1), "Jay", "bird:3"));
}

#[tokio::test]
async fn who_is_meant_is_never_guessed() {
    let desk = Desk::new();
    let why = |wanted| async { desk.to(&owner(), wanted).await.unwrap_err() };
    assert_eq!(
        why(called("Wren")).await,
        "Wren names several: the-wren, bird:5; write the id of one"
    );
    assert_eq!(
        why(called("Tit")).await,
        "there is nobody called Tit: give a chat's id (bird:-42) or a name from the contacts"
    );
    assert_eq!(
        why(contact("Owl", None)).await,
        "contact not found: Owl (contact_id takes an id: bird:2)"
    );
    assert_eq!(
        why(contact("robin", None)).await,
        "unable to resolve delivery channel: there is no private chat with Robin (chat_id takes bird:-1)"
    );
    assert_eq!(why(called("bird:9")).await, "bird:9 is this conversation: just answer here");
    assert_eq!(why(called("bird:-99")).await, "bird:-99 is public: sing posts there");
    assert_eq!(why(called("bird:8")).await, "the month is used up");
    let rests = why(contact("bird:5", None)).await;
    assert!(rests.starts_with("Wren is left alone until "), "{rests}");
}

#[tokio::test]
async fn others_reach_whom_they_have_met_and_hear_of_nobody_else() {
    let desk = Desk::new();
    assert_eq!(desk.to(&kea(), called("Owl")).await, there("bird:2", true));
    for unmet in ["Jay", "Wren", "Nobody"] {
        let why = desk.to(&kea(), called(unmet)).await.unwrap_err();
        assert_eq!(why, format!("nobody here is called {unmet}"));
        let why = desk.to(&kea(), contact(unmet, None)).await.unwrap_err();
        assert_eq!(why, format!("contact not found: {unmet}"));
    }
    let why = desk.to(&kea(), contact("bird:3", None)).await.unwrap_err();
    assert_eq!(why, "contact not found: bird:3", "an id that is there reads like one that is not");
}

#[tokio::test]
async fn a_chat_is_shared_by_whoever_has_spoken_there() {
    let desk = Desk::new();
    // The tree where both sit.
    assert_eq!(desk.to(&kea(), contact("bird:2", Some("bird:-1"))).await, there("bird:-1", true));
    // A tree of Owl's where Kea never was: neither shared nor told.
    assert_eq!(desk.to(&kea(), called("bird:-2")).await, there("bird:-2", false));
    let elsewhere = desk.to(&kea(), contact("bird:2", Some("bird:-2"))).await;
    assert_eq!(elsewhere, there("bird:2", true), "a chat that is none of theirs counts as none");
    // Somebody unknown by their number: an owner has to agree.
    assert_eq!(desk.to(&kea(), called("bird:3")).await, there("bird:3", false));
}

#[tokio::test]
async fn an_owner_reaches_chats_that_somebody_knows() {
    let desk = Desk::new();
    assert_eq!(desk.to(&owner(), called("bird:3")).await, there("bird:3", false));
    let why = desk.to(&owner(), called("bird:404")).await.unwrap_err();
    assert!(why.starts_with("nobody here knows bird:404: "), "{why}");
}

#[tokio::test]
async fn without_files_nobody_is_known() {
    let desk = Desk { state: tempfile::tempdir().unwrap() };
    let why = desk.to(&kea(), called("Owl")).await.unwrap_err();
    assert_eq!(why, "nobody here is called Owl");
}

#[tokio::test]
async fn who_stands_in_both_files_is_one_person() {
    let desk = Desk::new();
    let owl = "# Inactive Contacts\n\n## Owl\n\n```yaml\ncontact_id: bird:2\nnickname: Owl\nbird_number: 2\n```\n";
    fs::write(desk.state.path().join("contacts/INACTIVE.md"), owl).unwrap();
    for wanted in [called("Owl"), contact("bird:2", None), contact("bird:@owl", None)] {
        assert_eq!(desk.to(&owner(), wanted.clone()).await, there("bird:2", false), "{wanted:?}");
    }
}
